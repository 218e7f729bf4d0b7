"""Turns: where a turn begins, which prompts belong to it, and how it ended.

A turn begins with an init, or with the first sign of work if there is none, and ends with a
result, which is not the end of the work: background tasks continue and start their own turns
(CLI-521). Prompts and results are not one to one (CLI-518); `queue` says which start here.
"""

from __future__ import annotations

from typing import Any

import msgspec

from fairlead.transcript.reducers import ledger, notices, pairing, queue, streaming
from fairlead.transcript.reducers.background import link_turn
from fairlead.transcript.reducers.opening import open_turn
from fairlead.transcript.reducers.session import fast_mode, take_init
from fairlead.transcript.reducers.status import add_waited
from fairlead.transcript.state import plain
from fairlead.transcript.state.facts import TurnEnded, TurnStarted
from fairlead.transcript.state.fold import Fold
from fairlead.transcript.state.model import CommandItem, Turn
from fairlead.wire.events import ConversationReset, Result
from fairlead.wire.system import Init

__all__ = [
    "OUTCOME_BY_SUBTYPE",
    "close_turn",
    "on_conversation_reset",
    "on_init",
    "on_result",
    "on_turn_ended",
    "on_turn_started",
]

OUTCOME_BY_SUBTYPE = {
    "error_max_turns": "max_turns",
    "error_max_budget_usd": "budget",
    "error_max_structured_output_retries": "structured_output",
}


def on_init(fold: Fold, message: Init) -> None:
    """Open a turn, unless an open turn still waits for its init."""
    memory = fold.memory
    _notice_new_session(fold, message)
    take_init(fold, message)
    named = message.user_message_uuids or ()
    if named:
        memory.names_prompts = True
    if memory.turn is not None and memory.turn_has_init and queue.waiting_among(fold, named):
        # Its result was lost: the CLI has begun with other prompts.
        close_turn(fold, "unknown")
    open_turn(fold)
    memory.turn_has_init = True
    queue.start_for_turn(fold, named)


def on_result(fold: Fold, message: Result) -> None:
    """A turn ended. It may come before any init (CLI-521)."""
    memory = fold.memory
    if memory.turn is None:
        open_turn(fold)
        queue.start_for_turn(fold, message.answers)
    for prompt in queue.waiting_among(fold, message.answers):
        queue.start(fold, prompt)
    turn = fold.turn
    assert turn is not None
    outcome = _outcome(fold, message)
    _show_bare_answer(fold, message, turn)
    pairing.mark_denials(fold, message.permission_denials)
    fold.set(
        "turns",
        turn.id,
        text=message.result,
        errors=message.errors,
        structured_output=message.structured_output,
        usage=None if message.usage is None else msgspec.to_builtins(message.usage),
        duration_ms=message.duration_ms,
        ttft_ms=message.ttft_ms,
        steps=message.num_turns,
        denials=tuple(msgspec.to_builtins(denial) for denial in message.permission_denials),
        stop_reason=message.stop_reason,
        terminal_reason=message.terminal_reason,
        api_error_status=message.api_error_status,
    )
    _take_origin(fold, turn, message.origin)
    ledger.take_result(fold, turn.id, message)
    fold.put("session", **fast_mode(message.fast_mode_state, message.fast_mode_disabled_reason))
    if not message.queued_turn_count:
        # 2.1.325 says that it is idle some milliseconds after the result. What it said before
        # the result was about this turn; if more work follows, it says so again.
        fold.memory.cli_state = None
    close_turn(fold, outcome)


def close_turn(fold: Fold, outcome: str) -> None:
    """Nothing of this turn stays open but what runs in the background."""
    memory = fold.memory
    if memory.turn is None:
        return
    add_waited(fold)
    streaming.drop(fold, None)
    notices.end_retry(fold)
    pairing.close_tools(fold)
    fold.set("turns", memory.turn, ended=fold.at, outcome=outcome)
    memory.turn = None
    memory.turn_has_init = memory.turn_has_words = memory.interrupting = False
    memory.stopped_by = None
    memory.compacting = memory.just_compacted = False
    memory.thinking_tokens = None
    memory.foldable.clear()
    memory.queued = tuple(memory.waiting)
    memory.last_outcome = outcome


def on_conversation_reset(fold: Fold, message: ConversationReset) -> None:
    """The conversation was cleared; its new session id comes with the next init."""
    queue.start_clear(fold, message.user_message_uuid)
    _reset(fold, message.uuid, message.trigger)
    fold.memory.reset_told = True


def on_turn_started(fold: Fold, fact: TurnStarted) -> None:
    """History says that a turn begins here."""
    close_turn(fold, "unknown")
    open_turn(fold, fact.origin)


def on_turn_ended(fold: Fold, fact: TurnEnded) -> None:
    """History says that the turn ended here."""
    close_turn(fold, fact.outcome)


def _notice_new_session(fold: Fold, message: Init) -> None:
    """2.1.120 does not report a clear: the next init only has another id (compare CLI-604)."""
    memory = fold.memory
    old, new = fold.session.id, message.session_id
    if not (memory.fresh_init or memory.reset_told or old is None or new in (None, old)):
        queue.start_clear(fold, None)
        _reset(fold, None, None)
    memory.fresh_init = memory.reset_told = False


def _reset(fold: Fold, uuid: str | None, trigger: str | None) -> None:
    fold.memory.last_total, fold.memory.last_models = 0.0, {}
    fold.replace("tasks", ())
    fold.put("ledger", context=None)
    notices.note(fold, "reset", uuid=uuid, data={"trigger": trigger})


def _outcome(fold: Fold, message: Result) -> str:
    reason = message.terminal_reason or ""
    interrupted = "host_stopped" if fold.memory.host_stopping else "interrupted"
    if reason.startswith("aborted"):
        return interrupted
    if message.subtype == "error_during_execution":
        return interrupted if fold.memory.interrupting else "error"
    if message.subtype != "success":
        return OUTCOME_BY_SUBTYPE.get(message.subtype, "error")
    if message.is_error:
        return "api_error"
    if _lacks_structured_output(fold, message):
        return "structured_output"
    return "success"


def _lacks_structured_output(fold: Fold, message: Result) -> bool:
    """2.1.325 calls it a success (CLI-512); the tool is offered only if a schema was asked."""
    if message.structured_output is not None or "StructuredOutput" not in fold.session.tools:
        return False
    return message.local_command is None and not _is_command(fold)


def _is_command(fold: Fold) -> bool:
    turn = fold.turn
    first = fold.item(turn.prompts[0]) if turn is not None and turn.prompts else None
    return first is not None and first.command is not None


def _show_bare_answer(fold: Fold, message: Result, turn: Turn) -> None:
    """A slash command may be answered in the result alone: `Unknown skill: x` (CLI-603)."""
    if not message.result or fold.memory.turn_has_words or not _is_command(fold):
        return
    prompt = fold.item(turn.prompts[0])
    fold.show(
        CommandItem(
            id=fold.unused(message.uuid or fold.number("command")),
            turn=turn.id,
            at=fold.at,
            command=message.local_command or prompt.command,
            args=prompt.text.partition(" ")[2],
            text=message.result,
            failed=message.is_error,
        )
    )


def _take_origin(fold: Fold, turn: Turn, origin: Any) -> None:
    if origin is None:
        return
    fields = plain.mapping(origin)
    of_task = plain.text(fields.get("kind")) == "task-notification"
    name = "background" if of_task else turn.origin
    fold.set("turns", turn.id, origin=name, origin_detail=origin)
    if of_task:
        link_turn(fold, turn.id, plain.text(fields.get("runId")) or None)
