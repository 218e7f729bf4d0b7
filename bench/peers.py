"""The contenders: how each is installed and started.

Fairlead runs from this tree. The official SDKs are installed once, in the pinned versions, below
the output folder, each for itself; their bundled CLIs (366 MB) are left out, for the benchmark
has a program of its own in the CLI's place. Above: `rounds`, which runs them.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from bench.flood import VERSION
from fairlead.testing.node import find_node

__all__ = [
    "CONTENDERS",
    "SDK_PACKAGE",
    "Contender",
    "PeerUnavailable",
    "is_installed",
    "mark_installed",
    "pinned",
    "run_tool",
]

HERE = Path(__file__).parent
SDK_PACKAGE = "@anthropic-ai/claude-agent-sdk"

INSTALL_TIMEOUT_S = 900.0
"""A few dozen small packages; on a slow line that takes minutes."""

Say = Callable[[str], None]


class PeerUnavailable(Exception):
    """A contender cannot be installed here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A program that can read one turn of an agent and report its CPU time."""

    name: str
    version: str
    runtime: str
    start: tuple[str, ...]
    """The command up to the agent's path."""
    finish: tuple[str, ...] = ()
    """The command after it."""

    def command(self, agent: Path, *flags: str) -> list[str]:
        """The command that reads one turn of this agent."""
        return [*self.start, str(agent), *self.finish, *flags]


def _fairlead(out: Path, say: Say) -> Contender:
    return Contender(
        name="Fairlead",
        version=importlib.metadata.version("fairlead"),
        runtime=f"Python {platform.python_version()}",
        start=(sys.executable, "-m", "bench.run_fairlead"),
        finish=(VERSION,),
    )


def _fairlead_transcript(out: Path, say: Say) -> Contender:
    alone = _fairlead(out, say)
    return replace(alone, name="Fairlead with transcript", finish=(*alone.finish, "--transcript"))


def _python_sdk(out: Path, say: Say) -> Contender:
    folder = out / "python-sdk"
    python = str(folder / "bin" / "python")
    pins = HERE / "requirements.txt"
    if not is_installed(folder, pins):
        say("installing the Python SDK (once)")
        venv.create(folder, clear=True, with_pip=True)
        pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        # The build tool comes first and the SDK is built with it: pip's own build environment
        # would take whatever version is newest.
        run_tool(*pip, "--requirement", str(HERE / "requirements-build.txt"))
        run_tool(*pip, "--no-build-isolation", "--requirement", str(pins))
        mark_installed(folder, pins)
    return Contender(
        name="Python SDK",
        version=pinned(pins, "claude-agent-sdk"),
        runtime=f"Python {platform.python_version()}",
        start=(python, "-m", "bench.run_python_sdk"),
    )


def _typescript_sdk(out: Path, say: Say) -> Contender:
    folder = out / "typescript-sdk"
    pins = HERE / "package-lock.json"
    tools = find_node()
    if not is_installed(folder, pins):
        say("installing the TypeScript SDK (once)")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copy(HERE / name, folder)
        quiet = ("--no-audit", "--no-fund", "--no-progress", "--loglevel=error")
        run_tool(*tools.npm, "ci", "--omit=optional", "--ignore-scripts", *quiet, cwd=folder)
        mark_installed(folder, pins)
    module = folder / "node_modules" / SDK_PACKAGE
    manifest = json.loads((module / "package.json").read_text("utf-8"))
    runner = HERE / "run_typescript_sdk.mjs"
    return Contender(
        name="TypeScript SDK",
        version=manifest["version"],
        runtime=f"Node {run_tool(str(tools.node), '--version').strip().removeprefix('v')}",
        start=(str(tools.node), str(runner), str(module / manifest["main"])),
    )


CONTENDERS: dict[str, Callable[[Path, Say], Contender]] = {
    "fairlead": _fairlead,
    "fairlead-transcript": _fairlead_transcript,
    "python-sdk": _python_sdk,
    "typescript-sdk": _typescript_sdk,
}
"""The contenders, in the order of a round, each with the function that installs it below an output folder."""


def pinned(pins: Path, package: str) -> str:
    """The version of a package in a file of pins."""
    for line in pins.read_text("utf-8").splitlines():
        if line.startswith(f"{package}=="):
            return line.split()[0].removeprefix(f"{package}==")
    raise PeerUnavailable(f"{pins} does not pin {package}")


def is_installed(folder: Path, pins: Path) -> bool:
    """Whether a folder has what this file pins."""
    mark = folder / "installed"
    return mark.exists() and mark.read_text("utf-8") == _digest(pins)


def mark_installed(folder: Path, pins: Path) -> None:
    """Remember that a folder has what this file pins."""
    (folder / "installed").write_text(_digest(pins), "utf-8")


def _digest(pins: Path) -> str:
    return hashlib.sha256(pins.read_bytes()).hexdigest()


def run_tool(*command: str, cwd: Path | None = None) -> str:
    """Run an installer; what it printed."""
    completed = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S
    )
    if completed.returncode:
        output = (completed.stderr or completed.stdout).strip()[-1500:]
        raise PeerUnavailable(f"{' '.join(command)} ended with {completed.returncode}:\n{output}")
    return completed.stdout
