"""The limits of a client on /bridge, which has the same rights and brakes as one on /ws."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from fairlead.server.bridge.bridge import VIEWS
from fairlead.server.bridge.view import BridgeView
from fairlead.server.limits import Limits
from fairlead.server.protocol.messages import Changes
from tests.server.bridge.bridge_client import ask, bridge, started
from tests.server.conftest import Served, serving
from tests.server.endpoints import ENDPOINTS, enter
from tests.server.raw_requests import frame
from tests.waiting import until

TYPING: list[dict[str, Any]] = [
    {"type": "start", "projectPath": "PROJECT"},
    {"type": "resume_session", "sessionId": "SESSION"},
    {"type": "input", "sessionId": "SESSION", "text": "words"},
    {"type": "interrupt", "sessionId": "SESSION"},
    {"type": "stop_session", "sessionId": "SESSION"},
    {"type": "set_permission_mode", "sessionId": "SESSION", "mode": "plan"},
]
ANSWERING: list[dict[str, Any]] = [
    {"type": "approve", "sessionId": "SESSION", "id": "REQUEST"},
    {"type": "approve_always", "sessionId": "SESSION", "id": "REQUEST"},
    {"type": "reject", "sessionId": "SESSION", "id": "REQUEST"},
]


@pytest.mark.parametrize("role", ["viewer", "approver"])
async def test_B7_a_role_cannot_do_over_the_bridge_what_is_above_it(
    served: Served, role: str
) -> None:
    owner = await bridge(served)
    session = await started(owner)
    await owner.say(type="input", text=json.dumps([ask(), {"wait": 1}]))
    request = await owner.hear("permission_request")
    client = await bridge(served, role)
    above = TYPING if role == "approver" else [*TYPING, *ANSWERING]
    names = {"SESSION": session, "PROJECT": str(served.project), "REQUEST": request["requestId"]}
    if role == "approver":
        above = [entry for entry in above if entry["type"] != "interrupt"]
    for message in above:
        await client.say(**{key: names.get(value, value) for key, value in message.items()})
        assert (await client.hear("error"))["errorCode"] == "forbidden", message
    await client.say(type="list_sessions")
    listed = await client.hear("system", subtype="session_list")
    assert [row["id"] for row in listed["sessions"]] == [session]
    assert "words" not in (served.project.parent / "agent.log").read_text()
    await owner.say(type="approve", id=request["requestId"])
    assert (await owner.hear("result"))["subtype"] == "success"


@pytest.mark.parametrize("path", ENDPOINTS)
async def test_R14_one_socket_may_say_so_much_and_the_rest_waits(tmp_path: Path, path: str) -> None:
    async with serving(tmp_path, Limits(messages_per_s=20.0)) as served:
        client = await enter(served.service.port, await served.token(), path)
        began = time.monotonic()
        await client.send(frame(b'{"type":"nothing"}') * 60)
        errors = 0
        while errors < 60:
            kind, payload = await client.hear()
            errors += kind == 1 and json.loads(payload)["type"] == "error"
        # Of 60 messages 20 may come at once, and 20 a second after that.
        assert time.monotonic() - began > 1.5
        client.close()


@pytest.mark.parametrize("path", ENDPOINTS)
async def test_R14_a_client_that_answers_no_ping_is_disconnected(tmp_path: Path, path: str) -> None:
    async with serving(tmp_path, Limits(ping_s=0.3, dead_s=0.6)) as served:
        silent = await enter(served.service.port, await served.token("viewer"), path)
        await until(lambda: served.service.sockets.count == 0)  # It never sends a pong.
        silent.close()


async def test_R14_a_client_that_follows_and_does_not_read_is_disconnected(tmp_path: Path) -> None:
    async with serving(tmp_path, Limits(ping_s=0.3, slow_s=1.0, dead_s=60.0)) as served:
        owner = await served.client()
        session = await owner.new_session()
        lazy = await enter(
            served.service.port, await served.token("viewer"), "/bridge", buffer=4_096
        )
        await lazy.text(json.dumps({"type": "get_history", "sessionId": session}))
        await lazy.hear()
        lazy.pause()
        words = json.dumps([{"pile": [2_000, 4_000]}])
        prompt = "33333333-3333-4333-8333-333333333333"
        assert (await owner.intend("send", session=session, text=words, uuid=prompt))["ok"]
        await until(lambda: served.service.sockets.count == 1, 60)
        assert (await owner.ending(session))["outcome"] == "success"
        lazy.close()


async def test_B68_a_client_follows_the_sessions_that_it_used_last(served: Served) -> None:
    owner = await served.client()
    sessions = [await owner.new_session() for _ in range(VIEWS + 4)]
    client = await bridge(served)
    hub = served.service.registry.hub

    def followed() -> list[str]:
        return [session for session in sessions if hub.followers(session) == 1]

    for session in sessions:
        await client.say(type="get_history", sessionId=session)
        await client.hear("history", sessionId=session)
    assert followed() == sessions[4:]
    await client.say(type="get_history", sessionId=sessions[4])  # Now it is the one used last.
    await client.hear("history", sessionId=sessions[4])
    await client.say(type="input", sessionId=sessions[0], text="hello again")
    assert (await client.hear("result", sessionId=sessions[0]))["subtype"] == "success"
    assert followed() == [sessions[0], sessions[4], *sessions[6:]]


def row(number: int) -> dict[str, Any]:
    return {"id": f"i{number}", "kind": "text", "text": "words", "complete": True, "parent": None}


def test_R14_the_cost_of_a_change_does_not_grow_with_the_session() -> None:
    view = BridgeView("s", lambda section, row_id: None)

    def cost(first: int, count: int) -> float:
        before = time.thread_time()
        for number in range(first, first + count):
            changes: Any = [{"op": "add", "to": "items", "row": row(number), "before": None}]
            view.take(Changes(document="s", from_seq=number, seq=number + 1, changes=changes))
            assert view.missing() == []
            assert [message["type"] for message in view.messages()][:1] == ["stream_delta"]
        return time.thread_time() - before

    first = cost(0, 1_000)
    cost(1_000, 6_000)
    assert cost(7_000, 1_000) < 4 * first
    assert view.state["items"] == []
    late: Any = [
        {"op": "set", "to": "items", "id": "i5", "fields": {"text": "other"}},
        {"op": "remove", "to": "items", "id": "i6"},
        {"op": "add", "to": "items", "row": row(9_000), "before": "i7"},
    ]
    view.take(Changes(document="s", from_seq=1, seq=2, changes=late))
    assert [message["type"] for message in view.messages()] == ["stream_delta", "assistant"]
