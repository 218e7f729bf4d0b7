"""The budgets of one server: counts what turns cost, warns, and holds prompts back.

A turn's cost is what its result reports, with its subagents. It is stored with the levels that it
reaches and their notices in one transaction. While that is being stored, and after a budget was
reached, the prompt queue of the sessions that it covers writes nothing. So a running turn is never
interrupted, and queued prompts are sent when an owner raises the budget or the next day begins.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from fairlead.server.budgets.rules.budget import REACHED, Budget, covers, level_of, name_of
from fairlead.server.notices.outbox import Outbox
from fairlead.server.notices.rules.notice import Notice
from fairlead.server.notices.targets import check_zone
from fairlead.server.protocol.lobby_rows import BudgetAlert
from fairlead.server.refusal import Refusal
from fairlead.server.session.live_session import LiveSession
from fairlead.server.sessions.sessions import Sessions
from fairlead.store.log import StoreUnavailable
from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables import budgets as table
from fairlead.store.tables import notices as notice_table
from fairlead.store.tables.budgets import Spent
from fairlead.store.tables.sessions import SessionRow

__all__ = ["BudgetState", "Budgets"]

log = logging.getLogger("fairlead")

LAST_TURNS = 20
"""Turns at the end of a session whose costs may not be stored yet, because a server was killed."""

CLI_BUDGET = "budget"
"""The outcome of a turn that the CLI ended because its own budget was used up (CLI-511)."""


class BudgetState(Struct, frozen=True, kw_only=True):
    """A budget and what was spent of it."""

    id: str
    scope: str
    key: str
    limit_usd: float
    warn_percent: float
    zone: str
    spent_usd: float
    level: str
    """warned, reached, or empty."""


class Budgets:
    """All budgets. Call `load` before the sessions are recovered."""

    def __init__(
        self,
        store: SqliteStore,
        sessions: Sessions,
        outbox: Outbox,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._sessions = sessions
        self._outbox = outbox
        self._clock = clock
        self._budgets: dict[str, Budget] = {}
        self._spent: dict[str, float] = {}
        """What was spent of each budget, as of the last commit."""
        self._elsewhere: dict[str, float] = {}
        """What other processes of the server have spent of a budget that covers their sessions too."""
        self._announces = True
        """Whether this process tells users that a shared budget is reached; only one process does."""
        self.last_spender: tuple[str, str, float] = "", "", 0.0
        """The session that spent last, its title, and when."""
        self.on_spent: Callable[[], None] = _nothing
        """Called when something was spent, or a budget was changed."""
        self._periods: dict[str, str] = {}
        self._counted: dict[str, str] = {}
        """The last turn of each session whose cost was submitted."""
        self._storing: dict[str, int] = {}
        """Sessions whose costs are being stored."""
        self._changed = asyncio.Event()
        sessions.on_settled.insert(0, self.settled)
        sessions.on_deleted.append(lambda session: self._counted.pop(session, None))
        sessions.gate_of = lambda live: _Gate(self, live)
        sessions.starter.budget_left = self._left

    async def load(self) -> None:
        """Read the budgets and what was spent."""
        try:
            rows = await self._store.query(table.budgets)
        except StoreUnavailable:
            return
        for name, row in rows.items():
            self._budgets[name] = msgspec.json.decode(row, type=Budget)
        self._take(await self._store.query(partial(self._sums, tuple(self._budgets.values()))))

    # What budgets allow

    def watches(self, live: LiveSession) -> bool:
        """Whether a budget covers a session."""
        return any(True for _ in self._covering(live.id, self._project(live.id)))

    def blocking(self, session: str) -> Budget | None:
        """A budget that is reached and covers a session."""
        self._roll_over()
        for budget in self._covering(session, self._project(session)):
            if level_of(budget, self._total(budget.id)) == REACHED:
                return budget
        return None

    def is_open(self, live: LiveSession) -> bool:
        """Whether the next prompt of a session may be written."""
        if not self.watches(live):
            return True
        # The CLI may be idle while the result that says so, with its cost, is still being stored.
        if live.transcript.turn is not None or live.journal.bytes:
            return False
        return not self._storing.get(live.id) and self.blocking(live.id) is None

    def _left(self, row: SessionRow) -> float | None:
        """The smallest rest of all budgets that cover a new session."""
        self._roll_over()
        rests = [
            budget.limit_usd - self._total(budget.id) for budget in self._covering(row.id, row.cwd)
        ]
        return max(0.01, min(rests)) if rests else None

    def states(self) -> list[BudgetState]:
        """All budgets with what was spent."""
        self._roll_over()
        return [
            BudgetState(
                id=budget.id,
                scope=budget.scope,
                key=budget.key,
                limit_usd=budget.limit_usd,
                warn_percent=budget.warn_percent,
                zone=budget.zone,
                spent_usd=self._total(budget.id),
                level=level_of(budget, self._total(budget.id)),
            )
            for budget in self._budgets.values()
        ]

    # Changes by owners

    async def put(self, budget: Budget) -> None:
        """Store a budget in place of the one with the same scope and key."""
        problem = budget.problem()
        if problem is not None:
            raise Refusal("bad_message", problem)
        check_zone(budget.zone)
        if budget.scope == "session":
            self._sessions.row(budget.key)
        row = msgspec.json.encode(budget)

        def write(db: sqlite3.Connection) -> dict[str, float]:
            table.put_budget(db, budget.id, row)
            table.clear_levels(db, budget.id)
            return self._sums((budget,), db)

        spent = await self._store.apply(write)
        self._budgets[budget.id] = budget
        self._take(spent)
        self._changed.set()
        await self._go_on()

    async def remove(self, budget: str) -> None:
        """Delete a budget."""
        if budget not in self._budgets:
            raise Refusal("not_found", "This budget does not exist.")
        await self._store.apply(lambda db: table.remove_budget(db, budget))
        del self._budgets[budget]
        self._spent.pop(budget, None)
        self._elsewhere.pop(budget, None)
        self._show()
        self.on_spent()
        await self._go_on()

    async def _go_on(self) -> None:
        """Write prompts that waited for a budget."""
        for live in self._sessions.live:
            last = live.transcript.last("turns", 1)
            if last and last[0].outcome == CLI_BUDGET and not live.busy:
                await live.stop()  # Every later turn of this process would fail at once (CLI-511).
            else:
                live.prompts.write_next()

    # What is spent

    def settled(self, live: LiveSession) -> None:
        """A batch of events of a session was stored: count the turns that ended."""
        turns = [turn for turn in live.transcript.last("turns", LAST_TURNS) if turn.outcome]
        if not turns or self._counted.get(live.id) == turns[-1].id:
            return
        self._counted[live.id] = turns[-1].id
        project = self._project(live.id)
        rows = [
            Spent(
                session=live.id,
                turn=turn.id,
                at=turn.ended or turn.at,
                project=project,
                cost_usd=turn.cost_usd,
            )
            for turn in turns
            if turn.cost_usd
        ]
        if not rows:
            return
        self._storing[live.id] = self._storing.get(live.id, 0) + 1
        budgets = tuple(self._covering(live.id, project))
        self.last_spender = live.id, self._title(live.id), rows[-1].at
        write = partial(
            self._count, live.id, self._title(live.id), rows, budgets, dict(self._elsewhere)
        )
        try:
            self._store.apply_soon(write, partial(self._stored, live))
        except StoreUnavailable as problem:
            self._stored(live, None, problem)

    def _count(
        self,
        session: str,
        title: str,
        rows: Sequence[Spent],
        budgets: tuple[Budget, ...],
        elsewhere: dict[str, float],
        db: sqlite3.Connection,
    ) -> dict[str, float]:
        """In the writer's thread: store costs, the levels they reach, and their notices."""
        if not table.put_spent(db, rows):
            return self._sums(budgets, db)
        spent = self._sums(budgets, db)
        for budget in budgets:
            if self._announces or budget.scope == "session":
                total = spent[budget.id] + elsewhere.get(budget.id, 0.0)
                self._announce(budget, total, session, title, rows[-1].at, db)
        return spent

    def _announce(
        self,
        budget: Budget,
        spent: float,
        session: str,
        title: str,
        at: float,
        db: sqlite3.Connection,
    ) -> None:
        """In the writer's thread: store a level that is reached, and its notice."""
        level = level_of(budget, spent)
        period = self._period(budget, at)
        if level and table.add_level(db, budget.id, period, level, at):
            notice = _notice(budget, level, period, spent, title, at)
            new = self._outbox.prepared(notice, viewed=False)
            notice_table.put(db, session, [new], None)

    def _stored(self, live: LiveSession, spent: Any, problem: BaseException | None) -> None:
        left = self._storing.pop(live.id, 1) - 1
        if left:
            self._storing[live.id] = left
        if problem is not None:
            self._counted.pop(live.id, None)  # Counted again with the next batch.
            if not isinstance(problem, StoreUnavailable):
                log.error("the cost of a turn could not be stored", exc_info=problem)
        else:
            self._take(spent)
            self._outbox.wake()
        live.prompts.write_next()

    async def run(self) -> None:
        """At the begin of each day, write the prompts that waited for it; until cancelled."""
        while True:
            self._changed.clear()
            next_day = self._next_day()
            wait = None if next_day is None else max(0.0, next_day - self._clock())
            try:
                async with asyncio.timeout(wait):
                    await self._changed.wait()
            except TimeoutError:
                self._show()
                await self._go_on()

    # With other processes of the server

    def shared(self) -> tuple[Budget, ...]:
        """The budgets that cover sessions of all processes."""
        return tuple(each for each in self._budgets.values() if each.scope != "session")

    def spent_here(self) -> dict[str, float]:
        """What the sessions of this process have spent of those budgets."""
        self._roll_over()
        return {each.id: self._spent.get(each.id, 0.0) for each in self.shared()}

    async def follow(self, budgets: Sequence[Budget], elsewhere: dict[str, float]) -> None:
        """Use the shared budgets of the process that has the settings, which also sends notices."""
        self._announces = False
        wanted = {budget.id: budget for budget in budgets}
        for known in self.shared():
            if known.id not in wanted:
                await self.remove(known.id)
        for budget in wanted.values():
            if self._budgets.get(budget.id) != budget:
                await self.put(budget)
        await self.set_elsewhere(elsewhere)

    async def set_elsewhere(
        self, elsewhere: dict[str, float], session: str = "", title: str = "", at: float = 0.0
    ) -> None:
        """Count what other processes have spent; their `session` was the last that spent something."""
        if elsewhere == self._elsewhere:
            return
        reached = {each.id for each in self.states() if each.level == REACHED}
        self._elsewhere = dict(elsewhere)
        self._show()
        if self._announces and session:
            totals = [(each, self._total(each.id)) for each in self.shared()]
            due = [(each, total) for each, total in totals if level_of(each, total)]

            def write(db: sqlite3.Connection) -> None:
                for budget, total in due:
                    self._announce(budget, total, session, title, at, db)

            if due:
                await self._store.apply(write)
                self._outbox.wake()
        if reached - {each.id for each in self.states() if each.level == REACHED}:
            await self._go_on()

    # Sums

    def _total(self, budget: str) -> float:
        return self._spent.get(budget, 0.0) + self._elsewhere.get(budget, 0.0)

    def _sums(self, budgets: Sequence[Budget], db: sqlite3.Connection) -> dict[str, float]:
        sums = {}
        for budget in budgets:
            if budget.scope == "session":
                sums[budget.id] = table.spent_in_session(db, budget.key)
            elif budget.scope == "project":
                sums[budget.id] = table.spent_in_project(db, budget.key)
            else:
                sums[budget.id] = table.spent_since(db, self._day_start(budget))
        return sums

    def _take(self, spent: dict[str, float]) -> None:
        for name, amount in spent.items():
            self._spent[name] = amount
            if name in self._budgets:
                self._periods[name] = self._period(self._budgets[name], self._clock())
        self._show()
        self.on_spent()

    def _show(self) -> None:
        """Show every client the budgets that are reached, or nearly so."""
        alerts = tuple(
            BudgetAlert(
                id=state.id,
                scope=state.scope,
                key=state.key,
                limit_usd=state.limit_usd,
                spent_usd=state.spent_usd,
                level=state.level,
            )
            for state in self.states()
            if state.level
        )
        self._sessions.lobby.set_server(budgets=alerts)

    def _roll_over(self) -> None:
        """On a new day nothing was spent yet."""
        for name, budget in self._budgets.items():
            period = self._period(budget, self._clock())
            if self._periods.get(name, period) != period:
                self._periods[name], self._spent[name] = period, 0.0
                self._elsewhere.pop(name, None)

    def _period(self, budget: Budget, at: float) -> str:
        return f"{_local(budget, at):%Y-%m-%d}" if budget.scope == "day" else ""

    def _day_start(self, budget: Budget) -> float:
        now = _local(budget, self._clock())
        return now.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()

    def _next_day(self) -> float | None:
        """When the next day begins that a budget counts from; None if there is none."""
        days = [b for b in self._budgets.values() if b.scope == "day"]
        days_on = [_local(b, self._clock()) + timedelta(days=1) for b in days]
        starts = [day.replace(hour=0, minute=0, second=1, microsecond=0) for day in days_on]
        return min(day.timestamp() for day in starts) if starts else None

    def _covering(self, session: str, project: str) -> list[Budget]:
        return [b for b in self._budgets.values() if covers(b, session, project)]

    def _project(self, session: str) -> str:
        row = self._sessions.rows.get(session)
        return row.cwd if row is not None else ""

    def _title(self, session: str) -> str:
        row = self._sessions.rows.get(session)
        return (row.title if row is not None else None) or ""


class _Gate:
    """The gate of one session's prompt queue."""

    def __init__(self, budgets: Budgets, live: LiveSession) -> None:
        self._budgets = budgets
        self._live = live

    @property
    def watches(self) -> bool:
        return self._budgets.watches(self._live)

    @property
    def is_open(self) -> bool:
        return self._budgets.is_open(self._live)


def _nothing() -> None:
    pass


def _local(budget: Budget, at: float) -> datetime:
    return datetime.fromtimestamp(at, check_zone(budget.zone))


def _notice(budget: Budget, level: str, period: str, spent: float, title: str, at: float) -> Notice:
    spent_of = f"${spent:.2f} of ${budget.limit_usd:.2f} spent for {name_of(budget)}."
    text = f"Budget reached: {spent_of}" if level == REACHED else f"Budget warning: {spent_of}"
    key = f"budget:{budget.id}:{period}:{level}:{budget.limit_usd}"
    return Notice(kind="budget", key=key, at=at, title=title, text=text)
