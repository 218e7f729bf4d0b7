"""Callback hooks: each event, each decision, and hooks that fail (CLI-811)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import pytest

from fairlead import (
    Accept,
    Allow,
    Deny,
    Hook,
    HookCall,
    HookEvent,
    OptionError,
    PermissionRequest,
    Session,
)
from fairlead.host.options.groups import SettingsSources, ToolRules
from fairlead.host.options.switches import Stream
from fairlead.host.requests.hooks import (
    HookOutput,
    add_context,
    allow_tool,
    ask_user,
    block,
    deny_tool,
)
from fairlead.model_api.gate import Bell
from fairlead.model_api.replies import fail
from fairlead.model_api.script import when
from fairlead.testing.real_cli import RealCli
from fairlead.wire.events import Result, User
from fairlead.wire.system import HookResponse, HookStarted
from tests.e2e.real_cli.cli_harness import (
    TURN_S,
    CliHarness,
    ScriptedDecisions,
    all_of,
    one_of,
    play,
)
from tests.e2e.real_cli.recording_observer import RecordingObserver
from tests.e2e.real_cli.stdio_server import small_server

ALWAYS_PROVOKED = {
    "PermissionRequest", "PostToolUse", "PostToolUseFailure", "PreCompact", "PreToolUse",
    "SessionStart", "SubagentStart", "SubagentStop", "UserPromptSubmit", "Stop",
}  # fmt: skip

PROVOKED_LATER = {
    "Elicitation", "ElicitationResult", "InstructionsLoaded", "MessageDisplay", "Notification",
    "PostCompact", "PostModelSwitch", "PostToolBatch", "PreModelSwitch", "StopFailure",
    "TaskCompleted", "TaskCreated", "UserPromptExpansion",
}  # fmt: skip
"""Events that 2.1.325 has besides. The others need a team, a worktree, a watched file, a mode
that only a server can judge, or come when nobody can be called (CLI-800)."""


class Log:
    """A hook handler without an opinion that remembers its calls."""

    def __init__(self) -> None:
        self.calls: list[HookCall] = []
        self._bell = Bell()

    async def __call__(self, call: HookCall) -> None:
        self.calls.append(call)
        self._bell.ring()

    @property
    def events(self) -> set[str]:
        return {call.event for call in self.calls}

    async def has(self, events: set[str]) -> None:
        await self._bell.until(lambda: events <= self.events, TURN_S)


async def test_every_hook_event_can_be_registered_and_is_called_back(
    harness: CliHarness, cli: RealCli, tmp_path: Path
) -> None:
    """CLI-811: hooks through initialize; those a version does not know do no harm."""
    set_up_a_project(harness.project)
    log = Log()
    async with harness.session(
        hooks=[Hook(event=event, handler=log) for event in get_args(HookEvent)],
        on_permission=ScriptedDecisions(),
        on_elicitation=lambda request: Accept({"name": "Ada"}),
        mcp_servers={"small": small_server(tmp_path / "log")},
        rules=ToolRules(allowed=["TaskCreate", "TaskUpdate"]),
    ) as session:
        await provoke(harness, session)
        newer = cli.key >= (2, 1, 325)
        await log.has(ALWAYS_PROVOKED | PROVOKED_LATER if newer else ALWAYS_PROVOKED)
    for call in log.calls:
        assert call.event == call.input["hook_event_name"]
        assert call.input["session_id"]
    (before,) = (
        c for c in log.calls if c.event == "PreToolUse" and c.input["tool_name"] == "Write"
    )
    assert before.input["tool_input"]["content"] == "x"
    assert before.tool_use_id == before.input["tool_use_id"]
    # At the start of the process a callback comes too late, at its end nobody listens.
    starts = [call.input["source"] for call in log.calls if call.event == "SessionStart"]
    assert starts == ["compact"]
    assert "SessionEnd" not in log.events


def set_up_a_project(project: Path) -> None:
    (project / "CLAUDE.md").write_text("Be kind.")
    commands = project / ".claude" / "commands"
    commands.mkdir(parents=True)
    (commands / "hello.md").write_text("Say hello to $ARGUMENTS.")


async def provoke(harness: CliHarness, session: Session) -> None:
    """Do all that calls a hook."""
    await harness.use(session, "Write", file_path=str(harness.project / "a.txt"), content="x")
    await harness.use(session, "Bash", command="exit 3", description="fails")
    await harness.use(session, "mcp__small__ask")
    await harness.use(session, "TaskCreate", subject="s", description="d", activeForm="doing")
    await harness.use(session, "TaskUpdate", taskId="1", status="completed")
    agent = {"subagent_type": "general-purpose", "run_in_background": False}
    await harness.use(session, "Task", description="d", prompt="do it", **agent)
    await play(session, "/hello you")
    await play(session, "/compact")
    await session.set_model("claude-sonnet-4-5")
    harness.model.push(when(fail(400, "no"), text="fail now", times=None))
    await play(session, "fail now")


async def test_a_PreToolUse_hook_allows_edits_denies_or_asks(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-811: PreToolUse allow, updatedInput, deny, ask; only for the tools it matches."""
    command = harness.script()
    outputs: dict[str, HookOutput] = {
        f"{command} allowed": allow_tool("fine"),
        f"{command} edited": allow_tool(input={"command": f"{command} by the hook"}),
        f"{command} denied": deny_tool("not this one"),
        f"{command} asked": ask_user("better ask"),
        "ls": ask_user("even this one"),
    }

    async def gate(call: HookCall) -> HookOutput:
        return outputs[call.input["tool_input"]["command"]]

    decisions = ScriptedDecisions()
    hook = Hook(event="PreToolUse", matcher="Bash", handler=gate)
    async with harness.session(hooks=[hook], on_permission=decisions) as session:
        heard = [await result_of(harness, session, wish) for wish in outputs]
        asked_for = [request.input["command"] for request in decisions.asked]
        await harness.use(session, "Write", file_path=str(harness.project / "a.txt"), content="x")
    allowed, edited, denied, asked, listed = heard
    assert allowed.text == "ran allowed"
    assert edited.text == "ran by the hook"
    assert denied.is_error
    assert "not this one" in denied.text
    assert asked.text == "ran asked"
    assert not listed.is_error
    # What passes anyway is not asked for on 2.1.38, whatever a hook says.
    overrides = cli.key >= (2, 1, 120)
    assert asked_for == [f"{command} asked", "ls"][: 1 + overrides]
    assert decisions.tools[-1] == "Write"


async def result_of(harness: CliHarness, session: Session, command: str) -> Any:
    await harness.use(session, "Bash", command=command, description="d")
    (result,) = harness.model.requests[-1].tool_results
    return result


async def test_hooks_add_context_block_prompts_and_continue_the_turn(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-814: PostToolUse, UserPromptSubmit block, Stop block."""
    stops: list[HookCall] = []

    async def at_prompt(call: HookCall) -> HookOutput | None:
        return block("we do not talk of that") if "secret" in call.input["prompt"] else None

    async def after_tool(call: HookCall) -> HookOutput:
        return add_context("PostToolUse", "the file is for Ada")

    async def at_stop(call: HookCall) -> HookOutput | None:
        stops.append(call)
        return block("you forgot the tests") if len(stops) == 1 else None

    hooks = [
        Hook(event="UserPromptSubmit", handler=at_prompt),
        Hook(event="PostToolUse", handler=after_tool),
        Hook(event="Stop", handler=at_stop),
    ]
    async with harness.session(hooks=hooks, permission_mode="acceptEdits") as session:
        blocked = await play(session, "tell me the secret")
        assert not harness.model.requests
        file = str(harness.project / "a.txt")
        worked = await harness.use(session, "Write", file_path=file, content="x")
    outcome = one_of(Result, blocked)
    assert outcome.ok
    assert ("we do not talk of that" in outcome.text) == (cli.key >= (2, 1, 220))
    assert "the file is for Ada" in str(harness.model.requests[1].messages)
    assert "you forgot the tests" in str(harness.model.requests[2].messages)
    synthetic = [line.text for line in all_of(User, worked) if line.is_synthetic]
    assert any("you forgot the tests" in text for text in synthetic)
    assert [call.input["stop_hook_active"] for call in stops] == [False, True]


async def test_no_permission_handler_is_needed_if_a_permission_hook_decides(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-811: PermissionRequest hook vs can_use_tool; 2.1.325 asks both and withdraws one."""
    both_at_once = cli.key >= (2, 1, 120)
    asked, withdrawn = asyncio.Event(), asyncio.Event()

    async def never(request: PermissionRequest) -> Allow | Deny:
        asked.set()
        try:
            return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]
        finally:
            withdrawn.set()

    async def decide(call: HookCall) -> Mapping[str, Any]:
        if both_at_once:
            await asked.wait()
        decision = {"behavior": "allow"}
        return {"hookSpecificOutput": {"hookEventName": call.event, "decision": decision}}

    hook = Hook(event="PermissionRequest", handler=decide)
    async with harness.session(hooks=[hook], on_permission=never) as session:
        await harness.use(session, "Write", file_path=str(harness.project / "a.txt"), content="x")
        assert session.pending == {}
    assert (harness.project / "a.txt").exists()
    assert asked.is_set() == withdrawn.is_set() == both_at_once


async def test_hooks_that_fail_or_time_out_do_not_allow_a_tool(harness: CliHarness) -> None:
    """CLI-811: hook callback never answered; 2.1.38 would run the tool."""
    file = harness.project / "a.txt"

    async def broken(call: HookCall) -> None:
        raise LookupError("no such rule")

    async def slow(call: HookCall) -> None:
        await asyncio.get_running_loop().create_future()

    hooks = [
        Hook(event="PreToolUse", matcher="Write", handler=broken),
        Hook(event="PreToolUse", matcher="Bash", handler=slow, timeout=1.0),
        Hook(event="Stop", handler=broken),
    ]
    decisions = ScriptedDecisions()
    async with harness.session(hooks=hooks, on_permission=decisions) as session:
        await harness.use(session, "Write", file_path=str(file), content="x")
        (written,) = harness.model.requests[-1].tool_results
        ran = await result_of(harness, session, harness.script())
    assert written.is_error
    assert "no such rule" in written.text
    assert ran.is_error
    assert "took more than 1 s" in ran.text
    assert decisions.asked == []
    assert not file.exists()


async def test_command_hooks_are_reported_by_versions_that_report_them(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-811: hooks are invisible, but for SessionStart and with --include-hook-events."""
    tells_all = cli.key >= (2, 1, 88)
    command = {"hooks": [{"type": "command", "command": "echo heard"}]}
    settings = {"hooks": {"SessionStart": [command], "PreToolUse": [command]}}
    session = harness.session(
        settings=SettingsSources(value=settings), stream=Stream(hook_events=tells_all)
    )
    observer = RecordingObserver.of(session)
    async with session:
        await result_of(harness, session, "ls")
    expected = {"SessionStart", "PreToolUse"} if tells_all else {"SessionStart"}
    assert {hook.hook_event for hook in observer.all_of(HookStarted)} == expected
    responses = observer.all_of(HookResponse)
    assert {(hook.hook_event, (hook.stdout or "").strip()) for hook in responses} == {
        (event, "heard") for event in expected
    }


def test_an_event_that_no_version_has_is_refused() -> None:
    """CLI-800: a misspelt event would never be called."""
    with pytest.raises(OptionError, match="PreToolUse"):
        Hook(event="PreTooluse", handler=Log())  # type: ignore[arg-type]
