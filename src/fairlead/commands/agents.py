"""Which agent a command talks to: `claude` on this machine, one by its path, or the demo.

The demo needs no account: the emulator with its tour, in a home and a project of its own that are
gone afterwards. It is what runs where no `claude` is installed, and it says so.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["DEMO", "Agent", "add_agent_arguments", "choose"]

DEMO = "demo"


@dataclass(frozen=True, slots=True)
class Agent:
    """How to start an agent, and how to introduce it."""

    introduction: str
    options: dict[str, Any] = field(default_factory=dict)
    """Fields of `Options`."""
    demo: bool = False


def add_agent_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments that choose and set up an agent."""
    parser.add_argument(
        "--agent",
        help="name or path of the CLI, or `demo` (default: claude, or demo where there is none)",
    )
    parser.add_argument("--cwd", default=".", help="the folder to work in (default: this one)")
    parser.add_argument("--model", help="the model to use")
    parser.add_argument("--permission-mode", default="default", help="the permission mode")
    parser.add_argument("--resume", metavar="SESSION", help="go on with a session")
    parser.add_argument("--record", metavar="FILE", help="keep every line of both pipes in a file")


@asynccontextmanager
async def choose(arguments: argparse.Namespace) -> AsyncIterator[Agent]:
    """The agent that the arguments ask for."""
    name = arguments.agent or ("claude" if shutil.which("claude") else DEMO)
    chosen = {
        "model": arguments.model,
        "permission_mode": arguments.permission_mode,
        "resume": arguments.resume,
        "record": arguments.record,
    }
    if name != DEMO:
        where = _whole_path(arguments.cwd)
        yield Agent(f"{name}, in {where}", {**chosen, "agent": name, "cwd": arguments.cwd})
        return
    async with _demo() as agent:
        yield Agent(agent.introduction, {**chosen, **agent.options}, demo=True)


@asynccontextmanager
async def _demo() -> AsyncIterator[Agent]:
    from fairlead.emulator.launcher import write_launcher
    from fairlead.emulator.scratch_project import make_scratch_project

    print("fairlead: the demo: a scripted model, no account needed, real tools", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="fairlead-") as scratch:
        home, project = Path(scratch, "home"), Path(scratch, "project")
        make_scratch_project(project)
        yield Agent(
            f"The demo, in {project}. Say `help` to see what it can do, `tour` to see it all.",
            {
                "agent": str(write_launcher(Path(scratch, "bin", "claude"))),
                "cwd": str(project),
                "env": {"HOME": str(home), "TMPDIR": scratch, "PATH": os.environ.get("PATH", "")},
                "inherit_env": False,
            },
        )


def _whole_path(folder: str) -> Path:
    return Path(folder).resolve()
