"""One example per kind of message, read and written: W31 of docs/wire.md."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from msgspec import structs

from fairlead.wire.blocks import NEVER
from fairlead.wire.decode import decode, misfits
from fairlead.wire.json_text import write
from tests.wire.goldens import FOLDER, UNKNOWN, golden, read, untyped
from tests.wire.kinds import KINDS, carrier_of
from tests.wire.recorded import scenario

INPUTS = "input."
"""Examples of what a host sends are in the same folder; test_encode.py reads them."""

TYPED_KINDS = sorted(
    kind
    for kind, member in KINDS.items()
    if not member.__struct_config__.tag.startswith(NEVER)  # type: ignore[attr-defined]
)

PUBLIC = {
    *("assistant", "user", "result.success", "stream_event", "tool_progress", "auth_status"),
    *("tool_use_summary", "rate_limit_event", "prompt_suggestion", "conversation_reset"),
    *(
        "active_goal",
        "command_lifecycle",
        "keep_alive",
        "control_request",
        "control_cancel_request",
    ),
    *("control_response.success", "control_response.error"),
    *(
        f"system.{subtype}"
        for subtype in (
            *("init", "compact_boundary", "status", "api_retry", "control_request_progress"),
            *("model_refusal_fallback", "model_refusal_no_fallback", "local_command_output"),
            *("hook_started", "hook_progress", "hook_response", "plugin_install"),
            *("task_notification", "task_started", "task_updated", "task_progress"),
            *("background_tasks_changed", "thinking_tokens", "session_state_changed"),
            *("worker_shutting_down", "commands_changed", "notification", "files_persisted"),
            *("memory_recall", "elicitation_complete", "permission_denied", "mirror_error"),
            *("informational", "session_writes_lost", "session_title_changed"),
        )
    ),
    *(
        f"request.{subtype}"
        for subtype in (
            *("can_use_tool", "hook_callback", "mcp_message", "elicitation"),
            "request_user_dialog",
        )
    ),
}
"""The public lines of 2.1.325, and the three internal ones that were seen on the wire."""


def test_W31_each_kind_has_an_example_and_each_example_a_kind() -> None:
    examples = {path.stem for path in FOLDER.glob("*.json")}
    kinds = {name for name in examples if not name.startswith(INPUTS)}
    assert kinds - KINDS.keys() == set(), "examples of nothing"
    assert KINDS.keys() - kinds == set(), "kinds without an example"


def test_W31_every_public_message_has_a_type_of_its_own() -> None:
    assert PUBLIC - set(TYPED_KINDS) == set()


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_W31_an_example_is_read_as_its_type_and_only_the_named_fields_are_untyped(
    kind: str,
) -> None:
    example = golden(kind)
    message, value = read(example)
    assert type(value) is KINDS[kind]
    assert (example.kind, example.type) == (kind, type(value).__name__)
    rest = untyped(value, example.line) if isinstance(example.line, dict) else []
    assert rest == example.untyped
    if isinstance(example.line, dict):
        assert message.data == carrier_of(kind)[0](example.line)


@pytest.mark.parametrize("kind", TYPED_KINDS)
def test_W31_an_example_that_is_written_again_is_read_as_the_same_value(kind: str) -> None:
    message, value = read(golden(kind))
    put, find = carrier_of(kind)
    again = decode(write(put(as_written(kind, value))))
    matches = find(again)
    if matches is again:
        matches = structs.replace(again, raw=message.raw)
    assert matches == value


@pytest.mark.parametrize("kind", TYPED_KINDS)
def test_W31_an_example_has_no_misfit(kind: str) -> None:
    assert misfits(read(golden(kind))[0].raw) == ()


def test_W31_an_example_from_a_recording_is_in_that_recording() -> None:
    missing = []
    for kind in KINDS:
        example = golden(kind)
        source, _, where = example.source.partition(" ")
        if source == "recording":
            version, name = where.split("/")
            lines = [e.message for e in scenario(version, name) if e.direction == "out"]
            if not any(example.line in everything_in(line) for line in lines):
                missing.append(kind)
        else:
            assert example.source in ("schema of 2.1.325", "made up")
    assert missing == []


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - set(TYPED_KINDS)))
def test_W31_an_unknown_example_keeps_its_name_and_all_it_says(kind: str) -> None:
    example = golden(kind)
    message, value = read(example)
    if isinstance(example.line, str):
        assert message.raw == example.line.encode()
        return
    assert isinstance(value, UNKNOWN)
    tag_field = value.__struct_config__.tag_field
    assert tag_field is not None
    assert getattr(value, f"{tag_field}_name") == example.line[tag_field]
    assert value.data == example.line
    assert value.problem == ""


def as_written(kind: str, value: Any) -> Any:
    """A typed value in its wire form."""
    form = msgspec.to_builtins(value)
    form.pop(f"{NEVER}raw", None)
    if kind.startswith("system."):
        form["type"] = "system"
    return form


def everything_in(value: Any) -> list[Any]:
    """A value and all that is inside it."""
    inner = list(value.values()) if isinstance(value, dict) else value
    matches = [value]
    if isinstance(inner, list):
        for item in inner:
            matches += everything_in(item)
    return matches


def test_W31_an_example_file_is_laid_out_as_the_tool_writes_it() -> None:
    for path in FOLDER.glob("*.json"):
        text = path.read_text()
        assert text == json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n", path.name
