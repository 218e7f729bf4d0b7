"""Lines of a CLI for tests of the engine, and what the engine made of them."""

from __future__ import annotations

import json
from typing import Any

from fairlead.host.engine.engine import Engine
from fairlead.host.engine.prompts import PromptMoved
from fairlead.wire.blocks import TextBlock
from fairlead.wire.encode import to_object
from fairlead.wire.inputs import Prompt

__all__ = [
    "FIRST",
    "INIT",
    "RESULT",
    "SECOND",
    "THIRD",
    "costs",
    "echo",
    "lifecycle",
    "line",
    "permission",
    "prompt",
    "response",
    "result_of",
    "states",
    "written",
]

FIRST = "11111111-1111-4111-8111-111111111111"
SECOND = "22222222-2222-4222-8222-222222222222"
THIRD = "33333333-3333-4333-8333-333333333333"


def line(**message: Any) -> bytes:
    return json.dumps(message).encode() + b"\n"


def permission(request_id: str = "r1") -> bytes:
    request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}}
    return line(type="control_request", request_id=request_id, request=request)


def response(request_id: str, **body: Any) -> bytes:
    inside = {"subtype": "success", "request_id": request_id, **body}
    return line(type="control_response", response=inside)


def prompt(uuid: str, text: str = "hi") -> Prompt:
    return Prompt(uuid=uuid, content=(TextBlock(text=text),))


def written(engine: Engine) -> list[Any]:
    return [to_object(outgoing.message) for outgoing in engine.take_output()]


def states(engine: Engine) -> list[tuple[str, str]]:
    moves = [h for h in engine.take_events() if isinstance(h, PromptMoved)]
    return [(move.prompt.uuid, move.state.value) for move in moves]


def echo(uuid: str) -> bytes:
    return line(type="user", uuid=uuid, isReplay=True, message={"role": "user", "content": "hi"})


def lifecycle(uuid: str, state: str) -> bytes:
    return line(type="command_lifecycle", command_uuid=uuid, state=state)


def result_of(**fields: Any) -> bytes:
    return line(type="result", subtype="success", result="ok", **fields)


def costs(engine: Engine) -> list[tuple[str, float | None]]:
    moves = [h for h in engine.take_events() if isinstance(h, PromptMoved)]
    return [(move.prompt.uuid, move.cost_usd) for move in moves if move.result is not None]


INIT = line(type="system", subtype="init", session_id="s")
RESULT = line(type="result", subtype="success", result="ok")
