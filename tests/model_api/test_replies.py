"""A streamed reply and the whole one have the same content, whatever the chunking."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fairlead.model_api.replies import (
    Block,
    Reply,
    Text,
    Thinking,
    ToolUse,
    reply,
    stream_events,
    whole_message,
)

texts = st.text(max_size=40)
inputs = st.dictionaries(
    texts, st.one_of(texts, st.integers(), st.none(), st.lists(texts, max_size=3)), max_size=4
)
blocks: st.SearchStrategy[Block] = st.one_of(
    st.builds(Text, texts),
    st.builds(Thinking, texts, texts),
    st.builds(ToolUse, name=st.just("Bash"), input=inputs, id=st.none()),
)  # fmt: skip


def joined(reply: Reply) -> list[dict[str, Any]]:
    """The content that a consumer of the stream gets."""
    content: list[dict[str, Any]] = []
    partial_json: dict[int, str] = {}
    for event in stream_events(reply, message_id="msg_1", model="m"):
        match event["type"], event.get("delta", {}).get("type"):
            case "content_block_start", _:
                assert event["index"] == len(content)
                content.append(dict(event["content_block"]))
            case _, "text_delta":
                content[event["index"]]["text"] += event["delta"]["text"]
            case _, "thinking_delta":
                content[event["index"]]["thinking"] += event["delta"]["thinking"]
            case _, "signature_delta":
                content[event["index"]]["signature"] = event["delta"]["signature"]
            case _, "input_json_delta":
                so_far = partial_json.get(event["index"], "")
                partial_json[event["index"]] = so_far + event["delta"]["partial_json"]
    for index, text in partial_json.items():
        content[index]["input"] = json.loads(text)
    return content


@given(st.lists(blocks, max_size=4), st.integers(1, 50))
def test_the_deltas_of_a_reply_join_to_the_whole_message(parts: list[Block], size: int) -> None:
    scripted = reply(*parts).but(delta_chars=size)
    complete = whole_message(scripted, message_id="msg_1", model="m")
    assert joined(scripted) == complete["content"]


@given(st.lists(blocks, max_size=4))
def test_both_forms_end_for_the_same_reason(parts: list[Block]) -> None:
    scripted = reply(*parts)
    end = list(stream_events(scripted, message_id="msg_1", model="m"))[-2]
    complete = whole_message(scripted, message_id="msg_1", model="m")
    assert end["delta"]["stop_reason"] == complete["stop_reason"]
    uses_tool = any(isinstance(part, ToolUse) for part in parts)
    assert complete["stop_reason"] == ("tool_use" if uses_tool else "end_turn")
