"""Turns without a reply: the message in its place, and the ending of the turn.

The texts and fields are those of `api_errors`; here they are written to stdout and the transcript.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fairlead.emulator.turn.api_errors import NOT_LOGGED_IN, TOO_LONG, describe, synthetic_message
from fairlead.emulator.turn.ending import Ending
from fairlead.emulator.turn.parts import TurnParts
from fairlead.model_api.replies import Failure

__all__ = ["failed", "not_logged_in", "too_long"]


def failed(parts: TurnParts, failure: Failure, uuids: Sequence[str] = ()) -> Ending:
    """The API answered with an error; `uuids` are the prompts that are answered first by it."""
    text, fields = describe(failure, parts.session.profile)
    if parts.session.profile.details_api_errors:
        fields["request_id"] = "req_1"
        fields |= _prompts(uuids)
    reason = "image_error" if failure.status == 413 else "api_error"
    return _say(parts, text, fields, status=failure.status, reason=reason)


def not_logged_in(parts: TurnParts) -> Ending:
    """There is no API key."""
    fields: dict[str, Any] = {"error": "authentication_failed"}
    if parts.session.profile.details_api_errors:
        fields["is_api_error_message"] = True
    return _say(parts, NOT_LOGGED_IN, fields)


def too_long(parts: TurnParts, uuids: Sequence[str]) -> Ending:
    """A hook prevented the compaction of a full conversation (measured on 2.1.325)."""
    fields: dict[str, Any] = {"error": "invalid_request", "is_api_error_message": True}
    return _say(parts, TOO_LONG, fields | _prompts(uuids), reason="blocking_limit")


def _prompts(uuids: Sequence[str]) -> dict[str, Any]:
    return {"user_message_uuid": uuids[0], "user_message_uuids": list(uuids)} if uuids else {}


def _say(
    parts: TurnParts,
    text: str,
    fields: dict[str, Any],
    *,
    status: int | None = None,
    reason: str = "api_error",
) -> Ending:
    message = synthetic_message(text, parts.session.new_id(), parts.session.profile)
    line = parts.output.assistant(message, **fields)
    parts.transcript.assistant(parts.session.conversation, message, line)
    extra: dict[str, Any] = {"api_error_status": status}
    for name in ("api_error_type", "api_error"):
        if name in fields:
            extra[name] = fields[name]
    return Ending(
        text=text,
        is_error=True,
        stop_reason="stop_sequence",
        terminal_reason=reason,
        extra=extra,
        had_reply=False,
    )
