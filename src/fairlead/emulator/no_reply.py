"""Turns to which no reply came: the note that is said in its place, and the ending it brings.

Words and fields of a failure are those of `api_errors`; here they are said and written down.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fairlead.emulator.api_errors import NOT_LOGGED_IN, TOO_LONG, describe, synthetic_message
from fairlead.emulator.ending import Ending
from fairlead.emulator.replies import Failure

if TYPE_CHECKING:
    from fairlead.emulator.engine import Engine

__all__ = ["failed", "not_logged_in", "too_long"]


def failed(engine: Engine, failure: Failure) -> Ending:
    """The API answered with an error."""
    text, fields = describe(failure, modern=engine.session.profile.is_modern)
    reason = "image_error" if failure.status == 413 else "api_error"
    return _say(engine, text, fields, status=failure.status, reason=reason)


def not_logged_in(engine: Engine) -> Ending:
    """There is no key."""
    fields: dict[str, Any] = {"error": "authentication_failed"}
    if engine.session.profile.is_modern:
        fields["is_api_error_message"] = True
    return _say(engine, NOT_LOGGED_IN, fields)


def too_long(engine: Engine, uuids: Sequence[str]) -> Ending:
    """A hook does not let a full conversation be compacted (measured on 2.1.325)."""
    fields: dict[str, Any] = {"error": "invalid_request", "is_api_error_message": True}
    if uuids:
        fields |= {"user_message_uuid": uuids[0], "user_message_uuids": list(uuids)}
    return _say(engine, TOO_LONG, fields, reason="blocking_limit")


def _say(
    engine: Engine,
    text: str,
    fields: dict[str, Any],
    *,
    status: int | None = None,
    reason: str = "api_error",
) -> Ending:
    message = synthetic_message(
        text, engine.session.new_id(), modern=engine.session.profile.is_modern
    )
    said = engine.voice.assistant(message, **fields)
    engine.scribe.assistant(engine.talk, message, said)
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
