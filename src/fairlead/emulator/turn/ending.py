"""How a turn ends: the value, and the result line that reports it.

Pure except for the figures that it takes from the session. Which fields a result has depends on how
the turn ended (CLI-1400).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from fairlead.emulator.state.cost import TurnUse
from fairlead.emulator.state.session import Session

__all__ = ["Ending", "TurnFigures", "aborted", "result_line"]


class Ending(Struct, frozen=True, kw_only=True):
    """Why a turn ended."""

    subtype: str = "success"
    text: str | None = ""
    is_error: bool = False
    stop_reason: str | None = None
    terminal_reason: str | None = "completed"
    errors: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    had_reply: bool = True
    """Whether a model answered: only then are times reported."""
    was_streamed: bool = True
    local_command: str | None = None
    is_cancelled: bool = False
    is_local: bool = False
    """No model was asked: neither a terminal reason nor an API status is reported."""


class TurnFigures(Struct):
    """What is counted during a turn."""

    started_at: float = 0.0
    use: TurnUse = field(default_factory=TurnUse)
    replies: int = 0
    user_lines: int = 0
    denials: list[dict[str, Any]] = field(default_factory=list)
    uuids: list[str] = field(default_factory=list)
    origin: Mapping[str, Any] | None = None
    structured_output: Any = None
    has_structured_output: bool = False
    is_preempted: bool = False
    """A prompt with the priority `now` ends the turn."""


def aborted(session: Session, *, in_tools: bool, stop_reason: str | None) -> Ending:
    """A turn that was interrupted."""
    profile = session.profile
    stop = stop_reason if profile.keeps_stop_reason else None
    stop_text = "null" if stop is None else stop
    diagnosis = f"[ede_diagnostic] result_type=user last_content_type=n/a stop_reason={stop_text}"
    return Ending(
        subtype="error_during_execution",
        text=None,
        is_error=profile.interrupt_is_error,
        stop_reason=stop,
        terminal_reason="aborted_tools" if in_tools else "aborted_streaming",
        errors=(diagnosis,) if profile.diagnoses_interrupts else (),
        is_cancelled=True,
    )


def result_line(session: Session, ending: Ending, figures: TurnFigures) -> dict[str, Any]:
    """The line that ends a turn."""
    duration = round((session.now() - figures.started_at) * 1000)
    turns = (
        0
        if ending.is_local and session.profile.local_commands_have_no_turns
        else 1 + figures.user_lines
    )
    line: dict[str, Any] = {
        "type": "result",
        "subtype": ending.subtype,
        "is_error": ending.is_error,
        "duration_ms": duration,
        "duration_api_ms": session.spending.api_ms,
        "num_turns": turns,
        "stop_reason": ending.stop_reason,
        "session_id": session.session_id,
        "total_cost_usd": session.spending.dollars,
        "usage": figures.use.report(session.profile),
        "modelUsage": session.spending.by_model(),
        "permission_denials": list(figures.denials),
        "uuid": session.new_id(),
    }
    if ending.subtype == "success":
        line["result"] = ending.text or ""
    else:
        line["errors"] = list(ending.errors)
    if figures.has_structured_output:
        line["structured_output"] = figures.structured_output
    if session.profile.details_results:
        line |= _details(session, ending, figures, duration)
    return line


def _details(
    session: Session, ending: Ending, figures: TurnFigures, duration: int
) -> dict[str, Any]:
    fields: dict[str, Any] = {
        **session.fast_mode,
        "subagent_stats": session.subagents.report(),
        "safety_stops": session.safety_stops,
        "queued_turn_count": 0,
        "result_index": session.results,
        "model_usage_since_last_result": session.spending.since_last_result(),
    }
    if ending.terminal_reason is not None and not ending.is_local:
        fields["terminal_reason"] = ending.terminal_reason
    if ending.subtype == "success" and not ending.is_local:
        fields["api_error_status"] = None
        fields |= _times(ending, figures.uuids, duration)
    if ending.local_command:
        fields["local_command"] = ending.local_command
    if figures.origin is not None:
        fields["origin"] = dict(figures.origin)
    if figures.uuids:
        fields["user_message_uuid"] = figures.uuids[0]
        fields["user_message_uuids"] = list(figures.uuids)
    return {**fields, **ending.extra}


def _times(ending: Ending, uuids: Sequence[str], duration: int) -> dict[str, Any]:
    if not ending.had_reply:
        return {}
    if not ending.was_streamed:
        return {"ttft_ms": duration}
    names = ["ttft_ms", "ttft_stream_ms", "time_to_request_ms", "first_content_frame_ms"]
    times: dict[str, Any] = dict.fromkeys(names, duration)
    if uuids:
        times |= {
            "request_sent_wall_ms": duration,
            "first_request_input_tokens": 0,
            "first_request_cache_read_input_tokens": 0,
        }
    return times
