"""Chromium for the browser tests: finds it, or installs Debian's where it may.

    python -m tests.e2e.browser.chromium

installs nothing where there is one already. Without root and apt it says what to do and fails,
for a browser test that does not run proves nothing. `FAIRLEAD_CHROMIUM` names another one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

__all__ = ["ARGUMENTS", "find", "main"]

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

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
    "Install it (Debian: `apt-get install chromium`), or name one in FAIRLEAD_CHROMIUM."
)


def find() -> str | None:
    """The path of a Chromium on this machine."""
    wanted = os.environ.get("FAIRLEAD_CHROMIUM")
    if wanted:
        return shutil.which(wanted)
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def main() -> int:
    """Make sure that there is one; returns the exit code."""
    if find() is not None:
        return 0
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        print(HOW, file=sys.stderr)  # noqa: T201 - this is a program
        return 1
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "--yes", "--no-install-recommends", "chromium"]):
        done = subprocess.run([apt, "--quiet=2", *command], env=env, check=False)
        if done.returncode != 0:
            return done.returncode
    return 0 if find() is not None else 1


if __name__ == "__main__":
    sys.exit(main())
