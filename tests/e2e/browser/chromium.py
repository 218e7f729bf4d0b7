"""Chromium for the browser tests: finds it, or installs Debian's where it may.

    python -m tests.e2e.browser.chromium

prefers `chromium-headless-shell`, which runs the same engine without the interface of a browser: to
open the app in it takes 1.0 s of CPU time, and 2.8 s in `chromium` with its new headless mode. Where
it cannot be installed, another Chromium that is there already will do. Without any, it says what to
do and fails, for a browser test that does not run proves nothing. `FAIRLEAD_CHROMIUM` names another
one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

__all__ = ["ARGUMENTS", "find", "main"]

SHELL = "chromium-headless-shell"
NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

ARGUMENTS = (
    "--no-sandbox",  # Tests run as root in containers, where the sandbox cannot be had.
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

HOW = (
    "no Chromium was found, and it cannot be installed here without root and apt. "
    "Install it (Debian: `apt-get install chromium-headless-shell`), or name one in FAIRLEAD_CHROMIUM."
)


def find() -> str | None:
    """The path of a Chromium on this machine."""
    wanted = os.environ.get("FAIRLEAD_CHROMIUM")
    if wanted:
        return shutil.which(wanted)
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def main() -> int:
    """Make sure that there is one; returns the exit code."""
    if not os.environ.get("FAIRLEAD_CHROMIUM") and shutil.which(SHELL) is None:
        _install()
    if find() is not None:
        return 0
    print(HOW, file=sys.stderr)  # noqa: T201 - this is a program
    return 1


def _install() -> None:
    """Install the shell, or where the distribution has no such package, Chromium."""
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        return
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run([apt, "--quiet=2", "update"], env=env, check=False)
    for package in (SHELL, "chromium"):
        command = [apt, "--quiet=2", "install", "--yes", "--no-install-recommends", package]
        if find() is None or package == SHELL:
            subprocess.run(command, env=env, check=False)


if __name__ == "__main__":
    sys.exit(main())
