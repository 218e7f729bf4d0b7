"""One session of the server: a transcript that follows its log, and a CLI while one runs.

Everything the CLI does goes into the journal, and from there, once it is stored, into the
transcript and to the hub (`published`). What a client wants is stored first and then done.
`lifecycle` has the states of the CLI process, `queued_prompts` has its prompts, `permission_handlers` what the CLI asks. Knows
neither clients nor other sessions; `sessions` keeps many of these.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from fairlead.errors import FairleadError
from fairlead.host.client import Client
from fairlead.host.options.options import Options
from fairlead.host.process.gate import Gate
from fairlead.server.limits import Limits
from fairlead.server.refusal import Refusal
from fairlead.server.session.append_rate import AppendRate
from fairlead.server.session.denied_rules import DeniedRules
from fairlead.server.session.dialogs import DIALOGS
from fairlead.server.session.effect import Effect, effect_of
from fairlead.server.session.journal import EventStore, Journal, Shown
from fairlead.server.session.lifecycle import Event, Lifecycle
from fairlead.server.session.open_requests import Requests
from fairlead.server.session.permission_handlers import PermissionHandlers
from fairlead.server.session.queued_prompts import QueuedPrompts
from fairlead.store.tables.audit import AuditRecord
from fairlead.store.tables.intents import IntentOutcome
from fairlead.transcript.reduce import Fed
from fairlead.transcript.state.changes import Change
from fairlead.transcript.state.coalesce import coalesce
from fairlead.transcript.state.facts import ProcessExited, Stopped
from fairlead.transcript.transcript import Transcript
from fairlead.transcript_observer import TranscriptObserver
from fairlead.wire.events import RateLimitEvent, RateLimitInfo
from fairlead.wire.updates import PermissionUpdate

if TYPE_CHECKING:
    from fairlead.permissions.guard import Guard

__all__ = ["LiveSession"]

RESERVED_S = 20.0
"""How long a stop waits for a start that has no process yet, such as one that asks for a version."""
SPAWN_STEP_S = 0.01
"""How often a stop checks whether a start has created its process, which takes moments."""


class LiveSession:
    """A session that is loaded; `lifecycle` says whether a CLI runs in it."""

    def __init__(
        self,
        session: str,
        store: EventStore,
        limits: Limits,
        *,
        transcript: Transcript | None = None,
        seq: int = 0,
        published: Callable[[LiveSession, int, Sequence[Change]], None],
        settled: Callable[[LiveSession, Effect], None] | None = None,
        exited: Callable[[LiveSession, ProcessExited], None] | None = None,
        clock: Callable[[], float] = time.time,
        guard: Guard | None = None,
        suggestions: bool = True,
        rate: AppendRate | None = None,
    ) -> None:
        """`settled` is called after each batch that was published, with its effect."""
        self.id = session
        self._guard = guard
        self._suggests = suggestions
        self.transcript = transcript or Transcript()
        self.seq = seq
        """The number of the last event that is stored and shown."""
        self.prompts = QueuedPrompts(self, limits, self.transcript.held)
        self.requests = Requests()
        self.denied_rules = DeniedRules(self.transcript.denied_rules)
        self._handlers: PermissionHandlers | None = None
        self.client: Client | None = None
        self.active = clock()
        """When something last happened here."""
        self._limits = limits
        self._published = published
        self._settled = settled
        self._exited = exited
        self._clock = clock
        self.lifecycle = Lifecycle()
        self._decided = Gate()
        """Closed while a start is reserved without a decision on its process."""
        self._start: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.journal = Journal(
            session,
            store,
            self._stored,
            limits,
            on_full=self._pause_reading,
            on_room=self._resume_reading,
            on_batch=self._batch_stored,
            before=self._prepare,
            rate=rate,
            on_wait=self._hold_output,
            on_turn=self._take_output,
            on_free=self._release_output,
        )
        self._effect = Effect.GREW
        """The largest effect of the events since `settled` was called."""
        self.on_limit: Callable[[LiveSession, RateLimitInfo, float], None] | None = None
        """Called for every stored report of the account's usage."""
        self.prepare: Callable[[Sequence[Fed]], Awaitable[None]] | None = None
        """Awaited before events are shown, for what takes too long for the event loop."""

    # Life

    @property
    def live(self) -> bool:
        """Whether a CLI runs, or is being started or stopped."""
        return self.lifecycle.live

    @property
    def ready(self) -> bool:
        """Whether a CLI runs that takes prompts."""
        return self.lifecycle.ready

    @property
    def busy(self) -> bool:
        """Whether the session is starting or working, or a user or the CLI waits for it."""
        working = self.client is not None and self.client.busy
        waiting = bool(self.transcript.pending or len(self.prompts))
        background = self.transcript.status.background > 0
        return self.lifecycle.starting or (self.live and (working or waiting or background))

    def reserve(self) -> None:
        """Count as live from now on, because a CLI will be started; refuses if one runs."""
        if not self.lifecycle.may(Event.RESERVE):
            raise Refusal("conflict", "This session is already running.")
        self.lifecycle.happen(Event.RESERVE)
        self._start = None
        self._decided.close()

    def release(self) -> None:
        """End a reservation that has not led to `start`."""
        if self._start is None and self.lifecycle.may(Event.RELEASE):
            self.lifecycle.happen(Event.RELEASE)
        self._decided.open()

    async def start(self, options: Options) -> None:
        """Start a CLI after `reserve` and write queued prompts. Raises as `Client.start` does.

        The start continues if the caller is cancelled, because half a start would leave a
        process behind. Refuses if the session was stopped after `reserve`.
        """
        if not self.lifecycle.starting:
            raise Refusal("unavailable", "The session was stopped before its agent started.")
        self._start = asyncio.create_task(self._start_client(options))
        self._decided.open()
        self._start.add_done_callback(lambda task: task.cancelled() or task.exception())
        await asyncio.shield(self._start)

    async def _start_client(self, options: Options) -> None:
        self.requests = Requests()
        self.denied_rules.restarted()
        self._handlers = handlers = PermissionHandlers(
            self,
            self.requests,
            options,
            guard=self._guard,
            denied=self.denied_rules,
            clock=self._clock,
        )
        client = Client(
            replace(
                options,
                on_permission=handlers.permission,
                on_elicitation=handlers.elicitation,
                on_dialog=handlers.dialog,
                stream=replace(
                    options.stream,
                    hook_events=True,
                    prompt_suggestions=self._suggests,
                    where_known=True,
                    dialog_kinds=tuple(DIALOGS),
                ),
                agents=replace(options.agents, progress_summaries=True),
            ),
            prompts=self.prompts.queue,
        )
        observer = TranscriptObserver(
            client, partial(self._observed, client), expected=lambda: self.lifecycle.stopping
        )
        client.observe(observer)
        self.client = client
        if self.journal.full:
            self._pause_reading()
        observer.started()
        try:
            await client.start()
        except FairleadError as problem:
            if client.pid is None:
                self._gone(ProcessExited(stderr=str(problem)))
            raise
        self.lifecycle.happen(Event.READY)
        await handlers.give_rules()
        self.prompts.write_next()

    def deny_calls(self, rules: Sequence[PermissionUpdate]) -> None:
        """Deny what these rules cover for the rest of the session, also what is open now."""
        self.denied_rules.add(rules)
        if self._handlers is not None:
            self.spawn(self._handlers.deny_calls())

    async def stop(self) -> None:
        """End the CLI, and wait until its end is stored. The session can be resumed."""
        self.lifecycle.happen(Event.STOP)
        self.prompts.pause()
        # A start that was only reserved is given up by its own task. Until then the session
        # counts as live, and a prompt would be queued for a process that never comes.
        with suppress(TimeoutError):
            async with asyncio.timeout(RESERVED_S):
                await self._decided.wait()
        start = self._start
        while (
            start is not None and not start.done() and (self.client is None or not self.client.pid)
        ):
            await asyncio.wait([start], timeout=SPAWN_STEP_S)
        await self.requests.finish()
        client = self.client
        if client is not None and not client.ended:
            await client.close()
        if start is not None:
            await asyncio.wait([start])
        if self.journal.problem is None:
            await self.journal.flush()

    async def close(self) -> None:
        """Release everything."""
        await self.stop()
        for task in tuple(self._tasks):
            task.cancel()
        await self.journal.close()

    # What happened

    def note(self, fed: list[Fed], line: bytes | None = None) -> None:
        """Store something that has happened; `line` is the line of a single message, encoded."""
        self.active = self._clock()
        self.journal.note(fed, self.active, line)

    def _observed(
        self, client: Client, fed: list[Fed], at: float, line: bytes | None = None
    ) -> None:
        """Something happened in a CLI process."""
        if not isinstance(fed[0], ProcessExited):
            self.note(fed, line)
        elif client is self.client:
            self._gone(fed[0])

    def note_stop(self, by: str) -> None:
        """A client stops the session; clients with an open request learn which one did."""
        if self.transcript.pending:
            self.note([Stopped(by)])  # Not `record`: a stop does not wait for the store.

    async def _prepare(self, fed: Sequence[Fed]) -> None:
        if self.prepare is not None:
            await self.prepare(fed)

    def _stored(self, seq: int, batch: Sequence[Shown]) -> None:
        """A batch of events is stored; `seq` is the number of the last one."""
        changes: Sequence[Change] = self.transcript.feed_all(batch)
        if len(changes) > 1:  # Also those of one event: a result sets a text, then the outcome.
            changes = coalesce(changes)
        effect = effect_of({type(fed) for fed, _ in batch}, changes)
        if effect > self._effect:
            self._effect = effect
        self.seq = seq
        if effect is not Effect.OTHER:  # Neither the queue nor a limit is concerned.
            self._published(self, seq, changes)
            return
        self.prompts.apply(batch)
        self._published(self, seq, changes)
        for fed, at in batch:
            if type(fed) is RateLimitEvent and fed.rate_limit_info and self.on_limit is not None:
                self.on_limit(self, fed.rate_limit_info, at)

    def _batch_stored(self) -> None:
        effect, self._effect = self._effect, Effect.GREW
        if self._settled is not None:
            self._settled(self, effect)
        # Between turns each batch may be the one that the gate of the queue waited for.
        if effect is Effect.OTHER or not self.transcript.in_turn:
            self.prompts.write_next()

    def _gone(self, fact: ProcessExited) -> None:
        self.lifecycle.happen(Event.EXIT)
        self.note([fact])
        if self._exited is not None:
            self._exited(self, fact)

    # The CLI

    def running(self) -> Client:
        """The client of the running CLI; refuses if there is none."""
        if self.client is None or not self.ready:
            raise Refusal("unavailable", "No agent is running in this session. Resume it first.")
        return self.client

    async def record(
        self,
        fed: list[Fed],
        intent: IntentOutcome | None = None,
        audit: Sequence[AuditRecord] = (),
    ) -> None:
        """Store what a client requested; raises `StoreUnavailable`."""
        self.active = self._clock()
        await self.journal.record(fed, self.active, intent=intent, audit=audit)

    def _pause_reading(self) -> None:
        """Let a CLI wait if its output cannot be stored as fast as it writes."""
        if self.client is not None:
            self.client.pause_reading()

    def _resume_reading(self) -> None:
        if self.client is not None:
            self.client.resume_reading()

    def _hold_output(self) -> None:
        """Let output that can wait come in one piece, when it is the session's turn to append."""
        if self.client is not None:
            self.client.hold_output()

    def _take_output(self) -> None:
        if self.client is not None:
            self.client.take_output()

    def _release_output(self) -> None:
        if self.client is not None:
            self.client.release_output()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something concurrently."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
