"""Lines to messages: W14 to W29, W32 and W33 of docs/wire.md."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.wire.blocks import NEVER, TextBlock, ToolResultBlock, ToolUseBlock, UnknownBlock
from fairlead.wire.control import (
    CanUseTool,
    ControlCancelRequest,
    ControlRequest,
    ControlResponse,
    UnknownRequest,
)
from fairlead.wire.decode import decode, decode_lines, decode_object, misfits, skipped
from fairlead.wire.events import (
    Assistant,
    KeepAlive,
    Malformed,
    Result,
    StreamEvent,
    Unknown,
    User,
)
from fairlead.wire.framing import LineSplitter, Oversized
from fairlead.wire.json_text import NotJson, parse, write
from fairlead.wire.stream import (
    ContentBlockDelta,
    ContentBlockStart,
    TextDelta,
    UnknownApiEvent,
    UnknownDelta,
)
from fairlead.wire.system import Init, UnknownSystem
from fairlead.wire.updates import AddRules, RuleValue, SetMode, UnknownUpdate
from tests.wire.strategies import LAW, SHORT_LAW, almost_messages, damaged_recordings, json_values

TEXT_DELTA = {"type": "text_delta", "text": "hi"}


def stream(event: Any, **fields: Any) -> bytes:
    return write({"type": "stream_event", "uuid": "u", "event": event, **fields})


def request(body: Any) -> bytes:
    return write({"type": "control_request", "request_id": "r1", "request": body})


def keeps_all(line: bytes) -> None:
    """A line is read without an exception, and everything in it can be had again."""
    message = decode(line)
    assert message.raw == line
    try:
        data = parse(line)
    except NotJson:
        assert isinstance(message, Malformed)
    else:
        assert message.data == data if isinstance(data, dict) else message.data is None
        assert isinstance(message, Malformed) is not isinstance(data, dict)
    assert repr(message)


@given(st.binary(max_size=60))
@LAW
def test_W14_any_bytes_give_a_message(line: bytes) -> None:
    message = decode(line)
    assert message.raw == line
    assert message.data is None or isinstance(message.data, dict)


@given(json_values())
@LAW
def test_W14_any_json_value_gives_a_message_that_keeps_it(value: Any) -> None:
    keeps_all(write(value))


@given(almost_messages())
@LAW
def test_W14_the_words_of_the_protocol_in_any_order_give_a_message_that_keeps_them(
    value: Any,
) -> None:
    keeps_all(write(value))


@given(damaged_recordings())
@LAW
def test_W14_damaged_recordings_give_a_message_that_keeps_them(value: Any) -> None:
    line = write(value)
    keeps_all(line)
    assert all(isinstance(problem, str) and problem for problem in misfits(line))


@given(damaged_recordings(), st.integers(0, 255), st.integers(0, 10_000))
@LAW
def test_W14_recordings_with_one_wrong_byte_give_a_message(
    value: Any, byte: int, place: int
) -> None:
    line = bytearray(write(value))
    line[place % len(line)] = byte
    message = decode(bytes(line))
    assert message.raw == line
    assert message.data is None or isinstance(message.data, dict)


def test_W15_a_message_has_its_exact_line_and_its_whole_object() -> None:
    line = b'{ "type" : "keep_alive",\t"n": 1.50, "n\\u0061me": "\\u00e9" }\r'
    message = decode(line)
    assert isinstance(message, KeepAlive)
    assert message.raw == line
    assert message.data == {"type": "keep_alive", "n": 1.5, "name": "é"}


def test_W15_asking_for_the_object_never_raises() -> None:
    depth = 500
    message = decode(b'{"type":"keep_alive","deep":' + b"[" * depth + b"]" * depth + b"}")
    assert isinstance(message, KeepAlive)

    def with_little_stack_left(calls: int) -> Any:
        return message.data if calls == 0 else with_little_stack_left(calls - 1)

    assert with_little_stack_left(0)["type"] == "keep_alive"
    assert with_little_stack_left(600) in (None, message.data)
    assert KeepAlive().data is None


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"npm warn deprecated x@1", "Expecting value"),
        (b'{"type":"keep_alive"', "Expecting"),
        (b'{"type":"keep_alive"} {"type":"keep_alive"}', "Extra data"),
        (b"null", "a JSON null, not an object"),
        (b"true", "a JSON boolean, not an object"),
        (b"7", "a JSON number, not an object"),
        (b'"user"', "a JSON string, not an object"),
        (b'[{"type":"user"}]', "a JSON array, not an object"),
    ],
)
def test_W16_what_is_no_json_object_is_malformed_and_says_why(line: bytes, problem: str) -> None:
    message = decode(line)
    assert isinstance(message, Malformed)
    assert message.problem.startswith(problem)
    assert (message.raw, message.size, message.type, message.data) == (line, len(line), "", None)


def test_W16_reading_goes_on_after_noise() -> None:
    data = b'Debugger attached.\n{"type":"keep_alive"}\n\xff\xfe\n{"type":"keep_alive"}\n'
    kinds = [type(message) for message in decode_lines(LineSplitter().feed(data))]
    assert kinds == [Malformed, KeepAlive, Malformed, KeepAlive]


@pytest.mark.parametrize("blank", [b"", b"\r", b" ", b"\t \r"])
def test_W17_a_blank_line_gives_no_message(blank: bytes) -> None:
    assert decode_lines([blank]) == []
    assert decode_lines([blank, b'{"type":"keep_alive"}', blank]) == [
        decode(b'{"type":"keep_alive"}')
    ]


def test_W18_a_line_skipped_for_its_length_is_malformed_with_its_true_size() -> None:
    splitter = LineSplitter(limit=100)
    data = b'{"type":"user","x":"' + b"x" * 5_000 + b'"}\n{"type":"keep_alive"}\n'
    huge, after = decode_lines(splitter.feed(data))
    assert isinstance(huge, Malformed)
    assert huge.size == len(data.split(b"\n")[0])
    assert huge.raw == data[:1024]
    assert huge.problem == "a line of 5,022 bytes is above the limit of 100 and was skipped"
    assert isinstance(after, KeepAlive)
    assert skipped(Oversized(head=b"x", size=5_022, limit=100)).problem == huge.problem


def test_W19_type_may_be_the_last_key() -> None:
    result = decode(b'{"is_error":false,"result":"4","subtype":"success","type":"result"}')
    assert isinstance(result, Result)
    assert (result.ok, result.text) == (True, "4")
    init = decode(b'{"model":"m","subtype":"init","type":"system"}')
    assert isinstance(init, Init)
    assert init.model == "m"
    delta = decode(
        b'{"event":{"delta":{"text":"a","type":"text_delta"},"index":0,'
        b'"type":"content_block_delta"},"type":"stream_event"}'
    )
    assert isinstance(delta, StreamEvent)
    assert delta.event == ContentBlockDelta(delta=TextDelta("a"), index=0)


@given(st.permutations(["type", "subtype", "is_error", "result", "uuid"]))
@LAW
def test_W19_the_order_of_keys_means_nothing(keys: list[str]) -> None:
    line = {"type": "result", "subtype": "success", "is_error": False, "result": "4", "uuid": "u"}
    message = decode(write({key: line[key] for key in keys}))
    assert isinstance(message, Result)
    assert (message.ok, message.result, message.uuid) == (True, "4", "u")


def test_W20_a_field_without_a_type_stays_in_data_at_every_depth() -> None:
    line = {
        "type": "assistant",
        "tide": "high",
        "message": {
            "id": "m",
            "tide": "low",
            "content": [{"type": "text", "text": "hi", "tide": [1]}],
            "usage": {"input_tokens": 3, "tide": None},
        },
    }
    message = decode(write(line))
    assert isinstance(message, Assistant)
    assert message.message.content == (TextBlock("hi"),)
    assert message.message.usage is not None
    assert message.message.usage.input_tokens == 3
    assert message.data == line
    assert misfits(message.raw) == ()


def test_W21_a_field_of_the_wrong_type_falls_back_and_the_rest_stays_typed() -> None:
    line = write(
        {
            "type": "result",
            "subtype": "success",
            "result": "4",
            "num_turns": "three",
            "errors": None,
            "modelUsage": {"m": {"inputTokens": 5, "costUSD": "free"}},
        }
    )
    message = decode(line)
    assert isinstance(message, Result)
    assert (message.ok, message.result, message.num_turns, message.errors) == (True, "4", None, ())
    assert message.model_usage["m"].input_tokens == 5
    assert message.model_usage["m"].cost_usd == 0.0
    reported = [problem.split(":")[0] for problem in misfits(line)]
    assert sorted(reported) == ["errors", "modelUsage.m.costUSD", "num_turns"]


def test_W21_one_bad_field_deep_inside_leaves_its_message_typed() -> None:
    content = [{"type": "tool_use", "id": "t", "name": 5, "input": {}}, {"type": "text"}]
    message = decode(write({"type": "assistant", "message": {"id": "m", "content": content}}))
    assert isinstance(message, Assistant)
    assert message.message.id == "m"
    assert message.message.content == (ToolUseBlock(id="t", name="", input={}), TextBlock())


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ({"type": "stream_event"}, "stream_event"),
        ({"type": "control_request", "request": {"subtype": "mcp_message"}}, "control_request"),
        ({"type": "control_request", "request_id": "r"}, "control_request"),
        ({"type": "control_request", "request_id": 5, "request": {}}, "control_request"),
        ({"type": "control_response"}, "control_response"),
        ({"type": "control_response", "response": "yes"}, "control_response"),
        ({"type": "control_cancel_request"}, "control_cancel_request"),
    ],
)
def test_W22_a_line_without_what_gives_it_meaning_is_unknown_with_a_reason(
    line: dict[str, Any], kind: str
) -> None:
    message = decode(write(line))
    assert isinstance(message, Unknown)
    assert (message.type, message.data) == (kind, line)
    assert message.problem
    assert misfits(message.raw) == (message.problem,)


@pytest.mark.parametrize(
    "body",
    [
        {"subtype": "can_use_tool", "input": {}},
        {"subtype": "can_use_tool", "tool_name": "Bash"},
        {"subtype": "can_use_tool", "tool_name": "Bash", "input": "ls"},
        {"subtype": "hook_callback", "input": {}},
        {"subtype": "mcp_message", "message": {}},
    ],
)
def test_W22_a_request_without_what_gives_it_meaning_can_still_be_answered(
    body: dict[str, Any],
) -> None:
    message = decode(request(body))
    assert isinstance(message, ControlRequest)
    assert message.request_id == "r1"
    assert isinstance(message.request, UnknownRequest)
    assert (message.request.subtype_name, message.request.data) == (body["subtype"], body)
    assert message.request.problem


def test_W22_a_delta_event_without_its_delta_is_an_unknown_event() -> None:
    event = {"type": "content_block_delta", "index": 3}
    message = decode(stream(event))
    assert isinstance(message, StreamEvent)
    assert message.uuid == "u"
    assert isinstance(message.event, UnknownApiEvent)
    assert (message.event.type_name, message.event.data) == ("content_block_delta", event)
    assert "delta" in message.event.problem


@pytest.mark.parametrize(
    "change",
    [
        {"rules": [{"ruleContent": "ls"}]},
        {"rules": [{"toolName": "Bash"}, "Read"]},
        {"rules": [{"toolName": "Bash", "ruleContent": 5}]},
        {"rules": [{"toolName": "Bash", "ruleContent": ["ls"]}]},
        {"rules": [{"toolName": "Bash", "ruleContent": {"prefix": "ls"}}]},
        {"rules": [{"toolName": "Bash", "rule_content": "ls"}]},
        {"rules": [{"toolName": "Bash", "rulecontent": "ls"}]},
        {"rules": [{"toolName": "Bash", "ruleContent": "ls", "only": "here"}]},
        {"rules": [{"toolName": "Read"}, {"toolName": "Bash", "ruleContent": False}]},
        {"rules": None},
        {"behavior": None},
        {"behavior": ["deny"]},
        {"destination": 5},
    ],
)
def test_W22_a_permission_update_is_read_whole_or_not_at_all(change: dict[str, Any]) -> None:
    # Read in part, a rule to deny would become a rule to allow, or a rule for nothing.
    right = {
        "type": "addRules",
        "rules": [{"toolName": "Bash"}],
        "behavior": "deny",
        "destination": "session",
    }
    for bad in ({**right, **change}, {k: v for k, v in right.items() if k not in change}):
        fields = {"tool_name": "Bash", "input": {}, "permission_suggestions": [bad, right]}
        message = decode(request({"subtype": "can_use_tool", **fields}))
        assert isinstance(message, ControlRequest)
        assert isinstance(message.request, CanUseTool)
        first, second = message.request.permission_suggestions or ()
        assert isinstance(first, UnknownUpdate)
        assert (first.type_name, first.data) == ("addRules", bad)
        assert first.problem
        assert isinstance(second, AddRules)


@pytest.mark.parametrize(
    ("line", "name", "problem"),
    [
        ({"type": "weather", "uuid": "u", "session_id": "s", "wind": 8}, "weather", ""),
        ({"type": "streamlined_text", "text": "gone"}, "streamlined_text", ""),
        ({"type": "", "a": 1}, "", ""),
        ({"type": 5}, "", "no type"),
        ({"type": ["user"]}, "", "no type"),
        ({"a": 1}, "", "no type"),
        ({}, "", "no type"),
    ],
)
def test_W23_a_line_of_an_unknown_type_is_unknown_and_whole(
    line: dict[str, Any], name: str, problem: str
) -> None:
    message = decode(write(line))
    assert isinstance(message, Unknown)
    assert (message.type, message.problem, message.data) == (name, problem, line)
    assert (message.uuid, message.session_id) == (line.get("uuid"), line.get("session_id"))
    assert misfits(message.raw) == (problem or f"unknown type {name!r}",)


@pytest.mark.parametrize("subtype", ["weather", "", None, 5, ["init"]])
def test_W24_a_system_line_of_an_unknown_subtype_is_whole(subtype: Any) -> None:
    line = {"type": "system", "subtype": subtype, "uuid": "u", "wind": {"force": 8}}
    message = decode(write(line))
    assert isinstance(message, UnknownSystem)
    assert message.type == "system"
    assert message.subtype == (subtype if isinstance(subtype, str) else "")
    assert (message.uuid, message.data) == ("u", line)
    assert len(misfits(message.raw)) == 1


def test_W24_a_system_line_without_a_subtype_is_unknown_too() -> None:
    message = decode(b'{"type":"system","session_id":"s"}')
    assert isinstance(message, UnknownSystem)
    assert (message.subtype, message.session_id) == ("", "s")


HOLOGRAM = {"type": "hologram", "rays": [1, {"deep": None}]}
UNKNOWN_HOLOGRAM = UnknownBlock(type_name="hologram", data=HOLOGRAM)
TEXT = {"type": "text", "text": "hi"}


def test_W25_an_unknown_block_is_kept_in_an_assistant_line() -> None:
    message = decode(write({"type": "assistant", "message": {"content": [TEXT, HOLOGRAM, TEXT]}}))
    assert isinstance(message, Assistant)
    assert message.message.content == (TextBlock("hi"), UNKNOWN_HOLOGRAM, TextBlock("hi"))
    assert message.text == "hihi"


def test_W25_an_unknown_block_is_kept_in_a_user_line_and_in_a_tool_result() -> None:
    result = {"type": "tool_result", "tool_use_id": "t", "content": [TEXT, HOLOGRAM]}
    message = decode(write({"type": "user", "message": {"content": [HOLOGRAM, result]}}))
    assert isinstance(message, User)
    assert message.message.content == (
        UNKNOWN_HOLOGRAM,
        ToolResultBlock(tool_use_id="t", content=(TextBlock("hi"), UNKNOWN_HOLOGRAM)),
    )


def test_W25_an_unknown_block_is_kept_at_the_start_of_a_block() -> None:
    message = decode(stream({"type": "content_block_start", "index": 1, "content_block": HOLOGRAM}))
    assert isinstance(message, StreamEvent)
    assert message.event == ContentBlockStart(index=1, content_block=UNKNOWN_HOLOGRAM)


@pytest.mark.parametrize("block", ["words", 5, None, [], {}, {"type": 7}, {"text": "no type"}])
def test_W25_what_is_no_block_at_all_is_kept_with_a_reason(block: Any) -> None:
    message = decode(write({"type": "assistant", "message": {"content": [TEXT, block]}}))
    assert isinstance(message, Assistant)
    first, second = message.message.content
    assert first == TextBlock("hi")
    assert isinstance(second, UnknownBlock)
    assert (second.data, second.type_name) == (block, "")
    assert second.problem


def test_W26_an_unknown_stream_event_is_kept_in_a_typed_envelope() -> None:
    event = {"type": "message_paused", "why": ["tide"]}
    message = decode(stream(event, parent_tool_use_id="t"))
    assert isinstance(message, StreamEvent)
    assert (message.uuid, message.parent_tool_use_id) == ("u", "t")
    assert message.event == UnknownApiEvent(type_name="message_paused", data=event)


def test_W26_an_unknown_delta_is_kept_in_a_typed_event() -> None:
    delta = {"type": "hologram_delta", "rays": [3]}
    message = decode(stream({"type": "content_block_delta", "index": 4, "delta": delta}))
    assert isinstance(message, StreamEvent)
    unknown = UnknownDelta(type_name="hologram_delta", data=delta)
    assert message.event == ContentBlockDelta(delta=unknown, index=4)


@pytest.mark.parametrize("event", ["ping", 5, None, [], {}])
def test_W26_what_is_no_event_at_all_is_kept_with_a_reason(event: Any) -> None:
    message = decode(stream(event))
    assert isinstance(message, StreamEvent)
    assert isinstance(message.event, UnknownApiEvent)
    assert message.event.data == event
    assert message.event.problem


@pytest.mark.parametrize(
    "body",
    [
        {"subtype": "oauth_token_refresh", "kind": "sessions"},
        {"subtype": "raise_anchor", "fathoms": 12},
        {"subtype": 5},
        {"subtype": ["can_use_tool"]},
        {},
        "stop",
        None,
    ],
)
def test_W27_an_unknown_request_is_kept_with_the_id_to_answer_it(body: Any) -> None:
    message = decode(request(body))
    assert isinstance(message, ControlRequest)
    assert message.request_id == "r1"
    assert isinstance(message.request, UnknownRequest)
    assert message.request.data == body


def test_W28_an_unknown_suggestion_is_kept_and_the_others_stay_typed() -> None:
    rules = {
        "type": "addRules",
        "rules": [{"toolName": "Bash"}],
        "behavior": "deny",
        "destination": "session",
    }
    lend = {"type": "lendRules", "to": "a friend"}
    mode = {"type": "setMode", "mode": "plan", "destination": "session"}
    fields = {"tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "t"}
    body = {"subtype": "can_use_tool", **fields, "permission_suggestions": [rules, lend, mode]}
    message = decode(request(body))
    assert isinstance(message, ControlRequest)
    assert message.request == CanUseTool(
        tool_name="Bash",
        input={"command": "ls"},
        tool_use_id="t",
        permission_suggestions=(
            AddRules(rules=(RuleValue("Bash"),), behavior="deny", destination="session"),
            UnknownUpdate(type_name="lendRules", data=lend),
            SetMode(mode="plan", destination="session"),
        ),
    )


@pytest.mark.parametrize("name", ["unknown", "malformed"])
def test_W29_no_line_can_call_itself_unknown_or_malformed(name: str) -> None:
    line = {"type": NEVER + name, "problem": "none", "size": 1, "type_name": "assistant"}
    message = decode(write(line))
    assert isinstance(message, Unknown)
    assert (message.type, message.data) == (NEVER + name, line)


def test_W29_no_part_of_a_line_can_call_itself_unknown_and_lose_its_fields() -> None:
    system = decode(write({"type": "system", "subtype": f"{NEVER}system", "subtype_name": "init"}))
    assert isinstance(system, UnknownSystem)
    assert system.subtype == f"{NEVER}system"
    body = {"subtype": f"{NEVER}request", "command": "ls"}
    cli_request = decode(request(body))
    assert isinstance(cli_request, ControlRequest)
    assert cli_request.request == UnknownRequest(subtype_name=f"{NEVER}request", data=body)
    block = {"type": f"{NEVER}block", "rays": 1}
    output = decode(write({"type": "assistant", "message": {"content": [block]}}))
    assert isinstance(output, Assistant)
    assert output.message.content == (UnknownBlock(type_name=f"{NEVER}block", data=block),)
    delta = {"type": f"{NEVER}delta", "rays": 1}
    grown = decode(stream({"type": "content_block_delta", "delta": delta}))
    assert isinstance(grown, StreamEvent)
    assert isinstance(grown.event, ContentBlockDelta)
    assert grown.event.delta == UnknownDelta(type_name=f"{NEVER}delta", data=delta)
    event = {"type": f"{NEVER}event", "rays": 1}
    happened = decode(stream(event))
    assert isinstance(happened, StreamEvent)
    assert happened.event == UnknownApiEvent(type_name=f"{NEVER}event", data=event)


def test_W29_a_block_that_fills_in_the_fields_of_an_unknown_one_hides_nothing() -> None:
    block = {"type": f"{NEVER}block", "type_name": "text", "data": {"text": "hi"}, "problem": "no"}
    message = decode(write({"type": "assistant", "message": {"content": [block]}}))
    assert isinstance(message, Assistant)
    (unknown,) = message.message.content
    assert unknown == UnknownBlock(type_name="text", data={"text": "hi"}, problem="no")
    assert message.data["message"]["content"] == [block]


def test_W29_the_raw_line_cannot_be_forged() -> None:
    line = write({"type": "keep_alive", f"{NEVER}raw": "Zm9yZ2Vk"})
    assert decode(line).raw == line
    assert decode_lines([line])[0].raw == line
    cli_request = write(
        {"type": "control_cancel_request", "request_id": "r", f"{NEVER}raw": "Zm9yZ2Vk"}
    )
    assert decode(cli_request) == ControlCancelRequest(raw=cli_request, request_id="r")


@given(json_values() | almost_messages() | damaged_recordings())
@LAW
def test_W32_an_object_is_read_as_its_text_is(value: Any) -> None:
    message = decode_object(value)
    assert message == decode(message.raw)
    assert parse(message.raw) == value


def test_W32_an_object_with_odd_values_is_read_without_an_exception() -> None:
    message = decode_object({"type": "user", "message": {"content": "a\ud83d"}, "n": math.nan})
    assert isinstance(message, User)
    assert message.text == "a\ufffd"
    assert math.isnan(message.data["n"])
    deep: Any = []
    for _ in range(200_000):
        deep = [deep]
    assert isinstance(decode_object({"type": "user", "tool_use_result": deep}), Malformed)


@given(st.lists(json_values() | almost_messages() | damaged_recordings(), max_size=5))
@SHORT_LAW
def test_W33_many_lines_are_read_as_each_of_them_is(values: list[Any]) -> None:
    lines = [write(value) for value in values]
    assert decode_lines([*lines]) == [decode(line) for line in lines]


def test_W33_noise_and_odd_bytes_among_many_lines_stop_nothing() -> None:
    lines = [
        b"noise",
        b'{"type":"assistant","uuid":"\xff"}',
        b'{"type":"system","subtype":"init","cwd":"\xff"}',
        b'{"type":"user","tool_use_result":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
        b'{"type":"assistant","message":{"content":[{"type":[]}]}}',
        b'{"type":"control_response","response":{"subtype":"success","request_id":"r"}}',
    ]
    read = decode_lines([*lines])
    assert read == [decode(line) for line in lines]
    assert [type(m) for m in read] == [
        Malformed,
        Assistant,
        Init,
        Malformed,
        Assistant,
        ControlResponse,
    ]


def test_a_line_that_fits_has_no_misfits() -> None:
    delta = {"type": "content_block_delta", "index": 0, "delta": TEXT_DELTA}
    assert misfits(stream(delta)) == ()
    assert misfits(json.dumps({"type": "system", "subtype": "init"}).encode()) == ()
