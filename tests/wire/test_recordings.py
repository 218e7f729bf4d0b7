"""What five versions of the real CLI wrote: W30 and W34 to W41 of docs/wire.md."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pytest

from fairlead.wire.blocks import ToolResultBlock
from fairlead.wire.control import ControlRequest, UnknownRequest
from fairlead.wire.decode import AnyMessage, decode, misfits
from fairlead.wire.events import Assistant, Malformed, Result, StreamEvent, Unknown, User
from fairlead.wire.stream import ContentBlockStart, ContentBlockStop, MessageDelta, MessageStart
from fairlead.wire.system import UnknownSystem
from tests.wire.recorded import VERSIONS, scenario, stdout

INTERRUPTED = ("interrupt_stream", "interrupt_then_user", "interrupt_twice", "sig_int")
"""Recordings in which a message was broken off while it was streamed."""

every_version = pytest.mark.parametrize("version", VERSIONS)


def name_of(where: str) -> str:
    return where.split("/")[1].split(":")[0]


def messages(version: str) -> list[tuple[str, AnyMessage]]:
    return [(entry.where, decode(entry.line)) for entry in stdout(version) if not entry.is_text]


def turns(version: str) -> dict[str, list[AnyMessage]]:
    """The messages of each recording, in order."""
    matches: dict[str, list[AnyMessage]] = defaultdict(list)
    for where, message in messages(version):
        matches[name_of(where)].append(message)
    return matches


@every_version
def test_W30_every_recorded_line_is_of_a_known_type_and_loses_nothing(version: str) -> None:
    unknown = []
    for entry in stdout(version):
        message = decode(entry.line)
        if entry.is_text:
            continue
        assert message.data == entry.message, entry.where
        assert message.raw == entry.line
        if isinstance(message, Unknown | UnknownSystem | Malformed) or (
            isinstance(message, ControlRequest) and isinstance(message.request, UnknownRequest)
        ):
            unknown.append((name_of(entry.where), message.type))
    # The help text holds an example of a JSON schema on a line of its own.
    assert set(unknown) <= {("help", "object")}


@every_version
def test_W30_no_recorded_message_has_a_field_that_does_not_fit(version: str) -> None:
    bad = {
        name_of(entry.where): matches
        for entry in stdout(version)
        if not entry.is_text and (matches := misfits(entry.line))
    }
    assert bad.keys() <= {"help"}


@every_version
def test_W30_recorded_lines_that_are_no_messages_are_the_texts_of_help_and_version(
    version: str,
) -> None:
    texts = [entry for entry in stdout(version) if entry.is_text]
    assert texts
    assert {name_of(entry.where) for entry in texts} == {"help", "version"}
    for entry in texts:
        message = decode(entry.line)
        assert isinstance(message, Malformed)
        assert message.raw == entry.line


@every_version
def test_W34_an_assistant_line_holds_one_block(version: str) -> None:
    sizes = Counter(
        len(message.message.content)
        for _, message in messages(version)
        if isinstance(message, Assistant)
    )
    assert sizes.keys() == {1}


@pytest.mark.parametrize("version", ["2.1.38", "2.1.325"])
@pytest.mark.parametrize("name", ["parallel", "partial"])
def test_W34_the_lines_of_one_message_share_its_id(version: str, name: str) -> None:
    output = [m for m in turns(version)[name] if isinstance(m, Assistant)]
    lines = Counter(message.message.id for message in output)
    assert max(lines.values()) > 1
    assert "" not in lines


@every_version
def test_W35_the_end_of_a_message_is_not_on_its_assistant_lines(version: str) -> None:
    checked = 0
    for recording in turns(version).values():
        usage_at_start: dict[str, Any] = {}
        for message in recording:
            if isinstance(message, StreamEvent) and isinstance(message.event, MessageStart):
                assert message.event.message is not None
                usage_at_start[message.event.message.id] = message.event.message.usage
            if isinstance(message, Assistant) and message.message.id in usage_at_start:
                assert message.message.stop_reason is None
                assert message.message.usage == usage_at_start[message.message.id]
                checked += 1
    assert checked


@every_version
def test_W35_the_end_of_a_message_is_in_its_message_delta(version: str) -> None:
    checked = 0
    for name, recording in turns(version).items():
        for message in recording:
            if isinstance(message, StreamEvent) and isinstance(message.event, MessageDelta):
                assert message.event.delta is not None
                assert message.event.usage is not None
                assert message.event.usage.output_tokens is not None
                if not message.event.delta.stop_reason:
                    assert version == "2.1.325"
                    assert name in INTERRUPTED
                checked += 1
    assert checked


@every_version
def test_W36_the_assistant_line_of_a_block_comes_before_the_block_stops(version: str) -> None:
    checked = 0
    for recording in turns(version).values():
        complete = False
        for message in recording:
            if isinstance(message, Assistant):
                complete = True
            elif isinstance(message, StreamEvent):
                if isinstance(message.event, ContentBlockStart):
                    complete = False
                elif isinstance(message.event, ContentBlockStop):
                    assert complete
                    checked += 1
    assert checked


@every_version
def test_W37_a_user_line_holds_one_tool_result_at_most(version: str) -> None:
    results = 0
    for where, message in messages(version):
        if isinstance(message, User) and isinstance(message.message.content, tuple):
            here = sum(isinstance(b, ToolResultBlock) for b in message.message.content)
            assert here <= 1, where
            results += here
    assert results


@pytest.mark.parametrize("version", ["2.1.29", "2.1.38", "2.1.325"])
def test_W37_parallel_tools_answer_in_several_lines(version: str) -> None:
    lines = [
        message
        for message in turns(version)["parallel"]
        if isinstance(message, User) and message.tool_use_result is not None
    ]
    assert len(lines) > 1


@pytest.mark.parametrize("version", ["2.1.29", "2.1.38", "2.1.325"])
def test_W38_the_result_of_a_tool_is_an_object_a_string_a_list_or_absent(version: str) -> None:
    kinds = {type(m.tool_use_result) for _, m in messages(version) if isinstance(m, User)}
    assert kinds == {dict, str, list, type(None)}


@every_version
def test_W39_every_recorded_failure_is_not_ok_and_every_success_is(version: str) -> None:
    results = [message for _, message in messages(version) if isinstance(message, Result)]
    assert any(result.ok for result in results)
    for result in results:
        failed = result.data["is_error"] or result.data["subtype"] != "success"
        assert result.ok is not failed


@pytest.mark.parametrize("version", ["2.1.29", "2.1.38"])
def test_W39_an_old_version_calls_a_failure_no_error_and_it_is_one(version: str) -> None:
    failures = [r for r in turns(version)["max_turns"] if isinstance(r, Result)]
    (failure,) = (r for r in failures if r.subtype == "error_max_turns")
    assert (failure.is_error, failure.ok) == (False, False)


@pytest.mark.parametrize("version", ["2.1.38", "2.1.325"])
def test_W39_an_api_error_is_a_success_with_is_error_and_is_not_ok(version: str) -> None:
    (result,) = (r for r in turns(version)["no_auth"] if isinstance(r, Result))
    assert (result.subtype, result.is_error, result.ok) == ("success", True, False)
    assert result.text


@every_version
def test_W40_a_failed_result_has_errors_and_no_result(version: str) -> None:
    failed = [
        message
        for _, message in messages(version)
        if isinstance(message, Result) and message.subtype != "success"
    ]
    assert failed
    for result in failed:
        assert result.result is None
        assert isinstance(result.data["errors"], list)
        assert result.text == "\n".join(result.errors)


@every_version
def test_W41_no_version_writes_an_error_line_or_a_delta_on_an_assistant_line(version: str) -> None:
    for where, message in messages(version):
        assert message.type != "error", where
        assert not (isinstance(message, Assistant) and "delta" in message.data), where


def test_W19_results_of_new_versions_do_not_begin_with_their_type() -> None:
    first_keys = Counter(
        next(iter(entry.message))
        for entry in scenario("2.1.325", "simple")
        if entry.direction == "out" and entry.message.get("type") == "result"
    )
    assert first_keys
    assert "type" not in first_keys
