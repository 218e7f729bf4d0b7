"""How the host of a script answers what the CLI asks: permissions, hooks and MCP messages."""

from __future__ import annotations

from typing import Any

__all__ = ["PERMISSION_ANSWERS", "SERVER_TOOLS", "mcp_answer", "permission_answer"]

Data = dict[str, Any]

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="

PERMISSION_ANSWERS = (
    "allow", "deny", "deny_interrupt", "deny_no_message", "allow_no_input", "allow_empty_input",
    "wrong_shape", "error", "allow_always", "allow_always_local", "allow_then_deny_rule",
    "allow_mode", "allow_wrong_id", "allow_changed", "unknown_behavior", "not_an_object",
)  # fmt: skip
"""Every way to answer a permission request; `hold` leaves it open."""

QUESTION_ANSWERS = ("first", "by_index", "free_text", "no_answers", "answers_only", "as_list")


def permission_answer(kind: str, request: Data) -> Data | None:
    """The `response` object of a control response without its id; None leaves the request open."""
    given = request["input"]
    allow: Data = {"behavior": "allow", "updatedInput": given}
    deny: Data = {"behavior": "deny", "message": "The user said no."}
    rule = {"toolName": request["tool_name"]}
    bodies: dict[str, Any] = {
        "allow": allow,
        "deny": deny,
        "deny_interrupt": {**deny, "interrupt": True},
        "deny_no_message": {"behavior": "deny"},
        "allow_no_input": {"behavior": "allow"},
        "allow_empty_input": {"behavior": "allow", "updatedInput": {}},
        "wrong_shape": {"decision": "allow"},
        "unknown_behavior": {"behavior": "perhaps", "updatedInput": given},
        "not_an_object": "allow",
        "allow_always": {**allow, "updatedPermissions": _suggested(request, "session")},
        "allow_always_local": {**allow, "updatedPermissions": _suggested(request, None)},
        "allow_then_deny_rule": {
            **allow,
            "updatedPermissions": [
                {
                    "type": "addRules",
                    "rules": [rule],
                    "behavior": "deny",
                    "destination": "session",
                }
            ],
        },
        "allow_mode": {
            **allow,
            "updatedPermissions": [
                {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
            ],
        },
        "allow_wrong_id": {**allow, "toolUseID": "toolu_wrong"},
        "allow_changed": {"behavior": "allow", "updatedInput": _changed(given)},
        **_question_answers(given),
    }
    if kind == "hold":
        return None
    if kind == "error":
        return {"subtype": "error", "error": "the host broke"}
    return {"subtype": "success", "response": bodies[kind]}


def _suggested(request: Data, destination: str | None) -> list[Data]:
    suggestions: list[Data] = request.get("permission_suggestions") or []
    if destination is None:
        return suggestions
    return [{**suggestion, "destination": destination} for suggestion in suggestions]


def _changed(given: Data) -> Data:
    if "command" in given:
        return {**given, "command": "echo changed"}
    if "content" in given:
        return {**given, "content": "changed\n"}
    return given


def _question_answers(given: Data) -> Data:
    questions = given.get("questions") or []
    texts = [q["question"] for q in questions]
    first = {q["question"]: q["options"][0]["label"] for q in questions}
    lists = {q["question"]: [o["label"] for o in q["options"]] for q in questions}

    def allow(answers: Data, **more: Any) -> Data:
        return {"behavior": "allow", "updatedInput": {**given, "answers": answers, **more}}

    return {
        "first": allow(first),
        "by_index": allow({str(number): "x" for number in range(len(texts))}),
        "free_text": allow(dict.fromkeys(texts, "something else")),
        "no_answers": allow({}),
        "answers_only": {"behavior": "allow", "updatedInput": {"answers": first}},
        "as_list": allow(lists),
    }


# MCP servers of the host

_NUMBERS = {"type": "object", "properties": {"n": {"type": "number"}}}

SERVER_TOOLS = {
    "add": {"content": [{"type": "text", "text": "3"}]},
    "fail": {"content": [{"type": "text", "text": "it failed"}], "isError": True},
    "shape": {
        "content": [{"type": "text", "text": "sum"}],
        "structuredContent": {"sum": 3},
    },
    "structure": {"content": [], "structuredContent": {"sum": [1, 2]}},
    "picture": {"content": [{"type": "image", "data": PIXEL, "mimeType": "image/png"}]},
    "shaped_picture": {
        "content": [
            {"type": "text", "text": "see"},
            {"type": "image", "data": PIXEL, "mimeType": "image/png"},
        ],
        "structuredContent": {"seen": True},
    },
    "several": {"content": [{"type": "text", "text": "1"}, {"type": "text", "text": "2"}]},
    "nothing": {"content": []},
    "page": {
        "content": [
            {"type": "resource", "resource": {"uri": "note://1", "text": "buy herring"}},
        ]
    },
    "link": {"content": [{"type": "resource_link", "uri": "note://1", "name": "a note"}]},
    "boom": None,
    "silent": None,
}
"""Tool of the host's server -> its result. `boom` is a JSON-RPC error, `silent` is never answered."""


def mcp_answer(server: str, message: Data) -> Data | None:
    """The JSON-RPC answer of a server; None leaves the message open."""
    answer: Data = {"jsonrpc": "2.0", "id": message.get("id", 0)}
    if server == "mute":
        return None
    if server == "refusing" and message.get("method") == "initialize":
        return {**answer, "error": {"code": -32603, "message": "cannot start"}}
    match message.get("method"):
        case "initialize":
            version = message["params"]["protocolVersion"]
            info = {"name": server, "version": "1"}
            result: Data = {"protocolVersion": version, "capabilities": {"tools": {}}}
            return {**answer, "result": {**result, "serverInfo": info}}
        case "tools/list":
            tools = [
                {"name": name, "description": f"Does {name}", "inputSchema": _NUMBERS}
                for name in SERVER_TOOLS
            ]
            return {**answer, "result": {"tools": tools}}
        case "tools/call":
            name = message["params"]["name"]
            if name == "silent":
                return None
            if name == "boom" or name not in SERVER_TOOLS:
                return {**answer, "error": {"code": -32603, "message": "boom"}}
            return {**answer, "result": SERVER_TOOLS[name]}
        case str() as method if method.startswith("notifications/"):
            return {**answer, "result": {}}
        case str():
            return {**answer, "error": {"code": -32601, "message": "Method not found"}}
        case _:
            return {**answer, "result": {}}
