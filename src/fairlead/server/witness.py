"""Sees everything that one client does, and has it noted: the observer of a session's CLI."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from fairlead.host.prompts import PromptMoved
from fairlead.server.prompt_line import PromptLine
from fairlead.transcript.reduce import Fed
from fairlead.wire.decode import AnyMessage
from fairlead.wire.inputs import Input

__all__ = ["Witness"]


class Witness:
    """An `Observer`. `gone` is told the exit code."""

    def __init__(
        self,
        note: Callable[[list[Fed]], None],
        prompts: PromptLine,
        gone: Callable[[int], None],
    ) -> None:
        self._note = note
        self._prompts = prompts
        self._gone = gone

    def received(self, messages: list[AnyMessage], at: float) -> None:
        """The CLI wrote these."""
        self._note(list(messages))
        if len(self._prompts.held):
            # Not at once: the client has yet to learn from these whether the CLI is idle.
            asyncio.get_running_loop().call_soon(self._prompts.pump)

    def sent(self, message: Input, line: bytes, at: float) -> None:
        """The host wrote this."""
        self._note([message])

    def prompt_moved(self, move: PromptMoved, at: float) -> None:
        """The client's queue moved."""
        self._prompts.moved(move)

    def exited(self, returncode: int, at: float) -> None:
        """The process is gone."""
        self._gone(returncode)
