"""Chromium for the browser tests: finds it, or installs Debian's where it may.

    python -m tests.e2e.browser.chromium

looks for two programs and installs what is missing. Most tests use `chromium-headless-shell`, which
is the same engine without the interface of a browser: to open the app in it takes 1.0 s of CPU time,
and 2.8 s in `chromium`. Tests of notifications, which the shell does not have, use `chromium`. Where
the shell cannot be installed, `chromium` takes its place. Without root and apt, and without any
Chromium, it says what to do and fails, for a browser test that does not run proves nothing.
`FAIRLEAD_CHROMIUM` names another program for all tests.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

__all__ = ["ARGUMENTS", "ONE_PROCESS", "SHORT_LIVED", "find", "main"]

SHELL = "chromium-headless-shell"
WHOLE = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

ARGUMENTS = (
    "--no-sandbox",  # Tests run as root in containers, where the sandbox cannot be had.
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

SHORT_LIVED = "--js-flags=--no-opt,--no-maglev"
"""For pages that live for seconds: they take 0.9 of the CPU time without the optimizing compilers."""

ONE_PROCESS = "--process-per-site"
"""All pages of one origin in one context share a process, which has the compiled code of the app."""

HOW = (
    "no Chromium was found, and it cannot be installed here without root and apt. "
    "Install it (Debian: `apt-get install chromium`), or name one in FAIRLEAD_CHROMIUM."
)


def find(*, whole: bool = False) -> str | None:
    """The path of a Chromium on this machine; `whole` asks for one that has notifications."""
    wanted = os.environ.get("FAIRLEAD_CHROMIUM")
    names = (wanted,) if wanted else WHOLE if whole else (SHELL, *WHOLE)
    return next((path for name in names if (path := shutil.which(name))), None)


def main() -> int:
    """Make sure that both are there; returns the exit code."""
    missing = [] if shutil.which(SHELL) else [SHELL]
    missing += [] if find(whole=True) else ["chromium"]
    if missing and not os.environ.get("FAIRLEAD_CHROMIUM"):
        _install(missing)
    if find(whole=True) is not None:
        return 0
    print(HOW, file=sys.stderr)  # noqa: T201 - this is a program
    return 1


def _install(packages: Sequence[str]) -> None:
    """Install Debian's packages, one by one: a distribution may have no shell."""
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        return
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (
        ["update"],
        *(["install", "--yes", "--no-install-recommends", p] for p in packages),
    ):
        subprocess.run([apt, "--quiet=2", *words], env=env, check=False)


if __name__ == "__main__":
    sys.exit(main())
