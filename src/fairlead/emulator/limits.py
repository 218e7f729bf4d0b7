"""Replies that stop for a reason of their own: too long, or refused.

The CLI goes on by itself a few times and then gives up, each version in its own way
(rec err_max_tokens).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from fairlead.emulator.api_errors import synthetic_message
from fairlead.emulator.ending import Ending
from fairlead.emulator.listening import Heard

if TYPE_CHECKING:
    from fairlead.emulator.engine import Engine

__all__ = ["OutputLimits"]

MOST_CONTINUATIONS = 3

GO_ON = "The output limit was reached. Go on where it was cut, in smaller pieces."
REFUSED = "The reply above was stopped by a safety classifier. Do not produce it again."


class OutputLimits:
    """Counts continuations within one turn."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._continuations = 0
        self._refusals = 0

    def apply(self, heard: Heard) -> Ending | Literal["again"] | None:
        """None for an ordinary reply, "again" to ask once more, or how the turn ends."""
        if heard.stop_reason == "max_tokens":
            return self._too_long()
        if heard.stop_reason == "refusal":
            return self._refused(heard)
        return None

    def _too_long(self) -> Ending | Literal["again"]:
        engine = self._engine
        modern = engine.session.profile.is_modern
        self._continuations += 1
        most = 128_000 if modern else 32_000
        text = f"API Error: the response exceeded the {most} output token maximum."
        last = self._continuations > MOST_CONTINUATIONS
        if modern and not last:
            engine.voice.user([{"type": "text", "text": GO_ON}], isSynthetic=True)
            engine.talk.note(GO_ON)
            return "again"
        fields: dict[str, Any] = {"error": "max_output_tokens"}
        if modern:
            fields |= {
                "is_api_error_message": True,
                "api_error": "max_output_tokens",
                "api_error_params": {"cut": "output_limit"},
            }
        ending = self._say(text, fields)
        if not last:
            engine.talk.note(GO_ON)
            return "again"
        return ending

    def _refused(self, heard: Heard) -> Ending | Literal["again"]:
        engine = self._engine
        self._refusals += 1
        if not engine.session.profile.is_modern:
            return self._say("API Error: the model refused this.", {"error": "invalid_request"})
        if self._refusals == 1:
            engine.voice.system(
                "informational", content="The reply above was stopped.", level="notice"
            )
            engine.voice.user(
                [{"type": "text", "text": REFUSED}],
                isSynthetic=True,
                refused_message_id=heard.message_id,
            )
            engine.talk.note(REFUSED)
            return "again"
        engine.voice.system(
            "model_refusal_no_fallback",
            original_model=engine.session.model,
            request_id="req_1",
            api_refusal_category=None,
            api_refusal_explanation=None,
            refused_user_message_uuid=engine.session.new_id(),
            content="",
        )
        return self._say(
            "API Error: the model's safeguards flagged this message.",
            {
                "error": "invalid_request",
                "is_api_error_message": True,
                "request_id": "req_1",
                "refused_message_id": heard.message_id,
            },
            stop="refusal",
        )

    def _say(self, text: str, fields: dict[str, Any], stop: str = "stop_sequence") -> Ending:
        engine = self._engine
        modern = engine.session.profile.is_modern
        message = synthetic_message(text, engine.session.new_id(), modern=modern)
        message["stop_reason"] = stop
        engine.voice.assistant(message, **fields)
        extra: dict[str, Any] = {"api_error_status": None}
        if "api_error" in fields:
            extra["api_error"] = fields["api_error"]
        return Ending(
            text=text,
            is_error=True,
            stop_reason=stop,
            terminal_reason="api_error",
            extra=extra if modern else {},
            had_reply=False,
        )
