"""The joint: a running client and the transcript of what it does.

    async with Session(Options(cwd="project")) as session:
        turn = await session.send("…")
        async for change in session.changes():
            ...
        print(session.transcript.status)

`Session` is the library's own: `host` and `transcript`, which do not know each other, put
together. `Feed` is how they meet: it turns what a link observes into what a reducer is fed, in
order, both directions and the facts that are not on the wire.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from fairlead.errors import SessionClosed
from fairlead.guarding import Guarding
from fairlead.host.client import Client
from fairlead.host.options import Options
from fairlead.host.prompts import PromptMoved, PromptState
from fairlead.host.readers import Reader
from fairlead.permissions.audit_log import AuditLog
from fairlead.permissions.guard import Guard
from fairlead.transcript.changes import Change
from fairlead.transcript.facts import (
    ProcessExited,
    ProcessStarted,
    PromptCancelled,
    PromptHeld,
)
from fairlead.transcript.reduce import Fed
from fairlead.transcript.transcript import Transcript
from fairlead.wire.decode import AnyMessage
from fairlead.wire.inputs import Input, Prompt

__all__ = ["Feed", "Session"]

CHANGE_BYTES = 200
"""About what an unread change costs; the limit of a reader is in bytes."""


class Feed:
    """An observer of a link that hands everything to `take`, as a reducer wants it."""

    def __init__(self, client: Client, take: Callable[[list[Fed], float], None]) -> None:
        self._client = client
        self._take = take
        self._written: set[str] = set()
        self._began = time.time()

    def started(self) -> None:
        """The process is there."""
        options = self._client.options
        resumed = options.resume or ("latest" if options.continue_latest else None)
        self._began = time.time()
        self._take([ProcessStarted(resumed=resumed)], self._began)

    def received(self, messages: list[AnyMessage], at: float) -> None:
        """The CLI wrote these."""
        self._take(list(messages), self._began + at)

    def sent(self, message: Input, line: bytes, at: float) -> None:
        """The host wrote this."""
        if isinstance(message, Prompt):
            self._written.add(message.uuid)
        self._take([message], self._began + at)

    def prompt_moved(self, move: PromptMoved, at: float) -> None:
        """The queue moved; what was written at once was never seen waiting."""
        uuid = move.prompt.uuid
        if move.state is PromptState.HELD and uuid not in self._written:
            self._take([PromptHeld(move.prompt)], self._began + at)
        elif move.state is PromptState.CANCELLED and uuid not in self._written:
            self._take([PromptCancelled(uuid)], self._began + at)

    def exited(self, returncode: int, at: float) -> None:
        """The process is gone."""
        gone = ProcessExited(
            returncode=returncode,
            expected=self._client.closing,
            stderr=self._client.stderr,
        )
        self._take([gone], self._began + at)


class Session(Client):
    """A running CLI, and a transcript of it that is always up to date."""

    def __init__(
        self,
        options: Options | None = None,
        *,
        transcript: bool = True,
        guard: Guard | None = None,
        audit: AuditLog | None = None,
    ) -> None:
        """`guard` answers by rule before a handler is asked; `audit` keeps every decision."""
        given = options or Options()
        if guard is not None or audit is not None:
            guarding = Guarding(
                given,
                guard or Guard(),
                audit,
                session_id=lambda: self.session_id,
                spent_usd=self._spent_usd,
            )
            given = guarding.options()
        super().__init__(given)
        self._transcript = Transcript() if transcript else None
        self._change_readers: list[Reader[Change]] = []
        self._feed = Feed(self, self._fold)
        if transcript:
            self.observe(self._feed)

    async def start(self) -> None:
        """Start the CLI and shake hands with it."""
        if self._transcript is not None:
            self._feed.started()
        await super().start()

    @property
    def transcript(self) -> Transcript:
        """The conversation so far: items, turns, what is pending, cost, status."""
        if self._transcript is None:
            raise SessionClosed("read the transcript", "it was switched off: transcript=False")
        return self._transcript

    def changes(self) -> Reader[Change]:
        """A new reader of every change of the transcript from now on."""
        _ = self.transcript
        reader: Reader[Change] = Reader(
            self.options.reader_limit, on_close=self._change_readers.remove
        )
        self._change_readers.append(reader)
        if self.ended:
            reader.close()
        return reader

    def _spent_usd(self) -> float:
        return self._transcript.ledger.cost_usd if self._transcript is not None else 0.0

    def _fold(self, fed: list[Fed], at: float) -> None:
        transcript = self.transcript
        changes: list[Change] = []
        for one in fed:
            changes += transcript.feed(one, at)
        over = isinstance(fed[-1], ProcessExited) if fed else False
        for reader in list(self._change_readers):
            reader.push(changes, CHANGE_BYTES * len(changes))
            if over:
                reader.close()
