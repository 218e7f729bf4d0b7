"""A request for permission, and the two answers to it.

`PermissionRequest` is what a handler sees, always rendered from the real input; `Allow` and
`Deny` are what it returns. They are encoded in the form that every CLI version accepts (CLI-218):
an allow always contains the whole input, a deny always a message.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec

from fairlead.errors import UsageError
from fairlead.host.literals import Destination
from fairlead.wire.control import CanUseTool
from fairlead.wire.updates import (
    AddRules,
    PermissionUpdate,
    RemoveDirectories,
    RemoveRules,
    check,
    with_destination,
)

__all__ = [
    "Allow",
    "Decision",
    "Deny",
    "PermissionHandler",
    "PermissionRequest",
    "write_decision",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionRequest:
    """The CLI asks whether a tool may run with this input."""

    id: str
    """The request's own id: several may be open at once, in any order."""
    tool_name: str
    input: Mapping[str, Any]
    tool_use_id: str
    suggestions: tuple[PermissionUpdate, ...] = ()
    """What the CLI suggests for "always"; pass some of them in `Allow(updates=…)`."""
    reason: str | None = None
    reason_type: str | None = None
    blocked_path: str | None = None
    agent_id: str | None = None
    """The subagent that requests it, if any."""
    title: str | None = None
    description: str | None = None
    needs_user: bool = False
    """Whether the CLI wants a person, not a rule, to answer."""
    suppress_always_allow_rule: bool = False
    """Whether the CLI wants no "always" choice to be offered."""
    default_to_no: bool = False
    """Whether the CLI wants the default answer to be no."""
    matched_ask_rule: Mapping[str, Any] | None = None
    """The rule of the user's settings that made the CLI ask: `source`, `tool_name`,
    `rule_content`; None if no such rule did."""

    @classmethod
    def of(cls, request_id: str, request: CanUseTool) -> PermissionRequest:
        """The request as it came over the wire."""
        return cls(
            id=request_id,
            tool_name=request.tool_name,
            input=request.input,
            tool_use_id=request.tool_use_id,
            suggestions=request.permission_suggestions or (),
            reason=request.decision_reason,
            reason_type=request.decision_reason_type,
            blocked_path=request.blocked_path,
            agent_id=request.agent_id,
            title=request.title or request.display_name,
            description=request.description,
            needs_user=bool(request.requires_user_interaction),
            suppress_always_allow_rule=bool(request.suppress_always_allow_rule),
            default_to_no=bool(request.default_to_no),
            matched_ask_rule=(
                request.matched_ask_rule if isinstance(request.matched_ask_rule, dict) else None
            ),
        )


@dataclass(frozen=True, slots=True)
class Allow:
    """Let the tool run, with the requested input or with another one."""

    input: Mapping[str, Any] | None = None
    """The input to run with instead; None keeps the requested input."""
    updates: Sequence[PermissionUpdate] = ()
    """Rules, modes or folders to change from now on; may also contain deny rules."""

    def __post_init__(self) -> None:
        if self.input is not None and not isinstance(self.input, Mapping):
            raise UsageError(f"Allow(input=…) takes a mapping, not {type(self.input).__name__}")
        for update in self.updates:
            check(update)

    @classmethod
    def always(cls, request: PermissionRequest, destination: Destination | None = None) -> Allow:
        """Allow, and apply everything that the CLI suggests, in its scopes or in the given one.

        If the CLI wants no "always" for this request, it is allowed once.
        """
        updates = () if request.suppress_always_allow_rule else request.suggestions
        if destination is not None:
            updates = tuple(with_destination(update, destination) for update in updates)
        return cls(updates=updates)


@dataclass(frozen=True, slots=True)
class Deny:
    """Do not run the tool; the model gets the reason."""

    message: str
    interrupt: bool = False
    """End the turn as well."""

    def __post_init__(self) -> None:
        if not isinstance(self.message, str) or not self.message:
            raise UsageError("Deny needs a message: the model reads it to find another way")


Decision: TypeAlias = Allow | Deny
PermissionHandler: TypeAlias = Callable[[PermissionRequest], Decision | Awaitable[Decision]]


def _check_updates(request: PermissionRequest, decision: Allow) -> None:
    """The CLI forbids a lasting permission where the rule would be wider than what is asked."""
    widening = [update for update in decision.updates if not _restricts(update)]
    if widening and request.suppress_always_allow_rule:
        raise UsageError(
            f"the CLI allows no lasting permission for this use of {request.tool_name} "
            "(suppress_always_allow_rule): return Allow() without updates"
        )


def _restricts(update: PermissionUpdate) -> bool:
    if isinstance(update, AddRules):
        return update.behavior != "allow"
    if isinstance(update, RemoveRules):
        return update.behavior == "allow"
    return isinstance(update, RemoveDirectories)


def write_decision(request: PermissionRequest, decision: Decision) -> dict[str, Any]:
    """The answer as it goes over the wire."""
    if isinstance(decision, Allow):
        tool_input = request.input if decision.input is None else decision.input
        answer: dict[str, Any] = {"behavior": "allow", "updatedInput": dict(tool_input)}
        _check_updates(request, decision)
        if decision.updates:
            answer["updatedPermissions"] = [
                msgspec.to_builtins(update) for update in decision.updates
            ]
    elif isinstance(decision, Deny):
        answer = {"behavior": "deny", "message": decision.message}
        if decision.interrupt:
            answer["interrupt"] = True
    else:
        raise UsageError(
            f"a permission handler returns Allow(…) or Deny(…), not {type(decision).__name__}"
        )
    return {**answer, "toolUseID": request.tool_use_id}
