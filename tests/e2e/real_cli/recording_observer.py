"""An observer that records what a session does, and a shell command that a test can hold.

    observer = RecordingObserver.of(session)   # before the session is started
    await observer.until(lambda: observer.all_of(Init))
    assert observer.written[-1]["type"] == "user"

    with HeldCommand(project) as command:
        model.push(use("Bash", command=command.text))
        …
        await command.begun()                  # it runs
        command.release()                      # it ends

Every wait is bounded and none is a sleep.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self, TypeVar

from fairlead.host.client import Client
from fairlead.host.engine.prompts import PromptMoved
from fairlead.host.process.turn import Turn
from fairlead.model_api.gate import Bell
from fairlead.testing.real_cli import RealCli
from fairlead.wire.decode import AnyMessage
from fairlead.wire.events import Result
from fairlead.wire.inputs import Input
from fairlead.wire.versions import Feature, Version
from tests.e2e.real_cli.cli_harness import TURN_S

__all__ = ["HeldCommand", "RecordingObserver", "ended", "has"]

Kind = TypeVar("Kind")


class RecordingObserver:
    """An observer that records everything, in order."""

    def __init__(self) -> None:
        self.heard: list[AnyMessage] = []
        """What the CLI wrote, control lines too."""
        self.written: list[dict[str, Any]] = []
        """What the host wrote, as plain values."""
        self.moves: list[PromptMoved] = []
        self.returncode: int | None = None
        self._bell = Bell()

    @classmethod
    def of(cls, session: Client) -> Self:
        """An observer of this session."""
        observer = cls()
        session.observe(observer)
        return observer

    def all_of(self, kind: type[Kind]) -> list[Kind]:
        """The messages of one kind so far."""
        return [message for message in self.heard if isinstance(message, kind)]

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until the condition holds for what was seen."""
        await self._bell.until(lambda: bool(condition()), TURN_S)

    def received(self, messages: list[AnyMessage], at: float) -> None:
        """A message was received."""
        self.heard += messages
        self._bell.ring()

    def sent(self, message: Input, line: bytes, at: float) -> None:
        """A message was written."""
        self.written.append(json.loads(line))
        self._bell.ring()

    def prompt_moved(self, move: PromptMoved, at: float) -> None:
        """The state of a prompt changed."""
        self.moves.append(move)
        self._bell.ring()

    def exited(self, returncode: int, at: float) -> None:
        """The session ended."""
        self.returncode = returncode
        self._bell.ring()


class HeldCommand:
    """A shell command that reports when it runs and ends when it is released."""

    def __init__(self, folder: Path, says: str = "let go") -> None:
        self._paths = (folder / "begun.fifo", folder / "go.fifo")
        self.text = f"echo > begun.fifo; read x < go.fifo; echo {says}"

    def __enter__(self) -> Self:
        for path in self._paths:
            os.mkfifo(path)
        # Opened both ways, a pipe blocks neither of us.
        self._begun, self._go = (os.open(p, os.O_RDWR | os.O_NONBLOCK) for p in self._paths)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._begun)
        os.close(self._go)

    async def begun(self) -> None:
        """Wait until the command runs."""
        loop = asyncio.get_running_loop()
        there = asyncio.Event()
        loop.add_reader(self._begun, there.set)
        try:
            async with asyncio.timeout(TURN_S):
                await there.wait()
            os.read(self._begun, 100)
        finally:
            loop.remove_reader(self._begun)

    def release(self) -> None:
        """Let the command go on to its end."""
        os.write(self._go, b"go\n")


async def ended(*turns: Turn) -> list[Result]:
    """The results of turns, each waited for with a bound."""
    async with asyncio.timeout(TURN_S):
        return [await turn.wait() for turn in turns]


def has(cli: RealCli, feature: Feature) -> bool:
    """Whether this CLI shows a difference that the table of versions knows."""
    version = Version.parse(cli.version)
    assert version is not None
    return version.has(feature)
