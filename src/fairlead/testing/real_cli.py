"""Real Claude Code CLIs of given versions, fetched once by npm into a cache outside the tree.

    cli = ensure("2.1.38")
    Options(agent=cli.executable, …)

The cache is `$XDG_CACHE_HOME/fairlead/pinned-cli/VERSION` (default `~/.cache`). npm only downloads
the packages; their hashes are compared with those in `pins` before they are unpacked, and a
package that differs is never started. A version is fetched into a temporary folder and renamed
under a file lock, so it is complete if it exists, and several test workers can request it at
once. Old versions (2.1.29, 2.1.38) are a `cli.js` for Node, later ones (2.1.120 and on) a native
program in a separate package for each platform. Either way the result is one executable path.

`python -m fairlead.testing.real_cli 2.1.38 2.1.325` fetches from a shell. No script of a package
is run, and nothing here needs an account.
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
import tarfile
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fairlead.errors import OptionError, ProcessError
from fairlead.interrupts import end_on_interrupt
from fairlead.testing.isolated import outside_is_reachable
from fairlead.testing.node import NodeTools, find_node
from fairlead.testing.pins import check_integrity, packages_of

__all__ = ["RealCli", "cache_folder", "ensure", "main", "platform_package"]

PACKAGE = "@anthropic-ai/claude-code"

FETCH_TIMEOUT_S = 900.0
"""A native CLI is a download of about 100 MB, which takes minutes on a slow connection."""

PROBE_TIMEOUT_S = 60.0
"""`claude --version` takes a second; two busy cores need more."""

NPM_FLAGS = ("--ignore-scripts", "--no-progress", "--loglevel=error")

LAUNCHER = "claude"
"""Name of the script that starts a `cli.js`, in the folder of its version."""


@dataclass(frozen=True, slots=True)
class RealCli:
    """A CLI that is on this machine."""

    version: str
    executable: Path
    """An absolute path that can be run, or passed as `agent`."""

    def __str__(self) -> str:
        return self.version

    @property
    def key(self) -> tuple[int, ...]:
        """The version as numbers, for comparisons such as `cli.key >= (2, 1, 220)`."""
        return tuple(int(part) for part in self.version.split("."))


def cache_folder() -> Path:
    """The folder of the cached CLIs."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "fairlead" / "pinned-cli"


def ensure(version: str) -> RealCli:
    """The CLI of this version, fetched if it is not in the cache yet.

    Raises `OptionError` for an invalid version and `ProcessError` if it cannot be fetched.
    """
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise OptionError("version", f"{version!r} is not a version.", "Give one such as 2.1.38.")
    folder = cache_folder() / version
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _locked(folder.parent / f"{version}.lock"):
            # Another process may have fetched it while this one waited for the lock.
            if not folder.exists():
                _fetch(version, folder)
    return RealCli(version, _executable(folder))


def platform_package() -> str:
    """The package with the native CLI for this machine, e.g. `…/claude-code-linux-x64`."""
    system = {"Linux": "linux", "Darwin": "darwin"}.get(platform.system(), platform.system())
    machine = platform.machine().lower()
    arch = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(machine, machine)
    # Only Linux has two C libraries; musl has its loader here.
    musl = system == "linux" and any(Path("/lib").glob("ld-musl-*"))
    return f"{PACKAGE}-{system}-{arch}" + ("-musl" if musl else "")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the file lock; the kernel releases it even if this process is killed."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _fetch(version: str, folder: Path) -> None:
    _log(f"fetching Claude Code {version} by npm")
    began = time.monotonic()
    tools = find_node()
    packages = packages_of(version, platform_package().removeprefix(f"{PACKAGE}-"))
    partial = Path(tempfile.mkdtemp(prefix=f".{version}-", dir=folder.parent))
    try:
        for package, integrity in packages.items():
            _unpack(_download(tools, partial, package, integrity), partial, package)
        shutil.rmtree(partial / "downloads")
        _check(_command(partial), version)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    _log(f"Claude Code {version} is in {folder} ({time.monotonic() - began:.0f} s)")


def _download(tools: NodeTools, folder: Path, package: str, integrity: str) -> Path:
    """The package's file, with the bytes that were pinned."""
    destination = folder / "downloads" / package.replace("/", "+")
    destination.mkdir(parents=True)
    command = [*tools.npm, "pack", *NPM_FLAGS, "--pack-destination", str(destination), package]
    if not outside_is_reachable():
        # npm would retry for minutes; without retries it fails at once or uses its own cache.
        command.append("--fetch-retries=0")
    try:
        completed = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=FETCH_TIMEOUT_S
        )
    except subprocess.TimeoutExpired as error:
        raise ProcessError(f"npm did not fetch {package} within {error.timeout:.0f} s.") from error
    archives = list(destination.glob("*.tgz"))
    if completed.returncode or len(archives) != 1:
        output = (completed.stderr or completed.stdout).strip()[-1500:]
        raise ProcessError(
            f"npm cannot fetch {package} (exit code {completed.returncode}). Without a network, "
            "fetch it before: python -m fairlead.testing.real_cli VERSION.\n" + output
        )
    check_integrity(package, archives[0], integrity)
    return archives[0]


def _unpack(file: Path, folder: Path, package: str) -> None:
    """Unpack like npm: `package/` becomes the folder with the package's name in node_modules."""
    unpacked = file.parent / "unpacked"
    with tarfile.open(file) as archive:
        if hasattr(tarfile, "data_filter"):
            archive.extractall(unpacked, filter="data")
        else:  # Python before 3.11.4. The hash of the archive was checked.
            archive.extractall(unpacked)
    (content,) = unpacked.iterdir()
    target = folder / "node_modules" / package.rpartition("@")[0]
    target.parent.mkdir(parents=True, exist_ok=True)
    content.rename(target)
    shutil.rmtree(file.parent)
    native = target / "claude"
    if native.is_file():
        native.chmod(0o755)


def _native_path(folder: Path) -> Path:
    return folder / "node_modules" / platform_package() / "claude"


def _is_script(folder: Path) -> bool:
    manifest = json.loads((folder / "node_modules" / PACKAGE / "package.json").read_text("utf-8"))
    return str(manifest["bin"]["claude"]).endswith(".js")


def _command(folder: Path) -> tuple[str, ...]:
    """The command: the native program, or Node with the script."""
    if not _is_script(folder):
        return (str(_native_path(folder)),)
    return (str(find_node().node), str(folder / "node_modules" / PACKAGE / "cli.js"))


def _executable(folder: Path) -> Path:
    """The path of a version: the program, or a launcher that is updated if Node has moved."""
    program, *script = _command(folder)
    if not script:
        return Path(program)
    launcher = folder / LAUNCHER
    text = f'#!/bin/sh\nexec {shlex.join([program, *script])} "$@"\n'
    if not launcher.exists() or launcher.read_text("utf-8") != text:
        # Written to a new file and renamed: another process may be starting the old one.
        new_file = launcher.with_suffix(f".{os.getpid()}")
        new_file.write_text(text, "utf-8")
        new_file.chmod(0o755)
        new_file.replace(launcher)
    return launcher


def _check(command: Sequence[str], version: str) -> None:
    """Check that the CLI starts and has the requested version, in an empty environment."""
    with tempfile.TemporaryDirectory() as home:
        completed = subprocess.run(
            [*command, "--version"],
            env={"HOME": home, "PATH": os.defpath},
            cwd=home,
            capture_output=True,
            text=True,
            timeout=PROBE_TIMEOUT_S,
        )
    if completed.returncode or not completed.stdout.startswith(version):
        output = (completed.stdout + completed.stderr).strip()[-500:]
        raise ProcessError(f"the fetched CLI does not report version {version}: {output!r}")


def _log(text: str) -> None:
    sys.stderr.write(f"fairlead: {text}\n")
    sys.stderr.flush()


def main(argv: Sequence[str] | None = None) -> int:
    """Fetch the given versions and print the path of each on stdout."""
    parser = argparse.ArgumentParser(prog="python -m fairlead.testing.real_cli")
    parser.add_argument("versions", nargs="+", metavar="VERSION")
    end_on_interrupt()
    for version in parser.parse_args(argv).versions:
        try:
            sys.stdout.write(f"{ensure(version).executable}\n")
        except (OptionError, ProcessError) as error:
            _log(str(error))
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
