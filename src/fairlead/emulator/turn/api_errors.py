"""The message that the CLI writes in place of a failed reply, in the form of each version. Pure.
The sentences are Fairlead's own; the fields are those of the CLI (CLI-500)."""

from __future__ import annotations

import json
from typing import Any

from fairlead.emulator.state.profile import Profile
from fairlead.model_api.replies import Failure

__all__ = ["NOT_LOGGED_IN", "TOO_LONG", "describe", "synthetic_message"]

NOT_LOGGED_IN = "Not logged in · Please run /login"
TOO_LONG = "Prompt is too long"


def describe(failure: Failure, profile: Profile) -> tuple[str, dict[str, Any]]:
    """The text of a failure, and the other fields of its line."""
    error, text = _error_and_text(failure, profile)
    if not profile.details_api_errors:
        return text, {"error": error}
    return text, {
        "error": error,
        "is_api_error_message": True,
        "api_error_status": failure.status,
        "api_error_type": failure.error_type,
    }


def _error_and_text(failure: Failure, profile: Profile) -> tuple[str, str]:
    status = failure.status
    detail = failure.message if profile.classifies_api_errors else _body(failure)
    if status in (401, 403):
        return "authentication_failed", f"Failed to authenticate. API Error: {status} {detail}"
    if status == 413:
        return "invalid_request", "Request too large. Try again with less."
    if not profile.classifies_api_errors and status == 404:
        return "invalid_request", "There is an issue with the selected model. Pick another one."
    if not profile.classifies_api_errors:
        return "unknown", f"API Error: {status} {detail}"
    if status == 404:
        return "model_not_found", f"API Error: {status} {detail}"
    if status == 429:
        return "rate_limit", f"API Error: Request rejected (429) · {detail}"
    if status >= 500:
        return "server_error", f"API Error: {status} {detail}. The server is at fault; try later."
    return "invalid_request", f"API Error: {status} {detail}"


def _body(failure: Failure) -> str:
    error = {"type": failure.error_type, "message": failure.message}
    body = {"type": "error", "error": error}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def synthetic_message(
    text: str, message_id: str, profile: Profile, *, stop_reason: str = "stop_sequence"
) -> dict[str, Any]:
    """A message that does not come from a model."""
    usage: dict[str, Any] = {
        "input_tokens": 0,
        "output_tokens": 0,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "service_tier": None,
        "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
        "inference_geo": None,
        "iterations": None,
    }
    message: dict[str, Any] = {
        "id": message_id,
        "container": None,
        "model": "<synthetic>",
        "role": "assistant",
        "stop_reason": stop_reason,
        "stop_sequence": "" if stop_reason == "stop_sequence" else None,
        "type": "message",
        "usage": usage,
        "content": [{"type": "text", "text": text}],
        "context_management": None,
    }
    if profile.details_usage:
        usage |= {"output_tokens_details": None, "speed": None, "fallback_credit": None}
        message |= {"diagnostics": None, "stop_details": None}
    return message
