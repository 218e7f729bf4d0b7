"""The script of an agent for a bridge client: every kind of request, and long texts."""

from __future__ import annotations

import itertools
import json
from typing import Any

import websockets

from tests.server.conftest import Client, Served

NUMBERS = itertools.count(1)

QUESTIONS: dict[str, Any] = {
    "questions": [
        {
            "question": "Which colour?",
            "header": "Colour",
            "options": [{"label": "Red", "description": ""}, {"label": "Blue", "description": ""}],
            "multiSelect": False,
        },
        {
            "question": "Which sizes?",
            "header": "Sizes",
            "options": [{"label": "S", "description": ""}, {"label": "M", "description": ""}],
            "multiSelect": True,
        },
    ]
}

FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "title": "City"},
        "nights": {"type": "integer", "description": "How many nights?"},
        "breakfast": {"type": "boolean"},
    },
    "required": ["city", "nights"],
}


async def bridge(served: Served, role: str = "owner") -> Client:
    """A connected client of the bridge."""
    client = Client(served, await served.token(role))
    client.socket = await websockets.connect(
        served.base.replace("http", "ws") + "/bridge",
        additional_headers={"Authorization": f"Bearer {client.token}"},
        max_size=None,
    )
    return client


async def started(client: Client, **more: Any) -> str:
    await client.say(type="start", projectPath=str(client.served.project), **more)
    created = await client.hear("system", subtype="session_created")
    return str(created["sessionId"])


def ask(tool: str = "Bash", given: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    shown = given if given is not None else {"command": "npm test"}
    return {"ask": {"id": f"ask-{next(NUMBERS)}", "tool": tool, "input": shown, **more}}


def elicit(schema: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A form of an MCP server."""
    request = {
        "subtype": "elicitation",
        "mcp_server_name": "hotels",
        "message": "Where to?",
        "mode": "form",
        "requested_schema": FORM if schema is None else schema,
        **more,
    }
    number = f"form-{next(NUMBERS)}"
    return {"line": {"type": "control_request", "request_id": number, "request": request}}


def used(tool_id: str, result: str, **given: Any) -> list[dict[str, Any]]:
    """A tool that the model uses, and what came of it."""
    block = {"type": "tool_use", "id": tool_id, "name": "Bash", "input": given}
    tool_call = {"id": f"msg_{tool_id}", "role": "assistant", "model": "big", "content": [block]}
    back = {"type": "tool_result", "tool_use_id": tool_id, "content": result}
    return [
        {"line": _line("assistant", tool_call)},
        {"line": _line("user", {"role": "user", "content": [back]})},
    ]


def thought(text: str) -> list[dict[str, Any]]:
    """Reasoning that streams."""
    name = f"msg_thought_{next(NUMBERS)}"
    empty = {"id": name, "role": "assistant", "content": [], "model": "big"}
    whole = {**empty, "content": [{"type": "thinking", "thinking": text, "signature": "s"}]}
    block = {"type": "thinking", "thinking": "", "signature": ""}
    delta = {"type": "thinking_delta", "thinking": text}
    return [
        {"line": _event({"type": "message_start", "message": empty})},
        {"line": _event({"type": "content_block_start", "index": 0, "content_block": block})},
        {"line": _event({"type": "content_block_delta", "index": 0, "delta": delta})},
        {"line": _line("assistant", whole)},
        {"line": _event({"type": "content_block_stop", "index": 0})},
        {"line": _event({"type": "message_stop"})},
    ]


def told(served: Served) -> list[dict[str, Any]]:
    """What the agent was answered, in order."""
    lines = (served.project.parent / "agent.log").read_text().splitlines()
    entries = [json.loads(line) for line in lines]
    return [
        entry["response"].get("response", entry["response"])
        for entry in entries
        if entry.get("type") == "control_response"
    ]


def prompts(served: Served) -> list[dict[str, Any]]:
    """The prompts that the agent was given, as they came."""
    lines = (served.project.parent / "agent.log").read_text().splitlines()
    return [entry for entry in map(json.loads, lines) if entry.get("type") == "user"]


def arguments(served: Served) -> list[list[str]]:
    """The command lines of the agents that were started."""
    lines = (served.project.parent / "agent.log").read_text().splitlines()
    return [entry["argv"] for entry in map(json.loads, lines) if "argv" in entry]


def _line(kind: str, message: dict[str, Any]) -> dict[str, Any]:
    number = f"00000000-0000-4000-8000-{next(NUMBERS):012d}"
    return {"type": kind, "message": message, "parent_tool_use_id": None, "uuid": number}


def _event(event: dict[str, Any]) -> dict[str, Any]:
    number = f"00000000-0000-4000-8000-{next(NUMBERS):012d}"
    return {"type": "stream_event", "event": event, "parent_tool_use_id": None, "uuid": number}
