"""Hooks around a session, a compaction, a subagent and a request that is left open, in memory."""

from __future__ import annotations

from typing import Any

import pytest

from fairlead.emulator.engine.engine import Engine
from fairlead.emulator.state.effects import Effect, Exit, RunHook, RunTool, Sleep
from fairlead.emulator.turn.hook_calls import HookRun
from tests.emulator.engine.engines import (
    BASH,
    HELLO,
    VERSIONS,
    answer_to,
    engine,
    kinds,
    line,
    prompt,
    request,
    written,
)

OK = HookRun(stdout="", stderr="", exit_code=0)
NO = HookRun(stdout="", stderr="not now", exit_code=2)
SPAWN = "- steps: [{spawn: {description: d, prompt: look, run_in_background: false}, steps: [{say: Seen.}]}]"


def with_commands(emulated: Engine, *events: str) -> Engine:
    """The engine with a command hook for each event, named after it."""
    emulated.session.settings["hooks"] = {
        event: [{"hooks": [{"type": "command", "command": f"on {event}"}]}] for event in events
    }
    return emulated


def run_hooks(emulated: Engine, run: HookRun = OK) -> tuple[list[dict[str, Any]], list[Effect]]:
    """Run every requested hook; returns their inputs and all effects."""
    inputs: list[dict[str, Any]] = []
    effects: list[Effect] = []
    while new := emulated.drain():
        effects += new
        for effect in new:
            if isinstance(effect, RunHook):
                inputs.append(dict(effect.input))
                emulated.finish(effect.number, run)
    return inputs, effects


@pytest.mark.parametrize("version", VERSIONS)
def test_E18_the_process_exits_after_its_last_hook(version: str) -> None:
    emulated = with_commands(engine(HELLO, version), "SessionEnd")
    emulated.feed([prompt("hi")])
    emulated.drain()
    emulated.end_input()
    (hook,) = emulated.drain()
    assert isinstance(hook, RunHook)
    assert hook.input["reason"] == "other"
    assert "permission_mode" not in hook.input
    emulated.finish(hook.number, OK)
    assert emulated.drain() == [Exit(0)]


@pytest.mark.parametrize(("version", "received"), [("2.1.325", True), ("2.1.38", False)])
def test_E18_signals_run_the_hooks_as_the_version_does(version: str, received: bool) -> None:
    for name, code, runs in (("terminated", 143, True), ("interrupted_by_signal", 0, received)):
        emulated = with_commands(engine(HELLO, version), "SessionEnd")
        getattr(emulated, name)()
        inputs, effects = run_hooks(emulated)
        assert bool(inputs) is runs
        assert effects[-1] == Exit(code)


def test_E18_a_cleared_session_ends_and_another_starts() -> None:
    emulated = with_commands(engine(HELLO), "SessionStart", "SessionEnd")
    emulated.feed([prompt("hi")])
    run_hooks(emulated)
    emulated.feed([prompt("/clear")])
    inputs, effects = run_hooks(emulated)
    reported = [(one["hook_event_name"], one.get("reason") or one["source"]) for one in inputs]
    assert reported == [("SessionEnd", "clear"), ("SessionStart", "clear")]
    assert inputs[0]["session_id"] != inputs[1]["session_id"]
    lines = kinds(written(effects))
    assert lines.index("conversation_reset") < lines.index("hook_started") < lines.index("init")


@pytest.mark.parametrize(("version", "stopped"), [("2.1.325", True), ("2.1.38", False)])
def test_E19_a_hook_can_prevent_a_compaction(version: str, stopped: bool) -> None:
    emulated = with_commands(engine(HELLO, version), "PreCompact")
    emulated.feed([prompt("hi")])
    emulated.drain()
    emulated.feed([prompt("/compact briefly")])
    inputs, effects = run_hooks(emulated, NO)
    assert [one["custom_instructions"] for one in inputs] == ["briefly"]
    lines = written(effects)
    assert ("compact_boundary" in kinds(lines)) is not stopped
    refused = "Compaction blocked by PreCompact hook: [on PreCompact]"
    assert (lines[-1]["result"] == refused) is stopped


def test_E19_a_hook_that_prevents_a_needed_compaction_ends_the_turn() -> None:
    full = "queue: [{blocks: [{type: text, text: Long.}], usage: {input_tokens: 990000}}]"
    emulated = with_commands(engine(full), "PreCompact")
    emulated.feed([prompt("one")])
    emulated.drain()
    emulated.feed([prompt("two")])
    inputs, effects = run_hooks(emulated, NO)
    assert [one["trigger"] for one in inputs] == ["auto"]
    result = written(effects)[-1]
    assert (result["result"], result["terminal_reason"]) == ("Prompt is too long", "blocking_limit")


@pytest.mark.parametrize("version", VERSIONS)
def test_E20_a_subagent_continues_when_a_hook_blocks_its_end(version: str) -> None:
    emulated = engine(SPAWN, version)
    hooks = {event: [{"hookCallbackIds": [event]}] for event in ("SubagentStart", "SubagentStop")}
    emulated.feed([request("initialize", hooks=hooks), prompt("go")])
    received: list[dict[str, Any]] = []
    while asked := [entry for entry in written(emulated.drain()) if "request" in entry]:
        for entry in asked:
            given = entry["request"]["input"]
            received.append(given)
            first = [one["hook_event_name"] for one in received].count("SubagentStop") == 1
            body = (
                {"decision": "block", "reason": "more"}
                if "stop_hook_active" in given and first
                else {}
            )
            answer = {"subtype": "success", "request_id": entry["request_id"], "response": body}
            emulated.feed([line({"type": "control_response", "response": answer})])
    names = [one["hook_event_name"] for one in received]
    assert names == ["SubagentStart", "SubagentStop", "SubagentStop"]
    assert [one.get("stop_hook_active") for one in received] == [None, False, True]
    assert {one["agent_type"] for one in received} == {"general-purpose"}


@pytest.mark.parametrize(("version", "reported"), [("2.1.325", 1), ("2.1.38", 0)])
def test_E21_an_unanswered_request_runs_notification_hooks(version: str, reported: int) -> None:
    emulated = with_commands(engine(BASH, version), "Notification")
    emulated.feed([prompt("go")])
    effects = emulated.drain()
    asked = next(entry for entry in written(effects) if entry["type"] == "control_request")
    clocks = [effect for effect in effects if isinstance(effect, Sleep)]
    assert [clock.seconds for clock in clocks] == [6.0] * reported
    for clock in clocks:
        emulated.finish(clock.number, None)
    inputs, _ = run_hooks(emulated)
    assert [one["notification_type"] for one in inputs] == ["permission_prompt"] * reported
    emulated.feed([answer_to(asked, "allow")])
    assert [effect for effect in emulated.drain() if isinstance(effect, RunTool)]


def test_E21_an_answered_request_runs_no_notification_hook() -> None:
    emulated = with_commands(engine(BASH), "Notification")
    emulated.feed([prompt("go")])
    effects = emulated.drain()
    asked = next(entry for entry in written(effects) if entry["type"] == "control_request")
    (clock,) = [effect for effect in effects if isinstance(effect, Sleep)]
    emulated.feed([answer_to(asked, "deny")])
    emulated.finish(clock.number, None)
    inputs, more = run_hooks(emulated)
    assert inputs == []
    assert kinds(written(more))[-1] == "success"


@pytest.mark.parametrize(
    ("subtype", "fields"),
    [("apply_flag_settings", {}), ("update_settings", {"source": "localSettings"})],
)
def test_E30_hooks_of_the_host_and_of_the_project_run(subtype: str, fields: dict[str, Any]) -> None:
    emulated = with_commands(engine(HELLO, "2.1.325"), "Stop")
    mine = {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}
    emulated.feed([request(subtype, settings={"hooks": mine}, **fields), prompt("hi")])
    effects: list[Effect] = []
    while new := emulated.drain():
        effects += new
        for effect in new:
            if isinstance(effect, RunHook):
                emulated.finish(effect.number, OK)
    assert [e.command for e in effects if isinstance(e, RunHook)] == ["on Stop", "mine"]
