"""The sessions of a busy server share a number of appends a second; control does not wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from fairlead.server.limits import Limits
from fairlead.server.session.append_rate import BURST_S, LONG_ROUND_S, ROUND_S, AppendRate
from fairlead.server.session.journal import LARGE_BYTES, Journal
from fairlead.transcript.reduce import Fed
from fairlead.wire.decode import decode
from fairlead.wire.inputs import Request
from tests.server.session.gated_store import Gate

SLOW = 0.01
"""Appends a second: once the burst is used up, no turn comes within a test."""


def delta(text: str = "x") -> Fed:
    """A line of text."""
    return decode(
        b'{"type":"stream_event","event":{"type":"content_block_delta","index":0,'
        b'"delta":{"type":"text_delta","text":"%b"}}}' % text.encode()
    )


def request() -> Fed:
    """The CLI asks for permission."""
    return decode(
        b'{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool",'
        b'"tool_name":"Bash","input":{},"tool_use_id":"t"}}'
    )


class Log:
    """A journal on a store that works, and what it has shown."""

    def __init__(self, rate: AppendRate) -> None:
        self.batches: list[list[Any]] = []
        self.on_batch: list[Callable[[], None]] = []
        self.gate = Gate()
        self.gate.open.set()
        self.journal = Journal("s", self.gate, self._stored, Limits(), rate=rate)

    def _stored(self, last: int, batch: Any) -> None:
        self.batches.append([fed for fed, _ in batch])
        for call in self.on_batch:
            call()

    async def settle(self) -> None:
        """Let everything happen that needs no more time."""
        for _ in range(20):
            await asyncio.sleep(0)


def used_up(per_s: float) -> AppendRate:
    """A rate whose burst was just used."""
    rate = AppendRate(per_s)
    while rate.take():
        pass
    return rate


async def test_B136_below_the_rate_every_append_is_made_at_once() -> None:
    log = Log(AppendRate(800.0))
    for n in range(int(800 * BURST_S)):
        log.journal.note([delta(str(n))], 0.0)
        await log.settle()
        assert len(log.batches) == n + 1
    await log.journal.close()


async def test_B136_text_waits_for_its_turn_and_is_one_batch_then() -> None:
    rate = used_up(SLOW)
    log = Log(rate)
    for n in range(10):
        log.journal.note([delta(str(n))], 0.0)
        await log.settle()
    assert log.batches == []
    rate._used_until = 0.0  # As if the time had passed.
    await asyncio.wait_for(log.journal.flush(), 10)
    assert [len(batch) for batch in log.batches] == [10]
    await log.journal.close()


async def test_B136_a_report_of_the_status_waits_like_text() -> None:
    log = Log(used_up(SLOW))
    log.journal.note([decode(b'{"type":"system","subtype":"status","status":"requesting"}')], 0.0)
    log.journal.note([delta()], 0.0)
    await log.settle()
    assert log.batches == []
    log.journal.note([request()], 0.0)
    await log.settle()
    assert [len(batch) for batch in log.batches] == [3]
    await log.journal.close()


async def test_B136_sessions_take_turns_in_the_order_in_which_they_asked() -> None:
    rate = used_up(1 / ROUND_S)
    logs = [Log(rate) for _ in range(3)]
    order: list[int] = []
    for number, log in enumerate(logs):
        log.on_batch.append(partial(order.append, number))
        log.journal.note([delta()], 0.0)
    for log in reversed(logs):
        await asyncio.wait_for(log.journal.flush(), 10)
    assert order == [0, 1, 2]
    for log in logs:
        await log.journal.close()


async def test_B136_output_that_was_held_is_stored_with_its_turn() -> None:
    rate = used_up(SLOW)
    log = Log(rate)
    held: list[Fed] = []

    def release() -> None:
        for fed in held:
            log.journal.note([fed], 0.0)
        held.clear()

    log.journal._on_wait = partial(held.extend, [delta("held 1"), delta("held 2")])
    log.journal._on_turn = release
    log.journal.note([delta("first")], 0.0)
    await log.settle()
    assert len(held) == 2
    assert log.batches == []
    rate._used_until = 0.0  # As if the time had passed.
    await asyncio.wait_for(log.journal.flush(), 10)
    assert [len(batch) for batch in log.batches] == [3]
    await log.journal.close()


async def test_B136_output_is_held_from_the_first_wait_until_nobody_waits() -> None:
    rate = used_up(SLOW)
    log = Log(rate)
    calls: list[str] = []
    log.journal._on_wait = partial(calls.append, "wait")
    log.journal._on_turn = partial(calls.append, "turn")
    log.journal._on_free = partial(calls.append, "free")
    log.journal.note([delta("first")], 0.0)
    rate.wait(lambda: False)  # Another session.
    rate._used_until = asyncio.get_running_loop().time() + BURST_S  # One turn is left.
    rate._round()
    rate.wait(lambda: False)
    await asyncio.wait_for(log.journal.flush(), 10)
    assert calls == ["wait", "turn"]
    assert log.journal._queued
    rate._used_until = 0.0
    rate._round()
    assert calls == ["wait", "turn", "turn", "free"]
    await log.journal.close()


async def test_B136_a_request_to_the_cli_is_stored_with_its_answer() -> None:
    log = Log(used_up(SLOW))
    log.journal.note([delta("before")], 0.0)
    log.journal.note(
        [Request(request_id="h-1", subtype="set_permission_mode", fields={"mode": "plan"})],
        0.0,
        b'{"type":"control_request"}\n',
    )
    log.journal.note([delta("after")], 0.0)
    await log.settle()
    assert log.batches == []
    answer = b'{"type":"control_response","response":{"subtype":"success","request_id":"h-1"}}'
    log.journal.note([decode(answer)], 0.0)
    await log.settle()
    assert [len(batch) for batch in log.batches] == [4]
    log.journal.note([Request(request_id="h-2", subtype="interrupt", fields={})], 0.0)
    await log.settle()
    assert [len(batch) for batch in log.batches] == [4, 1]
    await log.journal.close()


async def test_B136_a_request_to_the_cli_waits_for_its_answer_on_a_quiet_server_too() -> None:
    log = Log(AppendRate(400.0))
    log.journal.note([Request(request_id="h-1", subtype="set_model", fields={})], 0.0)
    await log.settle()
    assert log.batches == []
    answer = b'{"type":"control_response","response":{"subtype":"success","request_id":"h-1"}}'
    log.journal.note([decode(answer)], 0.0)
    await log.settle()
    assert [len(batch) for batch in log.batches] == [2]
    await log.journal.close()


async def test_B136_a_request_without_an_answer_is_stored_soon_and_delays_no_text() -> None:
    log = Log(AppendRate(400.0))
    log.journal.note([Request(request_id="h-1", subtype="set_model", fields={})], 0.0)
    log.journal.note([delta("text")], 0.0)
    await log.settle()
    assert [len(batch) for batch in log.batches] == [2]
    log.journal.note([Request(request_id="h-2", subtype="set_model", fields={})], 0.0)
    await asyncio.wait_for(log.journal.flush(), 60.0)
    assert [len(batch) for batch in log.batches] == [2, 1]
    await log.journal.close()


async def test_B136_the_more_sessions_wait_the_more_of_them_share_a_round() -> None:
    rate = AppendRate(400.0)
    rounds = []
    for count in (1, 19, 20, 160):
        for _ in range(count):
            rate._waiting.append(lambda: True)
        rounds.append(rate._round_s())
    assert rounds == [ROUND_S, ROUND_S, ROUND_S, LONG_ROUND_S]


async def test_B136_a_turn_without_output_is_left_to_the_others() -> None:
    rate = used_up(SLOW)
    turns: list[str] = []

    def turn(name: str, used: bool) -> bool:
        turns.append(name)
        return used

    rate._used_until = asyncio.get_running_loop().time() + BURST_S  # One is left.
    rate.wait(partial(turn, "idle", False))
    rate.wait(partial(turn, "busy", True))
    rate.wait(partial(turn, "too late", True))
    rate._round()
    assert turns == ["idle", "busy"]


async def test_B136_a_request_a_decision_and_a_large_batch_do_not_wait() -> None:
    log = Log(used_up(SLOW))
    log.journal.note([delta("before")], 0.0)
    await log.settle()
    assert log.batches == []
    log.journal.note([request()], 0.0)
    await log.settle()
    assert [len(batch) for batch in log.batches] == [2]  # What came before it goes with it.
    log.journal.note([delta("before")], 0.0)
    assert await asyncio.wait_for(log.journal.record([request()], 0.0), 10) == 4
    log.journal.note([delta("x" * LARGE_BYTES)], 0.0)
    await log.settle()
    assert len(log.batches) == 3
    await log.journal.close()


async def test_B136_what_comes_during_an_append_waits_for_a_turn_too() -> None:
    log = Log(AppendRate(SLOW))
    log.gate.open.clear()
    log.journal.note([delta("first")], 0.0)
    await log.settle()
    while log.journal._rate is not None and log.journal._rate.take():
        pass
    log.journal.note([delta("second")], 0.0)
    log.gate.open.set()
    await log.settle()
    assert [len(batch) for batch in log.batches] == [1]
    log.journal.note([request()], 0.0)
    await asyncio.wait_for(log.journal.flush(), 10)
    assert [len(batch) for batch in log.batches] == [1, 2]
    await log.journal.close()
