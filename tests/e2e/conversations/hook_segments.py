"""Hooks of the host and of the settings, with every outcome a hook can have."""

from __future__ import annotations

import json
from typing import Any

from tests.e2e.conversations.draft import Draft
from tests.e2e.conversations.host_script import Data

EVENTS = (
    "PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop",
    "PermissionRequest", "SubagentStop", "Notification",
)  # fmt: skip


def _decisions(event: str) -> list[Any]:
    """Answers that make sense for an event, and those that every event may get."""
    common: list[Any] = [
        {},
        {"continue": True},
        {"continue": False, "stopReason": "enough"},
        {"systemMessage": "a message for the user"},
        {"suppressOutput": True},
        "error",
        {"decision": "block", "reason": "blocked"},
        {"nonsense": 1},
    ]

    def specific(**fields: Any) -> Data:
        return {"hookSpecificOutput": {"hookEventName": event, **fields}}

    match event:
        case "PreToolUse":
            common += [
                specific(permissionDecision=decision, permissionDecisionReason="because")
                for decision in ("allow", "deny", "ask")
            ]
            common.append(specific(updatedInput={"command": "echo hooked"}))
            common.append({"decision": "approve"})
        case "UserPromptSubmit" | "PostToolUse":
            common.append(specific(additionalContext="some context"))
        case "PermissionRequest":
            common.append(specific(decision={"behavior": "allow"}))
            common.append(specific(decision={"behavior": "deny", "message": "no"}))
        case _:
            pass
    return common


def host_hook(draft: Draft) -> None:
    """A hook of the host with one outcome, and a turn that calls it."""
    event = draft.one_of(*EVENTS[:6])
    callback = f"hook-{draft.segment}"
    entry: Data = {"hookCallbackIds": [callback]}
    if draft.chance(0.3) and "Tool" in event:
        entry["matcher"] = draft.one_of("Bash", "Write", "*", "Bash|Write")
    answer = draft.one_of(*_decisions(event))
    if draft.chance(0.12):
        answer, entry["timeout"] = "hold", 1
    once = event == "Stop" or draft.chance(0.3)
    draft.hooks[callback] = [answer, {}] if once and answer != "hold" else [answer]
    draft.hook_events.setdefault(event, []).append(entry)
    _hooked_turn(draft, event)


def several_hooks(draft: Draft) -> None:
    """Hooks of the host for several events in one turn, some of which decide."""
    events = draft.random.sample((*EVENTS, "SubagentStart", "SessionStart", "SessionEnd"), 3)
    for event in events:
        callback = f"{event}-{draft.segment}"
        decides = draft.chance(0.4)
        answer = draft.one_of(*_decisions(event)) if decides else {}
        draft.hooks[callback] = [answer, {}]
        draft.hook_events.setdefault(event, []).append({"hookCallbackIds": [callback]})
    if "SubagentStop" in events or "SubagentStart" in events:
        own = f"AGENT-{draft.segment}"
        draft.reply(
            draft.tool(
                "Task",
                description="Some work",
                prompt=f"{own} look into it",
                subagent_type="general-purpose",
                run_in_background=False,
            )
        )
        draft.reply(draft.bash("ls"), **{"for": own})
        draft.reply(draft.text("It is so."), **{"for": own})
        draft.reply(draft.text("Again, it is so."), **{"for": own})
    _hooked_turn(draft, draft.one_of(*events))


def _hooked_turn(draft: Draft, event: str) -> None:
    if event == "PostToolUseFailure":
        draft.reply(draft.bash("cat missing.txt"))
    elif event == "PermissionRequest":
        draft.reply(draft.bash("touch made"))
        draft.permissions.append(draft.one_of("allow", "deny"))
    else:
        draft.reply(draft.one_of(draft.bash("echo one"), draft.bash("touch made")))
    draft.reply(draft.text("One."))
    if event in ("Stop", "SubagentStop"):
        draft.reply(draft.text("Two."))
    draft.turn()
    if draft.chance(0.2):
        draft.turn("again")
    # A hook can leave replies over, and a hook that blocks prompts would block those that follow.
    draft.is_last = event in ("Stop", "SubagentStop", "UserPromptSubmit")


COMMANDS = (
    "true", "echo out", "echo err >&2; exit 2", "echo err >&2; exit 1", "exit 2", "sleep 5",
    "no-such-program-at-all", "echo '{}'", "echo '{not json'",
    'echo \'{"continue": false, "stopReason": "enough"}\'',
    'echo \'{"decision": "block", "reason": "blocked"}\'',
    'echo \'{"systemMessage": "hello"}\'',
    'echo \'{"suppressOutput": true}\'',
)  # fmt: skip


def settings_hook(draft: Draft) -> None:
    """A command hook in one or more settings files."""
    event = draft.one_of(*EVENTS[:6], "SessionStart", "SubagentStop")
    for place in draft.one_of(("user",), ("user",), ("project",), ("local",), ("user", "project")):
        hook: Data = {"type": "command", "command": draft.one_of(*COMMANDS)}
        if hook["command"] == "sleep 5":
            hook["timeout"] = 1
        entry: Data = {"hooks": [hook]}
        if "Tool" in event and draft.chance(0.5):
            entry["matcher"] = draft.one_of("Bash", "*", "")
        if event == "Stop" and ("block" in hook["command"] or "exit 2" in hook["command"]):
            # A hook that always blocks would keep the turn going for ever.
            hook["command"] = f"test -e stopped || {{ touch stopped; {hook['command']}; }}"
        _add_hook(draft, place, event, entry)
    if event == "SubagentStop":
        event = "Stop"
    _hooked_turn(draft, event)


PLACES = {
    "user": "home/.claude/settings.json",
    "project": "project/.claude/settings.json",
    "local": "project/.claude/settings.local.json",
}


def _add_hook(draft: Draft, place: str, event: str, entry: Data) -> None:
    path = PLACES[place]
    settings = json.loads(draft.files.get(path, "{}"))
    settings.setdefault("hooks", {}).setdefault(event, []).append(entry)
    draft.files[path] = json.dumps(settings)
