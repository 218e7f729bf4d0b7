"""The engine in memory: lines in, effects out, with a clock and ids of the test's own."""

from __future__ import annotations

from typing import Any

import pytest

from fairlead.emulator.engine.engine import Engine
from fairlead.emulator.state.effects import Exit, RunTool, Sleep
from fairlead.emulator.state.inbox import Inbox, Prompt
from fairlead.emulator.tools.outcome import Outcome
from tests.emulator.engine.engines import (
    BASH,
    HELLO,
    VERSIONS,
    answer_to,
    engine,
    kinds,
    prompt,
    request,
    written,
)


@pytest.mark.parametrize("version", VERSIONS)
def test_E5_nothing_is_written_before_the_host_writes(version: str) -> None:
    emulated = engine(HELLO, version)
    assert emulated.drain() == []
    emulated.feed([prompt("hi")])
    assert kinds(written(emulated.drain())) == ["init", "assistant", "success"]


@pytest.mark.parametrize("version", VERSIONS)
def test_E6_a_known_uuid_starts_no_second_turn(version: str) -> None:
    emulated = engine(HELLO, version)
    uuid = "11111111-1111-4111-8111-111111111111"
    emulated.feed([prompt("hi", uuid=uuid)])
    first = written(emulated.drain())
    emulated.feed([prompt("hi again", uuid=uuid)])
    assert "success" in kinds(first)
    assert emulated.drain() == []


def test_E7_the_new_version_answers_every_request_and_the_old_one_only_those_it_knows() -> None:
    for subtype in ("frobnicate", None):
        new, old = engine(HELLO, "2.1.325"), engine(HELLO, "2.1.38")
        new.feed([request(subtype)])
        old.feed([request(subtype)])
        (answer,) = written(new.drain())
        assert answer["response"]["error_code"] == "unsupported_request"
        assert old.drain() == []


@pytest.mark.parametrize("version", VERSIONS)
def test_E8_an_interrupt_withdraws_then_answers_then_ends_the_turn(version: str) -> None:
    emulated = engine(BASH, version)
    emulated.feed([prompt("go")])
    asked = written(emulated.drain())[-1]
    assert asked["request"]["subtype"] == "can_use_tool"
    emulated.feed([request("interrupt")])
    lines = written(emulated.drain())
    assert [entry["type"] for entry in lines[:2]] == ["control_cancel_request", "control_response"]
    assert lines[0]["request_id"] == asked["request_id"]
    assert kinds(lines)[-1] == "error_during_execution"


@pytest.mark.parametrize("version", VERSIONS)
def test_E9_a_tool_runs_only_when_the_host_allows_it(version: str) -> None:
    for behavior, runs in (("allow", True), ("deny", False)):
        emulated = engine(BASH, version)
        emulated.feed([prompt("go")])
        effects = emulated.drain()
        assert not [effect for effect in effects if isinstance(effect, RunTool)]
        emulated.feed([answer_to(written(effects)[-1], behavior)])
        started = [effect for effect in emulated.drain() if isinstance(effect, RunTool)]
        assert bool(started) is runs


@pytest.mark.parametrize("version", VERSIONS)
def test_E10_a_rule_in_an_answer_applies_to_the_next_use(version: str) -> None:
    twice = "- steps: [{use: Bash, input: {command: npm test}}, {use: Bash, input: {command: npm test}}]"
    emulated = engine(twice, version)
    emulated.feed([prompt("go")])
    asked = written(emulated.drain())[-1]
    rules = [{"toolName": "Bash", "ruleContent": "npm test"}]
    update = {
        "type": "addRules",
        "rules": rules,
        "behavior": "allow",
        "destination": "session",
    }
    emulated.feed([answer_to(asked, "allow", updatedPermissions=[update])])
    (first,) = [effect for effect in emulated.drain() if isinstance(effect, RunTool)]
    emulated.finish(first.number, Outcome(content="ok", result={}))
    effects = emulated.drain()
    assert "can_use_tool" not in str(written(effects))
    assert [effect for effect in effects if isinstance(effect, RunTool)]


def test_E16_the_same_lines_give_the_same_effects() -> None:
    lines = [prompt("hi"), request("interrupt"), prompt("again"), request("mcp_status")]
    runs = []
    for _ in range(2):
        emulated = engine(HELLO)
        emulated.feed(lines)
        emulated.end_input()
        runs.append(emulated.drain())
    assert runs[0] == runs[1]
    assert runs[0][-1] == Exit(0)


def test_queued_prompts_are_one_turn_in_the_new_version_and_one_each_in_the_old() -> None:
    for version, turns in (("2.1.325", 2), ("2.1.38", 3)):
        emulated = engine("- steps: [{wait: 1}, {say: Done.}]", version)
        emulated.feed([prompt("one")])
        emulated.feed([prompt("two"), prompt("three")])
        results = _run_out(emulated)
        assert results == turns, version


def _run_out(emulated: Engine) -> int:
    results = 0
    while True:
        effects = emulated.drain()
        results += kinds(written(effects)).count("success")
        numbers = [effect.number for effect in effects if hasattr(effect, "number")]
        if not numbers:
            return results
        for number in numbers:
            emulated.finish(number, None)


REPORTS = {"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1"}


def states(lines: list[dict[str, Any]]) -> list[str]:
    return [str(entry.get("state") or entry.get("subtype") or entry["type"]) for entry in lines]


def after_the_result(emulated: Engine) -> int:
    """Play a turn up to its result; returns the number of the pause before the idle report."""
    emulated.feed([prompt("hi")])
    effects = emulated.drain()
    assert states(written(effects)) == ["running", "init", "assistant", "success"]
    (pause,) = [effect for effect in effects if isinstance(effect, Sleep)]
    assert pause.seconds > 0
    return pause.number


def test_E33_the_idle_report_follows_the_result_after_a_pause() -> None:
    emulated = engine(HELLO, **REPORTS)
    emulated.finish(after_the_result(emulated), None)
    assert states(written(emulated.drain())) == ["idle"]


def test_E33_a_prompt_after_the_result_starts_after_the_idle_report() -> None:
    emulated = engine(HELLO, **REPORTS)
    after_the_result(emulated)
    emulated.feed([prompt("more")])
    reported = states(written(emulated.drain()))
    assert reported[:2] == ["idle", "running"]
    assert reported.count("idle") == 1


def test_E33_the_idle_report_comes_before_the_exit_at_the_end_of_the_input() -> None:
    emulated = engine(HELLO, **REPORTS)
    pause = after_the_result(emulated)
    emulated.end_input()
    assert emulated.drain() == []
    emulated.finish(pause, None)
    *reported, left = emulated.drain()
    assert states(written(reported)) == ["idle"]
    assert left == Exit(0)


@pytest.mark.parametrize("text", ["/context", "  /context", "/help me"])
def test_E34_a_message_that_the_client_composed_runs_no_command(text: str) -> None:
    emulated = engine(HELLO, "2.1.325")
    emulated.feed([prompt(text, client_composed=True)])
    lines = written(emulated.drain())
    assert lines[-1]["result"] == "Hello."
    assert "local_command" not in lines[-1]
    # The old version does not know the mark; and a message without it is read as before.
    for version, fields in (("2.1.38", {"client_composed": True}), ("2.1.325", {})):
        emulated = engine(HELLO, version)
        emulated.feed([prompt("/context", **fields)])
        assert written(emulated.drain())[-1]["result"] != "Hello."


def test_E34_a_queued_composed_message_is_merged_with_the_others() -> None:
    inbox = Inbox(merges=True)
    for text, is_verbatim in (("one", False), ("/context", True), ("/context", False)):
        inbox.put(Prompt(content=text, is_verbatim=is_verbatim))
    assert [p.text for p in inbox.take()] == ["one", "/context"]
    assert [p.is_slash for p in inbox.take()] == [True]
