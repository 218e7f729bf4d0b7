"""The lines that a host read, in a form in which two runs can be compared.

Ids, paths, times, costs and token counts are left out; texts, keys and the order of lines stay.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["comparable"]

Message = dict[str, Any]

VARYING = frozenset(
    {
        "uuid", "session_id", "modelUsage", "usage", "timestamp", "subagent_stats",
        "model_usage_since_last_result", "duration_ms", "duration_api_ms", "total_cost_usd",
        "request_id", "ttft_ms", "ttft_stream_ms", "time_to_request_ms", "first_content_frame_ms",
        "request_sent_wall_ms", "first_request_input_tokens", "command_uuid",
        "first_request_cache_read_input_tokens", "user_message_uuid", "user_message_uuids",
    }
)  # fmt: skip


def comparable(
    lines: Iterable[Message], project: Path, *, without: Iterable[str] = ()
) -> list[str]:
    """One text for each line; `without` names more keys that are not compared."""
    ids: dict[str, str] = {}
    left_out = VARYING | set(without)

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(inner) for key, inner in value.items() if key not in left_out}
        if isinstance(value, list):
            return [plain(inner) for inner in value]
        if isinstance(value, str):
            value = value.replace(str(project), "PROJECT")
            return re.sub(r"toolu_\w+", lambda found: _number(ids, found[0]), value)
        return value

    return [json.dumps(plain(_kept(line)), sort_keys=True) for line in lines]


def _number(ids: dict[str, str], found: str) -> str:
    return ids.setdefault(found, f"use-{len(ids)}")


def _kept(line: Message) -> Message:
    """The part of a line that is compared."""
    if line.get("subtype") == "init":
        return {"type": "init"}
    if line["type"] == "assistant":
        return {**line, "message": line["message"]["content"]}
    asked = line.get("request") or {}
    if asked.get("subtype") == "hook_callback":
        kept = {"callback": asked["callback_id"], "keys": sorted(asked["input"])}
        return {"type": "hook_callback", **kept}
    if line["type"] == "control_response" and "commands" in str(line["response"].get("response")):
        return {"type": "initialized"}
    return line
