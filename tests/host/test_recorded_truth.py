"""Behavior of docs/cli-behaviour.md that is seen in recordings of real CLIs, read as Fairlead reads them.

What costs too much or cannot be provoked on a live CLI by a host that behaves: answers that
Fairlead does not give, flags it always sets, errors of the API, signals. Each test names its row.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from fairlead.errors import UsageError
from fairlead.host.engine.engine import Asked, Engine
from fairlead.host.engine.prompts import PromptState
from fairlead.host.options.argv import build
from fairlead.host.options.options import Options
from fairlead.host.process.exits import hint
from fairlead.host.requests.decisions import Allow, Deny, PermissionRequest, write_decision
from fairlead.wire.blocks import TextBlock, ToolResultBlock
from fairlead.wire.control import CanUseTool
from fairlead.wire.decode import decode
from fairlead.wire.events import Result, User
from fairlead.wire.inputs import Prompt
from fairlead.wire.system import ApiRetry, Init
from fairlead.wire.versions import OLDEST
from tests.wire.recorded import exit_code, scenario

BOTH = ("2.1.38", "2.1.325")

both = pytest.mark.parametrize("version", BOTH)


def results(version: str, name: str) -> list[Result]:
    return [m for m in messages(version, name) if isinstance(m, Result)]


def messages(version: str, name: str) -> list[Any]:
    return [decode(e.line) for e in scenario(version, name) if e.direction == "out"]


def tool_errors(version: str, name: str) -> list[bool]:
    """Of each tool's result, whether it is an error."""
    return [
        bool(block.is_error)
        for line in messages(version, name)
        if isinstance(line, User) and isinstance(line.message.content, tuple)
        for block in line.message.content
        if isinstance(block, ToolResultBlock)
    ]


def stderr(version: str, name: str) -> str:
    (end,) = (entry.message for entry in scenario(version, name) if entry.direction == "end")
    return str(end["stderr"])


def answers_written(version: str, name: str) -> list[Any]:
    """What the host of a recording answered."""
    lines = [e.message for e in scenario(version, name) if e.direction == "in"]
    return [m["response"] for m in lines if isinstance(m, dict) and "response" in m]


# 1.1 Start and flags


@both
@pytest.mark.parametrize("name", ["flags_no_verbose", "flags_in_only", "flags_replay_alone"])
def test_the_flags_that_belong_together_are_always_all_there(version: str, name: str) -> None:
    """CLI-102: --verbose is required; stream-json in needs stream-json out, replay both."""
    assert exit_code(version, name) == 1
    assert "requires" in stderr(version, name)
    actual = build(Options(), OLDEST)
    assert {"--verbose", "--input-format=stream-json", "--output-format=stream-json"} <= {*actual}


@both
def test_a_prompt_on_the_command_line_is_ignored_so_none_is_put_there(version: str) -> None:
    """CLI-104: a positional prompt is silently ignored."""
    note = scenario(version, "flags_prompt_arg")[0].message
    assert not note["argv"][-1].startswith("--")
    assert len(results(version, "flags_prompt_arg")) == 1
    assert all(token.startswith("--") for token in build(Options(), OLDEST))


@both
def test_a_cli_that_is_sent_nothing_says_nothing(version: str) -> None:
    """CLI-105: nothing is emitted before the first message."""
    assert messages(version, "init_nothing") == []


@both
@pytest.mark.parametrize("name", ["flags_unknown", "flags_no_verbose"])
def test_an_exit_before_the_first_result_gets_a_hint_from_stderr(version: str, name: str) -> None:
    """CLI-110: unknown flags: keep the tail of stderr."""
    output = hint(exit_code(version, name), stderr(version, name))
    assert ("--no-such-flag" in output) is (name == "flags_unknown")


# 1.2 Answers that Fairlead never gives


@both
@pytest.mark.parametrize(
    ("name", "denied_on"),
    [
        ("perm_missing_input", ["2.1.38"]),
        ("perm_empty_input", ["2.1.38"]),
        ("perm_deny_no_message", BOTH),
        ("perm_wrong_shape", BOTH),
        ("perm_error_response", BOTH),
    ],
)
def test_a_poor_answer_denies_and_never_hangs(
    version: str, name: str, denied_on: list[str]
) -> None:
    """CLI-216: allow needs updatedInput, deny a message; a malformed answer denies."""
    assert tool_errors(version, name) == [version in denied_on]
    assert results(version, name)[-1].ok


@both
@pytest.mark.parametrize(
    "name",
    ["perm_missing_input", "perm_empty_input", "perm_deny_no_message", "perm_wrong_shape"],
)
def test_no_decision_of_ours_is_written_as_a_poor_answer(version: str, name: str) -> None:
    """CLI-216: what Fairlead writes has the whole input or a message, whatever was decided."""
    (request,) = requests(version, name)
    poor = answers_written(version, name)[-1]["response"]
    good = [write_decision(request, Allow()), write_decision(request, Deny("no"))]
    assert poor not in good
    assert good[0]["updatedInput"] == request.input
    assert good[1]["message"] == "no"
    with pytest.raises(UsageError):
        Deny("")


def requests(version: str, name: str) -> list[PermissionRequest]:
    """The permission requests of a recording, through the engine."""
    engine = Engine()
    for entry in scenario(version, name):
        if entry.direction == "out":
            engine.feed(entry.line + b"\n")
    return [
        PermissionRequest.of(event.request_id, event.request)
        for event in engine.take_events()
        if isinstance(event, Asked) and isinstance(event.request, CanUseTool)
    ]


@both
@pytest.mark.parametrize("name", ["perm_tooluseid", "perm_unknown_id"])
def test_a_wrong_tool_use_id_and_an_unknown_request_id_do_no_harm(version: str, name: str) -> None:
    """CLI-219: toolUseID is ignored; a response with an unknown request_id too."""
    assert tool_errors(version, name) == [False]
    assert all(result.ok for result in results(version, name))


@both
def test_a_tool_result_as_a_prompt_makes_a_turn_and_has_no_effect(version: str) -> None:
    """CLI-223: tools are run by the CLI; Fairlead refuses to write such a prompt."""
    assert all(result.ok for result in results(version, "stdin_tool_result_in"))
    assert tool_errors(version, "stdin_tool_result_in") == []
    with pytest.raises(UsageError):
        Prompt(
            uuid="11111111-1111-4111-8111-111111111111",
            content=(ToolResultBlock(tool_use_id="toolu_1", content="x"),),
        )


@both
def test_a_request_answered_with_an_error_fails_the_tool_and_not_the_turn(version: str) -> None:
    """CLI-220: control_response error to can_use_tool: a clean way to fail, and a denial."""
    (result,) = results(version, "perm_error_response")
    assert result.ok
    assert len(result.permission_denials) == 1


# 1.5 Results


@both
@pytest.mark.parametrize("status", [403, 413, 429, 500])
def test_an_error_of_the_api_fails_the_turn_and_the_next_one_is_fine(
    version: str, status: int
) -> None:
    """CLI-506: API errors: subtype success, is_error true."""
    failed, fine = results(version, f"err_{status}")
    assert (failed.subtype, failed.ok, fine.ok) == ("success", False, True)
    assert failed.text
    assert failed.api_error_status == (status if version == "2.1.325" else None)


@both
@pytest.mark.parametrize("status", [401, 404])
def test_an_error_that_the_cli_makes_good_is_not_seen_in_the_result(
    version: str, status: int
) -> None:
    """CLI-514: a single 401 or 404 is retried, silently on 2.1.38."""
    assert [result.ok for result in results(version, f"err_{status}")] == [True, True]
    retries = [m for m in messages(version, f"err_{status}") if isinstance(m, ApiRetry)]
    assert len(retries) == (1 if (version, status) == ("2.1.325", 401) else 0)


@both
def test_a_reply_that_is_too_long_or_refused_is_an_error(version: str) -> None:
    """CLI-506: both end with is_error, and so does the process, exit 1."""
    assert [result.ok for result in results(version, "err_max_tokens")] == [False, False]
    assert exit_code(version, "err_max_tokens") == 1


@both
@pytest.mark.parametrize("name", ["eof_mid", "eof_bash", "eof_queue", "eof_perm"])
def test_at_the_end_of_input_all_that_was_sent_is_done_first(version: str, name: str) -> None:
    """CLI-518: EOF: runs the queue to the end, then 0; an open permission fails."""
    assert all(result.ok for result in results(version, name))
    assert exit_code(version, name) == 0
    assert any(tool_errors(version, name)) is (name == "eof_perm")


@both
def test_signals_end_a_cli_with_codes_that_say_little(version: str) -> None:
    """CLI-509: SIGTERM 143, SIGINT 0: exit 0 does not mean success."""
    assert exit_code(version, "sig_term") == 143
    assert exit_code(version, "sig_int") == 0
    assert [r.ok for r in results(version, "sig_int")] == ([False] if version == "2.1.325" else [])
    assert "SIGTERM" in hint(143, "")


@both
def test_type_may_be_the_last_key_of_a_result(version: str) -> None:
    """CLI-522: never sniff the first bytes of a line."""
    lines = [e.line for e in scenario(version, "simple") if e.direction == "out"]
    turned = [json.dumps(dict(reversed(json.loads(line).items()))).encode() for line in lines]
    assert [type(decode(line)) for line in turned] == [type(decode(line)) for line in lines]


# 1.5 Messages and results are not one to one


@pytest.mark.parametrize(
    ("version", "name", "turns"),
    [
        ("2.1.38", "queue", 2),
        ("2.1.325", "queue", 2),
        ("2.1.38", "queue_tool", 1),
        ("2.1.325", "queue_tool", 1),
        ("2.1.38", "queue_interrupt", 2),
        ("2.1.325", "queue_interrupt", 2),
        ("2.1.38", "interrupt_then_user", 2),
        ("2.1.325", "interrupt_then_user", 2),
        ("2.1.120", "queue", 2),
        ("2.1.220", "queue", 2),
    ],
)
def test_every_prompt_of_a_recording_ends(version: str, name: str, turns: int) -> None:
    """CLI-518: messages are queued, merged or folded. None is left waiting."""
    engine = replayed(version, name)
    assert not engine.prompts.busy
    assert engine.results >= turns
    ends = {engine.prompts.state(uuid) for uuid in uuids(version, name)}
    assert ends == {PromptState.DONE}


@pytest.mark.parametrize("version", ["2.1.29", "2.1.38", "2.1.120", "2.1.220", "2.1.325"])
def test_a_uuid_that_was_sent_twice_is_written_once_and_no_turn_waits_for_it(version: str) -> None:
    """CLI-202: a message whose uuid was seen before is dropped: no turn, no result."""
    sent = uuids(version, "replay")
    assert len(sent) == len({*sent}) + 1
    turns = [m for m in messages(version, "replay") if isinstance(m, Init)]
    prompts = [e for e in scenario(version, "replay") if e.direction == "in"]
    assert len(turns) == len(prompts) - 1
    engine = replayed(version, "replay")
    assert not engine.prompts.busy
    assert {engine.prompts.state(uuid) for uuid in sent} == {PromptState.DONE}


def uuids(version: str, name: str) -> list[str]:
    lines = [e.message for e in scenario(version, name) if e.direction == "in"]
    return [m["uuid"] for m in lines if isinstance(m, dict) and m.get("uuid")]


def replayed(version: str, name: str) -> Engine:
    """An engine that sent the prompts of a recording when its host did, and heard the rest.

    What that host sent without a uuid Fairlead cannot send: it is left out, and its turn is one
    that nobody asked for.
    """
    engine = Engine()
    for entry in scenario(version, name):
        if entry.direction == "out":
            engine.feed(entry.line + b"\n")
        elif entry.direction == "in" and "uuid" in entry.message:
            uuid = entry.message["uuid"]
            if engine.prompts.state(uuid) is None:
                engine.send(Prompt(uuid=uuid, content=(TextBlock(text="x"),)), at_once=True)
    return engine
