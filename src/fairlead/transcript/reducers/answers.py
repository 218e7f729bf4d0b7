"""Requests of the host to the CLI, and the effect of the answers on the session.

An answer is matched by its request id to the request the host sent; the first one counts, and
old CLIs may send a second (CLI-210). An answer to nothing we know changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fairlead.transcript.reducers import context, pending, queue, session
from fairlead.transcript.state import plain
from fairlead.transcript.state.fold import Fold
from fairlead.transcript.state.memory import SentRequest
from fairlead.wire.control import ControlResponse
from fairlead.wire.inputs import Request

__all__ = ["on_request", "on_response"]


def on_request(fold: Fold, request: Request) -> None:
    """The host asks something of the CLI."""
    fold.memory.requests[request.request_id] = SentRequest(request.subtype, request.fields)
    if request.subtype == "interrupt" and fold.memory.turn is not None:
        fold.memory.interrupting = True


def on_response(fold: Fold, message: ControlResponse) -> None:
    """The CLI answers."""
    body = message.response
    sent = fold.memory.requests.pop(body.request_id or "", None)
    if sent is None:
        return
    fold.memory.heard = True
    if body.subtype == "success":
        take = _ANSWERS.get(sent.subtype)
        if take is not None:
            take(fold, sent.fields, plain.mapping(body.response))
    elif sent.subtype == "interrupt":
        fold.memory.interrupting = False
        fold.memory.stopped_by = None
    if sent.subtype == "initialize":
        pending.rearm(fold, body.pending_permission_requests)
        pending.rearm(fold, body.pending_user_dialog_requests)
        pending.rearm(fold, body.pending_elicitation_requests)


def _initialize(fold: Fold, request: dict[str, Any], answer: dict[str, Any]) -> None:
    session.take_initialized(fold, answer)
    state = plain.text(answer.get("session_state"))
    if state:
        fold.memory.cli_state = state


def _mode(fold: Fold, request: dict[str, Any], answer: dict[str, Any]) -> None:
    mode = plain.text(answer.get("mode")) or plain.text(request.get("mode"))
    if mode:
        fold.put("session", permission_mode=mode)


def _model(fold: Fold, request: dict[str, Any], answer: dict[str, Any]) -> None:
    # Old CLIs accept any name, aliases included, and do not report it; the next init does.
    model = plain.text(answer.get("model")) or plain.text(request.get("model"))
    if model:
        fold.put("session", model=model)


def _title(fold: Fold, request: dict[str, Any], answer: dict[str, Any]) -> None:
    title = plain.text(answer.get("title")) or plain.text(request.get("title"))
    if title:
        fold.put("session", title=title)


def _context_usage(fold: Fold, request: dict[str, Any], answer: dict[str, Any]) -> None:
    context.take_answer(fold, answer)


def _settings(fold: Fold, request: dict[str, Any], answer: dict[str, Any]) -> None:
    effort = plain.text(plain.mapping(answer.get("applied")).get("effort"))
    if effort:
        fold.put("session", effort=effort)


def _mcp_status(fold: Fold, request: dict[str, Any], answer: dict[str, Any]) -> None:
    session.take_mcp_servers(fold, answer.get("mcpServers"))


def _models(fold: Fold, request: dict[str, Any], answer: dict[str, Any]) -> None:
    fold.put("session", models=tuple(plain.rows(answer.get("models"))))


def _reloaded(fold: Fold, request: dict[str, Any], answer: dict[str, Any]) -> None:
    session.take_reloaded(fold, answer)


def _cwd(fold: Fold, request: dict[str, Any], answer: dict[str, Any]) -> None:
    cwd = plain.text(plain.field_of(answer, "cwd", "path")) or plain.text(request.get("path"))
    if cwd and answer.get("status") != "needs_trust":  # 2.1.325 asks first for a new folder.
        fold.put("session", cwd=cwd)


def _interrupt(fold: Fold, request: dict[str, Any], answer: dict[str, Any]) -> None:
    for uuid in plain.strings(answer.get("cancelled")):
        queue.cancel(fold, uuid)


def _cancel_message(fold: Fold, request: dict[str, Any], answer: dict[str, Any]) -> None:
    if answer.get("cancelled") is True:
        queue.cancel(fold, plain.text(request.get("message_uuid")))


_ANSWERS: dict[str, Callable[[Fold, dict[str, Any], dict[str, Any]], None]] = {
    "cancel_async_message": _cancel_message,
    "generate_session_title": _title,
    "get_context_usage": _context_usage,
    "get_settings": _settings,
    "initialize": _initialize,
    "interrupt": _interrupt,
    "list_models": _models,
    "mcp_status": _mcp_status,
    "reload_plugins": _reloaded,
    "reload_skills": _reloaded,
    "rename_session": _title,
    "set_cwd": _cwd,
    "set_model": _model,
    "set_permission_mode": _mode,
}
