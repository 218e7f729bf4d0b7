"""The socket protocol, over real sockets on a real server."""

from __future__ import annotations

import asyncio
import gc
import json
from pathlib import Path
from typing import Any

import pytest
import websockets
from uvicorn.protocols.http.h11_impl import H11Protocol

from fairlead.server.limits import Limits
from tests.server.conftest import Client, Served, serving
from tests.waiting import until

ASK = {"ask": {"id": "ask-1", "tool": "Bash", "input": {"command": "rm -rf build"}}}


async def closing(client: Client) -> tuple[int, str]:
    """How the server closes a socket: the code, and the reason it sent before."""
    goodbye = await client.hear("bye")
    with pytest.raises(websockets.ConnectionClosed) as closed:
        await asyncio.wait_for(client.socket.recv(), 10)
    received = closed.value.rcvd
    assert received is not None
    return received.code, goodbye["reason"]


async def test_B1_a_socket_that_does_not_say_hello_is_closed(tmp_path: Path) -> None:
    async with serving(tmp_path, Limits(hello_s=0.5)) as served:
        client = Client(served, "")
        client.socket = await websockets.connect(served.base.replace("http", "ws") + "/ws")
        assert await closing(client) == (4401, "no hello message arrived in time")


@pytest.mark.parametrize(
    "first",
    ['{"type":"ack","document":"lobby","seq":1}', "not json", "[]", '{"type":"hello"}'],
)
async def test_B1_anything_but_hello_is_refused(served: Served, first: str) -> None:
    client = Client(served, "")
    client.socket = await websockets.connect(served.base.replace("http", "ws") + "/ws")
    await client.socket.send(first)
    assert await closing(client) == (4401, "the first message must be hello")


async def test_B1_a_wrong_token_is_refused(served: Served) -> None:
    client = await Client(served, "guess").connect()
    assert await closing(client) == (4401, "invalid or expired token")


async def test_B2_hello_is_answered_with_welcome_and_the_lobby(served: Served) -> None:
    client = await served.client("approver")
    welcome = await client.hear()
    assert (welcome["type"], welcome["role"], welcome["protocol"]) == ("welcome", "approver", 1)
    lobby = await client.hear()
    assert (lobby["type"], lobby["document"]) == ("snapshot", "lobby")
    assert {"sessions", "inbox", "devices", "server"} <= set(lobby["state"])


async def test_B3_a_client_that_comes_back_gets_exactly_what_followed(served: Served) -> None:
    first = await served.client()
    session = await first.new_session("hello")
    await first.ending(session)
    await first.say(type="open", document=session)
    snapshot = await first.hear("snapshot", document=session)
    oldest = snapshot["state"]["items"][0]["id"]
    await first.intend(
        "send", session=session, text="more", uuid="11111111-1111-4111-8111-111111111111"
    )
    second = await served.client(
        session=session, last_seq=snapshot["seq"], epoch=snapshot["epoch"], oldest=oldest
    )
    changes = await second.hear("changes", document=session)
    assert changes["from_seq"] == snapshot["seq"]


async def test_B3_a_position_of_another_database_gets_a_snapshot(served: Served) -> None:
    first = await served.client()
    session = await first.new_session("hello")
    await first.ending(session)
    liar = await served.client(session=session, last_seq=3, epoch="another")
    message = await liar.hear(document=session)
    assert message["type"] == "snapshot"


async def test_B4_an_intent_that_is_sent_again_acts_once(served: Served) -> None:
    client = await served.client()
    first = await client.intend("new_session", n=1, cwd=str(served.project))
    again = await client.intend("new_session", n=1, cwd=str(served.project))
    assert first == again
    status, body, _ = await served.http("/api/sessions", authorization=f"Bearer {client.token}")
    assert status == 200
    assert len(json.loads(body)["sessions"]) == 1


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"type":"teleport"}', "unsupported_message"),
        ("nonsense", "bad_message"),
        ("[1]", "bad_message"),
        ('{"type":"open"}', "bad_message"),
        ('{"type":"open","document":7}', "bad_message"),
        ('{"type":"hello","protocol":1,"token":"x","client":"y"}', "bad_message"),
        ('{"type":"open","document":"nowhere"}', "not_found"),
    ],
)
async def test_B5_a_bad_message_is_answered_and_the_socket_stays(
    served: Served, text: str, code: str
) -> None:
    client = await served.client()
    await client.socket.send(text)
    assert (await client.hear("error"))["code"] == code
    assert (await client.intend("new_session", cwd=str(served.project)))["ok"]


@pytest.mark.parametrize(
    "intent",
    [
        {"kind": "control", "subtype": "mcp_set_servers", "servers": {}},
        {"kind": "initialize", "hooks": {}},
        {"kind": "new_session", "cwd": "/", "flags": ["--mcp-config=x"]},
        {"kind": "send", "session": "x", "text": "y", "uuid": "z", "updatedInput": {}},
        {"kind": "decide", "session": "x", "request_id": "y", "input_sha256": "z",
         "decision": "allow", "updatedPermissions": [{"type": "setMode", "mode": "bypassPermissions"}]},
        {"kind": "set_mode", "session": "x", "mode": "plan", "destination": "userSettings"},
    ],
    ids=lambda intent: str(intent["kind"]),
)  # fmt: skip
async def test_B6_a_field_or_an_intent_that_is_not_in_the_protocol_is_refused(
    served: Served, intent: dict[str, object]
) -> None:
    client = await served.client()
    await client.say(type="intent", n=1, intent=intent)
    assert (await client.hear("error"))["code"] == "bad_message"


@pytest.mark.parametrize(
    ("role", "kind", "fields"),
    [
        ("viewer", "interrupt", {"session": "x"}),
        (
            "viewer",
            "decide",
            {"session": "x", "request_id": "r", "input_sha256": "h", "decision": "allow"},
        ),
        ("approver", "send", {"session": "x", "text": "hi", "uuid": "u"}),
        ("approver", "new_session", {"cwd": "/"}),
        ("approver", "set_mode", {"session": "x", "mode": "acceptEdits"}),
        ("operator", "revoke_device", {"device": "d"}),
    ],
)
async def test_B7_a_role_cannot_do_what_is_above_it(
    served: Served, role: str, kind: str, fields: dict[str, Any]
) -> None:
    client = await served.client(role)
    result = await client.intend(kind, **fields)
    assert (result["ok"], result["code"]) == (False, "forbidden")


async def test_B8_a_decision_about_another_input_is_refused(served: Served) -> None:
    client = await served.client()
    session = await client.new_session([ASK, {"wait": 1}])
    row = await client.pending(session)
    wrong = await client.intend(
        "decide", session=session, request_id=row["id"], input_sha256="0" * 64, decision="allow"
    )
    assert (wrong["ok"], wrong["code"]) == (False, "stale")
    right = await client.intend(
        "decide",
        session=session,
        request_id=row["id"],
        input_sha256=row["input_sha256"],
        decision="allow",
    )
    assert right["ok"]
    assert (await client.ending(session))["outcome"] == "success"


async def test_B9_the_second_answer_learns_who_answered_first(served: Served) -> None:
    first, second = await served.client(), await served.client("approver")
    session = await first.new_session([ASK, {"wait": 1}])
    row = await first.pending(session)
    answer = {"session": session, "request_id": row["id"], "input_sha256": row["input_sha256"]}
    results = await asyncio.gather(
        first.intend("decide", **answer, decision="allow"),
        second.intend("decide", **answer, decision="deny"),
    )
    assert sorted(result["ok"] for result in results) == [False, True]
    (loser,) = (result for result in results if not result["ok"])
    assert loser["code"] == "already_resolved"


async def test_B14_a_revoked_device_is_cut_off_at_once(served: Served) -> None:
    owner, other = await served.client(), await served.client("viewer")
    device = (await other.hear("welcome"))["device"]
    assert (await owner.intend("revoke_device", device=device))["ok"]
    assert await closing(other) == (4401, "this device was revoked")
    again = await Client(served, other.token).connect()
    assert await closing(again) == (4401, "invalid or expired token")


async def test_a_server_that_stops_says_goodbye(served: Served) -> None:
    client = await served.client()
    await client.hear("snapshot", document="lobby")
    served.service.stop()
    goodbye = await client.hear("bye")
    assert goodbye["again"] is True


async def test_nothing_is_left_of_a_socket_that_was_closed(served: Served) -> None:
    """A timer of the HTTP connection used to keep every WebSocket that there ever was."""
    for _ in range(3):
        client = await served.client()
        await client.hear("welcome")
        await client.socket.close()
    await until(lambda: not http_connections(served.base), 20)


def http_connections(base: str) -> list[Any]:
    """The HTTP connections of a server in this process that still have an object."""
    gc.collect()
    return [
        each
        for each in gc.get_objects()
        if isinstance(each, H11Protocol) and each.server and base.endswith(f":{each.server[1]}")
    ]
