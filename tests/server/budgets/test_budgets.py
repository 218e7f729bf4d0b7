"""Budgets: a warning, a stop between turns, and prompts that wait until there is money again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fairlead.server.budgets.budgets import Budgets
from fairlead.server.budgets.rules.budget import Budget, covers, level_of
from fairlead.server.notices.outbox import Outbox
from fairlead.server.notices.outcome import Outcome, Sent
from fairlead.server.notices.targets import PushTarget, Targets, push_id
from fairlead.server.refusal import Refusal
from fairlead.store.tables import notices as notice_table
from tests.server.server_harness import ServerHarness

NOON = 1_800_014_400.0
"""12:00 on a day in UTC."""
DAY_S = 86_400.0


class Bank:
    """A server without sockets that has budgets, and whose time a test sets."""

    def __init__(self, folder: Path) -> None:
        self.now = NOON
        self.harness = ServerHarness(folder, clock=lambda: self.now)

    async def __aenter__(self) -> Bank:
        harness = await self.harness.__aenter__()
        targets = Targets(harness.store)
        target = PushTarget(device="d", endpoint="", p256dh="", auth="")
        await targets.put(push_id("d"), target)
        outbox = Outbox(
            harness.store, targets, _send, clock=lambda: self.now, delay_s=0.0, viewed_delay_s=0.0
        )
        self.budgets = Budgets(
            harness.store, harness.registry.sessions, outbox, clock=lambda: self.now
        )
        await self.budgets.load()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.harness.__aexit__(*exc_info)

    async def spend(self, session: str, total: float, text: str = "ok") -> None:
        """A turn after which the CLI reports this total."""
        await self.harness.say(session, {"cost": total}, {"say": text})

    async def notices(self) -> list[str]:
        """The notices to users, the oldest first."""
        query = "SELECT body FROM notices WHERE key LIKE 'budget:%' ORDER BY id"
        rows = await self.harness.store.query(lambda db: db.execute(query).fetchall())
        return [bytes(body).decode() for (body,) in rows]

    def level(self, number: int = 0) -> tuple[float, str]:
        state = self.budgets.states()[number]
        return state.spent_usd, state.level


async def _send(target: Any, session: str, number: int, notice: Any, now: float) -> Outcome:
    return Sent()


@pytest.fixture
async def bank(tmp_path: Path) -> AsyncIterator[Bank]:
    async with Bank(tmp_path) as made:
        yield made


async def test_B100_a_budget_warns_then_stops_between_turns_and_goes_on_when_it_is_raised(
    bank: Bank,
) -> None:
    harness = bank.harness
    session = await harness.new()
    budget = Budget(scope="session", key=session, limit_usd=1.0)
    await bank.budgets.put(budget)
    await bank.spend(session, 0.85)
    await harness.until(lambda: bank.level() == (0.85, "warned"))
    await bank.spend(session, 1.25)
    await harness.until(lambda: bank.level() == (1.25, "reached"))
    await harness.say(session, {"say": "held"})
    live = harness.live(session)
    await harness.until(lambda: len(live.prompts) == 1 and not live.prompts._storing)
    assert len(harness.prompts()) == 2
    assert live.ready
    warned, reached = await bank.notices()
    assert "Budget warning: $0.85 of $1.00 spent for this session." in warned
    assert "Budget reached: $1.25 of $1.00 spent for this session." in reached
    await bank.budgets.put(Budget(scope="session", key=session, limit_usd=5.0))
    await harness.until(lambda: len(harness.prompts()) == 3)
    assert len(live.prompts) == 0


async def test_B100_prompts_that_wait_go_out_one_after_the_other_until_the_budget_is_reached(
    bank: Bank,
) -> None:
    harness = bank.harness
    session = await harness.new()
    await bank.budgets.put(Budget(scope="session", key=session, limit_usd=1.0))
    await harness.say(session, {"ask": {"id": "a"}}, {"wait": 1}, {"cost": 0.5})
    await harness.pending(session)
    for total in (1.5, 2.5):  # Both wait for the turn that asks.
        await bank.spend(session, total)
    live = harness.live(session)
    assert len(live.prompts) == 2
    await harness.registry.sessions.live[0].running().interrupt()
    await harness.until(lambda: bank.level()[1] == "reached")
    assert len(live.prompts) == 1


async def test_B101_projects_and_days_count_all_their_sessions_and_a_new_day_begins_with_nothing(
    bank: Bank,
) -> None:
    harness = bank.harness
    project = str(harness.project)
    await bank.budgets.put(Budget(scope="day", limit_usd=1.0, zone="UTC"))
    await bank.budgets.put(Budget(scope="project", key=project, limit_usd=10.0))
    one, two = await harness.new(), await harness.new()
    await bank.spend(one, 0.7)
    await bank.spend(two, 0.6)
    await harness.until(lambda: bank.level(0) == (1.3, "reached"))
    assert bank.level(1) == (1.3, "")
    await harness.say(one, {"say": "tomorrow"})
    live = harness.live(one)
    await harness.until(lambda: len(live.prompts) == 1 and not live.prompts._storing)
    bank.now += DAY_S
    assert bank.level(0) == (0.0, "")
    assert bank.level(1) == (1.3, "")
    live.prompts.write_next()
    await harness.until(lambda: len(harness.prompts()) == 3)


async def test_B102_what_was_spent_and_announced_survives_the_server(tmp_path: Path) -> None:
    async with Bank(tmp_path) as bank:
        session = await bank.harness.new()
        await bank.budgets.put(Budget(scope="session", key=session, limit_usd=0.5))
        await bank.spend(session, 0.6)
        await bank.harness.until(lambda: bank.level()[1] == "reached")
        assert len(await bank.notices()) == 1
    async with Bank(tmp_path) as bank:
        assert bank.level() == (0.6, "reached")
        live = await bank.harness.registry.sessions.load(session)
        assert bank.budgets.blocking(session) is not None
        # What a killed server had stored and not counted is counted once.
        bank.budgets.settled(live)
        await bank.harness.until(lambda: bank.budgets.is_open(live) is False)
        await bank.harness.store.apply(lambda db: None)
        assert bank.level() == (0.6, "reached")
        assert len(await bank.notices()) == 1
        due = await bank.harness.store.query(partial(notice_table.due, now=NOON + 9, limit=9))
        assert [delivery.key.split(":")[0] for delivery in due] == ["budget"]


async def test_B103_a_new_session_gets_what_is_left_as_the_clis_own_budget(bank: Bank) -> None:
    harness = bank.harness
    await bank.budgets.put(Budget(scope="project", key=str(harness.project), limit_usd=2.0))
    first = await harness.new()
    await bank.spend(first, 0.5)
    await harness.until(lambda: bank.level() == (0.5, ""))
    second = await harness.new()
    await harness.say(second, {"say": "hello"})
    await harness.until(lambda: len(harness.told("argv")) == 2)
    flags = [[flag for flag in run["argv"] if "budget" in flag] for run in harness.told("argv")]
    assert flags == [["--max-budget-usd=2.0"], ["--max-budget-usd=1.5"]]


@pytest.mark.parametrize(
    "budget",
    [
        Budget(scope="week", limit_usd=1.0),
        Budget(scope="session", limit_usd=1.0),
        Budget(scope="day", key="x", limit_usd=1.0),
        Budget(scope="day", limit_usd=0.0),
        Budget(scope="day", limit_usd=float("nan")),
        Budget(scope="day", limit_usd=1.0, warn_percent=0.0),
        Budget(scope="day", limit_usd=1.0, zone="Nowhere/Town"),
        Budget(scope="session", key="unknown", limit_usd=1.0),
    ],
    ids=str,
)
async def test_budgets_that_mean_nothing_are_refused(bank: Bank, budget: Budget) -> None:
    with pytest.raises(Refusal):
        await bank.budgets.put(budget)
    assert bank.budgets.states() == []


def test_levels_and_what_a_budget_covers() -> None:
    budget = Budget(scope="project", key="/a", limit_usd=10.0, warn_percent=50.0)
    assert [level_of(budget, spent) for spent in (4.99, 5.0, 9.99, 10.0)] == [
        *("", "warned", "warned", "reached")
    ]
    assert covers(budget, "s", "/a")
    assert not covers(budget, "s", "/a/b")
