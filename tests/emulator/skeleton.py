"""The skeleton of a line: the parts that are compared.

Order, types, subtypes, keys and some values count; ids, times, paths, counts and texts are masked. Lists of plain values and what the
model or the host made up (tool inputs) are masked as a whole.
"""

from __future__ import annotations

from typing import Any

KEPT = {
    "type", "subtype", "role", "name", "tool_name", "is_error", "isReplay", "isSynthetic",
    "aborted", "state", "status", "stop_reason", "terminal_reason", "permissionMode", "mode",
    "error_code", "error", "behavior", "destination", "toolName", "ruleContent", "decision",
    "source", "reason_type", "non_execution_kind", "decision_reason_type", "model", "kind",
    "local_command", "api_error_status", "method", "callback_id", "hook_event_name", "trigger",
    "level", "task_type", "is_backgrounded", "interrupted", "replaceAll", "success",
    "requires_user_interaction", "scope", "cancelled", "outcome",
}  # fmt: skip
"""Keys whose values are compared."""

MASKED = {
    "input", "tool_input", "tools", "commands", "models", "agents", "skills", "plugins",
    "slash_commands", "terminal_slash_commands", "capabilities", "errors", "answers", "questions",
    "annotations", "arguments", "structuredPatch", "cells", "eventCatalog", "categories",
    "sections", "patch", "policy", "gridRows", "slashCommands", "messageBreakdown", "apiUsage",
    "clientInfo", "context_usage", "dimensions", "plan", "config", "serverInfo", "filenames",
    "directories", "output_styles", "rules_state", "toolsUsed", "result_text", "account",
}  # fmt: skip
"""Subtrees that are compared by their presence alone."""


def skeletons(lines: list[Any]) -> list[Any]:
    """The masked lines; consecutive pieces of one text count once."""
    matches: list[Any] = []
    for line in lines:
        bones = skeleton(line)
        if not (matches and _is_piece(bones) and bones == matches[-1]):
            matches.append(bones)
    return matches


def skeleton(line: Any) -> Any:
    if isinstance(line, dict) and line.get("type") == "control_response":
        return _response(line["response"])
    return _bones(line, "")


def _is_piece(bones: Any) -> bool:
    if not isinstance(bones, dict):
        return False
    if bones.get("subtype") == "thinking_tokens":
        return True
    event = bones.get("event")
    return isinstance(event, dict) and event.get("type") == "content_block_delta"


def _response(response: dict[str, Any]) -> Any:
    remaining = {key: value for key, value in response.items() if key != "error"}
    return {"type": "control_response", "has_error": "error" in response, **_bones(remaining, "")}


def _by_model(value: dict[str, Any]) -> Any:
    """The usage of the first model; the number of models is not compared."""
    return [_bones(entry, "") for entry in value.values()][:1]


def _bones(value: Any, key: str) -> Any:
    if key in MASKED:
        return "masked"
    if key in ("modelUsage", "model_usage_since_last_result"):
        return _by_model(value)
    if isinstance(value, dict):
        if value.get("type") == "message_delta":
            value = {name: part for name, part in value.items() if name != "usage"}
        return {name: _bones(part, name) for name, part in sorted(value.items())}
    if isinstance(value, list):
        plain = all(not isinstance(item, dict | list) for item in value)
        return "list" if plain and value else [_bones(item, key) for item in value]
    if key in KEPT or isinstance(value, bool) or value is None:
        return value
    return "text" if isinstance(value, str) else "number"
