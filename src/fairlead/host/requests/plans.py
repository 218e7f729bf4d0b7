"""Plan review: the model presents a plan and asks to leave plan mode.

It comes as a permission request for ExitPlanMode. Up to 2.1.220 the plan is in its input,
later it must be fetched (CLI-407); the client does that and fills `PlanRequest.plan`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from fairlead.errors import UsageError
from fairlead.host.requests.decisions import Allow, Decision, Deny, PermissionRequest
from fairlead.host.requests.tool_names import PLAN_TOOL
from fairlead.wire.updates import SetMode

__all__ = ["TOOL_NAME", "Approve", "PlanHandler", "PlanRequest", "Reject"]

TOOL_NAME = PLAN_TOOL


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """The model has a plan and wants to carry it out."""

    id: str
    plan: str | None
    """The plan in Markdown; None if the CLI does not provide it."""
    permission: PermissionRequest


@dataclass(frozen=True, slots=True)
class Approve:
    """Carry it out."""

    accept_edits: bool = False
    """Also let file edits run without asking from now on."""

    def decide(self) -> Decision:
        """The equivalent permission decision."""
        updates = (SetMode(mode="acceptEdits", destination="session"),) if self.accept_edits else ()
        return Allow(updates=updates)


@dataclass(frozen=True, slots=True)
class Reject:
    """Stay in plan mode and think again; the model reads the message."""

    message: str

    def decide(self) -> Decision:
        """The equivalent permission decision."""
        return Deny(self.message)


PlanReply: TypeAlias = Approve | Reject
PlanHandler: TypeAlias = Callable[[PlanRequest], PlanReply | Awaitable[PlanReply]]


def decide(reply: PlanReply) -> Decision:
    """The permission decision for a handler's reply."""
    if isinstance(reply, Approve | Reject):
        return reply.decide()
    raise UsageError(f"a plan handler returns Approve(…) or Reject(…), not {type(reply).__name__}")
