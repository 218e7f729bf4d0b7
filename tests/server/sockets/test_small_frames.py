"""Acks and intents are read without the general parser, wherever they are between other frames."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlead.server.sockets.small_frames import MOST_BYTES, FrameBoundary, small_text
from tests.matrix import examples
from tests.server.conftest import Served
from tests.server.raw_requests import RawSocket, frame

ACK = b'{"type":"ack","document":"lobby","seq":0}'

FRAMES = st.builds(
    lambda size, first, masked: frame(b"x" * size, first=first, masked=masked),
    st.sampled_from([0, 1, 5, 125, 126, 300, 65_535, 65_536]),
    st.sampled_from([0x81, 0x01, 0x80, 0x82, 0x89, 0x8A]),
    st.booleans(),
)


@given(st.lists(FRAMES, max_size=6), st.data())
@settings(max_examples=examples(60))
def test_the_boundary_is_reached_exactly_where_frames_end(
    frames: list[bytes], data: st.DataObject
) -> None:
    stream = b"".join(frames)
    ends = {sum(map(len, frames[:count])) for count in range(len(frames) + 1)}
    places = st.lists(st.integers(0, len(stream)), max_size=12)
    # Cuts near the ends of frames are the interesting ones.
    near = [place + offset for place in ends for offset in (-1, 0, 1, 2, 3, 9)]
    cuts = sorted({0, len(stream), *data.draw(places), *(n for n in near if 0 <= n <= len(stream))})
    boundary = FrameBoundary()
    for start, end in itertools.pairwise(cuts):
        boundary.feed(stream[start:end])
        assert boundary.reached == (end in ends)


@given(
    st.binary(max_size=140)
    | st.sampled_from(
        [b"x" * size for size in (MOST_BYTES - 1, MOST_BYTES, MOST_BYTES + 1, 70_000)]
    ),
    st.binary(max_size=20),
)
def test_a_small_text_frame_is_read_with_any_mask(payload: bytes, after: bytes) -> None:
    whole = frame(payload)
    read = small_text(b"before" + whole + after, len(b"before"))
    if len(payload) <= MOST_BYTES:
        assert read == (payload, len(b"before") + len(whole))
    else:
        assert read is None


@pytest.mark.parametrize("first", [0x01, 0x80, 0x82, 0x88, 0x89, 0xC1])
def test_another_frame_is_left_to_the_parser(first: int) -> None:
    assert small_text(frame(ACK, first=first), 0) is None
    assert small_text(frame(ACK, masked=False), 0) is None


@pytest.mark.parametrize("payload", [ACK, b"x" * 126, b"x" * 300])
def test_a_frame_that_is_not_complete_is_left_to_the_parser(payload: bytes) -> None:
    whole = frame(payload)
    assert all(small_text(whole[:size], 0) is None for size in range(len(whole)))


async def entered(served: Served) -> RawSocket:
    """A raw socket that has sent its hello and received the lobby."""
    raw = await RawSocket.open(int(served.base.rpartition(":")[2]))
    token = await served.token("owner")
    hello = {"type": "hello", "protocol": 1, "token": token, "client": "c" * 36}
    await raw.text(json.dumps(hello))
    assert (await heard(raw, "snapshot"))["document"] == "lobby"
    return raw


async def heard(raw: RawSocket, kind: str) -> dict[str, Any]:
    """The next message of a kind."""
    async with asyncio.timeout(60):
        while True:
            opcode, payload = await raw.hear()
            if opcode == 1 and (message := json.loads(payload))["type"] == kind:
                return dict(message)


def opening(name: str) -> bytes:
    """A message that is answered with an error that repeats the name."""
    return json.dumps({"type": "open", "document": name}).encode()


async def test_B69_acks_may_be_joined_with_other_messages_or_cut_anywhere(served: Served) -> None:
    raw = await entered(served)
    await raw.send(frame(ACK) + frame(ACK) + frame(opening("joined")) + frame(ACK))
    assert (await heard(raw, "error"))["document"] == "joined"
    whole = frame(ACK) + frame(opening("cut")) + frame(ACK)
    for place in range(len(whole)):
        await raw.send(whole[place : place + 1])
        await asyncio.sleep(0)
    assert (await heard(raw, "error"))["document"] == "cut"
    # What looks like an ack inside of a longer message belongs to that message.
    inside = opening("inside " + ACK.decode())
    parts = frame(inside[:20], first=0x01) + frame(inside[20:60], first=0x00)
    await raw.send(parts)
    await raw.send(frame(inside[60:], first=0x80) + frame(ACK))
    assert (await heard(raw, "error"))["document"].startswith("inside")
    raw.close()


async def test_B69_an_ack_between_the_fragments_of_a_message_breaks_the_protocol(
    served: Served,
) -> None:
    raw = await entered(served)
    message = opening("torn")
    await raw.send(frame(message[:10], first=0x01))
    await raw.send(frame(ACK))
    assert await raw.closing() == 1002


async def test_B69_a_client_that_sends_too_many_acks_is_slowed_down_and_loses_none(
    served: Served,
) -> None:
    raw = await entered(served)
    await raw.send(frame(ACK) * 150 + frame(opening("after the flood")))
    assert (await heard(raw, "error"))["document"] == "after the flood"
    raw.close()


def stopping(n: int) -> bytes:
    """An intent that is refused, with spaces as some encoders write them."""
    intent = {"kind": "stop", "session": f"nobody {n} " + "x" * (n % 3 * 60)}
    return json.dumps({"type": "intent", "n": n, "intent": intent}).encode()


async def test_B69_intents_may_be_joined_with_other_messages_or_cut_anywhere(
    served: Served,
) -> None:
    raw = await entered(served)
    await raw.send(frame(ACK) + frame(stopping(1)) + frame(ACK) + frame(stopping(2)))
    assert {(await heard(raw, "intent_result"))["n"] for _ in range(2)} == {1, 2}
    whole = frame(stopping(3)) + frame(ACK) + frame(stopping(4)) + frame(stopping(5))
    for place in range(len(whole)):
        await raw.send(whole[place : place + 1])
        await asyncio.sleep(0)
    assert {(await heard(raw, "intent_result"))["n"] for _ in range(3)} == {3, 4, 5}
    raw.close()


async def test_B69_an_intent_behind_another_message_waits_for_it(served: Served) -> None:
    raw = await entered(served)
    await raw.send(frame(opening("first")) + frame(stopping(1)))
    kinds: list[str] = []
    async with asyncio.timeout(60):
        while len(kinds) < 2:
            opcode, payload = await raw.hear()
            kind = json.loads(payload)["type"] if opcode == 1 else ""
            kinds += [kind] if kind in ("error", "intent_result") else []
    assert kinds == ["error", "intent_result"]
    raw.close()


async def test_B69_an_intent_that_cannot_be_read_is_answered_with_an_error(served: Served) -> None:
    raw = await entered(served)
    await raw.send(frame(b'{"type":"intent","n":1,"intent":{"kind":"no such kind"}}'))
    assert (await heard(raw, "error"))["code"] == "bad_message"
    await raw.send(frame(stopping(2)))
    assert (await heard(raw, "intent_result"))["n"] == 2
    raw.close()
