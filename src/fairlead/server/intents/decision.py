"""Intents that answer a request of the CLI: permissions, questions, plans, forms, dialogs.

`open_requests` lets one answer win. It is stored, with who gave it and the audit record, before
the CLI gets it. An answer with `hold` reaches the CLI after `Limits.undo_s`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from fairlead.host.requests.decisions import PermissionRequest
from fairlead.host.requests.elicitations import DialogRequest, ElicitationRequest
from fairlead.server.intents.context import IntentContext
from fairlead.server.intents.handlers import Handlers, Result
from fairlead.server.protocol.intents import (
    AnswerDialog,
    AnswerElicitation,
    AnswerQuestions,
    ConfirmAnswer,
    Decide,
    DecidePlan,
    UndoAnswer,
)
from fairlead.server.refusal import Refusal
from fairlead.server.session.live_session import LiveSession
from fairlead.server.session.open_requests import Request
from fairlead.server.session.rulings import (
    Ruling,
    rule_dialog,
    rule_elicitation,
    rule_permission,
    rule_plan,
    rule_questions,
)
from fairlead.server.sessions.sessions import Sessions
from fairlead.store.tables.audit import AuditRecord
from fairlead.transcript.reduce import Fed
from fairlead.transcript.state.facts import AnswerHeld, AnswerUndone, CallsDenied, Decided

__all__ = ["HANDLERS"]


async def decide(sessions: Sessions, context: IntentContext, intent: Decide) -> Result:
    """Answer a permission request."""

    live = await sessions.load(intent.session)
    row = next((row for row in live.transcript.pending if row.id == intent.request_id), None)
    offered = sessions.source(live.id).offers(row) if row is not None else ()

    def rule(request: Request) -> Ruling:
        return rule_permission(_permission(request), intent, context.role, offered, sessions.limits)

    return await _settle(sessions, context, intent, rule)


async def answer_questions(
    sessions: Sessions, context: IntentContext, intent: AnswerQuestions
) -> Result:
    """Answer the model's questions."""

    def rule(request: Request) -> Ruling:
        return rule_questions(_permission(request), intent, context.role, sessions.limits)

    return await _settle(sessions, context, intent, rule)


async def decide_plan(sessions: Sessions, context: IntentContext, intent: DecidePlan) -> Result:
    """Approve or reject a plan."""

    def rule(request: Request) -> Ruling:
        plan = _permission(request)
        return rule_plan(plan, intent, context.role, sessions.policy, sessions.limits)

    return await _settle(sessions, context, intent, rule)


async def answer_elicitation(
    sessions: Sessions, context: IntentContext, intent: AnswerElicitation
) -> Result:
    """Answer an MCP server's form."""

    def rule(request: Request) -> Ruling:
        if not isinstance(request, ElicitationRequest):
            raise Refusal(
                "bad_message", "This request is not a form. Answer it with the intent of its kind."
            )
        return rule_elicitation(request, intent, context.role, sessions.limits)

    return await _settle(sessions, context, intent, rule)


async def answer_dialog(sessions: Sessions, context: IntentContext, intent: AnswerDialog) -> Result:
    """Answer a dialog of the CLI itself."""

    def rule(request: Request) -> Ruling:
        if not isinstance(request, DialogRequest):
            raise Refusal(
                "bad_message",
                "This request is not a dialog. Answer it with the intent of its kind.",
            )
        return rule_dialog(request, intent)

    return await _settle(sessions, context, intent, rule)


async def _settle(
    sessions: Sessions, context: IntentContext, intent: Any, rule: Callable[[Request], Ruling]
) -> Result:
    live = await sessions.load(intent.session)
    name, by = intent.request_id, context.by

    def audit(action: str, details: dict[str, Any]) -> AuditRecord:
        return AuditRecord(
            at=sessions.clock(),
            action=action,
            session=live.id,
            device=context.device.id,
            details={"request": name, "by": by, **details},
        )

    async def store(ruling: Ruling) -> None:
        if intent.hold:
            _check_open(live, name)  # The turn may have ended during the undo period.
        # The result of an intent is stored once; that of a held answer is stored with the hold.
        result = None if intent.hold else context.outcome(decision=ruling.name)
        record = audit(f"decided:{ruling.name}", ruling.details)
        facts: list[Fed] = [Decided(name, by)]
        if ruling.rules:
            facts.append(CallsDenied(tuple(msgspec.to_builtins(rule) for rule in ruling.rules)))
        await live.record(facts, result, (record,))
        if ruling.rules:
            live.deny_calls(ruling.rules)

    async def note(ruling: Ruling) -> None:
        until = sessions.clock() + sessions.limits.undo_s
        fact = AnswerHeld(name, by, ruling.name, until, ruling.denies)
        result = context.outcome(decision=ruling.name, held_until=until)
        await live.record([fact], result, (audit(f"held:{ruling.name}", ruling.details),))

    def undone() -> None:
        live.note([AnswerUndone(name)])

    _check_open(live, name)
    if not intent.hold:
        seen = intent.input_sha256
        ruling = await live.requests.settle(name, rule, store, by, seen=seen)
        return {"decision": ruling.name}
    seconds = sessions.limits.undo_s
    ruling = await live.requests.hold(
        name, rule, note, store, by, seconds, undone, seen=intent.input_sha256
    )
    return {"decision": ruling.name, "held_until": sessions.clock() + seconds}


async def confirm_answer(
    sessions: Sessions, context: IntentContext, intent: ConfirmAnswer
) -> Result:
    """End the undo period of a held answer."""
    live = await sessions.load(intent.session)
    _check_open(live, intent.request_id)
    ruling = await live.requests.confirm(intent.request_id)
    return {"decision": ruling.name}


async def undo_answer(sessions: Sessions, context: IntentContext, intent: UndoAnswer) -> Result:
    """Take a held answer back."""
    live = await sessions.load(intent.session)

    async def note() -> None:
        record = AuditRecord(
            at=sessions.clock(),
            action="undid_answer",
            session=live.id,
            device=context.device.id,
            details={"request": intent.request_id, "by": context.by},
        )
        await live.record([AnswerUndone(intent.request_id)], context.outcome(), (record,))

    _check_open(live, intent.request_id)
    await live.requests.undo(intent.request_id, note)
    return {}


def _permission(request: Request) -> PermissionRequest:
    if not isinstance(request, PermissionRequest):
        raise Refusal(
            "bad_message",
            "This request is a form or a dialog. Answer it with the intent of its kind.",
        )
    return request


def _check_open(live: LiveSession, request_id: str) -> None:
    """Refuse a request that clients cannot see as open; the end of a turn closes it."""
    transcript = live.transcript
    if any(row.id == request_id for row in transcript.pending):
        return
    for row in reversed(transcript.settled):
        if row.id == request_id:
            by, decision = row.by or "nobody", live.requests.how(request_id) or row.outcome
            over = f"Already answered by {row.by}" if row.by else "This request is no longer open"
            raise Refusal("already_resolved", f"{over}: {decision}", by=by, decision=decision)
    raise Refusal(
        "not_found",
        f"Request {request_id!r} is not open. It was answered or withdrawn, or never existed.",
    )


HANDLERS: Handlers = {
    Decide: decide,
    AnswerQuestions: answer_questions,
    DecidePlan: decide_plan,
    AnswerElicitation: answer_elicitation,
    AnswerDialog: answer_dialog,
    ConfirmAnswer: confirm_answer,
    UndoAnswer: undo_answer,
}
