"""Exchanges of several messages: each step once, however often it is asked for."""

from __future__ import annotations

import asyncio

import pytest

from fairlead.fleet.node.transfers import Transfer, Transfers
from fairlead.fleet.protocol.envelopes import PIECE_BYTES, Answer, decode_body
from fairlead.server.refusal import Refusal


async def test_a_large_answer_is_pulled_in_pieces_of_which_each_can_be_repeated() -> None:
    transfers = Transfers()
    content = bytes(range(256)) * (PIECE_BYTES // 100)
    answer, body = decode_body(await transfers.offer(content, Answer(packed=True)), Answer)
    assert (answer.packed, answer.more, len(body)) == (True, True, PIECE_BYTES)
    index, more = 0, True
    while more:
        index += 1
        pieces = [await transfers.answer(answer.transfer, index, b"", True) for _ in range(3)]
        assert pieces[0] == pieces[1] == pieces[2]
        step, piece = decode_body(pieces[0], Answer)
        body += piece
        more = step.more
    assert body == content


async def test_a_small_answer_needs_no_transfer() -> None:
    transfers = Transfers()
    answer, body = decode_body(await transfers.offer(b"small", Answer()), Answer)
    assert (answer.more, answer.transfer, body, len(transfers)) == (False, "", b"small", 0)


async def test_a_step_is_carried_out_once_while_it_is_asked_for_again() -> None:
    done: list[bytes] = []
    go = asyncio.Event()

    async def step(body: bytes, last: bool) -> bytes:
        await go.wait()
        done.append(body)
        return b"answer"

    transfer = Transfer(step, lambda: None)
    asked = [asyncio.create_task(transfer.answer(0, b"x", True)) for _ in range(3)]
    await asyncio.sleep(0)
    asked[0].cancel()  # Its asker did not wait.
    go.set()
    assert await asyncio.gather(*asked[1:]) == [b"answer", b"answer"]
    assert done == [b"x"]


async def test_an_earlier_step_and_an_unknown_transfer_are_refused() -> None:
    async def step(body: bytes, last: bool) -> bytes:
        return b""

    transfer = Transfer(step, lambda: None)
    await transfer.answer(0, b"", True)
    await transfer.answer(1, b"", True)
    for index in (0, 3):
        with pytest.raises(Refusal, match="Begin again"):
            await transfer.answer(index, b"", True)
    with pytest.raises(Refusal, match="has ended"):
        await Transfers().answer("unknown", 1, b"", True)
