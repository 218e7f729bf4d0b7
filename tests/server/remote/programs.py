"""The programs of docs/remote.md and of test networks: finds them, or installs Debian's where it may.

    python -m tests.server.remote.programs

installs nothing where they are there already. Without root and apt it says what to do and fails,
because a recipe that no test runs proves nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

__all__ = ["PACKAGES", "find", "main"]

PACKAGES = {
    "nginx": "nginx-light",
    "caddy": "caddy",
    "ssh": "openssh-client",
    "systemd-analyze": "systemd",
    "ip": "iproute2",
    "nft": "nftables",
    "nsenter": "util-linux",
    "unshare": "util-linux",
}
"""Program -> the Debian package that contains it."""

SYSTEM_PATH = "/usr/sbin:/sbin"
"""Where servers are installed; the PATH of a user may lack it."""


def find(program: str) -> str:
    """The path of a program; fails with what to do if it is missing."""
    path = _path_of(program)
    assert path is not None, _remedy([program])
    return path


def main() -> int:
    """Make sure that all programs are installed; returns the exit code."""
    missing = [program for program in PACKAGES if _path_of(program) is None]
    if not missing:
        return 0
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        print(_remedy(missing), file=sys.stderr)  # noqa: T201 - this is a program
        return 1
    # Debian's packages start their servers unless a program forbids it.
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    names = [PACKAGES[program] for program in missing]
    for command in (["update"], ["install", "--yes", "--no-install-recommends", *names]):
        done = subprocess.run([apt, "--quiet=2", *command], env=env, check=False)
        if done.returncode != 0:
            return done.returncode
    return 0 if all(_path_of(program) for program in missing) else 1


def _path_of(program: str) -> str | None:
    return shutil.which(program) or shutil.which(program, path=SYSTEM_PATH)


def _remedy(missing: list[str]) -> str:
    packages = " ".join(PACKAGES[program] for program in missing)
    return (
        f"not found: {', '.join(missing)}. They cannot be installed here without root and apt. "
        f"Install them (Debian: `apt-get install {packages}`)."
    )


if __name__ == "__main__":
    sys.exit(main())
