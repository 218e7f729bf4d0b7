"""What a batch of events can have changed, for lines of a CLI and facts of the host."""

from __future__ import annotations

import pytest

from fairlead.server.session.effect import Effect, effect_of
from fairlead.transcript.state.facts import ProcessStarted, PromptCancelled, QueueReleased
from fairlead.transcript.transcript import Transcript
from fairlead.wire.control import ControlResponse
from fairlead.wire.decode import decode
from fairlead.wire.inputs import Request

LIMIT = b'{"type":"rate_limit_event","rate_limit_info":{"status":"rejected"}}'
RESULT = b'{"type":"result","subtype":"success","is_error":false,"result":"x","num_turns":1}'
INIT = b'{"type":"system","subtype":"init","session_id":"s","tools":[],"uuid":"u-0"}'
STARTED = (
    b'{"type":"stream_event","event":{"type":"message_start","message":{"id":"m","type":"message",'
    b'"role":"assistant","content":[]}}}'
)
BLOCK = (
    b'{"type":"stream_event","event":{"type":"content_block_start","index":0,'
    b'"content_block":{"type":"text","text":""}}}'
)
DELTA = (
    b'{"type":"stream_event","event":{"type":"content_block_delta","index":0,'
    b'"delta":{"type":"text_delta","text":"x"}}}'
)
REQUEST = (
    b'{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool",'
    b'"tool_name":"Bash","input":{},"tool_use_id":"t"}}'
)
ANSWER = (
    b'{"type":"control_response","response":{"subtype":"success","request_id":"h",'
    b'"response":{"mode":"plan"}}}'
)
LISTING = (
    b'{"type":"control_response","response":{"subtype":"success","request_id":"h","response":{},'
    b'"pending_permission_requests":[{"type":"control_request","request_id":"r","request":'
    b'{"subtype":"can_use_tool","tool_name":"Bash","input":{},"tool_use_id":"t"}}]}}'
)
CALL = (
    b'{"type":"assistant","uuid":"u-1","message":{"id":"m","role":"assistant","content":[{"type":'
    b'"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]}}'
)
TOOL_RESULT = (
    b'{"type":"user","uuid":"u-2","message":{"role":"user","content":[{"type":"tool_result",'
    b'"tool_use_id":"t","content":"done"}]}}'
)


def effects(*lines: bytes) -> list[Effect]:
    """The effect of each line after those before it."""
    transcript = Transcript()
    found = []
    for number, line in enumerate(lines):
        message = decode(line)
        changes = transcript.feed(message, float(number) / 100)
        found.append(effect_of({type(message)}, changes))
    return found


def test_more_of_a_text_has_no_further_effect() -> None:
    *_, first, second = effects(INIT, STARTED, BLOCK, DELTA, DELTA)
    assert (first, second) == (Effect.WORKED, Effect.GREW)


def test_a_call_and_its_result_concern_the_row_of_the_session_alone() -> None:
    assert effects(INIT, CALL, TOOL_RESULT)[1:] == [Effect.WORKED, Effect.WORKED]


def test_a_request_a_limit_and_the_end_of_a_turn_concern_everything() -> None:
    asked = effects(INIT, CALL, REQUEST)
    assert (asked[-1], effects(LIMIT), effects(INIT, RESULT)[1]) == (
        Effect.OTHER,
        [Effect.OTHER],
        Effect.OTHER,
    )


def test_a_request_to_the_cli_and_its_answer_concern_the_row_of_the_session_alone() -> None:
    transcript = Transcript()
    transcript.feed(decode(INIT), 0.0)
    request = Request(request_id="h", subtype="set_permission_mode", fields={"mode": "plan"})
    assert effect_of({Request}, transcript.feed(request, 1.0)) is Effect.WORKED
    changes = transcript.feed(decode(ANSWER), 2.0)
    assert transcript.session.permission_mode == "plan"
    assert effect_of({ControlResponse}, changes) is Effect.WORKED


def test_an_answer_that_lists_open_requests_concerns_everything() -> None:
    transcript = Transcript()
    transcript.feed(Request(request_id="h", subtype="initialize", fields={}), 0.0)
    changes = transcript.feed(decode(LISTING), 1.0)
    assert [row.id for row in transcript.pending] == ["r"]
    assert effect_of({ControlResponse}, changes) is Effect.OTHER


@pytest.mark.parametrize("fact", [ProcessStarted(), PromptCancelled("u"), QueueReleased()])
def test_a_fact_concerns_everything_even_if_it_changes_nothing(fact: object) -> None:
    assert effect_of({type(fact)}, []) is Effect.OTHER
