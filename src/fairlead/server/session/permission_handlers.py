"""Answers the requests of one CLI process: by rules first, then by a device.

The rules are the operator's own and those that a user denied for the session. A rule's answer is
stored before the CLI gets it. Every other request stays in `open_requests` until a device answers
it. Knows neither devices nor intents.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairlead.errors import FairleadError
from fairlead.host.options.options import Options
from fairlead.host.requests import plans
from fairlead.host.requests.decisions import Allow, Decision, Deny, PermissionRequest
from fairlead.host.requests.elicitations import DialogRequest, ElicitationReply, ElicitationRequest
from fairlead.permissions.model.scopes import Behavior
from fairlead.permissions.rules.decisions import ToolCall
from fairlead.permissions.rules.paths import PathContext
from fairlead.server.session.denied_rules import DeniedRules
from fairlead.server.session.open_requests import Requests
from fairlead.server.session.rulings import Ruling
from fairlead.server.session.running_session import RunningSession
from fairlead.store.tables.audit import AuditRecord
from fairlead.transcript.state.facts import Decided, PlanShown
from fairlead.wire.versions import Feature

if TYPE_CHECKING:
    from fairlead.permissions.guard import Guard

__all__ = ["PermissionHandlers"]

log = logging.getLogger("fairlead")


class PermissionHandlers:
    """The handlers that a client is given."""

    def __init__(
        self,
        session: RunningSession,
        requests: Requests,
        options: Options,
        *,
        guard: Guard | None,
        denied: DeniedRules,
        clock: Callable[[], float],
    ) -> None:
        self._session = session
        self._requests = requests
        self._options = options
        self._guard = guard
        self._denied = denied
        self._clock = clock

    async def permission(self, request: PermissionRequest) -> Decision:
        """The answer to a permission request, by a rule or by a device."""
        ruled = await self._by_rule(request) or await self._by_denied_rule(request)
        if ruled is not None:
            return ruled
        if request.tool_name == plans.TOOL_NAME and "plan" not in request.input:
            self._session.spawn(self._show_plan(request.id))
        decision: Decision = await self._requests.ask(request)
        if isinstance(decision, Allow) and (rules := self._denied.unsent()):
            return replace(decision, updates=(*decision.updates, *rules))
        return decision

    async def _by_rule(self, request: PermissionRequest) -> Decision | None:
        """What the operator's own rules decide, stored before the CLI gets it."""
        if self._guard is None:
            return None
        from fairlead.guarding import hash_input, judge  # Few servers have such rules.

        place = self._place()
        spent_usd = self._session.transcript.ledger.cost_usd
        verdict = await judge(self._guard, request, place, spent_usd)
        if not verdict.final:
            return None
        details = {
            "request_id": request.id,
            "tool": request.tool_name,
            "input_sha256": await hash_input(request.input),
            "decision": verdict.behavior.value,
            "decider": verdict.decider.value,
            "words": verdict.words,
        }
        await self._session.record([Decided(request.id, "rule")], audit=(self._record(details),))
        allowed = verdict.behavior is Behavior.ALLOW
        return Allow() if allowed else Deny(f"Not allowed here: {verdict.words}.")

    async def _by_denied_rule(self, request: PermissionRequest) -> Decision | None:
        """A denial for what a user denied for the rest of the session."""
        if not self._denied:
            return None
        call = ToolCall(tool=request.tool_name, input=request.input)
        words = self._denied.verdict(call, self._place())
        if words is None:
            return None
        details = {"request_id": request.id, "tool": request.tool_name, "words": words}
        await self._session.record([Decided(request.id, "rule")], audit=(self._record(details),))
        decision: Decision = _denied(words).decision  # type: ignore[assignment]
        return decision

    def _place(self) -> PathContext:
        from fairlead.guarding import place_for  # Only rules need it.

        return place_for(self._options)

    async def deny_calls(self) -> None:
        """Deny the open requests that the session's deny rules cover, and give the CLI the rules."""
        self._session.spawn(self.give_rules())

        def rule(request: object) -> Ruling | None:
            if not isinstance(request, PermissionRequest):
                return None
            call = ToolCall(tool=request.tool_name, input=request.input)
            words = self._denied.verdict(call, self._place())
            return None if words is None else _denied(words)

        async def store(request_id: str, ruling: Ruling) -> None:
            details = {"request_id": request_id, **ruling.details}
            await self._session.record(
                [Decided(request_id, "rule")], audit=(self._record(details),)
            )

        await self._requests.settle_each(rule, store)

    async def give_rules(self) -> None:
        """Give the CLI the deny rules of the session, if it takes settings while it runs."""
        if not self._denied or not self._session.ready:
            return
        client = self._session.running()
        if client.version is None or not client.version.has(Feature.APPLIES_SETTINGS):
            return
        try:
            await client.apply_flag_settings(self._denied.settings())
        except FairleadError as problem:
            log.warning(
                "the CLI did not accept the deny rules; the server applies them instead: %s",
                problem,
            )
        else:
            self._denied.sent()

    def _record(self, details: dict[str, Any]) -> AuditRecord:
        return AuditRecord(
            at=self._clock(), action="ruled", session=self._session.id, device=None, details=details
        )

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


def _denied(words: str) -> Ruling:
    return Ruling(
        decision=Deny(f"The user does not allow this in this session: {words}."),
        name="deny",
        details={"words": words},
        denies=True,
    )
