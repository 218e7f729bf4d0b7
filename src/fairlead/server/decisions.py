"""From what a client sends to what the CLI is answered: every check between the two.

A client names a request, the hash of the input it saw and a decision. The answer is built from
the server's own copy of the request: nothing a client sends becomes an input, a rule or a mode,
but for an operator's edited input, which is a decision of its own. Pure; who answered first and
what is stored is the business of `requests`.
"""

from __future__ import annotations

import hmac
from typing import Any

import msgspec
from msgspec import Struct

from fairlead.errors import UsageError
from fairlead.host import plans, questions
from fairlead.host.decisions import Allow, Decision, Deny, PermissionRequest
from fairlead.host.elicitations import (
    Accept,
    Cancel,
    Decline,
    DialogRequest,
    ElicitationReply,
)
from fairlead.host.plans import Approve, Reject
from fairlead.host.questions import Answers, QuestionRequest
from fairlead.server.decorate import input_sha256
from fairlead.server.dialogs import dialog_answer
from fairlead.server.intents import (
    AnswerDialog,
    AnswerElicitation,
    AnswerQuestions,
    Decide,
    DecidePlan,
)
from fairlead.server.limits import Limits
from fairlead.server.offers import Offer, denial
from fairlead.server.policy import Policy
from fairlead.server.refusal import Refusal
from fairlead.server.roles import require
from fairlead.wire.updates import PermissionUpdate

__all__ = [
    "Ruling",
    "rule_dialog",
    "rule_elicitation",
    "rule_permission",
    "rule_plan",
    "rule_questions",
]

DENIED = "The user does not want this to run. Ask what they would like instead."


class Ruling(Struct, frozen=True, kw_only=True):
    """A valid answer: what the CLI gets, and what the audit keeps of it."""

    decision: Decision | ElicitationReply | str
    """A text is the answer to a dialog."""
    name: str
    details: dict[str, Any] = {}


def rule_permission(
    request: PermissionRequest,
    intent: Decide,
    role: str,
    offered: tuple[Offer, ...],
    limits: Limits,
) -> Ruling:
    """The answer that a `Decide` means, of what was offered; raises `Refusal`."""
    _check_hash(request, intent.input_sha256)
    _check_size(limits, intent.message, intent.input)
    kind = intent.decision
    special = request.tool_name in (questions.TOOL_NAME, plans.TOOL_NAME)
    if special and kind not in ("deny", "deny_stop"):
        raise Refusal("bad_message", f"{request.tool_name} has an answer of its own kind")
    if kind != "allow_edited" and intent.input is not None:
        raise Refusal("bad_message", "only the decision allow_edited carries an input")
    if kind not in ("always", "never") and intent.choices:
        raise Refusal("bad_message", f"the decision {kind} takes no choices")
    if kind == "allow":
        return Ruling(decision=Allow(), name=kind)
    if kind == "allow_edited":
        return _edited(request, intent, role)
    if kind in ("always", "never"):
        return _lasting(intent, role, offered)
    if kind in ("deny", "deny_stop"):
        decision = Deny(intent.message or DENIED, interrupt=kind == "deny_stop")
        return Ruling(decision=decision, name=kind, details={"message": intent.message})
    raise Refusal("bad_message", f"there is no decision {kind!r}")


def rule_questions(request: PermissionRequest, intent: AnswerQuestions, limits: Limits) -> Ruling:
    """The answer that carries the user's answers; none at all declines."""
    _check_hash(request, intent.input_sha256)
    _check_size(limits, "", {"answers": intent.answers, "notes": intent.notes})
    if request.tool_name != questions.TOOL_NAME:
        raise Refusal("bad_message", f"{request.tool_name} asks no question")
    if intent.answers is None:
        declined = Deny("The user did not want to answer these questions.")
        return Ruling(decision=declined, name="declined")
    try:
        answers = Answers(intent.answers, intent.notes)
        decision = answers.decide(QuestionRequest.of(request))
    except UsageError as problem:
        raise Refusal("bad_message", str(problem)) from None
    return Ruling(decision=decision, name="answered", details={"answers": intent.answers})


def rule_plan(
    request: PermissionRequest, intent: DecidePlan, policy: Policy, limits: Limits
) -> Ruling:
    """The answer that approves or rejects a plan."""
    _check_hash(request, intent.input_sha256)
    _check_size(limits, intent.message, None)
    if request.tool_name != plans.TOOL_NAME:
        raise Refusal("bad_message", f"{request.tool_name} shows no plan")
    if not intent.approve:
        said = intent.message or "The user wants another plan."
        rejected = Reject(said).decide()
        return Ruling(decision=rejected, name="rejected", details={"message": intent.message})
    if intent.accept_edits and not policy.allows_mode("acceptEdits"):
        raise Refusal("forbidden", "this server does not let edits run without being asked")
    name = "approved_edits" if intent.accept_edits else "approved"
    return Ruling(decision=Approve(intent.accept_edits).decide(), name=name)


def rule_elicitation(intent: AnswerElicitation, limits: Limits) -> Ruling:
    """The answer to an MCP server's form."""
    _check_size(limits, "", intent.content)
    replies: dict[str, ElicitationReply] = {
        "accept": Accept(intent.content),
        "decline": Decline(),
        "cancel": Cancel(),
    }
    reply = replies.get(intent.action)
    if reply is None:
        raise Refusal("bad_message", f"a form is answered by {', '.join(replies)}")
    return Ruling(decision=reply, name=intent.action)


def rule_dialog(request: DialogRequest, intent: AnswerDialog) -> Ruling:
    """The answer to a dialog of the CLI's own."""
    decision = dialog_answer(request, intent.answer)
    details = {"dialog": request.kind, "answer": intent.answer}
    return Ruling(decision=decision, name=intent.answer or "closed", details=details)


def _check_hash(request: PermissionRequest, seen: str) -> None:
    if not hmac.compare_digest(input_sha256(request.input).encode(), seen.encode()):
        raise Refusal("stale", "the input is not the one that you saw; look again and decide anew")


def _check_size(limits: Limits, message: str, value: Any) -> None:
    size = len(message.encode("utf-8", "replace")) + len(msgspec.json.encode(value))
    if size > limits.answer_bytes:
        raise Refusal("too_large", f"an answer has at most {limits.answer_bytes:,} bytes")


def _edited(request: PermissionRequest, intent: Decide, role: str) -> Ruling:
    require(role, "operator", "another input than the one that was asked for")
    if intent.input is None:
        raise Refusal("bad_message", "allow_edited carries the whole input to run with")
    details = {"asked": dict(request.input), "ran": intent.input}
    return Ruling(decision=Allow(intent.input), name="allow_edited", details=details)


def _lasting(intent: Decide, role: str, offered: tuple[Offer, ...]) -> Ruling:
    chosen = [_chosen(offered, index, role) for index in dict.fromkeys(intent.choices)]
    if not chosen:
        raise Refusal("bad_message", f"{intent.decision} names at least one of the choices")
    updates: list[PermissionUpdate] = []
    for offer in chosen:
        update = offer.update if intent.decision == "always" else denial(offer)
        if update is None:
            raise Refusal("bad_message", f"the choice {offer.index} cannot be denied for ever")
        updates.append(update)
    taken = [offer.label for offer in chosen]
    return Ruling(
        decision=Allow(updates=tuple(updates)), name=intent.decision, details={"choices": taken}
    )


def _chosen(offered: tuple[Offer, ...], index: int, role: str) -> Offer:
    if not 0 <= index < len(offered):
        raise Refusal("bad_message", f"there is no choice {index}; {len(offered)} were offered")
    offer = offered[index]
    require(role, offer.role, f"a rule {offer.label!r}")
    return offer
