"""The bridge protocol at a gateway and at a server with workers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest

from tests.fleet.fleet_harness import fleet
from tests.fleet.workers.workers_harness import with_workers
from tests.server.bridge.bridge_client import ask, bridge, started
from tests.server.conftest import PATIENT, Served


@pytest.fixture(params=["gateway", "workers"])
async def served(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Served]:
    if request.param == "workers":
        async with with_workers(tmp_path) as made:
            yield made
    else:
        async with fleet(tmp_path, nodes=2, gateways=1) as team:
            yield team.gateways[0]


async def test_N47_a_conversation_over_the_bridge(served: Served) -> None:
    client = await bridge(served)
    session = await started(client)
    await client.say(type="input", text=json.dumps([ask(), {"wait": 1}, {"say": "all done"}]))
    request = await client.hear("permission_request")
    await client.hear("status", status="waiting_approval")
    await client.say(type="approve", id=request["requestId"])
    assert (await client.hear("stream_delta"))["text"] == "all done"
    assert (await client.hear("result"))["sessionId"] == session
    await client.hear("status", status="idle")
    await client.say(type="client_capabilities")
    await client.say(type="list_sessions")
    listed = await client.hear("session_list")
    assert [(row["id"], row["projectPath"]) for row in listed["sessions"]] == [
        (session, str(served.project))
    ]
    await client.say(type="get_history", sessionId=session)
    history = cast(list[dict[str, str]], (await client.hear("history"))["messages"])
    assert [message["type"] for message in history][-1] == "result"
    assert "user_input" in {message["type"] for message in history}


async def test_N47_a_long_text_arrives_whole(served: Served) -> None:
    client = await bridge(served)
    await started(client)
    text = "word " * (PATIENT.preview_chars // 3)
    await client.say(type="input", text=json.dumps([{"say": text}]))
    assistant = await client.hear("assistant")
    assert assistant["message"]["content"][0]["text"] == text
    assert (await client.hear("result"))["subtype"] == "success"


async def test_N47_a_viewer_cannot_act_over_the_bridge(served: Served) -> None:
    client = await bridge(served, "viewer")
    await client.say(type="start", projectPath=str(served.project))
    assert (await client.hear("error"))["errorCode"] == "forbidden"
