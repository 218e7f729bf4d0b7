"""A message as one WebSocket frame: a client of any implementation reads it back."""

from __future__ import annotations

import msgspec
import pytest
from websockets.frames import Frame, Opcode
from websockets.protocol import Protocol, Side

from fairlead.server.protocol.messages import Problem
from fairlead.server.sockets.frames import Encoded, text_of


@pytest.mark.parametrize("size", [0, 60, 61, 1_000, 65_000, 65_500, 70_000, 300_000])
def test_a_frame_of_every_length_is_read_back(size: int) -> None:
    message = Problem(code="stale", message="é" + "x" * size)
    encoded = Encoded(message)
    client = Protocol(Side.CLIENT, max_size=None)
    client.receive_data(encoded.frame)
    [frame] = client.events_received()
    assert isinstance(frame, Frame)
    assert (frame.opcode, frame.fin) == (Opcode.TEXT, True)
    assert bytes(frame.data).decode() == encoded.text == text_of(message)
    assert msgspec.json.decode(frame.data)["message"].endswith("x" * size)


def test_the_bytes_of_a_frame_are_made_once_for_all_clients() -> None:
    encoded = Encoded(Problem(code="stale", message="the same"))
    assert encoded.frame is encoded.frame
