"""A session that a usage limit stopped waits for the reset, and continues by itself."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from fairlead.server.intents.limit_holds import CONTINUE_TEXT, RETRY_S
from fairlead.server.limits import Limits
from fairlead.server.protocol.intents import (
    Archive,
    ContinueAtReset,
    ContinueAtResetByDefault,
    SendNow,
)
from tests.server.limits.reports import RESET, Clock, report, stopped_at_limit
from tests.server.stage import Stage, device

JITTER_S = 7.0
DUE = RESET + JITTER_S
LIMITS = Limits(tick_every_s=1e6, reset_jitter_s=(JITTER_S, JITTER_S), restart_delays_s=(0.0,))
"""The tests tick by themselves."""


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def stage(tmp_path: Path, clock: Clock) -> AsyncIterator[Stage]:
    async with Stage(tmp_path, limits=LIMITS, clock=clock) as made:
        yield made


async def by_default(stage: Stage, *, on: bool = True) -> None:
    assert (await stage.act(ContinueAtResetByDefault(on=on))).ok


def shown(stage: Stage, session: str) -> Any:
    return stage.lobby("sessions")[session]["limit"]


async def held(stage: Stage, session: str) -> dict[str, Any]:
    """Wait until the lobby says when a session continues."""
    await stage.until(lambda: (shown(stage, session) or {}).get("continues_at"))
    return dict(shown(stage, session))


async def test_B86_a_session_at_a_limit_continues_at_the_reset_and_never_before(
    stage: Stage, clock: Clock
) -> None:
    await by_default(stage)
    session = await stage.new(prompt=stopped_at_limit())
    assert await held(stage, session) == {
        "kind": "five_hour",
        "resets_at": RESET,
        "continues_at": DUE,
    }
    sent = list(stage.prompts())
    for now in (clock.now, RESET - 0.001, RESET, DUE - 0.001):
        clock.now = now
        await stage.registry.limit_holds.tick(now)
        assert stage.live(session).prompts.queue.limited
        assert stage.prompts() == sent
    clock.now = DUE
    await stage.registry.limit_holds.tick(DUE)
    await stage.until(lambda: stage.prompts() == [*sent, CONTINUE_TEXT])
    await stage.until(lambda: shown(stage, session) is None)
    await stage.until(lambda: "hold" not in stage.registry.sessions.row(session).options)
    clock.now = DUE + 10 * RETRY_S
    await stage.registry.limit_holds.tick(clock.now)
    assert stage.prompts() == [*sent, CONTINUE_TEXT]


async def test_B86_queued_prompts_wait_for_the_reset_and_come_after_the_continuation(
    stage: Stage, clock: Clock
) -> None:
    session = await stage.new(prompt=json.dumps([{"line": report()}, {"wait": 1}]))
    await stage.until(lambda: stage.live(session).transcript.limit)
    await stage.say(session, text="second")
    await stage.say(session, text="third")
    assert (await stage.act(ContinueAtReset(session=session, on=True))).ok
    await stage.live(session).running().interrupt()
    await held(stage, session)
    queued = [prompt.text for prompt in stage.live(session).prompts.queue.held]
    assert queued == [CONTINUE_TEXT, "second", "third"]
    assert len(stage.prompts()) == 1
    await stage.say(session, text="fourth")
    clock.now = DUE
    await stage.registry.limit_holds.tick(DUE)
    expected = [CONTINUE_TEXT, "second", "third", "fourth"]
    await stage.until(lambda: stage.prompts()[1:] == expected)


async def test_B87_without_the_choice_only_queued_prompts_wait(stage: Stage, clock: Clock) -> None:
    session = await stage.new(prompt=stopped_at_limit())
    await stage.until(lambda: shown(stage, session))
    assert shown(stage, session)["continues_at"] is None
    # A user who writes now wants to try it now.
    await stage.say(session, text="try")
    await stage.until(lambda: stage.prompts()[-1] == "try")
    await stage.until(lambda: shown(stage, session) is None)
    other = await stage.new(prompt=json.dumps([{"line": report()}, {"wait": 1}]))
    await stage.until(lambda: stage.live(other).transcript.limit)
    await stage.say(other, text="later")
    await stage.live(other).running().interrupt()
    assert (await held(stage, other))["continues_at"] == DUE
    assert [prompt.text for prompt in stage.live(other).prompts.queue.held] == ["later"]
    clock.now = DUE
    await stage.registry.limit_holds.tick(DUE)
    await stage.until(lambda: stage.prompts()[-1] == "later")
    assert CONTINUE_TEXT not in stage.prompts()


async def test_B87_a_session_chooses_for_itself_after_it_stopped_and_can_cancel(
    stage: Stage, clock: Clock
) -> None:
    session = await stage.new(prompt=stopped_at_limit())
    await stage.until(lambda: shown(stage, session))
    result = await stage.act(ContinueAtReset(session=session, on=True))
    assert result.result == {"on": True, "continues_at": DUE}
    assert (await held(stage, session))["continues_at"] == DUE
    result = await stage.act(ContinueAtReset(session=session, on=False))
    assert result.result == {"on": False, "continues_at": None}
    await stage.until(lambda: shown(stage, session) is None)
    assert stage.live(session).prompts.uuids == ()
    clock.now = DUE
    await stage.registry.limit_holds.tick(DUE)
    assert len(stage.prompts()) == 1
    await stage.say(session, text="by hand")
    await stage.until(lambda: stage.prompts()[-1] == "by hand")


async def test_B87_only_an_owner_sets_the_default_and_a_session_overrides_it(stage: Stage) -> None:
    refused = await stage.act(ContinueAtResetByDefault(on=True), device("operator", "phone"))
    assert refused.code == "forbidden"
    await by_default(stage)
    assert stage.registry.limit_book.continue_at_reset
    session = await stage.new()
    assert (await stage.act(ContinueAtReset(session=session, on=False))).ok
    await stage.say(session, text=stopped_at_limit())
    await stage.until(lambda: shown(stage, session))
    assert shown(stage, session)["continues_at"] is None
    assert stage.lobby("sessions")[session]["continue_at_reset"] is False


async def test_B87_a_user_may_send_a_held_prompt_at_once(stage: Stage) -> None:
    await by_default(stage)
    session = await stage.new(prompt=stopped_at_limit())
    await held(stage, session)
    (uuid,) = stage.live(session).prompts.uuids
    assert (await stage.act(SendNow(session=session, uuid=uuid))).ok
    await stage.until(lambda: stage.prompts()[-1] == CONTINUE_TEXT)
    await stage.until(lambda: shown(stage, session) is None)


async def test_B88_a_hold_survives_a_restart_and_starts_the_session_again(
    tmp_path: Path, clock: Clock
) -> None:
    async with Stage(tmp_path, limits=LIMITS, clock=clock) as first:
        await by_default(first)
        session = await first.new(prompt=stopped_at_limit())
        await held(first, session)
    async with Stage(tmp_path, limits=LIMITS, clock=clock) as second:
        await second.registry.limit_holds.tick(DUE - 0.001)
        assert shown(second, session)["continues_at"] == DUE
        assert len(second.told("argv")) == 1
        clock.now = DUE + 5_000  # The server was down for longer than the limit.
        await second.registry.limit_holds.tick(clock.now)
        await second.until(lambda: second.prompts()[-1] == CONTINUE_TEXT)
        await second.until(lambda: shown(second, session) is None)
        assert second.prompts().count(CONTINUE_TEXT) == 1
    async with Stage(tmp_path, limits=LIMITS, clock=clock) as third:
        await third.registry.limit_holds.tick(clock.now + 10 * RETRY_S)
        assert third.prompts().count(CONTINUE_TEXT) == 1


async def test_B88_an_archived_session_does_not_continue(stage: Stage, clock: Clock) -> None:
    await by_default(stage)
    session = await stage.new(prompt=stopped_at_limit())
    await held(stage, session)
    await stage.live(session).stop()
    assert (await stage.act(Archive(session=session, archived=True))).ok
    clock.now = DUE
    await stage.registry.limit_holds.tick(DUE)
    await stage.until(lambda: shown(stage, session) is None)
    assert stage.prompts().count(CONTINUE_TEXT) == 0


@pytest.mark.parametrize("resets_at", [500.0, 1_000.0])
async def test_B88_a_reset_in_the_past_is_not_tried_again_at_once(
    stage: Stage, clock: Clock, resets_at: float
) -> None:
    await by_default(stage)
    session = await stage.new(prompt=stopped_at_limit(resets_at=resets_at))
    assert (await held(stage, session))["continues_at"] == clock.now + RETRY_S + JITTER_S
