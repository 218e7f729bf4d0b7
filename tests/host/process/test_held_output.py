"""Output that an observer holds is collected undecoded; what someone may act on is never held."""

from __future__ import annotations

import pytest

from fairlead.host.process.held_output import MOST_BYTES, HeldOutput

DELTA = b'{"type":"stream_event","event":{"type":"content_block_delta"}}\n'
TOOL_RESULT = b'{"type":"user","message":{"content":[{"type":"tool_result"}]}}\n'
STATUS = b'{"type":"system","subtype":"status","status":"requesting"}\n'
THINKING = b'{"type":"system","subtype":"thinking_tokens","tokens":7}\n'


@pytest.fixture
def held() -> HeldOutput:
    """Output that is held."""
    output = HeldOutput()
    output.holding = True
    return output


def test_output_that_is_not_held_is_decoded_at_once() -> None:
    assert HeldOutput().add(DELTA) == DELTA


@pytest.mark.parametrize(
    "chunk", [DELTA, TOOL_RESULT, STATUS, THINKING, DELTA + TOOL_RESULT + THINKING]
)
def test_lines_that_can_wait_are_collected_in_order(held: HeldOutput, chunk: bytes) -> None:
    assert held.add(chunk) == b""
    assert held.add(DELTA) == b""
    assert held.take() == chunk + DELTA
    assert held.take() == b""


@pytest.mark.parametrize(
    "chunk",
    [
        b'{"type":"control_request","request_id":"r"}\n',
        b'{"type": "control_response", "response": {}}\n',
        b'{"type":"result","subtype":"success"}\n',
        b'{"type":"system","subtype":"init"}\n',
        b'{"type":"something_new"}\n',
        b"no JSON\n",
        DELTA + b'{"type":"control_request","request_id":"r"}\n',
        DELTA + b'{"type":"stream_event","event":{"ty',
        DELTA.rstrip(b"\n"),
    ],
)
def test_other_lines_are_decoded_at_once_after_what_was_collected(
    held: HeldOutput, chunk: bytes
) -> None:
    held.add(DELTA)
    assert held.add(chunk) == DELTA + chunk
    assert held.add(DELTA) == b""  # It is still held.


def test_a_large_amount_is_not_collected(held: HeldOutput) -> None:
    line = DELTA[:-2] + b" " * (MOST_BYTES // 2) + b"}\n"
    assert held.add(line) == b""
    assert held.add(line) == line + line
