"""One session of the server: a transcript that follows its log, and a CLI while one runs.

Everything the CLI does goes into the journal, and from there, once it is stored, into the
transcript and to whoever watches (`published`). What somebody wants is stored first and only
then done. Its prompts are `prompt_line`'s, what the CLI asks is `attendant`'s. Knows neither
clients nor other sessions; `sessions` keeps many of these.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from fairlead.errors import FairleadError
from fairlead.host.client import Client
from fairlead.host.options import Options
from fairlead.permissions.guard import Guard
from fairlead.server.attendant import Attendant
from fairlead.server.dialogs import DIALOGS
from fairlead.server.journal import EventStore, Journal
from fairlead.server.limits import Limits
from fairlead.server.prompt_line import PromptLine
from fairlead.server.refusal import Refusal
from fairlead.server.requests import Requests
from fairlead.server.witness import Witness
from fairlead.store.audit import AuditRecord
from fairlead.store.intents import IntentOutcome
from fairlead.transcript.changes import Change
from fairlead.transcript.facts import (
    ProcessExited,
    ProcessStarted,
    Stopped,
)
from fairlead.transcript.reduce import Fed
from fairlead.transcript.transcript import Transcript

__all__ = ["LiveSession"]

SPAWN_STEP_S = 0.01
"""How often a stop looks whether a start has come to its process, which takes moments."""

UNREAD = 1
"""Nobody reads the client's own turns here: the log has everything, and they keep nothing."""


class LiveSession:
    """A session that is loaded, and runs while `live`."""

    def __init__(
        self,
        session: str,
        store: EventStore,
        limits: Limits,
        *,
        transcript: Transcript | None = None,
        seq: int = 0,
        published: Callable[[LiveSession, int, Sequence[Change]], None],
        settled: Callable[[LiveSession], None] | None = None,
        exited: Callable[[LiveSession, ProcessExited], None] | None = None,
        clock: Callable[[], float] = time.time,
        guard: Guard | None = None,
    ) -> None:
        self.id = session
        self._guard = guard
        self.transcript = transcript or Transcript()
        self.seq = seq
        """The number of the last event that is stored and shown."""
        self.prompts = PromptLine(self, limits)
        self.requests = Requests()
        self.client: Client | None = None
        self.active = clock()
        """When something last happened here."""
        self._limits = limits
        self._published = published
        self._exited = exited
        self._clock = clock
        self._starting = False
        self._stopping = False
        self._start: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.journal = Journal(
            session,
            store,
            self._stored,
            limits,
            on_full=self._pause_reading,
            on_room=self._resume_reading,
            on_batch=(lambda: settled(self)) if settled is not None else None,
        )

    # Life

    @property
    def live(self) -> bool:
        """Whether a CLI runs, or is being started."""
        return self._starting or (self.client is not None and not self.client.ended)

    @property
    def busy(self) -> bool:
        """Whether it works, waits for an answer, or has something left to do."""
        working = self.client is not None and self.client.busy
        waiting = bool(self.transcript.pending or len(self.prompts.held))
        return self._starting or (self.live and (working or waiting or self._background()))

    def reserve(self) -> None:
        """Count as live from now on, because it will be started; refuses if it runs."""
        if self.live:
            raise Refusal("conflict", "this session runs already")
        self._starting = True

    def release(self) -> None:
        """It will not be started after all."""
        self._starting = False

    async def start(self, options: Options) -> None:
        """Start a CLI after `reserve`; what waits is given to it. Raises as `Client.start` does.

        Goes on if the caller does not wait: half a start would leave a process behind.
        """
        self._starting, self._stopping = True, False
        self._start = asyncio.create_task(self._start_client(options))
        self._start.add_done_callback(lambda task: task.cancelled() or task.exception())
        await asyncio.shield(self._start)

    async def _start_client(self, options: Options) -> None:
        self.requests = Requests()
        attendant = Attendant(self, self.requests, options, guard=self._guard, clock=self._clock)
        client = Client(
            replace(
                options,
                on_permission=attendant.permission,
                on_elicitation=attendant.elicitation,
                on_dialog=attendant.dialog,
                stream=replace(options.stream, dialog_kinds=tuple(DIALOGS)),
                reader_limit=UNREAD,
            )
        )
        client.observe(Witness(self.note, self.prompts, partial(self._process_gone, client)))
        self.client = client
        if self.journal.full:
            self._pause_reading()
        resumed = options.resume or ("latest" if options.continue_latest else None)
        self.note([ProcessStarted(resumed=resumed)])
        try:
            await client.start()
        except FairleadError as problem:
            if client.pid is None:
                self._gone(ProcessExited(stderr=str(problem)))
            raise
        finally:
            self._starting = False
        self.prompts.pump()

    async def stop(self) -> None:
        """End the CLI, and wait until its end is stored. The session can be resumed."""
        self._stopping = True
        start = self._start
        while (
            start is not None and not start.done() and (self.client is None or not self.client.pid)
        ):
            await asyncio.wait([start], timeout=SPAWN_STEP_S)
        client = self.client
        if client is not None and not client.ended:
            await client.close()
        if start is not None:
            await asyncio.wait([start])
        if self.journal.problem is None:
            await self.journal.flush()

    async def close(self) -> None:
        """Let everything go."""
        await self.stop()
        for task in tuple(self._tasks):
            task.cancel()
        await self.journal.close()

    # What happened

    def note(self, fed: list[Fed]) -> None:
        """Something happened."""
        self.active = self._clock()
        self.journal.note(fed, self.active)

    def note_stop(self, by: str) -> None:
        """Somebody stops what runs; whoever was asked something is told who it was."""
        if self.transcript.pending:
            self.note([Stopped(by)])  # Not `record`: a stop does not wait for the store.

    def _stored(self, seq: int, fed: Fed, at: float) -> None:
        changes = self.transcript.feed(fed, at)
        self.seq = seq
        self._published(self, seq, changes)

    def _gone(self, fact: ProcessExited) -> None:
        self.note([fact])
        self.prompts.came_back()
        if self._exited is not None:
            self._exited(self, fact)

    def _process_gone(self, client: Client, returncode: int) -> None:
        if client is not self.client:
            return
        expected = self._stopping
        self._gone(ProcessExited(returncode=returncode, expected=expected, stderr=client.stderr))

    # The CLI

    def running(self) -> Client:
        """The client of the CLI that runs; refuses if there is none."""
        if self.client is None or self._starting or self.client.ended or self.client.closing:
            raise Refusal("unavailable", "no agent runs in this session; resume it first")
        return self.client

    async def record(
        self,
        fed: list[Fed],
        intent: IntentOutcome | None = None,
        audit: Sequence[AuditRecord] = (),
    ) -> None:
        """Store something that somebody wants; raises `StoreUnavailable`."""
        self.active = self._clock()
        await self.journal.record(fed, self.active, intent=intent, audit=audit)

    @property
    def ready(self) -> bool:
        """Whether a CLI runs that takes prompts."""
        client = self.client
        if client is None or self._starting or self._stopping:
            return False
        return not client.ended and not client.closing

    def _background(self) -> bool:
        return self.transcript.status.background > 0

    def _pause_reading(self) -> None:
        """Let a CLI wait whose words cannot be stored as fast as it has them."""
        if self.client is not None:
            self.client.pause_reading()

    def _resume_reading(self) -> None:
        if self.client is not None:
            self.client.resume_reading()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside everything else."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
