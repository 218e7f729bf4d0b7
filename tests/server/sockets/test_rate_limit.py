"""The limit of messages per second: further messages are delayed, never lost."""

from __future__ import annotations

import asyncio

from fairlead.server.sockets.rate_limit import Allowance
from tests.server.conftest import Served


def test_a_burst_passes_and_what_is_more_waits_its_turn() -> None:
    allowance = Allowance(10.0, now=0.0)
    assert [allowance.take(0.0) for _ in range(10)] == [0.0] * 10
    assert [round(allowance.take(0.0), 3) for _ in range(3)] == [0.1, 0.2, 0.3]
    assert allowance.take(10.0) == 0.0


def test_what_is_not_covered_takes_nothing() -> None:
    allowance = Allowance(2.0, now=0.0)
    assert [allowance.covers(0.0) for _ in range(4)] == [True, True, False, False]
    assert allowance.take(0.5) == 0.0
    assert not allowance.covers(0.5)


async def test_R14_a_client_that_sends_too_much_is_throttled_and_still_answered(
    served: Served,
) -> None:
    client = await served.client()
    count = 150
    for n in range(1, count + 1):
        await client.say(type="intent", n=n, intent={"kind": "stop", "session": "nobody"})
    answered: set[int] = set()
    async with asyncio.timeout(60):
        while len(answered) < count:
            answered.add((await client.hear("intent_result"))["n"])
    assert answered == set(range(1, count + 1))
