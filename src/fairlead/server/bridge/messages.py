"""The messages of the bridge protocol, each built from a row of a session's document. Pure.

Fields that the protocol does not have are added as optional ones. `modern` selects the forms of
the current ccpocket app where the older protocol has none: its own types for lists and prompts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from fairlead.server.protocol.lobby_rows import ListedSession
from fairlead.server.session.dialogs import DIALOGS
from fairlead.transcript.state.model import FINAL_TOOL_STATES

__all__ = [
    "history",
    "init",
    "item_message",
    "listed",
    "permission_request",
    "result",
    "status_of",
    "tool_result",
    "tool_use",
]

Row = dict[str, Any]
Out = dict[str, Any]

WAITING = ("awaiting_approval",)
IDLE_RUNNING = ("starting", "ready", "idle", "error")
IDLE = (*IDLE_RUNNING, "ended", "disconnected", "")

FORM = "McpElicitation"
"""The tool name under which the app shows a form of an MCP server."""


def status_of(state: str) -> str:
    """One of the protocol's three states."""
    if state in WAITING:
        return "waiting_approval"
    return "idle" if state in IDLE else "running"


def init(session: str, known: Row) -> Out | None:
    """The CLI's init message; None before the CLI has sent it."""
    if not known.get("id"):
        return None
    commands = known.get("commands") or ()
    return {
        "type": "system",
        "subtype": "init",
        "sessionId": session,
        "claudeSessionId": known["id"],
        "model": known.get("model"),
        "projectPath": known.get("cwd"),
        "permissionMode": known.get("permission_mode"),
        "slashCommands": [_name(command) for command in commands],
        "skills": list(known.get("skills") or ()),
        "tools": list(known.get("tools") or ()),
        "version": known.get("version"),
    }


def history(
    items: Iterable[Row], turns: Iterable[Row], pending: Iterable[Row], *, modern: bool
) -> Iterator[Out]:
    """The whole conversation with the user's prompts, then the open requests."""
    results = {turn["id"]: turn for turn in turns if turn["outcome"] is not None}
    last: str | None = None
    for item in items:
        if modern and last in results and item["turn"] != last:
            yield result(results.pop(last))
        last = item["turn"] or last
        yield from _item_messages(item, modern=modern)
    if modern and last in results:
        yield result(results[last])
    if modern:
        yield from map(permission_request, pending)


def _item_messages(item: Row, *, modern: bool) -> Iterator[Out]:
    if item["kind"] == "prompt":
        yield _prompt(item, modern=modern)
    elif item["kind"] == "tool":
        yield tool_use(item)
        if item["state"] in FINAL_TOOL_STATES:
            yield tool_result(item)
    else:
        message = item_message(item)
        if message is not None:
            yield message


def item_message(item: Row) -> Out | None:
    """An item other than a tool call as one message, if the protocol has a type for it."""
    if item["kind"] in ("text", "command"):
        return _assistant(item, {"type": "text", "text": item["text"]})
    if item["kind"] == "thinking":
        return _assistant(item, {"type": "thinking", "thinking": item["text"]})
    if item["kind"] == "notice":
        return {"type": "system", "subtype": item["notice"], "text": item["text"]}
    return None


def tool_use(item: Row) -> Out:
    """The message that the model uses a tool."""
    tool_input = item["input"] if isinstance(item["input"], dict) else {}
    block = {"type": "tool_use", "id": item["id"], "name": item["name"], "input": tool_input}
    return _assistant(item, block)


def tool_result(item: Row) -> Out:
    """The result of a tool."""
    structured = item["structured"]
    patch = structured.get("structuredPatch") if isinstance(structured, dict) else None
    return {
        "type": "tool_result",
        "toolUseId": item["id"],
        "content": item["result"] or "",
        "toolName": item["name"],
        "images": [_image(item["id"], n, image) for n, image in enumerate(item["images"])],
        "isError": item["state"] != "done",
        "state": item["state"],
        "structuredPatch": patch,
        "parentToolUseId": item["parent"],
    }


def result(turn: Row) -> Out:
    """The end of a turn."""
    good = turn["outcome"] == "success"
    text = turn["text"] or "\n".join(turn["errors"])
    usage = turn["usage"] or {}
    return {
        "type": "result",
        "subtype": "success" if good else turn["outcome"],
        "result": text if good else None,
        "error": None if good else text or turn["outcome"],
        "cost": turn["cost_usd"],
        "duration": turn["duration_ms"],
        "stopReason": turn["stop_reason"],
        "inputTokens": usage.get("input_tokens"),
        "cachedInputTokens": usage.get("cache_read_input_tokens"),
        "outputTokens": usage.get("output_tokens"),
        "modelUsage": turn["models"],
    }


def permission_request(row: Row) -> Out:
    """An open request: for a tool, questions, a plan, a form or a dialog."""
    return {
        "type": "permission_request",
        "toolUseId": row.get("tool") or row["id"],
        "toolName": _tool_name(row),
        "input": _request_input(row),
        "requestId": row["id"],
        "kind": row["kind"],
        "reason": row["reason"],
        "suggestions": [choice["label"] for choice in row.get("choices", ())],
        "alwaysSuppressed": row.get("suppress_always_allow_rule", False)
        or row.get("matched_ask_rule") is not None,
        "defaultToNo": row.get("default_to_no", False),
    }


def listed(row: ListedSession) -> Out:
    """A session in a list."""
    return {
        "id": row.id,
        "sessionId": row.id,
        "provider": "claude",
        "projectPath": row.cwd,
        "claudeSessionId": row.cli_session_id,
        "title": row.title,
        "name": row.title,
        "firstPrompt": row.title,
        "status": status_of(row.status.state),
        "state": row.status.state,
        "lastActivity": row.last_activity,
        "lastActivityAt": _iso(row.last_activity),
        "createdAt": _iso(row.created),
        "created": _iso(row.created),
        "modified": _iso(row.last_activity),
        "permissionMode": row.mode,
        "model": row.model,
    }


def _tool_name(row: Row) -> str:
    if row["kind"] == "elicitation":
        return FORM
    return str(row["tool_name"] or row["title"])


def _request_input(row: Row) -> dict[str, Any]:
    """The input of a request; forms and dialogs as questions, which clients can show."""
    details = row.get("details") or {}
    if row["kind"] == "elicitation":
        schema = details.get("schema") or {}
        return {
            "message": row["description"],
            "serverName": details.get("server"),
            "mode": details.get("mode"),
            "url": details.get("url"),
            "requestedSchema": schema,
            "questions": [_field_question(name, schema) for name in schema.get("properties") or {}],
        }
    if row["kind"] == "dialog":
        kind = str(details.get("dialog"))
        options = [{"label": label, "description": ""} for label in DIALOGS.get(kind, ())]
        question = {"question": kind, "header": "", "options": options, "multiSelect": False}
        return {"dialog": kind, "payload": details.get("payload"), "questions": [question]}
    tool_input = row["input"] if isinstance(row["input"], dict) else {}
    if row["kind"] == "plan" and "plan" not in tool_input and "plan" in details:
        return {**tool_input, "plan": details["plan"]}
    return tool_input


def _field_question(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    field = schema["properties"][name] if isinstance(schema["properties"][name], dict) else {}
    many = field.get("type") == "array"
    items = field.get("items") if many else field
    inner = items if isinstance(items, dict) else {}
    labels = inner.get("enum") or (["true", "false"] if field.get("type") == "boolean" else [])
    return {
        "id": name,
        "question": str(field.get("description") or field.get("title") or name),
        "header": str(field.get("title") or name),
        "options": [{"label": str(label), "description": ""} for label in labels],
        "multiSelect": many,
        "required": name in (schema.get("required") or ()),
    }


def _prompt(item: Row, *, modern: bool) -> Out:
    if modern:
        message: Out = {"type": "user_input", "userMessageUuid": item["uuid"]}
        return {**message, "text": item["text"], "timestamp": _iso(item["at"])}
    return {"type": "user", "text": item["text"], "uuid": item["uuid"]}


def _assistant(item: Row, block: Row) -> Out:
    message = {
        "id": item.get("message") or item["id"],
        "role": "assistant",
        "content": [block],
        "model": item.get("model") or "",
    }
    return {"type": "assistant", "message": message, "parentToolUseId": item["parent"]}


def _image(item: str, number: int, block: Any) -> Row:
    source = block.get("source") if isinstance(block, dict) else None
    source = source if isinstance(source, dict) else {}
    mime = str(source.get("media_type") or "application/octet-stream")
    url = source.get("url") or f"data:{mime};base64,{source.get('data') or ''}"
    return {"id": f"{item}-{number}", "url": url, "mimeType": mime}


def _name(command: Any) -> str:
    return str(command.get("name")) if isinstance(command, dict) else str(command)


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat() if at else ""
