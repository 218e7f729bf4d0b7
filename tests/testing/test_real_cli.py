"""Fetching CLIs into the cache, with a small `npm` and `node` of our own on the PATH.

The real npm is used by tests/e2e/real_cli, which fail where a CLI cannot be had.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from fairlead.errors import OptionError
from fairlead.testing.node import find_node
from fairlead.testing.real_cli import RealCli, ensure, platform_package

TIMEOUT_S = 60

NPM = """#!/bin/sh
# Installs what a real npm would: the main package, and only on request the native program.
while [ $# -gt 0 ]; do
  case "$1" in --prefix) prefix=$2 ;; @*) package=$1 ;; esac
  shift
done
echo "$package" >> "$STATE/calls"
if [ "$KIND" = missing ]; then echo "npm error code E404" >&2; exit 1; fi
main="$prefix/node_modules/@anthropic-ai/claude-code"
case "$package" in
  @anthropic-ai/claude-code@*)
    mkdir -p "$main"
    if [ "$KIND" = native ]; then bin=bin/claude.exe; else bin=cli.js; fi
    echo "{\\"bin\\": {\\"claude\\": \\"$bin\\"}}" > "$main/package.json"
    echo "// the script" > "$main/cli.js" ;;
  *)
    native="$prefix/node_modules/${package%@*}"
    mkdir -p "$native"
    cp "$STATE/bin/node" "$native/claude" ;;
esac
"""

NODE = """#!/bin/sh
for last; do :; done
if [ "$last" = --version ]; then echo "9.9.9 (Claude Code)"; else echo "ran: $*"; fi
"""


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine whose npm and node are ours, with a cache of its own."""

    folder: Path

    @property
    def cache(self) -> Path:
        return self.folder / "cache" / "fairlead" / "cli"

    @property
    def calls(self) -> list[str]:
        return (self.folder / "calls").read_text().split()

    def env(self, **more: str) -> Mapping[str, str]:
        return {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.defpath}",
            "HOME": str(self.folder),
            "STATE": str(self.folder),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
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


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    (tmp_path / "bin").mkdir()
    for name, text in (("npm", NPM), ("node", NODE)):
        program = tmp_path / "bin" / name
        program.write_text(text)
        program.chmod(0o755)
    return Machine(tmp_path)


def test_a_script_version_becomes_one_executable_that_runs_node(machine: Machine) -> None:
    code, path, told = machine.fetch("9.9.9")
    assert (code, path) == (0, str(machine.cache / "9.9.9" / "claude"))
    assert "fetching Claude Code 9.9.9" in told
    done = subprocess.run([path, "-x", "a b"], capture_output=True, text=True, check=True)
    script = machine.cache / "9.9.9" / "node_modules" / "@anthropic-ai" / "claude-code" / "cli.js"
    assert done.stdout.strip() == f"ran: {script} -x a b"


def test_a_native_version_is_asked_for_by_name_if_npm_left_it_out(machine: Machine) -> None:
    code, path, _ = machine.fetch("9.9.9", KIND="native")
    assert code == 0
    assert machine.calls == ["@anthropic-ai/claude-code@9.9.9", f"{platform_package()}@9.9.9"]
    assert path.endswith(f"{platform_package()}/claude")
    assert os.access(path, os.X_OK)


def test_what_is_in_the_cache_is_not_fetched_again(machine: Machine) -> None:
    machine.fetch("9.9.9")
    code, _, told = machine.fetch("9.9.9")
    assert (code, told) == (0, "")
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
    [("missing", "npm error code E404"), ("script", "does not say that it is 1.2.3: '9.9.9")],
    ids=["npm fails", "another version comes"],
)
def test_a_failure_says_why_and_leaves_nothing_behind(
    machine: Machine, kind: str, message: str
) -> None:
    code, path, told = machine.fetch("1.2.3", KIND=kind)
    assert (code, path) == (1, "")
    assert message in told
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
    with pytest.raises(OptionError, match="is no version"):
        ensure(version)


def test_versions_compare_as_numbers() -> None:
    old, new = RealCli("2.1.38", Path("a")), RealCli("2.1.325", Path("b"))
    assert old.key < (2, 1, 120) < new.key


def test_node_is_the_program_itself_and_not_a_script_beside_python() -> None:
    tools = find_node()
    assert tools.node.read_bytes()[:2] != b"#!"
    assert Path(tools.npm[0]).is_absolute()
