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
from tests.server.server_harness import ServerHarness, device

JITTER_S = 7.0
DUE = RESET + JITTER_S
LIMITS = Limits(tick_every_s=1e6, reset_jitter_s=(JITTER_S, JITTER_S), restart_delays_s=(0.0,))
"""The tests tick by themselves."""


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def harness(tmp_path: Path, clock: Clock) -> AsyncIterator[ServerHarness]:
    async with ServerHarness(tmp_path, limits=LIMITS, clock=clock) as made:
        yield made


async def by_default(harness: ServerHarness, *, on: bool = True) -> None:
    assert (await harness.act(ContinueAtResetByDefault(on=on))).ok


def shown(harness: ServerHarness, session: str) -> Any:
    return harness.lobby("sessions")[session]["limit"]


async def held(harness: ServerHarness, session: str) -> dict[str, Any]:
    """Wait until the lobby says when a session continues."""
    await harness.until(lambda: (shown(harness, session) or {}).get("continues_at"))
    return dict(shown(harness, session))


async def test_B86_a_session_at_a_limit_continues_at_the_reset_and_never_before(
    harness: ServerHarness, clock: Clock
) -> None:
    await by_default(harness)
    session = await harness.new(prompt=stopped_at_limit())
    assert await held(harness, session) == {
        "kind": "five_hour",
        "resets_at": RESET,
        "continues_at": DUE,
    }
    sent = list(harness.prompts())
    for now in (clock.now, RESET - 0.001, RESET, DUE - 0.001):
        clock.now = now
        await harness.registry.limit_holds.tick(now)
        assert harness.live(session).prompts.queue.limited
        assert harness.prompts() == sent
    clock.now = DUE
    await harness.registry.limit_holds.tick(DUE)
    await harness.until(lambda: harness.prompts() == [*sent, CONTINUE_TEXT])
    await harness.until(lambda: shown(harness, session) is None)
    await harness.until(lambda: "hold" not in harness.registry.sessions.row(session).options)
    clock.now = DUE + 10 * RETRY_S
    await harness.registry.limit_holds.tick(clock.now)
    assert harness.prompts() == [*sent, CONTINUE_TEXT]


async def test_B86_queued_prompts_wait_for_the_reset_and_come_after_the_continuation(
    harness: ServerHarness, clock: Clock
) -> None:
    session = await harness.new(prompt=json.dumps([{"line": report()}, {"wait": 1}]))
    await harness.until(lambda: harness.live(session).transcript.limit)
    await harness.say(session, text="second")
    await harness.say(session, text="third")
    assert (await harness.act(ContinueAtReset(session=session, on=True))).ok
    await harness.live(session).running().interrupt()
    await held(harness, session)
    queued = [prompt.text for prompt in harness.live(session).prompts.queue.held]
    assert queued == [CONTINUE_TEXT, "second", "third"]
    assert len(harness.prompts()) == 1
    await harness.say(session, text="fourth")
    clock.now = DUE
    await harness.registry.limit_holds.tick(DUE)
    expected = [CONTINUE_TEXT, "second", "third", "fourth"]
    await harness.until(lambda: harness.prompts()[1:] == expected)


async def test_B87_without_the_choice_only_queued_prompts_wait(
    harness: ServerHarness, clock: Clock
) -> None:
    session = await harness.new(prompt=stopped_at_limit())
    await harness.until(lambda: shown(harness, session))
    assert shown(harness, session)["continues_at"] is None
    # A user who writes now wants to try it now.
    await harness.say(session, text="try")
    await harness.until(lambda: harness.prompts()[-1] == "try")
    await harness.until(lambda: shown(harness, session) is None)
    other = await harness.new(prompt=json.dumps([{"line": report()}, {"wait": 1}]))
    await harness.until(lambda: harness.live(other).transcript.limit)
    await harness.say(other, text="later")
    await harness.live(other).running().interrupt()
    assert (await held(harness, other))["continues_at"] == DUE
    assert [prompt.text for prompt in harness.live(other).prompts.queue.held] == ["later"]
    clock.now = DUE
    await harness.registry.limit_holds.tick(DUE)
    await harness.until(lambda: harness.prompts()[-1] == "later")
    assert CONTINUE_TEXT not in harness.prompts()


async def test_B87_a_session_chooses_for_itself_after_it_stopped_and_can_cancel(
    harness: ServerHarness, clock: Clock
) -> None:
    session = await harness.new(prompt=stopped_at_limit())
    await harness.until(lambda: shown(harness, session))
    result = await harness.act(ContinueAtReset(session=session, on=True))
    assert result.result == {"on": True, "continues_at": DUE}
    assert (await held(harness, session))["continues_at"] == DUE
    result = await harness.act(ContinueAtReset(session=session, on=False))
    assert result.result == {"on": False, "continues_at": None}
    await harness.until(lambda: shown(harness, session) is None)
    assert harness.live(session).prompts.uuids == ()
    clock.now = DUE
    await harness.registry.limit_holds.tick(DUE)
    assert len(harness.prompts()) == 1
    await harness.say(session, text="by hand")
    await harness.until(lambda: harness.prompts()[-1] == "by hand")


async def test_B87_only_an_owner_sets_the_default_and_a_session_overrides_it(
    harness: ServerHarness,
) -> None:
    refused = await harness.act(ContinueAtResetByDefault(on=True), device("operator", "phone"))
    assert refused.code == "forbidden"
    await by_default(harness)
    assert harness.registry.limit_book.continue_at_reset
    session = await harness.new()
    assert (await harness.act(ContinueAtReset(session=session, on=False))).ok
    await harness.say(session, text=stopped_at_limit())
    await harness.until(lambda: shown(harness, session))
    assert shown(harness, session)["continues_at"] is None
    assert harness.lobby("sessions")[session]["continue_at_reset"] is False


async def test_B87_a_user_may_send_a_held_prompt_at_once(harness: ServerHarness) -> None:
    await by_default(harness)
    session = await harness.new(prompt=stopped_at_limit())
    await held(harness, session)
    (uuid,) = harness.live(session).prompts.uuids
    assert (await harness.act(SendNow(session=session, uuid=uuid))).ok
    await harness.until(lambda: harness.prompts()[-1] == CONTINUE_TEXT)
    await harness.until(lambda: shown(harness, session) is None)


async def test_B88_a_hold_survives_a_restart_and_starts_the_session_again(
    tmp_path: Path, clock: Clock
) -> None:
    async with ServerHarness(tmp_path, limits=LIMITS, clock=clock) as first:
        await by_default(first)
        session = await first.new(prompt=stopped_at_limit())
        await held(first, session)
    async with ServerHarness(tmp_path, limits=LIMITS, clock=clock) as second:
        await second.registry.limit_holds.tick(DUE - 0.001)
        assert shown(second, session)["continues_at"] == DUE
        assert len(second.told("argv")) == 1
        clock.now = DUE + 5_000  # The server was down for longer than the limit.
        await second.registry.limit_holds.tick(clock.now)
        await second.until(lambda: second.prompts()[-1] == CONTINUE_TEXT)
        await second.until(lambda: shown(second, session) is None)
        assert second.prompts().count(CONTINUE_TEXT) == 1
    async with ServerHarness(tmp_path, limits=LIMITS, clock=clock) as third:
        await third.registry.limit_holds.tick(clock.now + 10 * RETRY_S)
        assert third.prompts().count(CONTINUE_TEXT) == 1


async def test_B88_an_archived_session_does_not_continue(
    harness: ServerHarness, clock: Clock
) -> None:
    await by_default(harness)
    session = await harness.new(prompt=stopped_at_limit())
    await held(harness, session)
    await harness.live(session).stop()
    assert (await harness.act(Archive(session=session, archived=True))).ok
    clock.now = DUE
    await harness.registry.limit_holds.tick(DUE)
    await harness.until(lambda: shown(harness, session) is None)
    assert harness.prompts().count(CONTINUE_TEXT) == 0


@pytest.mark.parametrize("resets_at", [500.0, 1_000.0])
async def test_B88_a_reset_in_the_past_is_not_tried_again_at_once(
    harness: ServerHarness, clock: Clock, resets_at: float
) -> None:
    await by_default(harness)
    session = await harness.new(prompt=stopped_at_limit(resets_at=resets_at))
    assert (await held(harness, session))["continues_at"] == clock.now + RETRY_S + JITTER_S
