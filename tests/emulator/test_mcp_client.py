"""Servers of the host: two greetings under the same ids, and which of them counts."""

from __future__ import annotations

from typing import Any

import pytest

from fairlead.emulator.engine import Engine
from fairlead.emulator.mcp_server import Server
from tests.emulator.test_engine import HELLO, engine, line, prompt, request, said

TOOLS: dict[str, Any] = {"result": {"tools": [{"name": "add"}]}}
BUSY: dict[str, Any] = {"error": {"code": -32000, "message": "the id is still open"}}


def greeted_twice() -> tuple[Engine, list[dict[str, Any]]]:
    """2.1.38 with a server of its flags, after `initialize` and the first prompt."""
    emulated = engine(HELLO, "2.1.38")
    config = {"type": "sdk", "name": "calc"}
    emulated.mcp.servers["calc"] = Server(name="calc", config=config)
    emulated.feed([request("initialize"), prompt("go")])
    return emulated, [entry for entry in said(emulated.drain()) if "request" in entry]


def answer(emulated: Engine, asked: dict[str, Any], response: dict[str, Any]) -> list[Any]:
    """Answer a message to a server; gives what is asked next."""
    body = {"mcp_response": {"jsonrpc": "2.0", **response}}
    reply = {"subtype": "success", "request_id": asked["request_id"], "response": body}
    emulated.feed([line({"type": "control_response", "response": reply})])
    return said(emulated.drain())


def greet(emulated: Engine, hello: dict[str, Any], tools: dict[str, Any]) -> list[Any]:
    """One whole greeting; gives the lines that follow it."""
    (told,) = answer(emulated, hello, {"result": {"serverInfo": {}}})
    (listing,) = answer(emulated, told, {"result": {}})
    return answer(emulated, listing, tools)


@pytest.mark.parametrize("second_ends_last", [True, False])
def test_E22_the_second_greeting_counts_whichever_ends_last(second_ends_last: bool) -> None:
    emulated, (first, second) = greeted_twice()
    assert first["request"]["message"]["id"] == second["request"]["message"]["id"] == 0
    order = [(first, BUSY), (second, TOOLS)]
    lines: list[Any] = []
    for hello, tools in order if second_ends_last else order[::-1]:
        lines += greet(emulated, hello, tools)
    (init,) = [entry for entry in lines if entry.get("subtype") == "init"]
    assert "mcp__calc__add" in init["tools"]
    assert emulated.offered_tools().count("mcp__calc__add") == 1


def test_E22_a_turn_does_not_wait_for_a_first_greeting_that_is_never_answered() -> None:
    emulated, (_, second) = greeted_twice()
    lines = greet(emulated, second, TOOLS)
    assert [entry["type"] for entry in lines] == ["system", "assistant", "result"]


def test_E22_a_server_that_refused_is_not_greeted_again() -> None:
    emulated = engine(HELLO, "2.1.38")
    emulated.mcp.servers["calc"] = Server(name="calc", config={"type": "sdk", "name": "calc"})
    emulated.feed([request("initialize")])
    (hello,) = [entry for entry in said(emulated.drain()) if "request" in entry]
    refusal = {"subtype": "error", "request_id": hello["request_id"], "error": "no"}
    emulated.feed([line({"type": "control_response", "response": refusal})])
    emulated.drain()
    emulated.feed([prompt("go")])
    lines = said(emulated.drain())
    assert [entry["type"] for entry in lines] == ["system", "assistant", "result"]
    assert lines[0]["mcp_servers"] == [{"name": "calc", "status": "failed"}]
