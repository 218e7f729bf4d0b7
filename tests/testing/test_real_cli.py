"""Fetching CLIs into the cache, with a small fake `npm` and `node` on the PATH.

The real npm is used by tests/e2e/real_cli, which fail if a CLI is not available.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from fairlead.errors import OptionError
from fairlead.testing.node import find_node
from fairlead.testing.pins import packages_of
from fairlead.testing.real_cli import RealCli, ensure, platform_package
from fairlead.wire.versions import MEASURED

TIMEOUT_S = 60

NPM = """#!/bin/sh
# Packs what a real npm would download: files that the test has laid out.
while [ $# -gt 0 ]; do
  case "$1" in --pack-destination) into=$2 ;; @*) package=$1 ;; esac
  shift
done
echo "$package" >> "$STATE/calls"
if [ "$KIND" = missing ]; then echo "npm error code E404" >&2; exit 1; fi
name=$(echo "$package" | tr / +)
cp "$STATE/packages/$name.tgz" "$into/"
if [ "$KIND" = tampered ]; then echo "more" >> "$into/$name.tgz"; fi
"""

NODE = """#!/bin/sh
for last; do :; done
if [ "$last" = --version ]; then echo "9.9.9 (Claude Code)"; else echo "ran: $*"; fi
"""


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine with fake npm and node programs, and its own cache."""

    folder: Path

    @property
    def cache(self) -> Path:
        return self.folder / "cache" / "fairlead" / "pinned-cli"

    @property
    def calls(self) -> list[str]:
        return (self.folder / "calls").read_text().split()

    def env(self, **more: str) -> Mapping[str, str]:
        return {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.defpath}",
            "HOME": str(self.folder),
            "STATE": str(self.folder),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "FAIRLEAD_CLI_PINS": str(self.folder / "pins.json"),
            **more,
        }

    def start(self, *versions: str, **more: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "fairlead.testing.real_cli", *versions]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, env=self.env(**more), stdout=pipe, stderr=pipe, text=True)

    def fetch(self, *versions: str, **more: str) -> tuple[int, str, str]:
        with self.start(*versions, **more) as process:
            out, err = process.communicate(timeout=TIMEOUT_S)
        return process.returncode, out.strip(), err


MAIN = "@anthropic-ai/claude-code"
PLATFORM = platform_package().removeprefix(f"{MAIN}-")


def packed(folder: Path, package: str, files: Mapping[str, str]) -> str:
    """Lay out a package as npm packs it; its integrity."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{package.replace('/', '+')}.tgz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return "sha512-" + base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """One whose packages are a script for 9.9.9 and 1.2.3, and a native program for 9.9.8."""
    (tmp_path / "bin").mkdir()
    for name, text in (("npm", NPM), ("node", NODE)):
        program = tmp_path / "bin" / name
        program.write_text(text)
        program.chmod(0o755)
    packages = tmp_path / "packages"
    script = {"package.json": '{"bin": {"claude": "cli.js"}}', "cli.js": "// the script"}
    native = {"package.json": '{"bin": {"claude": "bin/claude.exe"}}'}
    executable = {"claude": NODE.replace("9.9.9", "9.9.8")}
    main, own = f"{MAIN}@9.9.8", f"{platform_package()}@9.9.8"
    pins = {
        version: {"any": {f"{MAIN}@{version}": packed(packages, f"{MAIN}@{version}", script)}}
        for version in ("9.9.9", "1.2.3")
    }
    pins["9.9.8"] = {
        "any": {main: packed(packages, main, native)},
        PLATFORM: {own: packed(packages, own, executable)},
    }
    pins["9.9.7"] = {"any": {main: "sha512-x"}, "amiga": {own: "sha512-y"}}
    (tmp_path / "pins.json").write_text(json.dumps(pins))
    return Machine(tmp_path)


def test_a_script_version_becomes_one_executable_that_runs_node(machine: Machine) -> None:
    code, path, reported = machine.fetch("9.9.9")
    assert (code, path) == (0, str(machine.cache / "9.9.9" / "claude"))
    assert "fetching Claude Code 9.9.9" in reported
    completed = subprocess.run([path, "-x", "a b"], capture_output=True, text=True, check=True)
    script = machine.cache / "9.9.9" / "node_modules" / "@anthropic-ai" / "claude-code" / "cli.js"
    assert completed.stdout.strip() == f"ran: {script} -x a b"


def test_a_native_version_is_the_program_of_this_platform(machine: Machine) -> None:
    code, path, reported = machine.fetch("9.9.8")
    assert code == 0, reported
    assert machine.calls == [f"{MAIN}@9.9.8", f"{platform_package()}@9.9.8"]
    assert path.endswith(f"{platform_package()}/claude")
    assert os.access(path, os.X_OK)


def test_a_package_with_other_bytes_is_neither_started_nor_kept(machine: Machine) -> None:
    code, path, reported = machine.fetch("9.9.9", KIND="tampered")
    assert (code, path) == (1, "")
    assert "its hash is not the one that Fairlead pins" in reported
    assert "expected sha512-" in reported
    assert [entry.name for entry in machine.cache.iterdir()] == ["9.9.9.lock"]


@pytest.mark.parametrize(
    ("version", "output"),
    [("9.9.6", "no hash of Claude Code 9.9.6"), ("9.9.7", f"no hash of Claude Code 9.9.7 for {PLATFORM}")],
)  # fmt: skip
def test_what_has_no_hash_is_not_even_downloaded(
    machine: Machine, version: str, output: str
) -> None:
    code, _, reported = machine.fetch(version)
    assert code == 1
    assert output in reported
    assert "FAIRLEAD_CLI_PINS" in reported
    assert not (machine.folder / "calls").exists()


def test_every_version_that_is_tested_has_hashes_for_this_machine() -> None:
    for version in MEASURED:
        packages = packages_of(str(version), PLATFORM)
        assert f"{MAIN}@{version}" in packages
        assert len(packages) >= 2
        for integrity in packages.values():
            assert len(base64.b64decode(integrity.removeprefix("sha512-"))) == 64


def test_what_is_in_the_cache_is_not_fetched_again(machine: Machine) -> None:
    machine.fetch("9.9.9")
    code, _, reported = machine.fetch("9.9.9")
    assert (code, reported) == (0, "")
    assert len(machine.calls) == 1


def test_many_who_ask_at_once_share_one_download(machine: Machine) -> None:
    processes = [machine.start("9.9.9") for _ in range(4)]
    paths = set()
    for process in processes:
        out, err = process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == 0, err
        paths.add(out.strip())
    assert paths == {str(machine.cache / "9.9.9" / "claude")}
    assert len(machine.calls) == 1


@pytest.mark.parametrize(
    ("kind", "message"),
    [("missing", "npm error code E404"), ("script", "does not report version 1.2.3: '9.9.9")],
    ids=["npm fails", "another version comes"],
)
def test_a_failure_says_why_and_leaves_nothing_behind(
    machine: Machine, kind: str, message: str
) -> None:
    code, path, reported = machine.fetch("1.2.3", KIND=kind)
    assert (code, path) == (1, "")
    assert message in reported
    assert [entry.name for entry in machine.cache.iterdir()] == ["1.2.3.lock"]


def test_the_launcher_follows_node_when_it_moves(machine: Machine) -> None:
    machine.fetch("9.9.9")
    (machine.folder / "bin").rename(machine.folder / "elsewhere")
    path = f"{machine.folder / 'elsewhere'}{os.pathsep}{os.defpath}"
    code, launcher, _ = machine.fetch("9.9.9", PATH=path)
    assert code == 0
    assert str(machine.folder / "elsewhere" / "node") in Path(launcher).read_text()


@pytest.mark.parametrize("version", ["", "latest", "2.1", "../2.1.38", "2.1.38 "])
def test_what_is_no_version_is_refused_before_anything_is_done(version: str) -> None:
    with pytest.raises(OptionError, match="is not a version"):
        ensure(version)


def test_versions_compare_as_numbers() -> None:
    old, new = RealCli("2.1.38", Path("a")), RealCli("2.1.325", Path("b"))
    assert old.key < (2, 1, 120) < new.key


def test_node_is_the_program_itself_and_not_a_python_script() -> None:
    tools = find_node()
    assert tools.node.read_bytes()[:2] != b"#!"
    assert Path(tools.npm[0]).is_absolute()
