"""Requests of the CLI that a person must answer, keyed by request id, several at once.

Each leaves `pending` once and is then in `settled` with its outcome: answered, cancelled (the
CLI withdrew it), superseded (what it is about was settled without an answer), process_ended. A
call may be asked about more than once: each request is one of its own, for the CLI waits for each.
Hooks and MCP messages are the host's own business and are not here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from fairlead.transcript.state import plain
from fairlead.transcript.state.calls import new_call, readable, tool_item
from fairlead.transcript.state.facts import (
    AnswerHeld,
    AnswerUndone,
    CallsDenied,
    Decided,
    PlanShown,
    Stopped,
)
from fairlead.transcript.state.fold import Fold
from fairlead.transcript.state.model import FINAL_TOOL_STATES, Pending, Settled, UnknownItem
from fairlead.wire.control import (
    CanUseTool,
    ControlCancelRequest,
    ControlRequest,
    Elicitation,
    PendingRequest,
    RequestUserDialog,
    UnknownRequest,
)
from fairlead.wire.inputs import Answer, AnswerError
from fairlead.wire.tolerant import Misfit, build
from fairlead.wire.updates import UnknownUpdate

__all__ = [
    "end_all",
    "listed_requests",
    "on_answer",
    "on_answer_error",
    "on_answer_held",
    "on_answer_undone",
    "on_calls_denied",
    "on_cancel",
    "on_decided",
    "on_plan_shown",
    "on_request",
    "on_stopped",
    "rearm",
    "supersede",
]

_KIND_BY_TOOL = {"AskUserQuestion": "question", "ExitPlanMode": "plan"}


def on_request(fold: Fold, message: ControlRequest) -> None:
    """The CLI sends a request; a repeated request is ignored."""
    request = message.request
    if _known(fold, message.request_id):
        return
    fold.memory.heard = True
    if isinstance(request, CanUseTool):
        _ask_for_tool(fold, message.request_id, request)
    elif isinstance(request, Elicitation):
        _open(fold, _elicitation(fold, message.request_id, request))
    elif isinstance(request, RequestUserDialog):
        _open(fold, _dialog(fold, message.request_id, request))
    elif isinstance(request, UnknownRequest):
        fold.show(
            UnknownItem(
                id=fold.unused(message.request_id),
                turn=fold.memory.turn,
                at=fold.at,
                type=f"control_request/{request.subtype_name}",
                problem=request.problem,
                data=request.data,
            )
        )


def rearm(fold: Fold, requests: tuple[PendingRequest, ...] | None) -> None:
    """A repeated `initialize` lists what is still open (CLI-225)."""
    for request in listed_requests(requests):
        on_request(fold, request)


def listed_requests(requests: tuple[PendingRequest, ...] | None) -> Iterator[ControlRequest]:
    """The open requests in the answer to `initialize`, each as the CLI sent it first."""
    for listed in requests or ():
        plain_request = plain.mapping(listed.request)
        inner = plain.mapping(plain_request.get("request")) or plain_request
        request_id = listed.request_id or plain.text(plain_request.get("request_id"))
        try:
            request = build(CanUseTool | Elicitation | RequestUserDialog, inner, [])
        except Misfit:
            continue
        if request_id:
            yield ControlRequest(request_id=request_id, request=request)


def on_answer(fold: Fold, answer: Answer) -> None:
    """The host answered. A late or second answer changes nothing, as it does for the CLI."""
    request = fold.get("pending", answer.request_id)
    if request is None:
        return
    response = answer.response
    _settle(fold, request, "answered", response)
    if plain.mapping(response).get("interrupt") is True:
        fold.memory.interrupting = True
        fold.memory.stopped_by = fold.memory.deciders.get(request.id)
    if request.tool is not None:
        _decide(fold, request, response)


def on_answer_error(fold: Fold, answer: AnswerError) -> None:
    """The host could not answer; for a permission that is a denial (CLI-220)."""
    request = fold.get("pending", answer.request_id)
    if request is None:
        return
    _settle(fold, request, "answered", {"error": answer.error})
    if request.tool is not None:
        _decide(fold, request, {"behavior": "deny", "message": answer.error})


def on_cancel(fold: Fold, message: ControlCancelRequest) -> None:
    """The CLI withdrew its request."""
    request = fold.get("pending", message.request_id)
    if request is not None:
        _settle(fold, request, "cancelled", None)
        _go_on(fold, request.tool)


def on_decided(fold: Fold, fact: Decided) -> None:
    """The device that answered; this may arrive before or after the answer."""
    fold.memory.deciders[fact.request_id] = fact.by
    settled = fold.get("settled", fact.request_id)
    if settled is None:
        return
    fold.set("settled", settled.id, by=fact.by)
    item = fold.item(settled.tool) if settled.tool is not None else None
    if item is not None and plain.mapping(item.decision).get("request") == settled.id:
        fold.set("items", item.id, decision={**item.decision, "by": fact.by})


def on_answer_held(fold: Fold, fact: AnswerHeld) -> None:
    """An answer waits for its undo period to end; every device shows that."""
    request = fold.get("pending", fact.request_id)
    if request is not None:
        held = {
            "by": fact.by,
            "decision": fact.decision,
            "until": fact.until,
            "denies": fact.denies,
        }
        fold.set("pending", request.id, details={**request.details, "held": held})


def on_answer_undone(fold: Fold, fact: AnswerUndone) -> None:
    """The request is open again."""
    request = fold.get("pending", fact.request_id)
    if request is not None:
        details = {name: value for name, value in request.details.items() if name != "held"}
        fold.set("pending", request.id, details=details)


def on_calls_denied(fold: Fold, fact: CallsDenied) -> None:
    """The host denies such calls from now on, in every process of this session."""
    fold.memory.denied_rules.extend(fact.rules)


def on_stopped(fold: Fold, fact: Stopped) -> None:
    """A user stops the turn or the process, which cancels the open requests."""
    fold.memory.stopped_by = fact.by


def on_plan_shown(fold: Fold, fact: PlanShown) -> None:
    """The words of a plan that is to be approved came later than the request."""
    request = fold.get("pending", fact.request_id)
    if request is not None:
        fold.set("pending", request.id, details={**request.details, "plan": fact.plan})


def supersede(fold: Fold, item_id: str) -> None:
    """The call was settled without an answer to what was asked about it."""
    open_requests = fold.memory.open_pending.get(item_id)
    for request_id in tuple(open_requests or ()):
        _settle(fold, fold.get("pending", request_id), "superseded", None)


def end_all(fold: Fold) -> None:
    """The process has ended, which withdraws its open requests.

    A denial that was held when the host was killed stays a denial; a held approval does not count,
    because nothing ran.
    """
    for request_id in fold.ids("pending"):
        request = fold.get("pending", request_id)
        held = plain.mapping(request.details.get("held"))
        if held.get("denies") is not True or request.tool is None:
            _settle(fold, request, "process_ended", None)
            continue
        fold.memory.deciders.setdefault(request_id, str(held.get("by")))
        response = {"behavior": "deny", "message": ""}
        _settle(fold, request, "answered", response)
        _decide(fold, request, response)


def _known(fold: Fold, request_id: str) -> bool:
    rows = fold.document.rows
    return request_id in rows["pending"] or request_id in rows["settled"]


def _ask_for_tool(fold: Fold, request_id: str, request: CanUseTool) -> None:
    item = tool_item(fold, request.tool_use_id) if request.tool_use_id else None
    if item is None:
        parent = fold.memory.agents.get(request.agent_id or "")
        item_id = new_call(fold, request.tool_use_id, request.tool_name, parent)
        fold.set("items", item_id, input=request.input)
    else:
        item_id = item.id
    if item is None or item.state not in FINAL_TOOL_STATES:
        fold.set("items", item_id, state="awaiting")
    title = request.title or request.display_name or readable(request.tool_name)[0]
    _open(
        fold,
        Pending(
            id=request_id,
            kind=_KIND_BY_TOOL.get(request.tool_name, "permission"),
            at=fold.at,
            tool=item_id,
            tool_name=request.tool_name,
            title=title,
            input=request.input,
            suggestions=tuple(_update(update) for update in request.permission_suggestions or ()),
            reason=request.decision_reason,
            reason_type=request.decision_reason_type,
            blocked_path=request.blocked_path,
            description=request.description,
            agent=request.agent_id,
            suppress_always_allow_rule=bool(request.suppress_always_allow_rule),
            default_to_no=bool(request.default_to_no),
            matched_ask_rule=_ask_rule(request.matched_ask_rule),
        ),
    )


def _ask_rule(reported: Any) -> dict[str, Any] | None:
    """The rule if it names a tool, without fields that are not texts."""
    rule = {
        name: value
        for name in ("source", "tool_name", "rule_content")
        if isinstance(value := plain.mapping(reported).get(name), str)
    }
    return rule if rule.get("tool_name") else None


def _elicitation(fold: Fold, request_id: str, request: Elicitation) -> Pending:
    return Pending(
        id=request_id,
        kind="elicitation",
        at=fold.at,
        title=request.title or request.display_name or request.mcp_server_name,
        description=request.message or request.description,
        details={
            "server": request.mcp_server_name,
            "mode": request.mode,
            "url": request.url,
            "schema": request.requested_schema,
            "order": request.property_order,
        },
    )


def _dialog(fold: Fold, request_id: str, request: RequestUserDialog) -> Pending:
    return Pending(
        id=request_id,
        kind="dialog",
        at=fold.at,
        tool=fold.memory.tools.get(request.tool_use_id or ""),
        title=request.dialog_kind,
        details={"dialog": request.dialog_kind, "payload": request.payload},
    )


def _open(fold: Fold, request: Pending) -> None:
    fold.add("pending", request)
    if request.tool is not None:
        fold.memory.open_pending.setdefault(request.tool, []).append(request.id)


def _settle(fold: Fold, request: Pending, outcome: str, answer: dict[str, Any] | None) -> None:
    fold.remove("pending", request.id)
    fold.add(
        "settled",
        Settled(
            id=request.id,
            kind=request.kind,
            tool=request.tool,
            tool_name=request.tool_name,
            at=request.at,
            ended=fold.at,
            outcome=outcome,
            answer=answer,
            by=fold.memory.deciders.get(request.id),
            stopped_by=None if outcome == "answered" else fold.memory.stopped_by,
        ),
    )
    still_open = fold.memory.open_pending.get(request.tool or "")
    if still_open is not None:
        still_open.remove(request.id)
        if not still_open:
            del fold.memory.open_pending[request.tool or ""]


def _decide(fold: Fold, request: Pending, response: dict[str, Any]) -> None:
    item = fold.item(request.tool or "")
    if item is None:
        return
    behavior = plain.text(response.get("behavior")) or "invalid"
    updated_input = response.get("updatedInput")
    edited = bool(updated_input) and updated_input != request.input
    decision = {
        "behavior": behavior,
        "source": "user",
        "reason": request.reason,
        "by": fold.memory.deciders.get(request.id),
        "request": request.id,
        "message": response.get("message"),
        "edited": edited,
        "permissions": response.get("updatedPermissions"),
    }
    if edited and behavior == "allow" and request.kind != "question":
        # The call runs with what the person made of it (rec 2.1.325/perm_edit_changed); answers
        # to a question are no other input.
        fold.set(
            "items", item.id, input=updated_input, decision={**decision, "asked": request.input}
        )
    else:
        fold.set("items", item.id, decision=decision)
    _go_on(fold, request.tool)


def _go_on(fold: Fold, item_id: str | None) -> None:
    """A call that waited for this request runs, or was denied, if it waits for no other."""
    item = fold.item(item_id) if item_id is not None else None
    if item is None or item.state in FINAL_TOOL_STATES or fold.memory.open_pending.get(item.id):
        return
    if plain.mapping(item.decision).get("behavior") == "deny":
        fold.set("items", item.id, state="denied")
    elif item.state == "awaiting":
        fold.set("items", item.id, state="running", started=fold.at)


def _update(update: Any) -> Any:
    return update.data if isinstance(update, UnknownUpdate) else msgspec.to_builtins(update)
