"""A harness for Fairlead's own client with a real CLI, its scripted model and its folders.

    decisions = ScriptedDecisions(Deny("no"))
    async with harness.session(on_permission=decisions) as session:
        messages = await harness.use(session, "Bash", command="make")
        messages = await play(session, "go")

The harness only combines the fixtures; anything else that a test needs is set by plain options.
`play` runs one prompt to its result, with a timeout, and returns all its messages.
`ScriptedDecisions` answers permission requests in order and records them; `HeldRequests` leaves
them open.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from fairlead import Allow, Deny, Options, PermissionRequest, Session
from fairlead.host.client import PromptContent
from fairlead.model_api.api import ModelApi
from fairlead.model_api.replies import use
from fairlead.testing.real_cli import RealCli
from fairlead.wire.blocks import ToolResultBlock
from fairlead.wire.decode import AnyMessage
from fairlead.wire.events import User

__all__ = [
    "PNG",
    "TURN_S",
    "CliHarness",
    "HeldRequests",
    "ScriptedDecisions",
    "all_of",
    "one_of",
    "play",
    "tool_lines",
]

TURN_S = 45.0
"""Bound of one turn: an old CLI on two busy cores took 11 s to its first line (CLI-111)."""

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
"""The smallest picture: one pixel."""

Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True, kw_only=True)
class CliHarness:
    """All that a session needs."""

    cli: RealCli
    model: ModelApi
    home: Path
    project: Path
    env: dict[str, str]

    def options(self, **changes: Any) -> Options:
        """Options for a hermetic session, with changes."""
        env = {**self.env, **changes.pop("env", {})}
        usual: dict[str, Any] = {
            "agent": self.cli.executable,
            "version": self.cli.version,
            "cwd": self.project,
            "inherit_env": False,
        }
        return Options(env=env, **{**usual, **changes})

    def session(self, **changes: Any) -> Session:
        """A session that is not started yet."""
        return Session(self.options(**changes))

    async def use(self, session: Session, tool: str, /, **input: Any) -> list[AnyMessage]:
        """Run a turn in which the model uses one tool and then is done."""
        self.model.push(use(tool, **input))
        return await play(session, f"use {tool}")

    def outside(self, name: str, content: str) -> Path:
        """A file in a folder next to the project."""
        path = self.project.parent / "outside" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
        return path

    def script(self, name: str = "tool.sh", content: str = 'echo "ran $*"') -> str:
        """Put a program into the project that no rule knows; gives the command that runs it."""
        path = self.project / name
        path.write_text(f"#!/bin/sh\n{content}\n")
        path.chmod(0o755)
        return f"./{name}"


class ScriptedDecisions:
    """A permission handler: the given decisions in order, then allows."""

    def __init__(self, *decisions: Allow | Deny) -> None:
        self.asked: list[PermissionRequest] = []
        """Every request so far."""
        self._decisions = list(decisions)

    async def __call__(self, request: PermissionRequest) -> Allow | Deny:
        self.asked.append(request)
        return self._decisions.pop(0) if self._decisions else Allow()

    def decide_next(self, *decisions: Allow | Deny) -> None:
        """Add decisions for the requests to come."""
        self._decisions += decisions

    @property
    def tools(self) -> list[str]:
        """The names of the tools that were asked for."""
        return [request.tool_name for request in self.asked]


class HeldRequests:
    """A permission handler that leaves requests open until the test answers them."""

    def __init__(self) -> None:
        self.asked: list[PermissionRequest] = []
        self.withdrawn: list[PermissionRequest] = []
        self._changed = asyncio.Condition()
        self._answers: dict[str, asyncio.Future[Allow | Deny]] = {}

    async def __call__(self, request: PermissionRequest) -> Allow | Deny:
        answer: asyncio.Future[Allow | Deny] = asyncio.get_running_loop().create_future()
        self._answers[request.id] = answer
        self.asked.append(request)
        await self._tell()
        try:
            return await answer
        except asyncio.CancelledError:
            self.withdrawn.append(request)
            raise

    async def arrived(self, count: int) -> None:
        """Wait until this many requests have come."""
        async with asyncio.timeout(TURN_S), self._changed:
            await self._changed.wait_for(lambda: len(self.asked) >= count)

    def answer(self, request: PermissionRequest, decision: Allow | Deny) -> None:
        self._answers[request.id].set_result(decision)

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()


async def play(session: Session, prompt: PromptContent = "go") -> list[AnyMessage]:
    """Run one prompt; every message from its sending up to its result, which is the last."""
    async with asyncio.timeout(TURN_S):
        turn = await session.send(prompt)
        return [message async for message in turn]


def all_of(kind: type[Kind], messages: Iterable[object]) -> list[Kind]:
    """The messages of one kind."""
    return [message for message in messages if isinstance(message, kind)]


def one_of(kind: type[Kind], messages: Iterable[object]) -> Kind:
    """The only message of its kind."""
    (found,) = all_of(kind, messages)
    return found


def tool_lines(messages: Iterable[object]) -> list[tuple[User, ToolResultBlock]]:
    """The lines that carry a tool's result, each with its block."""
    return [
        (line, block)
        for line in all_of(User, messages)
        if not isinstance(line.message.content, str | None)
        for block in line.message.content
        if isinstance(block, ToolResultBlock)
    ]
