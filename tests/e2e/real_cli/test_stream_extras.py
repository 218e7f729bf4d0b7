"""What the CLI writes on request: hook events, suggested prompts, progress (CLI-1710 to CLI-1713)."""

from __future__ import annotations

import json

import pytest

from fairlead import Allow
from fairlead.host.options.switches import Stream
from fairlead.model_api.replies import reply, use
from fairlead.transcript.state.model import NoticeItem, ToolItem
from fairlead.wire.events import PromptSuggestion, Result
from fairlead.wire.system import HookResponse, HookStarted
from tests.e2e.real_cli.cli_harness import CliHarness, ScriptedDecisions, all_of, play
from tests.waiting import until

HOOKS = {
    "PreToolUse": "echo checked",
    "PostToolUse": "echo broken >&2; exit 1",
    "Stop": "echo stopped",
}


@pytest.mark.parametrize("cli", ["2.1.325"], indirect=True)
async def test_hook_events_and_a_suggestion_arrive(harness: CliHarness) -> None:
    folder = harness.home / ".claude"
    folder.mkdir(exist_ok=True)
    hooks = {
        event: [{"hooks": [{"type": "command", "command": command}]}]
        for event, command in HOOKS.items()
    }
    (folder / "settings.json").write_text(json.dumps({"hooks": hooks}))
    harness.model.push(use("Bash", command="touch x", description="make x"), reply("Made."))
    stream = Stream(hook_events=True, prompt_suggestions=True, where_known=True)
    async with harness.session(stream=stream, on_permission=ScriptedDecisions(Allow())) as session:
        messages = await play(session, "make x")
        started = [message.hook_name for message in all_of(HookStarted, messages)]
        assert started == ["PreToolUse:Bash", "PostToolUse:Bash", "Stop"]
        ended = {m.hook_event: m for m in all_of(HookResponse, messages)}
        assert (ended["PreToolUse"].outcome, ended["PreToolUse"].output) == ("success", "checked\n")
        assert (ended["PostToolUse"].outcome, ended["PostToolUse"].exit_code) == ("error", 1)
        assert all_of(Result, messages)
        assert not all_of(PromptSuggestion, messages)  # It comes after the result.
        suggested = "A scripted answer (suggestion)."
        await until(lambda: session.transcript.session.suggestion == suggested)
        notices = all_of(NoticeItem, session.transcript.items)
        tools = [item.data["tool"] for item in notices if item.notice == "hook"]
        (call,) = [item.id for item in all_of(ToolItem, session.transcript.items)]
        assert tools == [call, call, None]


@pytest.mark.parametrize("cli", ["2.1.38"], indirect=True)
async def test_a_version_without_them_starts_and_writes_none(harness: CliHarness) -> None:
    stream = Stream(hook_events=True, prompt_suggestions=True, where_known=True)
    harness.model.push(reply("Hello."))
    async with harness.session(stream=stream) as session:
        messages = await play(session, "hi")
    assert all_of(Result, messages)
    assert not all_of(HookStarted, messages)
