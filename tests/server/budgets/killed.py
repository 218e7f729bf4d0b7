"""A server with a budget for one session, which kills itself at a given moment.

    killed.py FOLDER MOMENT

The session has two turns: after the first the budget warns, after the second it is reached. A moment
is `count N` and where: `before` the cost is given to the store, `inside` its transaction, or `after`
the commit. Started again, it recovers as a server does, and prints what is stored:
spent, level, whether the session may go on, and the number of notices.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fairlead.server.budgets.budgets import Budgets
from fairlead.server.budgets.rules.budget import Budget
from fairlead.server.notices.outbox import Outbox
from fairlead.server.notices.outcome import Outcome, Sent
from fairlead.server.notices.targets import PushTarget, Targets, push_id
from tests.server.server_harness import ServerHarness

NOON = 1_800_014_400.0
COSTS = (0.85, 1.25)
"""What the CLI reports after each turn, of a budget of 1 dollar."""


class Killing:
    """The store of the budgets; kills this process before, inside or after one of their writes."""

    def __init__(self, inner: Any, fatal: str) -> None:
        self._inner = inner
        self._fatal = fatal
        self._count = 0
        self.query, self.apply = inner.query, inner.apply

    def apply_soon(self, write: Callable[..., Any], done: Callable[..., None]) -> None:
        self._count += 1
        name = f"count {self._count}"
        self._pass(f"{name} before")

        def inside(db: sqlite3.Connection) -> Any:
            result = write(db)
            self._pass(f"{name} inside")
            return result

        def after(result: Any, problem: BaseException | None) -> None:
            self._pass(f"{name} after")
            done(result, problem)

        self._inner.apply_soon(inside, after)

    def _pass(self, moment: str) -> None:
        if moment == self._fatal:
            os.kill(os.getpid(), signal.SIGKILL)


class Shop(ServerHarness):
    """A server without sockets that has budgets, put together in the order of a real one."""

    def __init__(self, folder: Path, fatal: str) -> None:
        super().__init__(folder, clock=lambda: NOON)
        self._fatal = fatal
        self.budgets: Budgets

    async def prepare(self) -> None:
        targets = Targets(self.store)
        target = PushTarget(device="d", endpoint="", p256dh="", auth="")
        await targets.put(push_id("d"), target)
        outbox = Outbox(
            self.store, targets, _send, clock=self.clock, delay_s=0.0, viewed_delay_s=0.0
        )
        store: Any = Killing(self.store, self._fatal)
        self.budgets = Budgets(store, self.registry.sessions, outbox, clock=self.clock)
        await self.budgets.load()

    def level(self) -> tuple[float, str]:
        (state,) = self.budgets.states()
        return state.spent_usd, state.level

    async def notices(self) -> int:
        query = "SELECT count(*) FROM notices WHERE key LIKE 'budget:%'"
        ((count,),) = await self.store.query(lambda db: db.execute(query).fetchall())
        return int(count)


async def _send(target: Any, session: str, number: int, notice: Any, now: float) -> Outcome:
    return Sent()


async def main(folder: str, fatal: str) -> None:
    async with Shop(Path(folder), fatal) as shop:
        if not shop.budgets.states():
            session = await shop.new()
            await shop.budgets.put(Budget(scope="session", key=session, limit_usd=1.0))
            for total in COSTS:
                await shop.say(session, {"cost": total}, {"say": "ok"})
                await shop.until(lambda total=total: shop.level()[0] == total)  # type: ignore[misc]
        (row,) = shop.registry.sessions.rows.values()
        live = await shop.registry.sessions.load(row.id)
        turns = len(live.transcript.turns)
        await shop.until(lambda: shop.level()[0] == COSTS[turns - 1])
        spent, level = shop.level()
        blocked = shop.budgets.blocking(row.id) is not None
        sys.stdout.write(f"{turns} {spent} {level} {blocked} {await shop.notices()}\n")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
