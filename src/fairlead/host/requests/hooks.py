"""Hooks by callback: the host's functions at the CLI's own points of decision.

A hook is registered in `initialize` and called back with its input; its answer is the hook
output that command hooks print as JSON. 2.1.38 runs the tool if a callback fails (CLI-815), so a
failed hook that decides about a tool answers with a denial.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, get_args

from fairlead.errors import OptionError, UsageError
from fairlead.host.literals import HookEvent

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

HOOK_EVENTS: tuple[str, ...] = get_args(HookEvent)
"""Every event of 2.1.325; older versions know fewer and never call the others."""

DEFAULT_TIMEOUT_S = 60.0
"""The CLI's own limit for a callback; after it the CLI continues without an answer."""

ANSWER_MARGIN = 0.9
"""Share of the timeout a handler may use, so that our answer arrives before the CLI gives up."""

HookOutput: TypeAlias = Mapping[str, Any]
HookHandler: TypeAlias = Callable[["HookCall"], HookOutput | Awaitable[HookOutput | None] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class HookCall:
    """A call to one of your hooks."""

    event: str
    input: Mapping[str, Any]
    """The CLI's data for the event: session_id, cwd, tool_name, tool_input, prompt, …"""
    tool_use_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """A function of the host that the CLI calls at one of its events."""

    event: HookEvent
    handler: HookHandler
    matcher: str | None = None
    """For tool events: a tool's name or a pattern such as `Edit|Write`; None matches all."""
    timeout: float = DEFAULT_TIMEOUT_S

    def __post_init__(self) -> None:
        if self.event not in HOOK_EVENTS:
            raise OptionError("hooks", f"{self.event!r} is not a hook event.", _nearest(self.event))
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


# Functions for outputs, so that callers need not know the CLI's field names


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
    """PreToolUse: ask, even if a rule allows it; 2.1.38 asks only if it would ask anyway."""
    return _for_tool({"permissionDecision": "ask", "permissionDecisionReason": reason})


def block(reason: str) -> HookOutput:
    """UserPromptSubmit, Stop and others: block the action, for this reason."""
    return {"decision": "block", "reason": reason}


def stop(reason: str) -> HookOutput:
    """End the turn."""
    return {"continue": False, "stopReason": reason}


def add_context(event: str, text: str) -> HookOutput:
    """Add a text to the model's context."""
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def check_output(output: HookOutput | None) -> dict[str, Any]:
    """The encoded answer; without an output it is an empty object."""
    if output is None:
        return {}
    if not isinstance(output, Mapping):
        raise UsageError(f"a hook returns a mapping or None, not {type(output).__name__}")
    answer = _wire_names(output)
    specific = answer.get("hookSpecificOutput")
    if isinstance(specific, Mapping):
        answer["hookSpecificOutput"] = _wire_names(specific)
    return answer


def _wire_names(output: Mapping[str, Any]) -> dict[str, Any]:
    """`continue_` and `async_`, as Python code has to spell them, are `continue` and `async`.

    Only the names of the output itself: a tool's input may have names that end like that.
    """
    return {_wire_name(name, output): value for name, value in output.items()}


def _wire_name(name: str, output: Mapping[str, Any]) -> str:
    plain = name.removesuffix("_") if isinstance(name, str) else name
    return name if plain in output else plain


def failed(event: str, problem: str) -> dict[str, Any]:
    """The answer of a hook that failed: a denial if it decides about a tool, else empty."""
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
