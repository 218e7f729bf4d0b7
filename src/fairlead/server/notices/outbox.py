"""The outbox: notices on their way from a session to its users' devices and channels.

    session ──add──► store (notice, deliveries, mark) ──due──► sender ──► store (delivery removed)

A notice is stored together with the mark of its session before anything is sent, and a delivery
is removed after the target has it. If the server is killed in between, the delivery is repeated
under the same number, and the target shows it once (B93). Time is a parameter of `step`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Protocol, TypeVar

import msgspec

from fairlead.server.notices.outcome import Failed, Gone, Outcome, Postponed, Sent, TryLater
from fairlead.server.notices.rules.notice import Notice
from fairlead.server.notices.rules.quiet import Quiet, quiet_for
from fairlead.server.notices.rules.timing import retry_at, send_at
from fairlead.server.notices.targets import Target, Targets, check_zone
from fairlead.server.refusal import Refusal
from fairlead.store.log import StoreUnavailable
from fairlead.store.readers import Read
from fairlead.store.tables import notices as table
from fairlead.store.tables.notices import Delivery, NewDelivery, NewNotice, NoticeMark
from fairlead.store.writer import Write

__all__ = ["Outbox", "OutboxStore", "Send"]

T = TypeVar("T")

log = logging.getLogger("fairlead")

AT_ONCE = 20
"""Deliveries that are made at the same time."""
KEPT_S = 7 * 86_400.0
"""Notices are deleted after this time."""
PRUNE_EVERY_S = 3_600.0
STORE_RETRY_S = 1.0

_notice = msgspec.json.Decoder(Notice)


class OutboxStore(Protocol):
    """The part of the store that the outbox uses."""

    async def apply(self, write: Write[T]) -> T:
        """Run a write."""

    def apply_soon(
        self, write: Write[Any], done: Callable[[Any, BaseException | None], None]
    ) -> None:
        """Run a write, in order."""

    async def query(self, read: Read[T]) -> T:
        """Run a read."""


class Send(Protocol):
    """Sends a notice to a target; does not raise."""

    async def __call__(
        self, target: Target, session: str, number: int, notice: Notice, now: float
    ) -> Outcome: ...


class Outbox:
    """The notices of one server."""

    def __init__(
        self,
        store: OutboxStore,
        targets: Targets,
        send: Send,
        *,
        clock: Callable[[], float] = time.time,
        delay_s: float,
        viewed_delay_s: float,
    ) -> None:
        """`viewed_delay_s` is the delay while a client displays the session."""
        self._store = store
        self._targets = targets
        self._send = send
        self._clock = clock
        self._delays = delay_s, viewed_delay_s
        self._unstored: deque[Write[None]] = deque()
        """Writes that the store refused; they are repeated in order."""
        self._woken = asyncio.Event()
        self._pruned_at = float("-inf")

    def add(
        self,
        session: str,
        notices: Sequence[Notice],
        mark: NoticeMark | None = None,
        settled: Sequence[str] = (),
        *,
        viewed: bool = False,
    ) -> None:
        """Store notices and the new mark of their session.

        `settled` are the keys of notices that are not needed any more. `viewed` says whether a
        client displays the session.
        """
        now = self._clock()
        new = [self._new(notice, now, viewed=viewed) for notice in notices]
        write = partial(_put, session, tuple(new), mark, tuple(settled))
        self._store_soon(write, is_due=any(notice.deliveries for notice in new))

    def _new(self, notice: Notice, now: float, *, viewed: bool) -> NewNotice:
        delay = self._delays[viewed]
        deliveries = []
        for target_id, target in self._targets.items():
            if notice.kind not in target.settings.kinds:
                continue
            quiet = _quiet_minutes(target.settings.quiet, now)
            due = send_at(notice.at, now, delay_s=delay, quiet_minutes=quiet)
            deliveries.append(NewDelivery(target_id, due))
        body = msgspec.json.encode(notice)
        return NewNotice(key=notice.key, at=notice.at, body=body, deliveries=tuple(deliveries))

    async def put(self, session: str, notice: Notice, *, viewed: bool) -> None:
        """Store a notice that another server made, and return when it is stored.

        The same notice can be put again: it is stored once. Raises `StoreUnavailable`.
        """
        new = self._new(notice, self._clock(), viewed=viewed)
        await self._store.apply(partial(_put, session, (new,), None, ()))
        self._woken.set()

    def prepared(self, notice: Notice, *, viewed: bool) -> NewNotice:
        """A notice with its deliveries, for a caller that stores it in its own transaction."""
        return self._new(notice, self._clock(), viewed=viewed)

    def wake(self) -> None:
        """Something was stored that may be due."""
        self._woken.set()

    def _store_soon(self, write: Write[None], *, is_due: bool) -> None:
        if self._unstored:
            self._unstored.append(write)
            return
        try:
            self._store.apply_soon(write, partial(self._stored, write, is_due))
        except StoreUnavailable:
            self._unstored.append(write)

    def _stored(
        self, write: Write[None], is_due: bool, _: Any, problem: BaseException | None
    ) -> None:
        if isinstance(problem, StoreUnavailable):
            self._unstored.append(write)
        elif problem is not None:
            log.error("a notice could not be stored", exc_info=problem)
        if is_due or problem is not None:  # A mark alone, or a notice for nobody, is never due.
            self._woken.set()

    async def run(self) -> None:
        """Send what is due, until cancelled."""
        while True:
            self._woken.clear()
            try:
                due = await self.step(self._clock())
                wait = None if due is None else max(0.0, due - self._clock())
            except StoreUnavailable:
                wait = STORE_RETRY_S
            if wait is None and self._unstored:
                wait = STORE_RETRY_S
            try:
                async with asyncio.timeout(wait):
                    await self._woken.wait()
            except TimeoutError:
                pass

    async def step(self, now: float) -> float | None:
        """Make every delivery that is due; returns when the next one is."""
        while self._unstored:
            await self._store.apply(self._unstored[0])
            self._unstored.popleft()
        while due := await self._store.query(lambda db: table.due(db, now, AT_ONCE)):
            await asyncio.gather(*(self._deliver(delivery, now) for delivery in due))
        if now - self._pruned_at >= PRUNE_EVERY_S:
            self._pruned_at = now
            await self._store.apply(lambda db: table.prune(db, now - KEPT_S))
        return await self._store.query(table.next_due)

    async def _deliver(self, delivery: Delivery, now: float) -> None:
        target = self._targets.get(delivery.target)
        if target is None:
            await self._targets.forget(delivery.target)
            return
        quiet = _quiet_minutes(target.settings.quiet, now)
        if quiet:  # The quiet hours were changed, or the clock was.
            await self._move(delivery, now + 60.0 * quiet)
            return
        notice = _notice.decode(delivery.body)
        outcome = await self._send(target, delivery.session, delivery.notice, notice, now)
        await self._settle(delivery, outcome, now)

    async def _settle(self, delivery: Delivery, outcome: Outcome, now: float) -> None:
        number, target = delivery.notice, delivery.target
        again = None
        if isinstance(outcome, Gone):
            await self._targets.forget(target)
            return
        if isinstance(outcome, Postponed):
            await self._move(delivery, now + outcome.after_s)
            return
        if isinstance(outcome, TryLater):
            again = retry_at(now, delivery.tries, outcome.after_s)
        if again is not None and isinstance(outcome, TryLater):
            at, reason = again, outcome.reason
            await self._store.apply(lambda db: table.retry(db, number, target, at, reason))
            return
        sent = now if isinstance(outcome, Sent) else None
        problem = outcome.reason if isinstance(outcome, (Failed, TryLater)) else ""
        if problem:
            log.warning("a notice was not sent: %s", problem)
        await self._store.apply(lambda db: table.finish(db, number, target, sent, problem))

    async def _move(self, delivery: Delivery, due: float) -> None:
        number, target = delivery.notice, delivery.target
        await self._store.apply(lambda db: table.move(db, number, target, due))


def _put(
    session: str,
    notices: tuple[NewNotice, ...],
    mark: NoticeMark | None,
    settled: tuple[str, ...],
    db: Any,
) -> None:
    table.put(db, session, notices, mark, settled)


def _quiet_minutes(quiet: Quiet | None, now: float) -> int:
    if quiet is None:
        return 0
    try:
        local = datetime.fromtimestamp(now, check_zone(quiet.zone))
    except Refusal:
        return 0  # The machine's list of time zones has changed.
    return quiet_for(quiet, local.hour * 60 + local.minute)
