"""Replies that end for an unusual reason: too long, or refused.

The CLI asks for the rest a few times and then gives up, each version in its own way
(CLI-524, CLI-1601). A reply with tool uses is not continued and does not end the turn: its tools
run, whatever its stop reason says, except those of a reply that 2.1.325 asks for again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from fairlead.emulator.turn.api_errors import synthetic_message
from fairlead.emulator.turn.ending import Ending, TurnFigures
from fairlead.emulator.turn.model_call import ReceivedReply
from fairlead.emulator.turn.parts import TurnParts

__all__ = ["OutputLimits"]

MOST_CONTINUATIONS = 3

TOO_LONG = {"max_tokens": "output_limit", "model_context_window_exceeded": "context_window"}
"""Stop reason -> how 2.1.325 names the limit."""
GO_ON = "The output limit was reached. Continue where it was cut, in smaller pieces."
REFUSED = "The reply above was stopped by a safety classifier. Do not produce it again."


class OutputLimits:
    """Counts continuations within one turn."""

    def __init__(
        self, parts: TurnParts, figures: TurnFigures, drop_uses: Callable[[], None]
    ) -> None:
        self._parts = parts
        self._figures = figures
        self._drop_uses = drop_uses
        """Stops the tool uses of a refused reply and writes their results."""
        self._continuations = 0
        self._refusals = 0
        self._early: Ending | Literal["again"] | None = None

    def stopping(self, reason: str) -> None:
        """The message_delta of a reply: the old version reacts to its stop reason now."""
        self._early = None
        if not self._parts.session.profile.judges_whole_replies:
            self._early = self._judge(reason, "")

    def apply(self, received: ReceivedReply) -> Ending | Literal["again"] | None:
        """None for an ordinary reply, "again" to ask again, or how the turn ends."""
        profile = self._parts.session.profile
        if self._early is not None:
            return None if received.has_tools else self._early
        if not profile.judges_whole_replies:
            return None if received.was_streamed else self._judge(received.stop_reason, "")
        if received.has_tools and received.stop_reason != "refusal":
            return None
        outcome = self._judge(
            received.stop_reason, received.message_id, has_tools=received.has_tools
        )
        return None if received.has_tools and isinstance(outcome, Ending) else outcome

    def _judge(
        self, reason: str | None, message_id: str, *, has_tools: bool = False
    ) -> Ending | Literal["again"] | None:
        if reason in TOO_LONG:
            return self._too_long(reason)
        if reason == "refusal":
            return self._refused(message_id, has_tools=has_tools)
        return None

    def _too_long(self, reason: str) -> Ending | Literal["again"]:
        parts = self._parts
        profile = parts.session.profile
        self._continuations += 1
        is_window = reason == "model_context_window_exceeded"
        text = f"API Error: the response exceeded the {profile.output_limit} output token maximum."
        if is_window:
            text = "API Error: The model has reached its context window limit."
        last = self._continuations > MOST_CONTINUATIONS
        if profile.continues_silently_at_limit and not last:
            parts.output.user([{"type": "text", "text": GO_ON}], isSynthetic=True)
            parts.session.conversation.note(GO_ON)
            self._figures.user_lines += 1
            return "again"
        fields: dict[str, Any] = {"error": "max_output_tokens"}
        if profile.details_api_errors:
            fields |= {
                "is_api_error_message": True,
                "api_error": "max_output_tokens",
                "api_error_params": {"cut": TOO_LONG[reason]},
            }
        elif is_window:
            return self._say(text, {})
        ending = self._say(text, fields)
        if not last:
            parts.session.conversation.note(GO_ON)
            return "again"
        return ending

    def _refused(self, message_id: str, *, has_tools: bool) -> Ending | Literal["again"]:
        parts = self._parts
        self._refusals += 1
        parts.session.safety_stops += 1
        if not parts.session.profile.retries_refusals:
            return self._say("API Error: the model refused this.", {"error": "invalid_request"})
        if self._refusals == 1:
            if has_tools:
                self._drop_uses()
            parts.output.system(
                "informational", content="The reply above was stopped.", level="notice"
            )
            parts.output.user(
                [{"type": "text", "text": REFUSED}],
                isSynthetic=True,
                refused_message_id=message_id,
            )
            parts.session.conversation.note(REFUSED)
            self._figures.user_lines += 1
            return "again"
        parts.output.system(
            "model_refusal_no_fallback",
            original_model=parts.session.model,
            request_id="req_1",
            api_refusal_category=None,
            api_refusal_explanation=None,
            refused_user_message_uuid=parts.session.new_id(),
            content="",
        )
        return self._say(
            "API Error: the model's safeguards flagged this message.",
            {
                "error": "invalid_request",
                "is_api_error_message": True,
                "request_id": "req_1",
                "refused_message_id": message_id,
            },
            stop="refusal",
        )

    def _say(self, text: str, fields: dict[str, Any], stop: str = "stop_sequence") -> Ending:
        parts = self._parts
        profile = parts.session.profile
        message = synthetic_message(text, parts.session.new_id(), profile)
        message["stop_reason"] = stop
        parts.output.assistant(message, **fields)
        extra: dict[str, Any] = {"api_error_status": None}
        if "api_error" in fields:
            extra["api_error"] = fields["api_error"]
        return Ending(
            text=text,
            is_error=True,
            stop_reason=stop,
            terminal_reason="api_error",
            extra=extra if profile.details_api_errors else {},
            had_reply=False,
        )
