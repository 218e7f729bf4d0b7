"""What the real CLI sent to an in-process server, replayed: Fairlead's answers are what it
accepted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fairlead.host.mcp.endpoint import ACKNOWLEDGMENT
from fairlead.host.mcp.server import Server
from fairlead.host.mcp.tools import tool

RECORDINGS = Path(__file__).parent.parent / "recordings"
LIMIT_S = 5.0


@tool("add", "adds")
def add(a: float, b: float) -> str:
    return f"{a + b:g}"


def conversations() -> list[Any]:
    return list(_conversations())


def _conversations() -> Iterator[Any]:
    for path in sorted(RECORDINGS.glob("*/mcp_*.ndjson")):
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        if accepted_answers(lines):
            yield pytest.param(lines, id=f"{path.parent.name}/{path.stem}")


def is_mcp_message(line: dict[str, Any]) -> bool:
    if line["dir"] != "out" or line["msg"].get("type") != "control_request":
        return False
    return bool(line["msg"]["request"].get("subtype") == "mcp_message")


def accepted_answers(lines: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        line["msg"]["response"]["request_id"]: line["msg"]["response"]["response"]["mcp_response"]
        for line in lines
        if line["dir"] == "in"
        and line["msg"].get("type") == "control_response"
        and "mcp_response" in line["msg"]["response"].get("response", {})
    }


def test_there_are_recordings_of_three_versions_to_replay() -> None:
    versions = {str(each.id).split("/")[0] for each in conversations()}
    assert versions == {"2.1.29", "2.1.38", "2.1.325"}


@pytest.mark.parametrize("lines", conversations())
async def test_our_answers_have_the_shape_that_the_real_cli_accepted(
    lines: list[dict[str, Any]],
) -> None:
    accepted = accepted_answers(lines)
    compared = 0
    connection = Server("calc", [add]).connect()
    for line in filter(is_mcp_message, lines):
        message = line["msg"]["request"]["message"]
        actual = await asyncio.wait_for(connection.handle(message), LIMIT_S)
        expected = accepted.get(line["msg"]["request_id"])
        if "method" not in message or "id" not in message:
            assert actual is None
            assert expected is None or expected["result"] == ACKNOWLEDGMENT["result"]
        elif expected is not None:
            compare(message, actual, expected)
            compared += 1
    await asyncio.wait_for(connection.aclose(), LIMIT_S)
    assert compared


def compare(message: dict[str, Any], ours: Any, theirs: dict[str, Any]) -> None:
    assert ours["jsonrpc"] == theirs["jsonrpc"]
    assert ours["id"] == theirs["id"] == message["id"]
    if "error" in theirs:  # the recording tried an error; we have no reason to fail
        assert ours["result"]["content"] == [{"type": "text", "text": "3"}]
        return
    assert set(ours) == set(theirs)
    assert set(theirs["result"]) <= set(ours["result"])
    if message["method"] == "initialize":
        assert ours["result"]["protocolVersion"] == message["params"]["protocolVersion"]
        assert ours["result"]["protocolVersion"] == theirs["result"]["protocolVersion"]
        assert set(theirs["result"]["capabilities"]) <= set(ours["result"]["capabilities"])
    elif message["method"] == "tools/list":
        first, recorded = ours["result"]["tools"][0], theirs["result"]["tools"][0]
        assert {key: first[key] for key in ("name", "description")} == {
            key: recorded[key] for key in ("name", "description")
        }
        assert recorded["inputSchema"].items() <= first["inputSchema"].items()
    else:
        assert [block["type"] for block in ours["result"]["content"]] == ["text"]
