"""A CLI that writes faster than its output is read: it waits, and nothing is lost or piles up."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator

import pytest

from fairlead import Options, Session
from fairlead.host.engine.backpressure import RESERVE_BYTES, Backpressure
from fairlead.host.engine.prompts import PromptMoved
from fairlead.host.process.process import Graces
from fairlead.wire.decode import AnyMessage
from fairlead.wire.events import StreamEvent
from fairlead.wire.inputs import Input
from tests.host.children import CHUNK_BYTES, alive, in_pipe, is_full
from tests.host.conftest import Rude
from tests.waiting import until

QUICK = Graces(after_eof=0.5, after_term=0.5, after_kill=5.0)
LINE_BYTES = 400


class Taker:
    """Takes what comes until it has enough, and then lets the CLI wait."""

    def __init__(self, live: Session) -> None:
        self._live = live
        self.enough = 0
        self.bytes = 0
        self.numbers: list[int] = []
        self.gone = asyncio.Event()

    def received(self, messages: list[AnyMessage], at: float) -> None:
        self.bytes += sum(len(message.raw) + 1 for message in messages)
        self.numbers += [
            int(message.event.delta.text[:8])  # type: ignore[union-attr]
            for message in messages
            if isinstance(message, StreamEvent)
        ]
        if self.bytes > self.enough:
            self._live.pause_reading()

    def sent(self, message: Input, line: bytes, at: float) -> None:
        pass

    def prompt_moved(self, move: PromptMoved, at: float) -> None:
        pass

    def exited(self, returncode: int, at: float) -> None:
        self.gone.set()


@pytest.fixture
async def gushing(rude: Rude) -> AsyncIterator[tuple[Session, Taker]]:
    agent = rude("gush")
    live = Session(Options(agent=agent, cwd=agent.parent, graces=QUICK), transcript=False)
    taker = Taker(live)
    async with live:
        live.observe(taker)
        taker.enough = taker.bytes + 100_000
        await live.send("go")
        await until(lambda: taker.bytes > taker.enough and is_full(live.pid))
        yield live, taker


async def test_C31_a_cli_waits_at_its_pipe_while_no_reader_takes_its_output(
    gushing: tuple[Session, Taker],
) -> None:
    live, taker = gushing
    assert taker.bytes <= taker.enough + CHUNK_BYTES
    before = taker.bytes
    taker.enough = before + 10_000_000
    live.resume_reading()
    await until(lambda: taker.bytes > taker.enough and is_full(live.pid))
    assert taker.bytes <= taker.enough + CHUNK_BYTES
    assert taker.numbers == list(range(len(taker.numbers)))


async def test_C31_an_interrupt_is_answered_through_a_closed_tap(
    gushing: tuple[Session, Taker],
) -> None:
    live, taker = gushing
    before = taker.bytes
    async with asyncio.timeout(60):
        answer = await live.interrupt()
    assert taker.bytes - before <= RESERVE_BYTES + CHUNK_BYTES
    taker.enough = taker.bytes + 10_000_000
    live.resume_reading()
    await until(lambda: len(taker.numbers) == answer["lines"])
    assert taker.numbers == list(range(answer["lines"]))


async def test_C31_what_a_dead_cli_left_in_its_pipe_is_still_read(
    gushing: tuple[Session, Taker],
) -> None:
    live, taker = gushing
    assert live.pid is not None
    lying, room = in_pipe(live.pid)
    before = taker.bytes
    os.kill(live.pid, signal.SIGKILL)
    async with asyncio.timeout(60):
        await taker.gone.wait()
    # The beginning of the first of these lines was read before.
    assert lying <= taker.bytes - before < room + LINE_BYTES
    assert taker.numbers == list(range(len(taker.numbers)))


async def test_C31_a_session_ends_though_its_cli_waits_at_its_pipe(
    gushing: tuple[Session, Taker],
) -> None:
    live, taker = gushing
    async with asyncio.timeout(60):
        await live.close()
    assert taker.gone.is_set()
    assert not alive(live.pid or 0)


def test_C31_the_reserve_is_for_answers_only_and_has_an_end() -> None:
    tap = Backpressure(reserve=100)
    assert tap.flows(answer_awaited=False)
    tap.took(1_000)
    tap.close()
    assert not tap.flows(answer_awaited=False)
    assert tap.flows(answer_awaited=True)
    tap.took(99)
    tap.close()
    assert tap.flows(answer_awaited=True)
    tap.took(1)
    assert not tap.flows(answer_awaited=True)
    tap.open()
    tap.close()
    assert tap.flows(answer_awaited=True)
