"""What the lines of the CLI say about themselves: W38 to W40 and W42 of docs/wire.md."""

from __future__ import annotations

from typing import Any

import pytest

from fairlead.wire.blocks import (
    ImageBlock,
    ServerToolResultBlock,
    Source,
    TextBlock,
    ToolResultBlock,
    text_of,
)
from fairlead.wire.decode import decode
from fairlead.wire.events import Assistant, Result, User, UserMessage
from fairlead.wire.json_text import write
from fairlead.wire.system import Init, Status


def result(**fields: Any) -> Result:
    message = decode(write({"type": "result", **fields}))
    assert isinstance(message, Result)
    return message


@pytest.mark.parametrize("value", [{"stdout": "x"}, "Error: no", [{"type": "text"}], None])
def test_W38_the_result_of_a_tool_is_given_as_it_came(value: Any) -> None:
    message = decode(write({"type": "user", "message": {}, "tool_use_result": value}))
    assert isinstance(message, User)
    assert message.tool_use_result == value


@pytest.mark.parametrize(
    ("subtype", "is_error", "ok"),
    [
        ("success", False, True),
        ("success", True, False),
        ("error_during_execution", True, False),
        ("error_during_execution", False, False),
        ("error_max_turns", False, False),
        ("", False, False),
    ],
)
def test_W39_a_result_is_ok_only_if_both_signs_say_so(
    subtype: str, is_error: bool, ok: bool
) -> None:
    assert result(subtype=subtype, is_error=is_error).ok is ok


def test_W40_the_text_of_a_result_is_its_answer_or_its_errors() -> None:
    assert result(subtype="success", result="4").text == "4"
    assert result(subtype="success", result="", errors=["hidden"]).text == ""
    assert result(subtype="error_max_turns", errors=["too many", "turns"]).text == "too many\nturns"
    assert result(subtype="error_max_turns", errors=[]).text == ""


def test_W42_a_result_names_the_prompts_it_answers_where_the_cli_says() -> None:
    assert result(user_message_uuids=["a", "b"], user_message_uuid="b").answers == ("a", "b")
    assert result(user_message_uuid="b").answers == ("b",)
    assert result(user_message_uuids=[], user_message_uuid="b").answers == ("b",)
    assert result().answers == ()


def test_every_line_tells_its_type_and_a_system_line_its_subtype() -> None:
    init = decode(b'{"type":"system","subtype":"init"}')
    assert isinstance(init, Init)
    assert (init.type, init.subtype) == ("system", "init")
    status = decode(b'{"type":"system","subtype":"status","status":null,"permissionMode":"plan"}')
    assert isinstance(status, Status)
    assert (status.type, status.subtype, status.permission_mode) == ("system", "status", "plan")
    assert decode(b'{"type":"assistant"}').type == "assistant"
    assert decode(b'{"type":"control_cancel_request","request_id":"r"}').type == (
        "control_cancel_request"
    )


def test_the_names_of_the_cli_become_names_of_python() -> None:
    line = {"type": "user", "isReplay": True, "isSynthetic": False, "message": {"content": "hi"}}
    message = decode(write(line))
    assert isinstance(message, User)
    assert (message.is_replay, message.is_synthetic) == (True, False)
    assert message.message == UserMessage(content="hi")
    init = decode(b'{"type":"system","subtype":"init","apiKeySource":"none","permissionMode":"x"}')
    assert isinstance(init, Init)
    assert (init.api_key_source, init.permission_mode) == ("none", "x")
    usage = {"inputTokens": 1, "costUSD": 0.5, "cacheReadInputTokens": 2, "contextWindow": 3}
    (model,) = result(modelUsage={"m": usage}).model_usage.values()
    assert (model.input_tokens, model.cost_usd) == (1, 0.5)
    assert (model.cache_read_input_tokens, model.context_window) == (2, 3)


def test_the_text_of_a_content_omits_other_blocks() -> None:
    picture = ImageBlock(Source(type="url", url="https://example.org/a.png"))
    assert text_of(None) == ""
    assert text_of("all of it") == "all of it"
    assert text_of((TextBlock("a"), picture, TextBlock("b"))) == "ab"
    assert ToolResultBlock(content=(TextBlock("a"), picture)).text == "a"
    assert ToolResultBlock(content="plain").text == "plain"


def test_results_of_server_tools_have_one_base() -> None:
    block = {"type": "web_search_tool_result", "tool_use_id": "s", "content": [1]}
    message = decode(write({"type": "assistant", "message": {"content": [block]}}))
    assert isinstance(message, Assistant)
    (matches,) = message.message.content
    assert isinstance(matches, ServerToolResultBlock)
    assert (matches.tool_use_id, matches.content) == ("s", [1])
