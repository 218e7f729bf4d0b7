"""A real CLI at a usage limit: it stops, the server holds the queue, and the session continues."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from fairlead.model_api.replies import reply, usage_limit
from fairlead.server.intents.limit_holds import CONTINUE_TEXT
from fairlead.server.limits import Limits
from fairlead.server.protocol.intents import ContinueAtReset, NewSession
from tests.e2e.real_cli.cli_harness import CliHarness
from tests.e2e.real_cli.registry_harness import RegistryHarness, open_registry

JITTER_S = 11.0
LIMITS = Limits(restart_delays_s=(0.0,), tick_every_s=1e6, reset_jitter_s=(JITTER_S, JITTER_S))

DUMMY_LOGIN = "sk-ant-oat01-dummy-token-that-opens-nothing"
"""Looks as if it were a subscription's token: with an API key the CLI reports no windows (CLI-1700)."""


class Clock:
    """The real time, which a test sets ahead."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead


def login_env(harness: CliHarness) -> dict[str, str]:
    env = {name: value for name, value in harness.env.items() if name != "ANTHROPIC_API_KEY"}
    return {**env, "CLAUDE_CODE_OAUTH_TOKEN": DUMMY_LOGIN}


def texts(server: RegistryHarness, session: str) -> list[str]:
    return [prompt.text for prompt in server.live(session).prompts.queue.held]


@pytest.mark.parametrize("cli", ["2.1.325"], indirect=True)
@pytest.mark.parametrize("restarted", [False, True], ids=["same process", "restarted server"])
async def test_B90_a_real_session_stops_at_a_limit_holds_and_continues_by_itself(
    harness: CliHarness, restarted: bool
) -> None:
    clock = Clock()
    resets_at = int(time.time()) + 3_600
    harness.model.push(usage_limit(resets_at), reply("I went on."))
    env = login_env(harness)
    async with open_registry(harness, env=env, limits=LIMITS, clock=clock) as server:
        begun = await server.act(NewSession(cwd=str(harness.project)))
        session = str(begun.result["session"])
        assert (await server.act(ContinueAtReset(session=session, on=True))).ok
        await server.say(session, "work")
        live = server.live(session)
        await server.until(lambda: live.transcript.queue_hold)
        assert live.transcript.queue_hold == {
            "until": resets_at + JITTER_S,
            "limit": "five_hour",
        }
        assert texts(server, session) == [CONTINUE_TEXT]
        rows = {row.kind: row for row in server.registry.limit_book.rows(clock())}
        assert (rows["five_hour"].utilization, rows["five_hour"].resets_at) == (1.0, resets_at)
        assert rows["seven_day"].utilization == 0.4
        asked = len(harness.model.requests)
        await server.registry.limit_holds.tick(resets_at + JITTER_S - 1)
        assert len(harness.model.requests) == asked
        if not restarted:
            await goes_on(
                server, session, clock, resets_at, lambda: harness.model.requests[-1].messages
            )
    if restarted:
        async with open_registry(harness, env=env, limits=LIMITS, clock=clock) as server:
            await goes_on(
                server, session, clock, resets_at, lambda: harness.model.requests[-1].messages
            )


async def goes_on(
    server: RegistryHarness, session: str, clock: Clock, resets_at: int, heard: Callable[[], object]
) -> None:
    clock.ahead = resets_at + JITTER_S - time.time()
    await server.registry.limit_holds.tick(clock())
    live = server.live(session)
    await server.until(lambda: any(turn.text == "I went on." for turn in live.transcript.turns))
    assert live.transcript.queue_hold is None
    assert live.transcript.limit is None
    words = str(heard())
    assert words.count(CONTINUE_TEXT) == 1
    assert "work" in words
