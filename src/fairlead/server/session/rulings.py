"""Turns a client's answer into the answer for the CLI, and checks everything on the way.

A client names a request, the hash of the input it saw and a decision. The answer is built from
the server's own copy of the request: nothing a client sends becomes an input, a rule or a mode,
except an operator's edited input, which is a decision of its own. Pure. `open_requests` compares
the hash first, and decides which answer wins and what is stored.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from fairlead.errors import UsageError
from fairlead.host.requests import plans, questions
from fairlead.host.requests.decisions import Allow, Decision, Deny, PermissionRequest
from fairlead.host.requests.elicitations import (
    Accept,
    Cancel,
    Decline,
    DialogRequest,
    ElicitationReply,
    ElicitationRequest,
)
from fairlead.host.requests.plans import Approve, Reject
from fairlead.host.requests.questions import Answers, QuestionRequest
from fairlead.server.access.roles import require
from fairlead.server.limits import Limits
from fairlead.server.policy import Policy
from fairlead.server.protocol.intents import (
    AnswerDialog,
    AnswerElicitation,
    AnswerQuestions,
    Decide,
    DecidePlan,
)
from fairlead.server.refusal import Refusal
from fairlead.server.session.dialogs import dialog_answer
from fairlead.server.session.own_words import check_answers, check_form, check_message
from fairlead.server.view.always_choices import Offer, denial
from fairlead.wire.updates import PermissionUpdate, with_destination

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
    denies: bool = False
    """Whether the answer is a "no" of any kind; it wins over an approval that is held."""
    rules: tuple[PermissionUpdate, ...] = ()
    """Deny rules for the rest of the session, which the server keeps (`denied_rules`)."""


def rule_permission(
    request: PermissionRequest,
    intent: Decide,
    role: str,
    offered: tuple[Offer, ...],
    limits: Limits,
) -> Ruling:
    """The answer that a `Decide` means, of what was offered; raises `Refusal`."""
    _check_size(limits, intent.message, intent.input)
    check_message(role, intent.message)
    kind = intent.decision
    special = request.tool_name in (questions.TOOL_NAME, plans.TOOL_NAME)
    if special and kind not in ("deny", "deny_stop"):
        raise Refusal("bad_message", f"{request.tool_name} needs an answer of its own kind.")
    if kind != "allow_edited" and intent.input is not None:
        raise Refusal("bad_message", "Only the decision allow_edited may contain an input.")
    if kind not in ("always", "deny_always") and intent.choices:
        raise Refusal("bad_message", f"The decision {kind} must not contain choices.")
    if kind == "allow":
        return Ruling(decision=Allow(), name=kind)
    if kind == "allow_edited":
        return _edited(request, intent, role)
    if kind == "always":
        _check_lasting(request)
        return _lasting(intent, role, offered)
    if kind == "deny_always":
        _check_lasting(request)
        return _denied_always(intent, role, offered)
    if kind in ("deny", "deny_stop"):
        decision = Deny(intent.message or DENIED, interrupt=kind == "deny_stop")
        return Ruling(
            decision=decision, name=kind, details={"message": intent.message}, denies=True
        )
    raise Refusal("bad_message", f"Unknown decision {kind!r}.")


def rule_questions(
    request: PermissionRequest, intent: AnswerQuestions, role: str, limits: Limits
) -> Ruling:
    """The answer that carries the user's answers; none at all declines."""
    _check_size(limits, "", {"answers": intent.answers, "notes": intent.notes})
    if request.tool_name != questions.TOOL_NAME:
        raise Refusal("bad_message", f"{request.tool_name} does not ask questions.")
    if intent.answers is None:
        declined = Deny("The user did not want to answer these questions.")
        return Ruling(decision=declined, name="declined", denies=True)
    question_request = QuestionRequest.of(request)
    check_answers(role, question_request, intent)
    try:
        decision = Answers(intent.answers, intent.notes).decide(question_request)
    except UsageError as problem:
        raise Refusal("bad_message", str(problem)) from None
    return Ruling(decision=decision, name="answered", details={"answers": intent.answers})


def rule_plan(
    request: PermissionRequest, intent: DecidePlan, role: str, policy: Policy, limits: Limits
) -> Ruling:
    """The answer that approves or rejects a plan."""
    _check_size(limits, intent.message, None)
    check_message(role, intent.message)
    if request.tool_name != plans.TOOL_NAME:
        raise Refusal("bad_message", f"{request.tool_name} does not show a plan.")
    if not intent.approve:
        rejected = Reject(intent.message or "The user wants another plan.").decide()
        details = {"message": intent.message}
        return Ruling(decision=rejected, name="rejected", details=details, denies=True)
    if intent.accept_edits:
        _check_lasting(request)
    if intent.accept_edits and not policy.allows_mode("acceptEdits"):
        raise Refusal(
            "forbidden",
            "This server does not allow the mode acceptEdits. Approve the plan without it.",
        )
    name = "approved_edits" if intent.accept_edits else "approved"
    return Ruling(decision=Approve(intent.accept_edits).decide(), name=name)


def rule_elicitation(
    request: ElicitationRequest, intent: AnswerElicitation, role: str, limits: Limits
) -> Ruling:
    """The answer to an MCP server's form."""
    _check_size(limits, "", intent.content)
    check_form(role, request, intent.content)
    replies: dict[str, ElicitationReply] = {
        "accept": Accept(intent.content),
        "decline": Decline(),
        "cancel": Cancel(),
    }
    reply = replies.get(intent.action)
    if reply is None:
        raise Refusal("bad_message", f"The answer to a form must be one of {', '.join(replies)}.")
    return Ruling(decision=reply, name=intent.action, denies=intent.action != "accept")


def rule_dialog(request: DialogRequest, intent: AnswerDialog) -> Ruling:
    """The answer to a dialog of the CLI's own."""
    decision = dialog_answer(request, intent.answer)
    details = {"dialog": request.kind, "answer": intent.answer}
    name = intent.answer or "closed"
    return Ruling(decision=decision, name=name, details=details, denies=intent.answer is None)


def _check_lasting(request: PermissionRequest) -> None:
    if request.suppress_always_allow_rule:
        raise Refusal(
            "forbidden",
            "The CLI accepts no lasting answer to this request. Allow or deny it once.",
        )


def _check_size(limits: Limits, message: str, value: Any) -> None:
    size = len(message.encode("utf-8", "replace")) + len(msgspec.json.encode(value))
    if size > limits.answer_bytes:
        raise Refusal("too_large", f"An answer can have at most {limits.answer_bytes:,} bytes.")


def _edited(request: PermissionRequest, intent: Decide, role: str) -> Ruling:
    require(role, "operator", "Changing the input")
    if intent.input is None:
        raise Refusal("bad_message", "The decision allow_edited must contain the whole input.")
    details = {"asked": dict(request.input), "ran": intent.input}
    return Ruling(decision=Allow(intent.input), name="allow_edited", details=details)


def _lasting(intent: Decide, role: str, offered: tuple[Offer, ...]) -> Ruling:
    chosen = _all_chosen(intent, role, offered)
    return Ruling(
        decision=Allow(updates=tuple(offer.update for offer in chosen)),
        name=intent.decision,
        details={"choices": [offer.label for offer in chosen]},
    )


def _denied_always(intent: Decide, role: str, offered: tuple[Offer, ...]) -> Ruling:
    """Denies this call and, for the rest of the session, what the chosen rules cover."""
    chosen = _all_chosen(intent, role, offered)
    rules: list[PermissionUpdate] = []
    for offer in chosen:
        rule = denial(offer)
        if rule is None:
            raise Refusal(
                "bad_message", f"Choice {offer.index} is not a rule and cannot be denied."
            )
        rules.append(with_destination(rule, "session"))
    details = {"choices": [offer.label for offer in chosen], "message": intent.message}
    return Ruling(
        decision=Deny(intent.message or DENIED),
        name=intent.decision,
        details=details,
        denies=True,
        rules=tuple(rules),
    )


def _all_chosen(intent: Decide, role: str, offered: tuple[Offer, ...]) -> list[Offer]:
    chosen = [_chosen(offered, index, role) for index in dict.fromkeys(intent.choices)]
    if not chosen:
        raise Refusal(
            "bad_message", f"The decision {intent.decision} must name at least one of the choices."
        )
    return chosen


def _chosen(offered: tuple[Offer, ...], index: int, role: str) -> Offer:
    if not 0 <= index < len(offered):
        raise Refusal("bad_message", f"Choice {index} does not exist; {len(offered)} were offered.")
    offer = offered[index]
    require(role, offer.role, f"The rule {offer.label!r}")
    return offer
