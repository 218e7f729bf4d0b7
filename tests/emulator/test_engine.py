"""The engine in memory: lines in, effects out, with a clock and ids of the test's own."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from fairlead.emulator.cost import Spending
from fairlead.emulator.effects import Effect, Exit, RunTool, Write
from fairlead.emulator.engine import Engine
from fairlead.emulator.flags import read_flags
from fairlead.emulator.profile import profile_of
from fairlead.emulator.scenario import load_text
from fairlead.emulator.session import Place, Session
from fairlead.emulator.setup import Setup
from fairlead.emulator.tools.outcome import Outcome
from fairlead.permissions.book import RuleBook
from fairlead.permissions.families import family_of
from fairlead.permissions.paths import Place as PermissionPlace

FLAGS = [
    "--output-format=stream-json",
    "--input-format=stream-json",
    "--verbose",
    "--permission-prompt-tool=stdio",
]
VERSIONS = ("2.1.38", "2.1.325")


def engine(script: str, version: str = "2.1.325", *flags: str) -> Engine:
    profile = profile_of(version)
    place = Place(cwd="/project", home="/home", tmp="/tmp")
    numbers = itertools.count()
    seconds = itertools.count(1_000_000)
    session = Session(
        profile=profile,
        arguments=read_flags([*FLAGS, *flags], profile),
        place=place,
        session_id="session",
        mode="default",
        new_id=lambda: f"id-{next(numbers)}",
        now=lambda: float(next(seconds)),
        spending=Spending(profile),
        tools=profile.catalogue.tools,
    )
    where = PermissionPlace(cwd="/project", home="/home", family=family_of(version))
    return Engine(
        Setup(
            session=session,
            scenario=load_text(script),
            book=RuleBook(),
            permission_place=where,
        )
    )


def line(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode()


def prompt(text: str, **fields: Any) -> bytes:
    return line({"type": "user", "message": {"role": "user", "content": text}, **fields})


def request(subtype: str | None, **fields: Any) -> bytes:
    body = fields if subtype is None else {"subtype": subtype, **fields}
    return line({"type": "control_request", "request_id": "r", "request": body})


def said(effects: list[Effect]) -> list[dict[str, Any]]:
    return [dict(effect.message) for effect in effects if isinstance(effect, Write)]


def kinds(lines: list[dict[str, Any]]) -> list[str]:
    return [str(entry.get("subtype") or entry["type"]) for entry in lines]


HELLO = "- steps: [{say: Hello.}]"
BASH = "- steps: [{use: Bash, input: {command: 'touch x', description: d}, id: t1}, {say: Done.}]"


@pytest.mark.parametrize("version", VERSIONS)
def test_E5_nothing_is_said_before_the_host_says_something(version: str) -> None:
    emulated = engine(HELLO, version)
    assert emulated.drain() == []
    emulated.feed([prompt("hi")])
    assert kinds(said(emulated.drain())) == ["init", "assistant", "success"]


@pytest.mark.parametrize("version", VERSIONS)
def test_E6_a_uuid_that_was_seen_brings_no_second_turn(version: str) -> None:
    emulated = engine(HELLO, version)
    uuid = "11111111-1111-4111-8111-111111111111"
    emulated.feed([prompt("hi", uuid=uuid)])
    first = said(emulated.drain())
    emulated.feed([prompt("hi again", uuid=uuid)])
    assert "success" in kinds(first)
    assert emulated.drain() == []


def test_E7_the_new_version_answers_every_request_and_the_old_one_is_silent() -> None:
    for subtype in ("frobnicate", None):
        new, old = engine(HELLO, "2.1.325"), engine(HELLO, "2.1.38")
        new.feed([request(subtype)])
        old.feed([request(subtype)])
        (answer,) = said(new.drain())
        assert answer["response"]["error_code"] == "unsupported_request"
        assert old.drain() == []


@pytest.mark.parametrize("version", VERSIONS)
def test_E8_an_interrupt_withdraws_then_answers_then_ends_the_turn(version: str) -> None:
    emulated = engine(BASH, version)
    emulated.feed([prompt("go")])
    asked = said(emulated.drain())[-1]
    assert asked["request"]["subtype"] == "can_use_tool"
    emulated.feed([request("interrupt")])
    lines = said(emulated.drain())
    assert [entry["type"] for entry in lines[:2]] == ["control_cancel_request", "control_response"]
    assert lines[0]["request_id"] == asked["request_id"]
    assert kinds(lines)[-1] == "error_during_execution"


@pytest.mark.parametrize("version", VERSIONS)
def test_E9_a_tool_runs_only_when_the_host_allows_it(version: str) -> None:
    for behaviour, runs in (("allow", True), ("deny", False)):
        emulated = engine(BASH, version)
        emulated.feed([prompt("go")])
        effects = emulated.drain()
        assert not [effect for effect in effects if isinstance(effect, RunTool)]
        emulated.feed([answer_to(said(effects)[-1], behaviour)])
        started = [effect for effect in emulated.drain() if isinstance(effect, RunTool)]
        assert bool(started) is runs


def answer_to(asked: dict[str, Any], behaviour: str, **more: Any) -> bytes:
    body = {"behavior": behaviour, "message": "no", "updatedInput": asked["request"]["input"]}
    response = {
        "subtype": "success",
        "request_id": asked["request_id"],
        "response": {**body, **more},
    }
    return line({"type": "control_response", "response": response})


@pytest.mark.parametrize("version", VERSIONS)
def test_E10_a_rule_of_an_answer_holds_for_the_next_use(version: str) -> None:
    twice = "- steps: [{use: Bash, input: {command: npm test}}, {use: Bash, input: {command: npm test}}]"
    emulated = engine(twice, version)
    emulated.feed([prompt("go")])
    asked = said(emulated.drain())[-1]
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
    assert "can_use_tool" not in str(said(effects))
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


def test_prompts_that_wait_are_one_turn_in_the_new_version_and_one_each_in_the_old() -> None:
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
        results += kinds(said(effects)).count("success")
        numbers = [effect.number for effect in effects if hasattr(effect, "number")]
        if not numbers:
            return results
        for number in numbers:
            emulated.finish(number, None)
