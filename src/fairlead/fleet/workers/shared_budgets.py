"""Budgets for a day or a project cover the sessions of all processes of a server.

The front has these budgets and sends their notices. It tells each worker what they are and what the
other processes have spent, and each worker reports what its own sessions have spent. Numbers are sent
whole and repeated, so a lost message or a worker that starts later needs no special case.
"""

from __future__ import annotations

import asyncio
import contextlib

import msgspec

from fairlead.fleet.bus.bus import Bus, BusError, Message, Subscription
from fairlead.fleet.node.requests import NodeRequests
from fairlead.fleet.protocol import subjects
from fairlead.fleet.protocol.envelopes import Envelope, UnreadableEnvelope, decode, encode
from fairlead.fleet.workers.worker_directory import WorkerDirectory
from fairlead.server.budgets.budgets import Budgets
from fairlead.server.budgets.rules.budget import Budget

__all__ = ["FrontBudgets", "WorkerBudgets"]

EVERY_S = 5.0
"""How often the numbers are exchanged if nothing changes."""

ANSWER_S = 5.0
ROUNDS = 3
"""Exchanges in a row: what one worker reports in the first, the others get in the next."""

QUESTION = "budgets"


class BudgetsAsk(Envelope, frozen=True, kw_only=True):
    """What a worker has to know; the answer is a `SpentReport`."""

    budgets: tuple[Budget, ...] = ()
    elsewhere: dict[str, float] = msgspec.field(default_factory=dict)
    """Budget -> what the other processes have spent."""


class SpentReport(Envelope, frozen=True, kw_only=True):
    """What the sessions of a worker have spent of each shared budget."""

    spent: dict[str, float] = msgspec.field(default_factory=dict)
    session: str = ""
    """The session that spent something last."""
    title: str = ""
    at: float = 0.0


class FrontBudgets:
    """The front's side."""

    def __init__(self, bus: Bus, directory: WorkerDirectory, budgets: Budgets) -> None:
        self._bus = bus
        self._directory = directory
        self._budgets = budgets
        self._reports: dict[str, SpentReport] = {}
        """Worker -> its last report; what it has spent counts also while it is started again."""
        self._wake = asyncio.Event()
        self._exchanging = asyncio.Lock()
        self._subscription: Subscription | None = None
        budgets.on_spent = self._wake.set

    async def start(self) -> None:
        """Listen to the workers."""
        self._subscription = await self._bus.subscribe(subjects.spent("*"), self._on_hint)

    async def close(self) -> None:
        """Listen no more."""
        if self._subscription is not None:
            with contextlib.suppress(BusError):
                await self._subscription.close()

    async def run(self) -> None:
        """Exchange numbers until the task is cancelled."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(EVERY_S):
                    await self._wake.wait()
            self._wake.clear()
            await self.exchange()

    async def exchange(self) -> None:
        """Tell all workers the present numbers, and get theirs."""
        async with self._exchanging:
            for _ in range(ROUNDS):
                before = dict(self._reports)
                await asyncio.gather(*map(self._tell, self._directory.here()))
                await self._count()
                if self._reports == before:
                    return

    async def _tell(self, worker: str) -> None:
        others = [each.spent for name, each in self._reports.items() if name != worker]
        ask = BudgetsAsk(
            budgets=self._budgets.shared(), elsewhere=_sum([self._budgets.spent_here(), *others])
        )
        with contextlib.suppress(BusError, UnreadableEnvelope):
            subject = subjects.ask(worker, QUESTION)
            answer = await self._bus.request(subject, encode(ask), ANSWER_S)
            self._reports[worker] = decode(answer, SpentReport)

    async def _count(self) -> None:
        reports = self._reports.values()
        last = max(reports, key=lambda each: each.at, default=SpentReport())
        spent = _sum([each.spent for each in reports])
        await self._budgets.set_elsewhere(spent, last.session, last.title, last.at)

    def _on_hint(self, message: Message) -> None:
        self._wake.set()


class WorkerBudgets:
    """A worker's side."""

    def __init__(self, bus: Bus, worker: str, budgets: Budgets, requests: NodeRequests) -> None:
        self._bus = bus
        self._worker = worker
        self._budgets = budgets
        self._wake = asyncio.Event()
        requests.add(QUESTION, self._answer)
        budgets.on_spent = self._wake.set

    async def run(self) -> None:
        """Tell the front when something was spent, until the task is cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            with contextlib.suppress(BusError):
                await self._bus.publish(subjects.spent(self._worker), b"")

    async def _answer(self, payload: bytes) -> bytes:
        ask = decode(payload, BudgetsAsk)
        await self._budgets.follow(ask.budgets, ask.elsewhere)
        session, title, at = self._budgets.last_spender
        spent = self._budgets.spent_here()
        return encode(SpentReport(spent=spent, session=session, title=title, at=at))


def _sum(parts: list[dict[str, float]]) -> dict[str, float]:
    names = {name for part in parts for name in part}
    return {name: sum(part.get(name, 0.0) for part in parts) for name in names}
