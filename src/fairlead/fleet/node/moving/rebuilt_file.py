"""The CLI's own file of a session, rebuilt from the log of the session.

The files of a lost machine are lost too, but the copies of its logs have every message of the
conversation, exactly as in the CLI's file (CLI-705). The rebuilt file has these messages in one
chain. It lacks what only the CLI knows: summaries of a compacted conversation, so the
CLI may have to compact it again, and the conversations of subagents. A tool call without a result is
left out, because a model refuses a conversation with one.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

from fairlead.server.session.loading import EventReader
from fairlead.store.log import FACT, IN, Event
from fairlead.wire.json_text import NotJson, parse, write

__all__ = ["rebuilt_file"]

READ_AT_ONCE = 1_000


async def rebuilt_file(log: EventReader, session: str, cli_session: str, cwd: str) -> bytes:
    """The file of a session by its log; empty if the log has no conversation."""
    records: list[dict[str, Any]] = []
    seen: set[str] = set()
    after, version = 0, ""
    while events := await log.read(session, after, READ_AT_ONCE):
        after = events[-1].seq
        for event in events:
            message = _message(event)
            if message is None:
                continue
            if message.get("subtype") == "init":
                version = str(message.get("claude_code_version") or version)
            record = _record(event, message, seen)
            if record is not None:
                records.append(record)
    return b"".join(write(each) + b"\n" for each in _chain(records, cli_session, cwd, version))


def _message(event: Event) -> dict[str, Any] | None:
    if event.direction == FACT:
        return None
    try:
        message = parse(event.line)
    except (NotJson, UnicodeError):
        return None
    return message if isinstance(message, dict) else None


def _record(event: Event, message: dict[str, Any], seen: set[str]) -> dict[str, Any] | None:
    kind, content = message.get("type"), message.get("message")
    if kind not in ("user", "assistant") or not isinstance(content, dict):
        return None
    if message.get("parent_tool_use_id") is not None or message.get("isSynthetic"):
        return None
    if kind == "assistant" and event.direction == IN:
        return None
    name = str(message.get("uuid") or uuid.uuid4())
    if name in seen:
        return None  # The echo of a prompt.
    seen.add(name)
    return {
        "type": kind,
        "message": content,
        "uuid": name,
        "timestamp": _time(event.at),
        **({"toolUseResult": message["tool_use_result"]} if "tool_use_result" in message else {}),
    }


def _chain(
    records: list[dict[str, Any]], cli_session: str, cwd: str, version: str
) -> list[dict[str, Any]]:
    """The records in the form of the CLI, each with the one before it as its parent."""
    called = _tool_ids(records, "tool_use", "id")
    answered = _tool_ids(records, "tool_result", "tool_use_id")
    chained: list[dict[str, Any]] = []
    parent = None
    for record in records:
        message = _complete(record["message"], called & answered)
        if message is None:
            continue
        chained.append(
            {
                "parentUuid": parent,
                "isSidechain": False,
                "userType": "external",
                "cwd": cwd,
                "sessionId": cli_session,
                "version": version or "0.0.0",
                "gitBranch": "",
                **record,
                "message": message,
            }
        )
        parent = record["uuid"]
    return chained


def _tool_ids(records: list[dict[str, Any]], kind: str, key: str) -> set[str]:
    return {
        str(block.get(key))
        for record in records
        for block in _blocks(record["message"])
        if block.get("type") == kind
    }


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    return [each for each in content if isinstance(each, dict)] if isinstance(content, list) else []


def _complete(message: dict[str, Any], pairs: set[str]) -> dict[str, Any] | None:
    """A message without calls that have no result, and without results of no call."""
    content = message.get("content")
    if not isinstance(content, list):
        return message if content else None
    blocks = [
        block
        for block in content
        if not isinstance(block, dict)
        or block.get("type") not in ("tool_use", "tool_result")
        or str(block.get("id") or block.get("tool_use_id")) in pairs
    ]
    return {**message, "content": blocks} if blocks else None


def _time(at: float) -> str:
    moment = datetime.fromtimestamp(at, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
