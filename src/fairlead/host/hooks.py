"""Hooks by callback: the host's functions at the CLI's own points of decision.

A hook is registered in `initialize` and called back with its input; its answer is the hook
output that command hooks print as JSON. A hook that fails must not open a door: 2.1.38 lets
the tool run when a callback goes wrong (TRUTH 1.8), so a failed gate answers with a denial.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from fairlead.errors import OptionError, UsageError

__all__ = [
    "HOOK_EVENTS",
    "Hook",
    "HookCall",
    "HookHandler",
    "HookOutput",
    "add_context",
    "allow_tool",
    "ask_user",
    "block",
    "check_output",
    "deny_tool",
    "failed",
    "registration",
    "stop",
]

HOOK_EVENTS = (
    "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "Notification",
    "UserPromptSubmit", "UserPromptExpansion", "SessionStart", "SessionEnd", "Stop",
    "StopFailure", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact",
    "PreModelSwitch", "PostModelSwitch", "PermissionRequest", "PermissionDenied", "Setup",
    "TeammateIdle", "TaskCreated", "TaskCompleted", "Elicitation", "ElicitationResult",
    "ConfigChange", "WorktreeCreate", "WorktreeRemove", "InstructionsLoaded", "CwdChanged",
    "FileChanged", "DirectoryAdded", "MessageDisplay",
)  # fmt: skip
"""Every event of 2.1.325; older versions know fewer and never call the others."""

DEFAULT_TIMEOUT_S = 60.0
"""The CLI's own limit for a callback; at its end it goes on without us."""

ANSWER_MARGIN = 0.9
"""Share of the timeout a handler may use, so that our answer arrives before the CLI gives up."""

HookOutput: TypeAlias = Mapping[str, Any]
HookHandler: TypeAlias = Callable[["HookCall"], HookOutput | Awaitable[HookOutput | None] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class HookCall:
    """A hook is due."""

    event: str
    input: Mapping[str, Any]
    """What the CLI says of it: session_id, cwd, tool_name, tool_input, prompt, …"""
    tool_use_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """A function of the host at one event of the CLI."""

    event: str
    handler: HookHandler
    matcher: str | None = None
    """For tool events: a tool's name or a pattern such as `Edit|Write`; None is all."""
    timeout: float = DEFAULT_TIMEOUT_S

    def __post_init__(self) -> None:
        if self.event not in HOOK_EVENTS:
            raise OptionError("hooks", f"{self.event!r} is no hook event.", _nearest(self.event))
        if not callable(self.handler):
            raise OptionError("hooks", f"the handler of {self.event} cannot be called.")
        if not self.timeout > 0:
            raise OptionError("hooks", f"the timeout of {self.event} must be above 0 seconds.")


def registration(hooks: Mapping[str, Hook]) -> dict[str, list[dict[str, Any]]]:
    """The `hooks` field of `initialize`, for hooks keyed by their callback id."""
    entries: dict[str, list[dict[str, Any]]] = {}
    for callback_id, hook in hooks.items():
        entry: dict[str, Any] = {"hookCallbackIds": [callback_id], "timeout": hook.timeout}
        if hook.matcher is not None:
            entry["matcher"] = hook.matcher
        entries.setdefault(hook.event, []).append(entry)
    return entries


# Outputs, so that nobody has to remember the CLI's spelling


def allow_tool(reason: str = "", *, input: Mapping[str, Any] | None = None) -> HookOutput:
    """PreToolUse: let the tool run without asking, with another input if given."""
    decision: dict[str, Any] = {"permissionDecision": "allow", "permissionDecisionReason": reason}
    if input is not None:
        decision["updatedInput"] = dict(input)
    return _for_tool(decision)


def deny_tool(reason: str) -> HookOutput:
    """PreToolUse: do not let the tool run; the model reads the reason."""
    return _for_tool({"permissionDecision": "deny", "permissionDecisionReason": reason})


def ask_user(reason: str = "") -> HookOutput:
    """PreToolUse: ask, even if a rule would allow it; 2.1.38 asks only where it would anyway."""
    return _for_tool({"permissionDecision": "ask", "permissionDecisionReason": reason})


def block(reason: str) -> HookOutput:
    """UserPromptSubmit, Stop and others: do not go on as planned, because of this."""
    return {"decision": "block", "reason": reason}


def stop(reason: str) -> HookOutput:
    """End the turn."""
    return {"continue": False, "stopReason": reason}


def add_context(event: str, text: str) -> HookOutput:
    """Give the model a text to read along."""
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def check_output(output: HookOutput | None) -> dict[str, Any]:
    """The answer as it goes over the wire; no opinion is an empty object."""
    if output is None:
        return {}
    if not isinstance(output, Mapping):
        raise UsageError(f"a hook returns a mapping or None, not {type(output).__name__}")
    return dict(output)


def failed(event: str, problem: str) -> dict[str, Any]:
    """The answer of a hook that went wrong: a gate stays shut, the others have no opinion."""
    if event == "PreToolUse":
        return dict(deny_tool(problem))
    if event == "PermissionRequest":
        refusal = {"behavior": "deny", "message": problem}
        return {"hookSpecificOutput": {"hookEventName": event, "decision": refusal}}
    return {}


def _for_tool(decision: dict[str, Any]) -> HookOutput:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}}


def _nearest(event: str) -> str:
    import difflib

    near = difflib.get_close_matches(event, HOOK_EVENTS, n=1, cutoff=0.5)
    return f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(HOOK_EVENTS)}."
