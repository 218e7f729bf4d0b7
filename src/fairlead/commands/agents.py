"""Which agent a command talks to: `claude` on this machine, one by its path, or the demo.

The demo needs no account: it is the emulator with its tour, in its own home and project. `run` and
`chat` remove both afterwards and use the demo only with `--agent demo`: a script that gets an
answer from the demo because `claude` is missing would take it for a real one. `serve` falls back
to the demo, and keeps its home and project for the next start.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairlead.errors import AgentNotFound, UsageError

__all__ = [
    "DEMO",
    "Agent",
    "add_agent_arguments",
    "add_env_argument",
    "choose",
    "demo_agent",
    "explain_not_found",
]

DEMO = "demo"


@dataclass(frozen=True, slots=True)
class Agent:
    """How to start an agent, and its description for the user."""

    introduction: str
    options: dict[str, Any] = field(default_factory=dict)
    """Fields of `Options`."""
    demo: bool = False


def add_agent_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that select and configure an agent."""
    parser.add_argument("--agent", help="claude, demo, or the path of a CLI (default: claude)")
    parser.add_argument("--cwd", help="the folder to work in (default: this one)")
    parser.add_argument("--model", help="the model to use")
    parser.add_argument("--permission-mode", default="default", help="the permission mode")
    parser.add_argument("--resume", metavar="SESSION", help="resume a session")
    parser.add_argument(
        "--record", metavar="FILE", help="record stdin and stdout of the CLI to FILE"
    )
    add_env_argument(parser)


def add_env_argument(parser: argparse.ArgumentParser) -> None:
    """Add the argument that extends the environment of the CLI."""
    parser.add_argument(
        "--env",
        metavar="NAME[=VALUE]",
        action="append",
        default=[],
        help="pass an environment variable on to the CLI, or set one (may be repeated)",
    )


@asynccontextmanager
async def choose(
    arguments: argparse.Namespace,
    *,
    fall_back_to_demo: bool = False,
    demo_folder: Path | None = None,
) -> AsyncIterator[Agent]:
    """The agent that the arguments ask for; `demo_folder` keeps the demo's home and project."""
    name = arguments.agent or "claude"
    if fall_back_to_demo and not arguments.agent and shutil.which(name) is None:
        name = DEMO
    cwd = _folder(arguments.cwd)
    env = _variables(arguments.env)
    shared = {
        "model": arguments.model,
        "permission_mode": arguments.permission_mode,
        "resume": arguments.resume,
        "record": arguments.record,
    }
    if name != DEMO:
        options = {**shared, "agent": name, "cwd": str(cwd), "env": env}
        yield Agent(f"{name}, in {cwd}", options)
        return
    if arguments.cwd is not None:
        _note("the demo works in its own folder, not in --cwd")
    _note("using the demo agent (scripted model, real tools, no account)")
    with demo_agent(demo_folder) as agent:
        options = {**shared, **agent.options, "env": {**agent.options["env"], **env}}
        yield Agent(agent.introduction, options, demo=True)


@contextmanager
def demo_agent(folder: Path | None = None) -> Iterator[Agent]:
    """The emulator with its tour, in this folder or in one that is removed afterwards."""
    agent = None if folder is None else _lasting_demo(folder)
    if agent is not None:
        yield agent
        return
    with tempfile.TemporaryDirectory(prefix="fairlead-") as scratch:
        yield _demo_in(Path(scratch))


def _lasting_demo(folder: Path) -> Agent | None:
    """The demo in a folder that stays; None if it cannot be written, as on a full disk."""
    is_new = not folder.exists()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _demo_in(folder)
    except OSError as problem:
        if is_new:  # An incomplete demo would use disk space that the data folder needs.
            shutil.rmtree(folder, ignore_errors=True)
        _note(f"the demo's sessions end with this program: {folder}: {problem.strerror}")
        return None


def _demo_in(folder: Path) -> Agent:
    from fairlead.emulator.process.launcher import write_launcher
    from fairlead.emulator.script.scratch_project import make_scratch_project

    home, project, scratch = folder / "home", folder / "project", folder / "tmp"
    scratch.mkdir(exist_ok=True)
    if not project.exists():
        # Created under another name first, so that a killed program leaves no incomplete project.
        with tempfile.TemporaryDirectory(dir=scratch) as part:
            make_scratch_project(Path(part, "project"))
            Path(part, "project").rename(project)
    return Agent(
        f"The demo, in {project}. Type `help` to see what it can do, `tour` to see it all.",
        {
            "agent": str(write_launcher(folder / "bin" / "claude")),
            "cwd": str(project),
            "env": {
                "HOME": str(home),
                "TMPDIR": str(scratch),
                "PATH": os.environ.get("PATH", ""),
            },
            "inherit_env": False,
        },
    )


def explain_not_found(problem: AgentNotFound) -> str:
    """What to do about a missing CLI, in terms of the command line."""
    if os.sep in problem.agent:
        remedy = f"{problem.agent!r} is not an executable file. Pass the path of a Claude CLI"
    else:
        remedy = (
            f"`{problem.agent}` was not found on PATH. Install Claude Code "
            "(npm install -g @anthropic-ai/claude-code) or pass the path of a CLI"
        )
    return f"{remedy} with --agent. `--agent demo` needs no CLI and no account."


def _folder(path: str | None) -> Path:
    folder = Path(path or ".").expanduser().absolute()
    if not folder.is_dir():
        raise UsageError(f"--cwd: {path!r} is not a folder. Create it, or choose another one.")
    if not os.access(folder, os.R_OK | os.X_OK):
        raise UsageError(
            f"--cwd: you may not read the folder {str(folder)!r}. Choose another one, or change "
            "its permissions."
        )
    return folder


def _variables(arguments: list[str]) -> dict[str, str]:
    """The variables of `--env`: `NAME=VALUE`, or `NAME` with its value in this process."""
    variables = {}
    for text in arguments:
        name, equals, value = text.partition("=")
        if not name or any(character.isspace() for character in name):
            raise UsageError(f"--env: {text!r} does not start with the name of a variable.")
        if not equals and name not in os.environ:
            raise UsageError(f"--env: {name} is not set. Set it, or write {name}=VALUE.")
        variables[name] = value if equals else os.environ[name]
    return variables


def _note(text: str) -> None:
    print(f"fairlead: {text}", file=sys.stderr)
