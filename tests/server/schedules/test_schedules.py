"""Schedules: when they run, what they send, and what is known of their runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from fairlead.server.limits import Limits
from fairlead.server.protocol.intents import ContinueAtReset, DeleteSessions, Stop
from fairlead.server.refusal import Refusal
from fairlead.server.schedules.rules.schedule import Schedule, decide
from fairlead.server.schedules.schedules import Schedules, ScheduleState
from fairlead.server.schedules.timetable import next_run
from tests.server.limits.reports import stopped_at_limit
from tests.server.server_harness import ServerHarness

BERLIN = ZoneInfo("Europe/Berlin")
START = datetime(2026, 11, 16, 6, 0, tzinfo=BERLIN).timestamp()  # A Monday.
HOUR_S, DAY_S = 3_600.0, 86_400.0


def schedule(**fields: Any) -> Schedule:
    known: dict[str, Any] = {"name": "Nightly", "prompt": "/do it @here", "cron": "0 7 * * 1-5"}
    return Schedule(**{**known, "zone": "Europe/Berlin", "cwd": "/tmp", **fields})


class Clockwork:
    """A server without sockets that has schedules, and whose time a test sets."""

    def __init__(self, folder: Path) -> None:
        self.now = START
        limits = Limits(delete_undo_s=0.05)
        self.harness = ServerHarness(folder, clock=lambda: self.now, limits=limits)

    async def __aenter__(self) -> Clockwork:
        harness = await self.harness.__aenter__()
        self.schedules = Schedules(
            harness.store, harness.registry.sessions, harness.registry, clock=lambda: self.now
        )
        await self.schedules.start()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.harness.__aexit__(*exc_info)

    async def put(self, **fields: Any) -> Schedule:
        fields = {"cwd": str(self.harness.project), **fields}
        return await self.schedules.put(schedule(**fields))

    async def step(self, now: float) -> float | None:
        self.now = now
        return await self.schedules.step(now)

    async def state(self) -> ScheduleState:
        (state,) = await self.schedules.states()
        return state

    async def ended(self) -> ScheduleState:
        """The state once the last run has ended and that is stored."""
        await self.harness.until(lambda: not self.schedules._open and not self.schedules._ending)
        return await self.state()


@pytest.fixture
async def clockwork(tmp_path: Path) -> AsyncIterator[Clockwork]:
    async with Clockwork(tmp_path) as made:
        yield made


def test_B104_every_weekday_at_seven_is_local_time_through_summer_time() -> None:
    local = [datetime(2026, 3, 27, 8, 0, tzinfo=BERLIN).timestamp()]  # A Friday.
    for _ in range(3):
        following = next_run(schedule(), local[-1])
        assert following is not None
        local.append(following)
    texts = [f"{datetime.fromtimestamp(at, BERLIN):%a %d %H:%M}" for at in local[1:]]
    assert texts == ["Mon 30 07:00", "Tue 31 07:00", "Wed 01 07:00"]  # 29 March: the clock changes.


@pytest.mark.parametrize(
    ("late_s", "missed", "decision"),
    [(-1, "run", "wait"), (0, "skip", "run"), (299, "skip", "run"), (301, "skip", "skip"),
     (10 * DAY_S, "run", "run")],
)  # fmt: skip
def test_B105_a_missed_run_is_made_once_or_skipped(
    late_s: float, missed: str, decision: str
) -> None:
    assert decide(schedule(missed=missed), 1_000.0, 1_000.0 + late_s) == decision
    assert decide(schedule(missed=missed, enabled=False), 1_000.0, 1_000.0 + late_s) == "wait"


async def test_B104_a_run_starts_a_session_with_the_prompt_verbatim_and_its_result_is_listed(
    clockwork: Clockwork,
) -> None:
    await clockwork.put(budget_usd=0.5)
    due = START + HOUR_S
    assert (await clockwork.state()).next_at == due
    assert await clockwork.step(due - 1) == due
    assert clockwork.harness.prompts() == []
    following = await clockwork.step(due + 1)
    assert following == due + DAY_S
    state = await clockwork.ended()
    assert clockwork.harness.prompts() == ["/do it @here"]
    assert state.last is not None
    assert (state.last.state, state.last.outcome, state.last.cost_usd) == ("done", "success", 0.01)
    row = clockwork.harness.registry.sessions.rows[state.last.session]
    assert (row.title, row.cwd) == ("Nightly", str(clockwork.harness.project))
    (started,) = clockwork.harness.told("argv")
    assert "--max-budget-usd=0.5" in started["argv"]


async def test_B104_a_run_can_go_into_an_existing_session_through_its_queue(
    clockwork: Clockwork,
) -> None:
    harness = clockwork.harness
    session = await harness.new()
    await harness.say(session, {"ask": {"id": "a"}}, {"wait": 1})
    await harness.pending(session)
    await clockwork.put(cwd="", session=session, cron="", at=START + HOUR_S, prompt="then this")
    assert await clockwork.step(START + HOUR_S) is None  # A single time: it never runs again.
    assert harness.live(session).prompts.uuids  # It waits for the turn before it.
    await harness.live(session).running().interrupt()
    state = await clockwork.ended()
    assert harness.prompts()[-1] == "then this"
    assert state.last is not None
    assert (state.next_at, state.last.session, state.last.outcome) == (None, session, "success")


async def test_B107_a_run_whose_session_is_deleted_before_its_turn_has_failed(
    clockwork: Clockwork,
) -> None:
    harness = clockwork.harness
    session = await harness.new()
    assert (await harness.act(ContinueAtReset(session=session, on=True))).ok
    await harness.say(session, text=stopped_at_limit(resets_at=START + DAY_S))
    await harness.until(lambda: harness.live(session).transcript.queue_hold is not None)
    await clockwork.put(cwd="", session=session, cron="", at=START + HOUR_S, prompt="then this")
    await clockwork.step(START + HOUR_S)
    state = await clockwork.state()
    assert state.last is not None
    assert state.last.state == "sent"  # It is held until the limit resets.
    assert (await harness.act(Stop(session=session))).ok
    assert (await harness.act(DeleteSessions(sessions=(session,)))).ok
    state = await clockwork.ended()
    assert state.last is not None
    assert (state.last.state, state.last.outcome) == ("failed", "Its session was deleted.")


async def test_B105_runs_that_were_missed_while_no_server_ran_are_made_once(tmp_path: Path) -> None:
    async with Clockwork(tmp_path) as clockwork:
        await clockwork.put()
    async with Clockwork(tmp_path) as clockwork:
        await clockwork.step(START + 3 * DAY_S)  # Three were missed.
        await clockwork.ended()
        assert len(clockwork.harness.prompts()) == 1
        assert (await clockwork.state()).next_at == START + 3 * DAY_S + HOUR_S


async def test_B107_a_run_that_cannot_start_says_why_and_the_next_one_is_planned(
    clockwork: Clockwork,
) -> None:
    await clockwork.put()
    clockwork.harness.project.rename(clockwork.harness.project.with_name("moved"))
    await clockwork.step(START + HOUR_S)
    state = await clockwork.ended()
    assert state.last is not None
    assert state.last.state == "failed"
    assert "not found" in state.last.outcome
    assert state.next_at == START + HOUR_S + DAY_S


@pytest.mark.parametrize(
    "fields",
    [
        {"cron": "0 25 * * *"},
        {"cron": "nonsense"},
        {"cron": "0 0 31 2 *"},
        {"cron": "* * * * * *"},
        {"cron": ""},
        {"at": 1.0},
        {"cron": "", "at": START - 1},
        {"zone": "Mars/Olympus"},
        {"session": "s"},
        {"cwd": "", "session": "unknown"},
        {"cwd": "/"},
        {"name": " "},
        {"prompt": ""},
        {"missed": "maybe"},
        {"budget_usd": 0.0},
    ],
    ids=str,
)
async def test_schedules_that_mean_nothing_are_refused(
    clockwork: Clockwork, fields: dict[str, Any]
) -> None:
    with pytest.raises(Refusal):
        await clockwork.put(**fields)
    assert await clockwork.schedules.states() == []


async def test_a_schedule_can_be_changed_turned_off_and_removed(clockwork: Clockwork) -> None:
    made = await clockwork.put()
    await clockwork.put(id=made.id, enabled=False)
    assert (await clockwork.state()).next_at is None
    assert await clockwork.step(START + DAY_S) is None
    await clockwork.schedules.remove(made.id)
    assert await clockwork.schedules.states() == []
    with pytest.raises(Refusal):
        await clockwork.schedules.remove(made.id)
    with pytest.raises(Refusal):
        await clockwork.put(id="unknown")
