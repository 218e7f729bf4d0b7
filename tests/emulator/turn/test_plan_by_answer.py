"""Plan mode that the host sets with its answer to a permission request."""

from __future__ import annotations

from typing import Any

from fairlead.emulator.engine.engine import Engine
from fairlead.emulator.state.effects import RunTool
from fairlead.emulator.tools.outcome import Outcome
from tests.emulator.engine.engines import answer_to, engine, prompt, request, written

SCRIPT = "- steps: [{use: Bash, input: {command: make a}}, {use: Bash, input: {command: make b}}]"


def asked_in(emulated: Engine) -> list[dict[str, Any]]:
    return [line for line in written(emulated.drain()) if line["type"] == "control_request"]


def test_E39_plan_mode_that_an_answer_sets_asks_about_commands() -> None:
    emulated = engine(SCRIPT, "2.1.325")
    emulated.feed([prompt("hi")])
    (asked,) = asked_in(emulated)
    update = {"type": "setMode", "destination": "session", "mode": "plan"}
    emulated.feed([answer_to(asked, "allow", updatedPermissions=[update])])
    (first,) = [effect for effect in emulated.drain() if isinstance(effect, RunTool)]
    emulated.finish(first.number, Outcome(content="ok", result={}))
    (asked,) = asked_in(emulated)
    assert asked["request"]["subtype"] == "can_use_tool"


def test_E39_plan_mode_that_a_request_sets_refuses_commands() -> None:
    emulated = engine(SCRIPT, "2.1.325")
    emulated.feed([request("set_permission_mode", mode="plan"), prompt("hi")])
    assert asked_in(emulated) == []
