"""Host scripts written by hand, by name: behavior that the emulator once did not have.

The differential plays them like the generated ones (`--named`), and `golden --named` stores what the
real CLIs wrote, so that `tests/emulator/test_conversations.py` holds the emulator to it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from tests.e2e.conversations.draft import Draft
from tests.e2e.conversations.host_script import Data, HostScript
from tests.e2e.conversations.measured_scripts import measured_scripts

__all__ = ["named_scripts"]

Script = tuple[str, Draft]

NOTE: Data = {"systemMessage": "a message for the user"}
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
STOPS = ("max_tokens", "model_context_window_exceeded", "refusal", "pause_turn")


def named_scripts() -> list[HostScript]:
    """All named scripts."""
    sources: tuple[Callable[[], Iterator[Script]], ...] = (
        _failing_hooks, _hook_messages, _hooks_of_two_files, _structured_output, _tools, _servers,
        _commands, _interrupts, _subagents, _stop_reasons, _prompts,
    )  # fmt: skip
    drafts = [draft.finished(name, "named") for source in sources for name, draft in source()]
    return [*drafts, *measured_scripts()]


def _draft(*flags: str, partial: bool = False) -> Draft:
    draft = Draft(random.Random(1), flags=list(flags), is_partial=partial)
    if partial:
        draft.flags.append("--include-partial-messages")
    return draft


def _hooked(event: str, *answers: Any, timeout: int | None = None, command: str = "") -> Draft:
    """A turn with one command and a callback of the host for an event."""
    draft = _draft()
    entry: Data = {"hookCallbackIds": ["hook"]}
    if timeout is not None:
        entry["timeout"] = timeout
    draft.hook_events[event] = [entry]
    draft.hooks["hook"] = list(answers)
    draft.reply(draft.bash(command or "echo one"))
    draft.reply(draft.text())
    draft.reply(draft.text("More."))
    draft.turn()
    return draft


def _specific(event: str, **fields: Any) -> Data:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


def _failing_hooks() -> Iterator[Script]:
    for event in ("PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"):
        yield f"hook-{event}-fails", _hooked(event, "error", {})
        yield f"hook-{event}-times-out", _hooked(event, "hold", timeout=1)
    yield "hook-Stop-blocks", _hooked("Stop", {"decision": "block", "reason": "no"}, {})
    yield "hook-stops-without-reason", _hooked("UserPromptSubmit", {"continue": False})


def _hook_messages() -> Iterator[Script]:
    for event in ("PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"):
        yield f"message-{event}", _hooked(event, NOTE, command="touch made")
    denied = {**NOTE, **_specific("PreToolUse", permissionDecision="deny")}
    yield "message-of-a-denying-hook", _hooked("PreToolUse", denied)
    blocked = {**NOTE, "decision": "block", "reason": "no"}
    yield "message-of-a-blocking-stop-hook", _hooked("Stop", blocked, {})
    draft = _hooked("PreToolUse", NOTE)
    draft.replies.clear()
    draft.reply(draft.bash("echo one"), draft.bash("touch made"))
    draft.reply(draft.text())
    yield "message-beside-parallel-tools", draft


def _hooks_of_two_files() -> Iterator[Script]:
    def settings(command: str) -> str:
        hook = {"type": "command", "command": command}
        return json.dumps({"hooks": {"PreToolUse": [{"hooks": [hook]}]}})

    draft = _draft()
    draft.files["home/.claude/settings.json"] = settings("touch by-user")
    draft.files["project/.claude/settings.json"] = settings("touch by-project")
    draft.reply(draft.bash("echo one"))
    draft.reply(draft.bash("ls"))
    draft.reply(draft.text())
    draft.turn()
    yield "hooks-of-user-and-project", draft
    draft = _draft()
    note = "echo '" + json.dumps(NOTE) + "'"
    draft.files["home/.claude/settings.json"] = settings(note)
    draft.reply(draft.bash("touch made"))
    draft.reply(draft.text())
    draft.turn()
    yield "message-of-a-command", draft


def _structured_output() -> Iterator[Script]:
    outputs: dict[str, Data] = {"valid": {"n": 1}, "invalid": {"n": "x"}}
    for name, given in outputs.items():
        draft = _draft("--json-schema", json.dumps(SCHEMA))
        draft.reply(draft.tool("StructuredOutput", **given))
        draft.reply(draft.tool("StructuredOutput", n=2))
        draft.reply(draft.text())
        draft.turn()
        yield f"schema-{name}", draft


def _tools() -> Iterator[Script]:
    draft = _draft("--allowedTools", "Bash")
    draft.reply(draft.bash("sleep 5; echo late"))
    draft.reply(draft.text())
    draft.turn()
    yield "bash-beyond-three-seconds", draft
    draft = _draft()
    draft.reply(draft.tool("Bash"), draft.tool("Write", content=3))
    draft.reply(draft.text())
    draft.turn()
    yield "invalid-inputs", draft
    for mode in ("default", "acceptEdits", "plan"):
        draft = _draft("--permission-mode", mode)
        draft.reply(draft.tool("ExitPlanMode", plan="1. Do it"))
        draft.reply(draft.text())
        draft.turn()
        yield f"exit-plan-in-{mode}", draft


def _servers() -> Iterator[Script]:
    missing = {"command": "{root}/no-such-program", "args": []}
    draft = _draft("--mcp-config", "{root}/mcp.json")
    draft.files["mcp.json"] = json.dumps({"mcpServers": {"small": missing}})
    draft.reply(draft.text())
    draft.turn()
    for request in ("mcp_status", "mcp_reconnect"):
        draft.request(request, **({} if request == "mcp_status" else {"serverName": "small"}))
        draft.wait("answered")
    yield "server-missing-on-the-command-line", draft
    draft = _draft()
    server = {"command": "{python}", "args": ["{root}/stdio_server.py", "good"]}
    draft.files["project/.mcp.json"] = json.dumps({"mcpServers": {"bad": missing, "good": server}})
    draft.reply(draft.text())
    draft.turn()
    draft.request("mcp_toggle", serverName="good", enabled=False)
    draft.wait("quiet")
    draft.request("mcp_status")
    draft.wait("answered")
    yield "status-of-failed-and-disabled", draft
    draft = _draft("--allowedTools", "mcp__calc")
    draft.servers = ["calc"]
    draft.reply(draft.tool("mcp__calc__shape", n=1))
    draft.reply(draft.tool("mcp__calc__shaped_picture", n=1))
    draft.reply(draft.text())
    draft.turn()
    yield "structured-content", draft


def _commands() -> Iterator[Script]:
    draft = _draft("--replay-user-messages")
    draft.reply(draft.text("One."))
    draft.turn()
    draft.turn("/compact")
    draft.reply(draft.text("Two."))
    draft.turn()
    yield "after-compact", draft
    draft = _draft("--replay-user-messages")
    draft.turn("/clear")
    draft.reply(draft.text("Two."))
    draft.turn()
    yield "clear-is-replayed", draft
    draft = _draft()
    draft.env["CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"] = "1"
    draft.reply(draft.text("One."))
    draft.turn()
    options: tuple[Data, ...] = ({}, {"dry_run": True})
    for more in options:
        draft.request("rewind_files", user_message_id="{uuid never}", **more)
        draft.wait("answered")
    yield "rewind-to-an-unknown-message", draft


def _interrupts() -> Iterator[Script]:
    draft = _draft(partial=True)
    use = draft.bash("echo a rather long command line")
    draft.reply(draft.text("I try."), use, piece=8, waits=[{"before": 3, "forever": True}])
    draft.prompt()
    draft.wait("model delta 3")
    draft.interrupt()
    draft.wait("result")
    draft.wait("quiet")
    yield "interrupt-while-input-streams", draft
    for cut in (1, 2):
        draft = _draft(partial=True)
        draft.reply(draft.text("A text that is cut off."), piece=8, cut_after=cut)
        draft.reply(draft.text("It worked after all."))
        draft.turn()
        yield f"stream-cut-after-{cut}", draft


def _agent(draft: Draft) -> Data:
    return draft.tool("Task", description="Some work", prompt="AGENT look into it",
                      subagent_type="general-purpose", run_in_background=False)  # fmt: skip


def _subagents() -> Iterator[Script]:
    for answer in ("hold", "deny_interrupt"):
        draft = _draft()
        draft.permissions = [answer]
        draft.reply(_agent(draft))
        draft.reply(draft.bash("touch made"), **{"for": "AGENT"})
        draft.reply(draft.text("It is so."), **{"for": "AGENT"})
        draft.reply(draft.text())
        draft.prompt()
        if answer == "hold":
            draft.wait("permission")
            draft.interrupt()
        draft.wait("result")
        yield f"subagent-{answer.replace('_', '-')}", draft


def _stop_reasons() -> Iterator[Script]:
    for reason in STOPS:
        for kind in ("text", "tool", "thinking"):
            draft = _draft()
            block = {
                "text": draft.text("Some."),
                "tool": draft.bash("echo one"),
                "thinking": draft.thinking("Hm."),
            }[kind]
            draft.reply(block, stop_reason=reason)
            draft.reply(draft.text("And more."))
            draft.reply(draft.text("The end."))
            draft.turn()
            draft.wait("quiet")
            yield f"stop-{reason}-{kind}", draft


def _prompts() -> Iterator[Script]:
    draft = _draft("--replay-user-messages")
    draft.reply(draft.text())
    draft.prompt("a\ud800b")
    draft.wait("result")
    yield "lone-surrogate", draft
