"""Intents that answer a request of the CLI: permissions, questions, plans, forms, dialogs.

Each is settled by `requests`, which lets one of them win; the answer is stored with who gave it
and the audit before the CLI hears of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fairlead.host.decisions import PermissionRequest
from fairlead.host.elicitations import DialogRequest, ElicitationRequest
from fairlead.server.decisions import (
    Ruling,
    rule_dialog,
    rule_elicitation,
    rule_permission,
    rule_plan,
    rule_questions,
)
from fairlead.server.deed import Deed
from fairlead.server.handlers import Handlers, Result
from fairlead.server.intents import (
    AnswerDialog,
    AnswerElicitation,
    AnswerQuestions,
    Decide,
    DecidePlan,
)
from fairlead.server.live_session import LiveSession
from fairlead.server.refusal import Refusal
from fairlead.server.requests import Request
from fairlead.server.sessions import Sessions
from fairlead.store.audit import AuditRecord
from fairlead.transcript.facts import Decided

__all__ = ["HANDLERS"]


async def decide(sessions: Sessions, deed: Deed, intent: Decide) -> Result:
    """Answer a permission request."""

    live = await sessions.load(intent.session)
    row = next((one for one in live.transcript.pending if one.id == intent.request_id), None)
    offered = sessions.source(live.id).offers(row) if row is not None else ()

    def rule(request: Request) -> Ruling:
        return rule_permission(_permission(request), intent, deed.role, offered, sessions.limits)

    return await _settle(sessions, deed, intent, rule)


async def answer_questions(sessions: Sessions, deed: Deed, intent: AnswerQuestions) -> Result:
    """Answer the model's questions."""

    def rule(request: Request) -> Ruling:
        return rule_questions(_permission(request), intent, sessions.limits)

    return await _settle(sessions, deed, intent, rule)


async def decide_plan(sessions: Sessions, deed: Deed, intent: DecidePlan) -> Result:
    """Approve or reject a plan."""

    def rule(request: Request) -> Ruling:
        return rule_plan(_permission(request), intent, sessions.policy, sessions.limits)

    return await _settle(sessions, deed, intent, rule)


async def answer_elicitation(sessions: Sessions, deed: Deed, intent: AnswerElicitation) -> Result:
    """Answer an MCP server's form."""

    def rule(request: Request) -> Ruling:
        if not isinstance(request, ElicitationRequest):
            raise Refusal("bad_message", "this request is not a form")
        return rule_elicitation(intent, sessions.limits)

    return await _settle(sessions, deed, intent, rule)


async def answer_dialog(sessions: Sessions, deed: Deed, intent: AnswerDialog) -> Result:
    """Answer a dialog of the CLI's own."""

    def rule(request: Request) -> Ruling:
        if not isinstance(request, DialogRequest):
            raise Refusal("bad_message", "this request is not a dialog")
        return rule_dialog(request, intent)

    return await _settle(sessions, deed, intent, rule)


async def _settle(
    sessions: Sessions, deed: Deed, intent: Any, rule: Callable[[Request], Ruling]
) -> Result:
    live = await sessions.load(intent.session)

    async def store(ruling: Ruling) -> None:
        record = AuditRecord(
            at=sessions.clock(),
            action=f"decided:{ruling.name}",
            session=live.id,
            device=deed.device.id,
            details={"request": intent.request_id, "by": deed.by, **ruling.details},
        )
        await live.record(
            [Decided(intent.request_id, deed.by)],
            deed.outcome(decision=ruling.name),
            (record,),
        )

    _check_open(live, intent.request_id)
    ruling = await live.requests.settle(intent.request_id, rule, store, deed.by)
    return {"decision": ruling.name}


def _permission(request: Request) -> PermissionRequest:
    if not isinstance(request, PermissionRequest):
        raise Refusal("bad_message", "this request is a form or a dialog")
    return request


def _check_open(live: LiveSession, request_id: str) -> None:
    """Only what everybody can see waiting can be answered; a turn that ends takes it along."""
    transcript = live.transcript
    if any(row.id == request_id for row in transcript.pending):
        return
    for row in reversed(transcript.settled):
        if row.id == request_id:
            by, how = row.by or "nobody", live.requests.how(request_id) or row.outcome
            over = f"{row.by} has answered this already" if row.by else "this request is over"
            said = f"{over}: {how}"
            raise Refusal("already_resolved", said, by=by, decision=how)
    raise Refusal("not_found", f"there is no open request {request_id!r}")


HANDLERS: Handlers = {
    Decide: decide,
    AnswerQuestions: answer_questions,
    DecidePlan: decide_plan,
    AnswerElicitation: answer_elicitation,
    AnswerDialog: answer_dialog,
}
