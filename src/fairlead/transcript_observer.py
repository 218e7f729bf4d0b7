"""Translates the events of a client into the inputs of a transcript.

`host` and `transcript` do not know each other. A `TranscriptObserver` translates between them:
messages in both directions, and the facts that no line contains (a process started or ended, a
prompt was queued or cancelled). The library folds them at once (`live.Session`), the server
stores them first (`server/session/live_session`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from fairlead.host.client import Client
from fairlead.host.engine.prompts import PromptMoved, PromptState
from fairlead.transcript.reduce import Fed
from fairlead.transcript.state.facts import (
    ProcessExited,
    ProcessStarted,
    PromptCancelled,
    PromptHeld,
)
from fairlead.wire.decode import AnyMessage
from fairlead.wire.inputs import Input, Prompt

__all__ = ["Feed", "TranscriptObserver"]


class Feed(Protocol):
    """What receives the values, in order."""

    def __call__(self, fed: list[Fed], at: float, line: bytes | None = None) -> None:
        """Take some values; `line` is the encoded line of a single value that the host sent."""


class TranscriptObserver:
    """An `Observer` of one client that hands everything to `feed`."""

    def __init__(
        self, client: Client, feed: Feed, *, expected: Callable[[], bool] | None = None
    ) -> None:
        """`expected` says whether an end of the process is intended; by default, by `close`."""
        self._client = client
        self._feed = feed
        self._expected = expected or (lambda: client.closing)
        self._written: set[str] = set()
        self._began = time.time()

    def started(self) -> None:
        """Report that the process is being started; call it before `Client.start`."""
        options = self._client.options
        resumed = options.resume or ("latest" if options.continue_latest else None)
        self._began = time.time()
        self._feed([ProcessStarted(resumed=resumed)], self._began)

    def received(self, messages: list[AnyMessage], at: float) -> None:
        """The CLI wrote these messages."""
        self._feed(list(messages), self._began + at)

    def sent(self, message: Input, line: bytes, at: float) -> None:
        """The host wrote this message."""
        if isinstance(message, Prompt):
            self._written.add(message.uuid)
        self._feed([message], self._began + at, line)

    def prompt_moved(self, move: PromptMoved, at: float) -> None:
        """A prompt changed its state. Only the host knows this before the prompt is written."""
        uuid = move.prompt.uuid
        if uuid in self._written:
            return
        if move.state is PromptState.HELD:
            self._feed([PromptHeld(move.prompt)], self._began + at)
        elif move.state is PromptState.CANCELLED:
            self._feed([PromptCancelled(uuid)], self._began + at)

    def exited(self, returncode: int, at: float) -> None:
        """The process has ended."""
        fact = ProcessExited(
            returncode=returncode, expected=self._expected(), stderr=self._client.stderr
        )
        self._feed([fact], self._began + at)
