"""Servers of the host: two handshakes with the same ids, and which of them counts."""

from __future__ import annotations

from typing import Any

import pytest

from fairlead.emulator.engine.engine import Engine
from fairlead.emulator.mcp.client import PATIENCE_S
from fairlead.emulator.mcp.server import Server
from fairlead.emulator.state.effects import Sleep
from tests.emulator.engine.engines import HELLO, engine, line, prompt, request, written

TOOLS: dict[str, Any] = {"result": {"tools": [{"name": "add"}]}}
BUSY: dict[str, Any] = {"error": {"code": -32000, "message": "the id is still open"}}


def greeted_twice() -> tuple[Engine, list[dict[str, Any]]]:
    """2.1.38 with a server of its flags that answered neither `initialize` nor a prompt in time."""
    emulated = engine(HELLO, "2.1.38")
    config = {"type": "sdk", "name": "calc"}
    emulated.mcp.servers["calc"] = Server(name="calc", config=config)
    emulated.feed([request("initialize"), prompt("go")])
    effects = emulated.drain()
    (patience,) = [e for e in effects if isinstance(e, Sleep) and e.seconds == PATIENCE_S]
    emulated.finish(patience.number, None)
    return emulated, [
        entry for entry in written([*effects, *emulated.drain()]) if "request" in entry
    ]


def answer(emulated: Engine, asked: dict[str, Any], response: dict[str, Any]) -> list[Any]:
    """Answer a message to a server; returns the next request."""
    body = {"mcp_response": {"jsonrpc": "2.0", **response}}
    reply = {"subtype": "success", "request_id": asked["request_id"], "response": body}
    emulated.feed([line({"type": "control_response", "response": reply})])
    return written(emulated.drain())


def greet(emulated: Engine, hello: dict[str, Any], tools: dict[str, Any]) -> list[Any]:
    """Play a whole handshake; returns the lines that follow it."""
    (reported,) = answer(emulated, hello, {"result": {"serverInfo": {}}})
    (listing,) = answer(emulated, reported, {"result": {}})
    return answer(emulated, listing, tools)


@pytest.mark.parametrize("second_ends_last", [True, False])
def test_E22_the_second_handshake_counts_whichever_ends_last(second_ends_last: bool) -> None:
    emulated, (first, second) = greeted_twice()
    assert first["request"]["message"]["id"] == second["request"]["message"]["id"] == 0
    order = [(first, BUSY), (second, TOOLS)]
    lines: list[Any] = []
    for hello, tools in order if second_ends_last else order[::-1]:
        lines += greet(emulated, hello, tools)
    (init,) = [entry for entry in lines if entry.get("subtype") == "init"]
    assert "mcp__calc__add" in init["tools"]
    assert emulated.offered_tools().count("mcp__calc__add") == 1


def test_E28_the_second_handshake_waits_for_the_answer_to_the_first() -> None:
    """The official SDK refuses an id that is in flight, and the tool would be lost."""
    emulated = engine(HELLO, "2.1.38")
    emulated.mcp.servers["calc"] = Server(name="calc", config={"type": "sdk", "name": "calc"})
    emulated.feed([request("initialize"), prompt("go")])
    waiting = [entry for entry in written(emulated.drain()) if "request" in entry]
    lines: list[Any] = []
    while waiting:
        messages = [entry["request"]["message"] for entry in waiting]
        ids = [message["id"] for message in messages if "id" in message]
        assert len(ids) == len(set(ids)), "two requests under one id"
        asked = waiting.pop()
        lists = asked["request"]["message"]["method"] == "tools/list"
        new = answer(emulated, asked, TOOLS if lists else {"result": {"serverInfo": {}}})
        lines += new
        waiting += [entry for entry in new if "request" in entry]
    (init,) = [entry for entry in lines if entry.get("subtype") == "init"]
    assert init["mcp_servers"] == [{"name": "calc", "status": "connected"}]


def test_E22_a_turn_does_not_wait_for_an_unanswered_first_handshake() -> None:
    emulated, (_, second) = greeted_twice()
    lines = greet(emulated, second, TOOLS)
    assert [entry["type"] for entry in lines] == ["system", "assistant", "result"]


def test_E22_a_server_that_failed_has_no_second_handshake() -> None:
    emulated = engine(HELLO, "2.1.38")
    emulated.mcp.servers["calc"] = Server(name="calc", config={"type": "sdk", "name": "calc"})
    emulated.feed([request("initialize")])
    (hello,) = [entry for entry in written(emulated.drain()) if "request" in entry]
    refusal = {"subtype": "error", "request_id": hello["request_id"], "error": "no"}
    emulated.feed([line({"type": "control_response", "response": refusal})])
    emulated.drain()
    emulated.feed([prompt("go")])
    lines = written(emulated.drain())
    assert [entry["type"] for entry in lines] == ["system", "assistant", "result"]
    assert lines[0]["mcp_servers"] == [{"name": "calc", "status": "failed"}]
