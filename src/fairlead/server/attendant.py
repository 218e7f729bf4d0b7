"""Answers what one CLI process asks: the operator's own rules first, then whoever decides.

A rule's answer is written down before the CLI hears of it. Everything else waits in `requests`
until a device settles it. Knows neither devices nor intents.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fairlead.errors import FairleadError
from fairlead.guarding import judge
from fairlead.host import plans
from fairlead.host.decisions import Allow, Decision, Deny, PermissionRequest
from fairlead.host.elicitations import DialogRequest, ElicitationReply, ElicitationRequest
from fairlead.host.options import Options
from fairlead.permissions.audit import input_sha256
from fairlead.permissions.guard import Guard
from fairlead.permissions.scopes import Behaviour
from fairlead.permissions.settings import place_of
from fairlead.server.requests import Requests
from fairlead.server.running_session import RunningSession
from fairlead.store.audit import AuditRecord
from fairlead.transcript.facts import Decided, PlanShown

__all__ = ["Attendant"]


class Attendant:
    """The handlers that a client is given."""

    def __init__(
        self,
        session: RunningSession,
        requests: Requests,
        options: Options,
        *,
        guard: Guard | None,
        clock: Callable[[], float],
    ) -> None:
        self._session = session
        self._requests = requests
        self._options = options
        self._guard = guard
        self._clock = clock

    async def permission(self, request: PermissionRequest) -> Decision:
        """May this tool run? The rules say, or somebody does."""
        ruled = await self._by_rule(request)
        if ruled is not None:
            return ruled
        if request.tool_name == plans.TOOL_NAME and "plan" not in request.input:
            self._session.spawn(self._show_plan(request.id))
        decision: Decision = await self._requests.ask(request)
        return decision

    async def _by_rule(self, request: PermissionRequest) -> Decision | None:
        """What the operator's own rules say, written down before the CLI hears of it."""
        if self._guard is None:
            return None
        options = self._options
        place = place_of(str(options.cwd), options.env.get("HOME") or "~")
        verdict = judge(self._guard, request, place, self._session.transcript.ledger.cost_usd)
        if not verdict.final:
            return None
        details = {
            "request_id": request.id,
            "tool": request.tool_name,
            "input_sha256": input_sha256(request.input),
            "decision": verdict.behaviour.value,
            "decider": verdict.decider.value,
            "words": verdict.words,
        }
        record = AuditRecord(
            at=self._clock(), action="ruled", session=self._session.id, device=None, details=details
        )
        await self._session.record([Decided(request.id, "rule")], audit=(record,))
        allowed = verdict.behaviour is Behaviour.ALLOW
        return Allow() if allowed else Deny(f"Not allowed here: {verdict.words}.")

    async def elicitation(self, request: ElicitationRequest) -> ElicitationReply:
        """A form of an MCP server."""
        reply: ElicitationReply = await self._requests.ask(request)
        return reply

    async def dialog(self, request: DialogRequest) -> Any:
        """A dialog of the CLI's own."""
        return await self._requests.ask(request)

    async def _show_plan(self, request_id: str) -> None:
        try:
            plan = await self._session.running().plan()
        except FairleadError:
            return  # This version has no such request, or has just ended: the row shows no plan.
        if plan:
            self._session.note([PlanShown(request_id, plan)])
