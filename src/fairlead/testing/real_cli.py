"""Real Claude Code CLIs of given versions, fetched once by npm into a cache outside the tree.

    cli = ensure("2.1.38")
    Options(agent=cli.executable, …)

The cache is `$XDG_CACHE_HOME/fairlead/cli/VERSION` (default `~/.cache`). A version is there
wholly or not at all: it is fetched into a folder beside it and renamed, under a file lock, so
that many test workers may ask at once. Old versions (2.1.29, 2.1.38) are a `cli.js` for Node,
later ones (2.1.120 and on) a native program in a package of its own for each platform. Either
way the result is one executable path.

`python -m fairlead.testing.real_cli 2.1.38 2.1.325` fetches from a shell. Nothing is run at
install time (`--ignore-scripts`), and nothing here needs an account.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fairlead.errors import OptionError, ProcessError
from fairlead.testing.isolated import outside_is_reachable
from fairlead.testing.node import NodeTools, find_node

__all__ = ["RealCli", "cache_folder", "ensure", "main", "platform_package"]

PACKAGE = "@anthropic-ai/claude-code"

FETCH_TIMEOUT_S = 900.0
"""A native CLI is a download of about 100 MB; on a slow line that takes minutes."""

PROBE_TIMEOUT_S = 60.0
"""`claude --version` takes a second; two busy cores need more."""

NPM_FLAGS = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-progress", "--loglevel=error")

LAUNCHER = "claude"
"""Name of the script that starts a `cli.js`, in the folder of its version."""


@dataclass(frozen=True, slots=True)
class RealCli:
    """A CLI that is on this machine."""

    version: str
    executable: Path
    """One absolute path that can be run, or given as `agent`."""

    def __str__(self) -> str:
        return self.version

    @property
    def key(self) -> tuple[int, ...]:
        """The version as numbers, so that `cli.key >= (2, 1, 220)` can be asked."""
        return tuple(int(part) for part in self.version.split("."))


def cache_folder() -> Path:
    """Where the CLIs are kept."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "fairlead" / "cli"


def ensure(version: str) -> RealCli:
    """The CLI of this version, fetched if it is not in the cache yet.

    Raises `OptionError` for what is no version and `ProcessError` when it cannot be had.
    """
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise OptionError("version", f"{version!r} is no version.", "Give one such as 2.1.38.")
    folder = cache_folder() / version
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _locked(folder.parent / f"{version}.lock"):
            # Somebody else may have fetched it while we waited for the lock.
            if not folder.exists():
                _fetch(version, folder)
    return RealCli(version, _executable(folder))


def platform_package() -> str:
    """The package with the native CLI for this machine, e.g. `…/claude-code-linux-x64`."""
    system = {"Linux": "linux", "Darwin": "darwin"}.get(platform.system(), platform.system())
    machine = platform.machine().lower()
    arch = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(machine, machine)
    # Only Linux has two C libraries; the one that is not glibc leaves its loader here.
    musl = system == "linux" and any(Path("/lib").glob("ld-musl-*"))
    return f"{PACKAGE}-{system}-{arch}" + ("-musl" if musl else "")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the file lock; the kernel gives it back even if this process is killed."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _fetch(version: str, folder: Path) -> None:
    _say(f"fetching Claude Code {version} by npm")
    began = time.monotonic()
    tools = find_node()
    partial = Path(tempfile.mkdtemp(prefix=f".{version}-", dir=folder.parent))
    try:
        _install(tools, partial, f"{PACKAGE}@{version}")
        if not _is_script(partial) and not _native_path(partial).exists():
            # npm passes over an optional package in silence if it cannot be had: ask aloud.
            _install(tools, partial, f"{platform_package()}@{version}")
        _check(_command(partial), version)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    _say(f"Claude Code {version} is in {folder} ({time.monotonic() - began:.0f} s)")


def _install(tools: NodeTools, folder: Path, package: str) -> None:
    command = [*tools.npm, "install", *NPM_FLAGS, "--prefix", str(folder), package]
    if not outside_is_reachable():
        # npm would try for minutes; told not to, it says no at once or takes its own cache.
        command.append("--fetch-retries=0")
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=FETCH_TIMEOUT_S
        )
    except subprocess.TimeoutExpired as late:
        raise ProcessError(f"npm did not fetch {package} within {late.timeout:.0f} s.") from late
    if done.returncode:
        last_words = (done.stderr or done.stdout).strip()[-1500:]
        raise ProcessError(
            f"npm cannot fetch {package} (exit code {done.returncode}). Where there is no network, "
            "fetch it before: python -m fairlead.testing.real_cli VERSION.\n" + last_words
        )


def _native_path(folder: Path) -> Path:
    return folder / "node_modules" / platform_package() / "claude"


def _is_script(folder: Path) -> bool:
    manifest = json.loads((folder / "node_modules" / PACKAGE / "package.json").read_text("utf-8"))
    return str(manifest["bin"]["claude"]).endswith(".js")


def _command(folder: Path) -> tuple[str, ...]:
    """What is run in the end: the native program, or Node with the script."""
    if not _is_script(folder):
        return (str(_native_path(folder)),)
    return (str(find_node().node), str(folder / "node_modules" / PACKAGE / "cli.js"))


def _executable(folder: Path) -> Path:
    """The one path of a version: the program, or a launcher that is kept true to where Node is."""
    program, *script = _command(folder)
    if not script:
        return Path(program)
    launcher = folder / LAUNCHER
    text = f'#!/bin/sh\nexec {shlex.join([program, *script])} "$@"\n'
    if not launcher.exists() or launcher.read_text("utf-8") != text:
        # Written beside and moved over it: another process may be starting the old one.
        fresh = launcher.with_suffix(f".{os.getpid()}")
        fresh.write_text(text, "utf-8")
        fresh.chmod(0o755)
        fresh.replace(launcher)
    return launcher


def _check(command: Sequence[str], version: str) -> None:
    """See that it starts and is what it was asked to be, with nothing of ours in its sight."""
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [*command, "--version"],
            env={"HOME": home, "PATH": os.defpath},
            cwd=home,
            capture_output=True,
            text=True,
            timeout=PROBE_TIMEOUT_S,
        )
    if done.returncode or not done.stdout.startswith(version):
        said = (done.stdout + done.stderr).strip()[-500:]
        raise ProcessError(f"the fetched CLI does not say that it is {version}: {said!r}")


def _say(text: str) -> None:
    sys.stderr.write(f"fairlead: {text}\n")
    sys.stderr.flush()


def main(argv: Sequence[str] | None = None) -> int:
    """Fetch the given versions and print the path of each on stdout."""
    parser = argparse.ArgumentParser(prog="python -m fairlead.testing.real_cli")
    parser.add_argument("versions", nargs="+", metavar="VERSION")
    for version in parser.parse_args(argv).versions:
        try:
            sys.stdout.write(f"{ensure(version).executable}\n")
        except (OptionError, ProcessError) as error:
            _say(str(error))
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
