"""The library's session: a running client and the transcript of what it does.

    async with Session(Options(cwd="project")) as session:
        turn = await session.send("…")
        async for change in session.changes():
            ...
        print(session.transcript.status)

`Session` connects `host` and `transcript`, which do not know each other. `TranscriptObserver`
turns what a link observes into what a reducer is fed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairlead.errors import SessionClosed
from fairlead.host.client import Client
from fairlead.host.options.options import Options
from fairlead.host.process.readers import Reader, Readers

if TYPE_CHECKING:
    from fairlead.permissions.audit_log import AuditLog
    from fairlead.permissions.guard import Guard
    from fairlead.transcript.reduce import Fed
    from fairlead.transcript.state.changes import Change
    from fairlead.transcript.transcript import Transcript
    from fairlead.transcript_observer import TranscriptObserver

__all__ = ["Session"]

CHANGE_BYTES = 200
"""Approximate size of an unread change; the limit of a reader is in bytes."""


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
        """`guard` answers by rule before a handler is asked; `audit` records every decision."""
        session_options = options or Options()
        if guard is not None or audit is not None:
            # A third of the import time of this module, and most programs use neither.
            from fairlead.guarding import Guarding
            from fairlead.permissions.guard import Guard

            guarding = Guarding(
                session_options,
                guard or Guard(),
                audit,
                session_id=lambda: self.session_id,
                spent_usd=self._spent_usd,
            )
            session_options = guarding.options()
        super().__init__(session_options)
        self._change_readers: Readers[Change] = Readers()
        self._transcript: Transcript | None = None
        self._observer: TranscriptObserver | None = None
        if transcript:
            # Thirty modules, which a session without a transcript does not need.
            from fairlead.transcript.transcript import Transcript
            from fairlead.transcript_observer import TranscriptObserver

            self._transcript = Transcript()
            self._observer = TranscriptObserver(self, self._fold)
            self.observe(self._observer)

    async def start(self) -> None:
        """Start the CLI and complete the handshake."""
        if self._observer is not None:
            self._observer.started()
        await super().start()

    @property
    def transcript(self) -> Transcript:
        """The conversation so far: items, turns, what is pending, cost, status."""
        if self._transcript is None:
            raise SessionClosed("read the transcript", "it was disabled with transcript=False")
        return self._transcript

    def changes(self) -> Reader[Change]:
        """A new reader of every change of the transcript from now on."""
        _ = self.transcript
        reader = self._change_readers.open(self.options.reader_limit)
        if self.ended:
            reader.close()
        return reader

    def _spent_usd(self) -> float:
        return self._transcript.ledger.cost_usd if self._transcript is not None else 0.0

    def _fold(self, fed: list[Fed], at: float, line: bytes | None = None) -> None:
        if self._change_readers:
            changes = self.transcript.feed_all([(value, at) for value in fed])
            self._change_readers.push(changes, CHANGE_BYTES * len(changes))
        else:
            self.transcript.take(fed, at)
        from fairlead.transcript.state.facts import ProcessExited

        if fed and isinstance(fed[-1], ProcessExited):
            self._change_readers.close()
