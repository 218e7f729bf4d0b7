"""Laws of the engine that hold for any input."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fairlead.emulator.state.effects import Exit, Write
from tests.emulator.engine.engines import HELLO, VERSIONS, engine
from tests.matrix import examples

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)
SUBTYPES = (
    "initialize", "interrupt", "set_permission_mode", "set_model", "mcp_status", "mcp_message",
    "mcp_set_servers", "mcp_toggle", "stop_task", "get_context_usage", "rename_session",
    "cancel_async_message", "apply_flag_settings", "list_permission_rules", "side_question",
)  # fmt: skip
FIELDS = ("mode", "model", "hooks", "agents", "servers", "settings", "message", "sdkMcpServers")
requests = st.builds(
    lambda subtype, fields: {
        "type": "control_request",
        "request_id": "r",
        "request": {"subtype": subtype, **fields},
    },
    st.sampled_from(SUBTYPES),
    st.dictionaries(st.sampled_from(FIELDS), values, max_size=2),
)
prompts = st.builds(
    lambda content: {"type": "user", "message": {"role": "user", "content": content}},
    values,
)
answers = st.builds(lambda body: {"type": "control_response", "response": body}, values)
lines = st.lists(values | requests | prompts | answers, max_size=6)


def request(subtype: str, **fields: Any) -> dict[str, Any]:
    body = {"subtype": subtype, **fields}
    return {"type": "control_request", "request_id": "r", "request": body}


def prompt(content: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": content}}


@pytest.mark.parametrize("version", VERSIONS)
@given(messages=lines)
@example([request("initialize", agents={"": None})])
@example([request("mcp_set_servers", servers={"": None})])
@example([prompt("a"), prompt([None]), prompt("b"), prompt([{"type": "text"}]), prompt("c")])
@settings(max_examples=examples(60), deadline=None)
def test_no_line_of_json_breaks_the_engine(version: str, messages: list[Any]) -> None:
    emulated = engine(HELLO, version)
    emulated.feed([json.dumps(message).encode() for message in messages])
    emulated.end_input()
    effects = emulated.drain()
    for effect in effects:
        if isinstance(effect, Write):
            json.dumps(effect.message)
    assert sum(isinstance(effect, Exit) for effect in effects) <= 1


@given(count=st.integers(1, 5), cut=st.integers(0, 5))
@settings(max_examples=examples(20), deadline=None)
def test_every_turn_has_one_init_and_one_result(count: int, cut: int) -> None:
    emulated = engine(HELLO)
    prompt = {"type": "user", "message": {"role": "user", "content": "hi"}}
    stop = {"type": "control_request", "request_id": "i", "request": {"subtype": "interrupt"}}
    for number in range(count):
        emulated.feed(
            [json.dumps(m).encode() for m in ([prompt, stop] if number < cut else [prompt])]
        )
    written = [effect.message for effect in emulated.drain() if isinstance(effect, Write)]
    results = [message for message in written if message["type"] == "result"]
    assert len(results) == count
    inits = [message for message in written if message.get("subtype") == "init"]
    assert len(inits) <= count
