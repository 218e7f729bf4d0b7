"""The path of one session's events into the log, in order, before any client sees their effect.

There are two entry points. `note` takes what has happened (the CLI wrote a line, the process
ended): it cannot be undone, so it waits here until the store accepts it. `record` takes what a
client wants (a prompt, a decision): it is refused at once if the store cannot, and nothing follows
from it before it is stored. If too much waits, `on_full` is called, so that the CLI is not read any
further, and `on_room` when there is room again.

Events travel in batches: one append is under way at a time, and everything that arrives meanwhile
is one batch for the next append. A batch is shown as a whole (`stored`). There is no task per
session; the store calls back when an append is durable. The sessions of a busy server share a
number of appends a second (`append_rate`); only text, results of tools and reports of the status
wait for their turn.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, Protocol

from fairlead.host.process.gate import Gate
from fairlead.server.limits import Limits
from fairlead.server.session.append_rate import AppendRate
from fairlead.server.session.log_lines import events_of
from fairlead.store.log import NewEvent, StoreUnavailable
from fairlead.store.tables.audit import AuditRecord
from fairlead.store.tables.intents import IntentOutcome
from fairlead.transcript.reduce import Fed
from fairlead.wire.control import ControlRequest, ControlResponse
from fairlead.wire.events import Assistant, StreamEvent, ToolProgress, User
from fairlead.wire.inputs import Request
from fairlead.wire.system import Status, ThinkingTokens

__all__ = ["EventStore", "Journal", "Shown"]

log = logging.getLogger("fairlead")

EVENT_BYTES = 120
"""About what an event costs in addition to its line while it waits."""

_CAN_WAIT = frozenset({StreamEvent, Assistant, User, ToolProgress, Status, ThinkingTokens})
"""What a working CLI writes most of the time. No client has to act on it, so it may wait."""

ANSWER_S = 0.05
"""How long a request to the CLI waits for its answer, with which it is stored."""

LARGE_BYTES = 64 * 1024
"""A batch of this size does not wait: its own size costs more than the append."""

Shown = tuple[Fed, float]
"""A value to feed to the transcript, and its time."""


class EventStore(Protocol):
    """The part of a store that a journal writes to."""

    async def append(
        self,
        session: str,
        new: Sequence[NewEvent],
        *,
        intent: IntentOutcome | None = None,
        audit: Sequence[AuditRecord] = (),
    ) -> int:
        """Store events, and with them the outcome of an intent and the audit records."""

    def append_soon(
        self,
        session: str,
        new: Sequence[NewEvent],
        done: Callable[[int, BaseException | None], None],
        *,
        intent: IntentOutcome | None = None,
        audit: Sequence[AuditRecord] = (),
        urgent: bool = False,
    ) -> None:
        """The same; `done` is called in the event loop with the last number or the problem.

        An urgent append does not wait until others share its commit.
        """


class _Waiting:
    """Some events that are stored together."""

    __slots__ = (
        "asks", "audit", "awaits_answer", "can_wait", "done", "intent", "line", "shown", "size",
    )  # fmt: skip

    def __init__(
        self,
        fed: list[Fed],
        at: float,
        done: asyncio.Future[int] | None = None,
        intent: IntentOutcome | None = None,
        audit: Sequence[AuditRecord] = (),
        line: bytes | None = None,
    ) -> None:
        self.shown: list[Shown] = [(value, at) for value in fed]
        self.line = line
        is_output = done is None and _all_can_wait(fed)
        self.awaits_answer = done is None and _awaits_answer(fed)
        self.can_wait = is_output or self.awaits_answer
        self.asks = not self.can_wait and any(map(_asks, fed))
        self.size = _size(fed) if is_output else self._encoded_size()
        self.done = done
        self.intent = intent
        self.audit = audit

    @property
    def is_awaited(self) -> bool:
        """Whether someone waits for it: the CLI for an answer, or a client for a result."""
        return self.asks or self.done is not None

    def add(self, fed: list[Fed], at: float) -> int:
        """Add output that can wait as well; returns its size."""
        self.shown += [(value, at) for value in fed]
        size = _size(fed)
        self.size += size
        return size

    def events(self) -> list[NewEvent]:
        """The events to store."""
        return events_of(self.shown, self.line)

    def _encoded_size(self) -> int:
        return sum([len(event.line) + EVENT_BYTES for event in self.events()])


def _all_can_wait(fed: list[Fed]) -> bool:
    return _CAN_WAIT.issuperset(map(type, fed))


def _awaits_answer(fed: list[Fed]) -> bool:
    """Whether this is a request to the CLI that shows nothing: its answer does, and soon follows."""
    return len(fed) == 1 and type(fed[0]) is Request and fed[0].subtype != "interrupt"


def _asks(fed: Fed) -> bool:
    """Whether a message may contain open requests: an answer of the CLI may list them too."""
    if type(fed) is ControlResponse:
        body = fed.response
        return bool(
            body.pending_permission_requests
            or body.pending_user_dialog_requests
            or body.pending_elicitation_requests
        )
    return type(fed) is ControlRequest


def _size(messages: list[Any]) -> int:
    """About the bytes of messages of the CLI."""
    return sum([len(message.raw) + EVENT_BYTES for message in messages])


_can_wait = attrgetter("can_wait")


class Journal:
    """One session's path into the log. `stored` is called for every batch, in order."""

    def __init__(
        self,
        session: str,
        store: EventStore,
        stored: Callable[[int, Sequence[Shown]], None],
        limits: Limits,
        *,
        on_full: Callable[[], None] | None = None,
        on_room: Callable[[], None] | None = None,
        on_batch: Callable[[], None] | None = None,
        before: Callable[[Sequence[Fed]], Awaitable[None]] | None = None,
        rate: AppendRate | None = None,
        on_wait: Callable[[], None] | None = None,
        on_turn: Callable[[], None] | None = None,
        on_free: Callable[[], None] | None = None,
    ) -> None:
        """`stored` gets the number of the last event and the events.

        With `rate` the journal may have to wait for its turn to append. `on_wait` is called when the
        wait begins: output that can wait need not be noted before `on_turn`, nor from then on,
        until `on_free` is called because nobody has to wait any more.

        `before` is awaited with a batch before its first request of the CLI is shown. An answer
        of the CLI that lists open requests counts as one.
        """
        self._before = before
        self._rate = rate
        self._on_wait = on_wait
        self._on_turn = on_turn
        self._on_free = on_free
        self._session = session
        self._store = store
        self._stored = stored
        self._limits = limits
        self._on_full = on_full
        self._on_room = on_room
        self._on_batch = on_batch
        self._waiting: deque[_Waiting] = deque()
        self._working = False
        """Whether an append is scheduled or under way, its events are being shown, or the
        journal waits for a store that failed."""
        self._queued = False
        """Whether the journal waits for its turn to append."""
        self._holding = False
        """Whether output that can wait is not noted before the next turn."""
        self._emptied = Gate()
        self._retry: asyncio.TimerHandle | None = None
        self._awaiting_answer = False
        """Whether a timer runs after which a request is stored without its answer."""
        self._preparing: asyncio.Task[None] | None = None
        self._closing = False
        self._closed = False
        self.bytes = 0
        """What waits to be stored."""
        self.full = False
        self.problem: StoreUnavailable | None = None
        """Why nothing is stored now."""

    def note(self, fed: list[Fed], at: float, line: bytes | None = None) -> None:
        """Something happened; it will be stored, and shown once it is stored.

        `line` is the encoded line of a single message that the host sent, so that it is not
        encoded again.
        """
        if not self._add(fed, at):
            self._put(_Waiting(fed, at, line=line))
        if self.bytes > self._limits.unstored_bytes and not self.full:
            self.full = True
            if self._on_full is not None:
                self._on_full()

    async def record(
        self,
        fed: list[Fed],
        at: float,
        *,
        intent: IntentOutcome | None = None,
        audit: Sequence[AuditRecord] = (),
    ) -> int:
        """Store what a client requested, and return its number once it is durable.

        Raises `StoreUnavailable`, and then it was neither stored nor shown.
        """
        if self.problem is not None:
            raise self.problem
        if self._closing:
            raise StoreUnavailable("the session is being closed", code="closed")
        done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._put(_Waiting(fed, at, done, intent, audit))
        return await asyncio.shield(done)

    async def flush(self) -> None:
        """Wait until all that has happened so far is stored and shown."""
        await self._emptied.wait()

    def try_again(self) -> None:
        """Try to store again, because the store may work again."""
        if self._retry is not None:
            self._retry.cancel()
            self._end_pause()

    async def close(self) -> None:
        """Store what waits, if the store can, and stop."""
        self._closing = True
        if self.problem is None:
            await self.flush()
        self._closed = True
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None
        if self._preparing is not None:
            self._preparing.cancel()
            await asyncio.wait([self._preparing])
        self._refuse(StoreUnavailable("the session is closed", code="closed"))

    # Within

    def _add(self, fed: list[Fed], at: float) -> bool:
        """Add output to output that waits already, if both can wait; this is the usual case."""
        waiting = self._waiting[-1] if self._waiting else None
        if (
            waiting is None
            or not waiting.can_wait
            or (waiting.awaits_answer and not self._queued)
            or len(waiting.shown) >= self._limits.batch_events
            or not _all_can_wait(fed)
        ):
            return False
        self.bytes += waiting.add(fed, at)
        if not self._working and self.bytes > LARGE_BYTES:
            self._append_soon()
        return True

    def _put(self, waiting: _Waiting) -> None:
        self._waiting.append(waiting)
        self.bytes += waiting.size
        if self._working:
            return
        self._emptied.close()
        if self._may_append(waiting):
            self._append_soon()

    def _append_soon(self) -> None:
        """Append, but not now: what else this turn of the loop brings belongs to the same batch."""
        self._working = True
        asyncio.get_running_loop().call_soon(self._append)

    def _may_append(self, latest: _Waiting) -> bool:
        """Whether the waiting events are appended now; if not, the journal waits for its turn."""
        if not latest.can_wait or self.bytes > LARGE_BYTES or self._rate is None:
            return True
        if self._queued:
            return False
        if all(waiting.awaits_answer for waiting in self._waiting):
            self._await_answer()
            return False
        if self._rate.take():
            return True
        self._wait_for_turn(self._rate)
        return False

    def _await_answer(self) -> None:
        """Append what waits when there is an answer, or a little later: a request shows nothing."""
        if not self._awaiting_answer:
            self._awaiting_answer = True
            asyncio.get_running_loop().call_later(ANSWER_S, self._answer_is_late)

    def _answer_is_late(self) -> None:
        self._awaiting_answer = False
        if self._waiting and not (self._working or self._queued or self._closed):
            self._append_soon()

    def _wait_for_turn(self, rate: AppendRate) -> None:
        self._queued = True
        rate.wait(self._begin_turn)
        if not self._holding:
            self._holding = True
            if self._on_wait is not None:
                self._on_wait()

    def _stop_holding(self) -> None:
        """Note output as it comes; what was held is noted now."""
        if self._holding:
            self._holding = False
            if self._on_free is not None:
                self._on_free()

    def _begin_turn(self) -> bool:
        """Append what waits, together with what is noted now; False if there is nothing."""
        self._queued = False
        if self._closed:
            return False
        is_free, self._working = not self._working, True
        self._emptied.close()
        if self._on_turn is not None:
            self._on_turn()
        has_output = bool(self._waiting)
        if is_free:
            self._append()
        return has_output

    def _go_on(self) -> None:
        """A batch is done: hand over the next one, unless it can wait and others come first."""
        waiting, rate = self._waiting, self._rate
        if rate is not None and not self._queued:
            if not rate.is_used_up:
                self._stop_holding()
            elif not waiting:
                self._wait_for_turn(rate)  # So that the next output comes in one piece.
        if waiting and all(map(_can_wait, waiting)) and not self._may_append(waiting[-1]):
            self._working = False
        else:
            self._append()

    def _append(self) -> None:
        """Hand the next batch to the store, or stop if there is none."""
        if self._closed:
            return
        batch = self._take()
        if not batch and self._holding and not self._queued:
            self._stop_holding()
            batch = self._take()
        if not batch:
            self._working = False
            self._emptied.open()
            return
        carried = batch[-1]
        events = (
            carried.events()
            if len(batch) == 1
            else [event for waiting in batch for event in waiting.events()]
        )
        try:
            self._store.append_soon(
                self._session,
                events,
                partial(self._appended, batch, len(events)),
                intent=carried.intent,
                audit=carried.audit,
                urgent=any(waiting.is_awaited for waiting in batch),
            )
        except StoreUnavailable as problem:
            self._keep(batch, problem)

    def _take(self) -> list[_Waiting]:
        """What goes into one append, which can carry the outcome of one intent."""
        batch: list[_Waiting] = []
        events = 0
        while self._waiting and events < self._limits.batch_events:
            waiting = self._waiting.popleft()
            batch.append(waiting)
            events += len(waiting.shown)
            if waiting.intent is not None or waiting.audit:
                break
        return batch

    def _appended(
        self, batch: list[_Waiting], count: int, last: int, problem: BaseException | None
    ) -> None:
        """An append is durable, or it failed."""
        if self._closed:
            return
        if isinstance(problem, StoreUnavailable):
            self._keep(batch, problem)
            return
        try:
            if problem is not None:
                raise problem
            self.problem = None
            if self._before is not None and any(waiting.asks for waiting in batch):
                self._preparing = asyncio.create_task(self._prepare(batch, last - count))
                self._preparing.add_done_callback(self._prepared)
                return
            self._show(batch, last - count)
            self._shown()
        except Exception as bug:  # noqa: BLE001 - reported by `_fail`
            self._fail(bug)

    def _show(self, batch: list[_Waiting], seq: int) -> None:
        """Show a batch that begins after a number."""
        shown = (
            batch[0].shown
            if len(batch) == 1
            else [pair for waiting in batch for pair in waiting.shown]
        )
        if shown:
            self._stored(seq + len(shown), shown)
        self._settle(batch, seq)

    def _settle(self, batch: list[_Waiting], seq: int) -> None:
        """Release what a batch held that begins after a number and was shown."""
        for waiting in batch:
            seq += len(waiting.shown)
            self.bytes -= waiting.size
            if waiting.done is not None and not waiting.done.done():
                waiting.done.set_result(seq)

    def _shown(self) -> None:
        """A batch is stored and shown: make room, and continue with the next one."""
        if self.full and self.bytes < self._limits.unstored_bytes // 2:
            self.full = False
            if self._on_room is not None:
                self._on_room()
        if self._on_batch is not None:
            self._on_batch()
        self._go_on()

    async def _prepare(self, batch: list[_Waiting], seq: int) -> None:
        """Show what precedes the first request of the CLI, prepare the requests, show the rest."""
        assert self._before is not None
        first = next(place for place, waiting in enumerate(batch) if waiting.asks)
        self._show(batch[:first], seq)
        seq += sum(len(waiting.shown) for waiting in batch[:first])
        shown = [pair for waiting in batch[first:] for pair in waiting.shown]
        before = next(place for place, (value, _) in enumerate(shown) if _asks(value))
        if before:
            self._stored(seq + before, shown[:before])
        await self._before([value for waiting in batch for value, _ in waiting.shown])
        self._stored(seq + len(shown), shown[before:])
        self._settle(batch[first:], seq)
        self._shown()

    def _prepared(self, task: asyncio.Task[None]) -> None:
        if self._preparing is task:
            self._preparing = None
        if not task.cancelled() and (bug := task.exception()) is not None:
            self._fail(bug)

    def _keep(self, batch: list[_Waiting], problem: StoreUnavailable) -> None:
        """The store refused a batch: keep what has happened, and try again later."""
        self.problem = problem
        self._waiting.extendleft(reversed(batch))
        self._refuse(problem)
        loop = asyncio.get_running_loop()
        self._retry = loop.call_later(self._limits.store_retry_s, self._end_pause)

    def _refuse(self, problem: StoreUnavailable) -> None:
        """Requests of clients are not kept for later: they are refused, and clients may retry."""
        remaining: deque[_Waiting] = deque()
        for waiting in self._waiting:
            if waiting.done is None:
                remaining.append(waiting)
                continue
            self.bytes -= waiting.size
            if not waiting.done.done():
                waiting.done.set_exception(problem)
        self._waiting = remaining

    def _end_pause(self) -> None:
        self._retry = None
        self.problem = (
            None  # The next append shows whether it works; requests wait for it meanwhile.
        )
        self._append()

    def _fail(self, bug: BaseException) -> None:
        """A bug: the session cannot continue, but no caller may wait for it forever."""
        log.error("the journal of session %s failed", self._session, exc_info=bug)
        self.problem = StoreUnavailable(
            "the session failed because of an internal error; restart it", code="internal"
        )
        self._refuse(self.problem)
        self._emptied.open()
