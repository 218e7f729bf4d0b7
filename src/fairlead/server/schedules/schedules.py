"""The schedules of one server: plans runs, sends their prompts, and notes how they ended.

    due ──plan──► store (run, next time) ──act──► session (once, by the run's number) ──► store

A run is stored before anything is done for it. Its prompt goes through the same intents and the
same prompt queue as a user's, under the number of the run, so that it is sent once even if the
server is killed in between. A run whose prompt never reached the CLI, because the server was
killed right after storing it, is repeated. Time is a parameter of `step`.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
import uuid
from collections.abc import Callable
from functools import partial
from typing import Protocol

import msgspec
from msgspec import Struct, structs

from fairlead.server.protocol.intents import Intent, NewSession, Send
from fairlead.server.protocol.messages import IntentResult
from fairlead.server.refusal import Refusal
from fairlead.server.schedules.rules.schedule import Schedule, decide
from fairlead.server.schedules.timetable import next_run
from fairlead.server.session.live_session import LiveSession
from fairlead.server.sessions.sessions import Sessions
from fairlead.store.log import StoreUnavailable
from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables import schedules as table
from fairlead.store.tables.devices import Device
from fairlead.store.tables.schedules import Run
from fairlead.transcript.state.facts import PromptCancelled
from fairlead.transcript.state.model import PromptItem

__all__ = ["ScheduleState", "Schedules"]

log = logging.getLogger("fairlead")

CLIENT = "schedules"
MOST = 200
"""Schedules of one server."""
RETRY_S = 5.0
AGAIN = "again"
"""Marks a run that is repeated under another name, because its first prompt was never written."""


DROPPED = frozenset({"cancelled", "lost", "refused"})
"""States of a prompt that the CLI never began with."""
DELETED = "Its session was deleted."
NOT_BEGUN = "Claude Code did not begin with the prompt. Open the session to see why."


class Acting(Protocol):
    """Carries out an intent once."""

    async def act(self, device: Device, client: str, n: int, intent: Intent) -> IntentResult:
        """Carry out an intent, once for each (device, client, n)."""


class ScheduleState(Struct, frozen=True, kw_only=True):
    """A schedule with its next and its last run."""

    schedule: Schedule
    next_at: float | None
    last: Run | None


class Schedules:
    """All schedules."""

    def __init__(
        self,
        store: SqliteStore,
        sessions: Sessions,
        acting: Acting,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._sessions = sessions
        self._acting = acting
        self._clock = clock
        self._schedules: dict[str, Schedule] = {}
        self._next: dict[str, float | None] = {}
        self._open: dict[int, Run] = {}
        """Runs whose turn has not ended."""
        self._changed = asyncio.Event()
        self._ending: set[asyncio.Task[None]] = set()
        sessions.on_settled.append(self._settled)
        sessions.on_deleted.append(self._deleted)

    async def start(self) -> None:
        """Read the schedules, and finish what an earlier server began; after the recovery."""
        for stored in await self._store.query(table.rows):
            self._schedules[stored.id] = msgspec.json.decode(stored.row, type=Schedule)
            self._next[stored.id] = stored.next_at
        for run in await self._store.query(table.open_runs):
            self._open[run.id] = run
            if run.state == "planned":
                await self._carry_out(run)
            sent = self._open.get(run.id)
            if sent is not None and sent.state == "sent":
                await self._look_again(sent)

    # Changes by owners

    async def put(self, schedule: Schedule) -> Schedule:
        """Store a schedule; without an id it is a new one."""
        problem = schedule.problem()
        if problem is not None:
            raise Refusal("bad_message", problem)
        if schedule.session:
            self._sessions.row(schedule.session)
        else:
            schedule = structs.replace(
                schedule, cwd=self._sessions.policy.check_folder(schedule.cwd)
            )
        if not schedule.id:
            if len(self._schedules) >= MOST:
                raise Refusal("too_many", f"There can be at most {MOST} schedules.")
            schedule = structs.replace(schedule, id=str(uuid.uuid4()))
        elif schedule.id not in self._schedules:
            raise Refusal("not_found", "This schedule does not exist.")
        next_at = next_run(schedule, self._clock())
        if next_at is None:
            raise Refusal("bad_message", "This time has passed.")
        row = msgspec.json.encode(schedule)
        await self._store.apply(lambda db: table.put(db, schedule.id, row, next_at))
        self._schedules[schedule.id], self._next[schedule.id] = schedule, next_at
        self._changed.set()
        return schedule

    async def remove(self, schedule: str) -> None:
        """Delete a schedule; sessions that it started stay."""
        if schedule not in self._schedules:
            raise Refusal("not_found", "This schedule does not exist.")
        await self._store.apply(lambda db: table.remove(db, schedule))
        del self._schedules[schedule], self._next[schedule]

    async def states(self) -> list[ScheduleState]:
        """All schedules with their next and their last runs."""
        last = await self._store.query(table.last_runs)
        return [
            ScheduleState(
                schedule=schedule,
                next_at=self._next.get(name) if schedule.enabled else None,
                last=last.get(name),
            )
            for name, schedule in self._schedules.items()
        ]

    # Running

    async def run(self) -> None:
        """Make every run when it is due, until cancelled."""
        while True:
            self._changed.clear()
            try:
                due = await self.step(self._clock())
                wait = None if due is None else max(0.0, due - self._clock())
            except StoreUnavailable:
                wait = RETRY_S
            try:
                async with asyncio.timeout(wait):
                    await self._changed.wait()
            except TimeoutError:
                pass

    async def step(self, now: float) -> float | None:
        """Make every run that is due; returns when the next one is."""
        for name, schedule in tuple(self._schedules.items()):
            due = self._next.get(name)
            decision = decide(schedule, due, now)
            if decision == "wait" or due is None:
                continue
            following = next_run(schedule, now)
            if decision == "skip":
                await self._store.apply(partial(_set_next, name, following))
            else:
                await self._make(schedule, due, following)
            self._next[name] = following
        times = [self._next.get(n) for n, s in self._schedules.items() if s.enabled]
        return min((at for at in times if at is not None), default=None)

    async def _make(self, schedule: Schedule, due: float, following: float | None) -> None:
        prompt = str(uuid.uuid4())

        def plan(db: sqlite3.Connection) -> Run:
            return table.plan(db, schedule.id, due, following, prompt)

        run = await self._store.apply(plan)
        self._open[run.id] = run
        await self._carry_out(run)

    async def _carry_out(self, run: Run) -> None:
        """Send the prompt of a run; a repetition under the same number does nothing more."""
        client = f"{CLIENT}-{run.prompt}" if run.outcome == AGAIN else CLIENT
        schedule = self._schedules.get(run.schedule)
        if schedule is None:
            return
        device = Device(
            id=CLIENT, name=f"schedule {schedule.name}", role="owner", token_hash="", created=0.0
        )
        result = await self._acting.act(device, client, run.id, _intent(schedule, run))
        if not result.ok:
            reason = result.message or "The run could not be started."
            await self._change(structs.replace(run, state="failed", outcome=reason))
            return
        session = schedule.session or str(result.result.get("session", ""))
        await self._change(structs.replace(run, state="sent", session=session))
        live = self._sessions.loaded(session)
        if live is not None:
            self._settled(live)

    async def _look_again(self, run: Run) -> None:
        """A run of an earlier server: has it ended, or did its prompt never reach the CLI?"""
        try:
            live = await self._sessions.load(run.session)
        except Refusal:
            await self._change(structs.replace(run, state="failed", outcome="Its session is gone."))
            return
        prompt = _prompt_of(live, run, new=not self._is_into_existing(run))
        is_queued = prompt is not None and prompt.state == "held" and not live.live
        if is_queued and live.prompts.queue.limited:
            return  # It is sent when the usage limit resets.
        if is_queued and prompt is not None:
            # The server was killed before the row said that the session runs, so the recovery left
            # the prompt in the queue. Without this, a resume would send it a second time.
            await live.record([PromptCancelled(prompt.id)])
        if is_queued or _never_began(live, prompt):
            again = structs.replace(
                run, prompt=str(uuid.uuid4()), session="", state="planned", outcome=AGAIN
            )
            await self._change(again)
            await self._carry_out(again)
            return
        self._settled(live)
        if run.id in self._open and not live.live and not self._ending:
            # Its prompt was written, and the server was killed before the turn began.
            await self._change(structs.replace(run, state="done", outcome="host_stopped"))

    def _is_into_existing(self, run: Run) -> bool:
        schedule = self._schedules.get(run.schedule)
        return schedule is not None and bool(schedule.session)

    def _settled(self, live: LiveSession) -> None:
        """Something was stored in a session: has the turn of a run ended?"""
        for run in tuple(self._open.values()):
            if run.session != live.id:
                continue
            ended = _ended(live, run, new=not self._is_into_existing(run))
            if ended is not None:
                self._end(ended)

    def _deleted(self, session: str) -> None:
        """A session was deleted: what was queued in it will never begin."""
        for run in tuple(self._open.values()):
            if run.session == session:
                self._end(structs.replace(run, state="failed", outcome=DELETED))

    def _end(self, run: Run) -> None:
        task = asyncio.create_task(self._change(run))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _change(self, run: Run) -> None:
        if run.state in ("done", "failed"):
            self._open.pop(run.id, None)
        else:
            self._open[run.id] = run
        try:
            await self._store.apply(lambda db: table.change_run(db, run))
        except StoreUnavailable:
            log.warning("the result of a scheduled run could not be stored yet")
            self._open[run.id] = run


def _set_next(schedule: str, next_at: float | None, db: sqlite3.Connection) -> None:
    table.set_next(db, schedule, next_at)


def _intent(schedule: Schedule, run: Run) -> Intent:
    if schedule.session:
        return Send(session=schedule.session, text=schedule.prompt, uuid=run.prompt, verbatim=True)
    return NewSession(
        cwd=schedule.cwd,
        prompt=schedule.prompt,
        verbatim=True,
        title=schedule.name,
        max_budget_usd=schedule.budget_usd,
        profile=schedule.profile or None,
    )


def _ended(live: LiveSession, run: Run, *, new: bool) -> Run | None:
    """The run with its result, if its turn has ended or will never begin."""
    prompt = _prompt_of(live, run, new=new)
    if prompt is None:
        return None
    turn = next((turn for turn in live.transcript.turns if turn.id == prompt.turn), None)
    if turn is None:
        dropped = prompt.state in DROPPED
        return structs.replace(run, state="failed", outcome=NOT_BEGUN) if dropped else None
    if turn.outcome is None:
        return None
    return structs.replace(run, state="done", outcome=turn.outcome, cost_usd=turn.cost_usd)


def _prompt_of(live: LiveSession, run: Run, *, new: bool) -> PromptItem | None:
    """The prompt of a run: the first one of a new session, else the one with its uuid."""
    items = live.transcript.items if new else (live.transcript.item(run.prompt),)
    return next((item for item in items if isinstance(item, PromptItem)), None)


def _never_began(live: LiveSession, prompt: PromptItem | None) -> bool:
    """Whether the CLI never got the prompt, because the server was killed right after storing it.

    The recovery cancels prompts that were still queued; one that was written may have begun.
    """
    return not live.live and (prompt is None or prompt.state == "cancelled")
