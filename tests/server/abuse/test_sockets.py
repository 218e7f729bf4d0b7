"""Attacks by devices that are let in: sockets without number, unread output, pings, revocation."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from pathlib import Path
from typing import Any

import pytest
import websockets

from fairlead.server.limits import Limits
from tests.server.conftest import Client, Served, serving
from tests.server.endpoints import ENDPOINTS, asking, enter, prompting
from tests.server.raw_requests import RawSocket, frame
from tests.waiting import until

PING = frame(b"", first=0x89)


async def bridge(served: Served, token: str) -> Any:
    return await websockets.connect(
        served.base.replace("http", "ws") + "/bridge",
        additional_headers={"Authorization": f"Bearer {token}"},
    )


async def device_with(served: Served, token: str) -> str:
    device = await served.service.devices.device_of(token, "")
    assert device is not None
    return device.id


async def long_session(owner: Client) -> str:
    session = await owner.new_session([{"pile": [400, 2_000]}])
    await owner.ending(session)
    return session


def prompts(served: Served) -> str:
    log = served.project.parent / "agent.log"
    return log.read_text() if log.exists() else ""


# T-60


@pytest.mark.parametrize("path", ENDPOINTS)
async def test_R8_a_revoked_device_that_does_not_read_can_do_nothing_more(
    served: Served, path: str
) -> None:
    owner = await served.client()
    session = await long_session(owner)
    token = await served.token("operator")
    thief = await enter(served.service.port, token, path, buffer=4_096)
    thief.pause()
    await thief.text(prompting(path, session, "before the revocation"))
    await until(lambda: "before the revocation" in prompts(served))
    await fill_up(served, thief, asking(path, session))
    assert (await owner.intend("revoke_device", device=await device_with(served, token)))["ok"]
    for n in range(2, 12):
        await thief.text(prompting(path, session, "after the revocation", n))
    await until(lambda: served.service.sockets.count == 1)
    assert (await owner.intend("send", session=session, text="the last", uuid=UUID))["ok"]
    await until(lambda: "the last" in prompts(served))
    assert "after the revocation" not in prompts(served)
    thief.close()


UUID = "22222222-2222-4222-8222-222222222222"


async def fill_up(served: Served, client: RawSocket, question: str) -> None:
    """Ask until the server has output that the client's system does not take any more."""
    for _ in range(200):
        await client.text(question)
        with contextlib.suppress(TimeoutError):
            await until(lambda: unread_by(served) > 0, 0.2)
            return
    raise AssertionError("the client's system took everything")


def unread_by(served: Served) -> int:
    """Bytes that wait in the server to be written."""
    connections: Any = served.service._server.server_state.connections
    return sum(each.transport.get_write_buffer_size() for each in connections)


@pytest.mark.parametrize("path", ENDPOINTS)
async def test_R8_every_message_asks_whether_its_device_is_still_good(
    served: Served, path: str
) -> None:
    owner = await served.client()
    session = await owner.new_session()
    token = await served.token("operator")
    other = await enter(served.service.port, token, path)
    served.service.devices.disconnect = lambda device: None  # As if no socket had been found.
    assert (await served.service.devices.revoke(await device_with(served, token))).found
    await other.text(prompting(path, session, "after the revocation"))
    assert await other.closing() == 4401
    assert "after the revocation" not in prompts(served)


async def test_R8_an_owner_can_revoke_a_device_over_http(served: Served) -> None:
    owner, phone = await served.client(), await served.client("operator")
    device = (await phone.hear("welcome"))["device"]
    route = f"/api/devices/{device}/revoke"
    for token in (phone.token, await served.token("approver")):
        bearer = {"authorization": f"Bearer {token}"}
        assert (await served.http(route, method="POST", body=b"", **bearer))[0] == 403
    bearer = {"authorization": f"Bearer {owner.token}"}
    status, body, _ = await served.http(route, method="POST", body=b"", **bearer)
    assert (status, json.loads(body)) == (200, {"stored": True})
    await asyncio.wait_for(phone.socket.wait_closed(), 5)
    assert phone.socket.close_code == 4401
    change = await owner.hear("changes", document="lobby")
    while {"op": "remove", "to": "devices", "id": device} not in change["changes"]:
        change = await owner.hear("changes", document="lobby")
    status, _, _ = await served.http(route, method="POST", body=b"", **bearer)
    assert status == 404


# T-61


@pytest.mark.parametrize("path", ENDPOINTS)
async def test_R14_the_socket_limit_of_a_device_counts_both_endpoints_together(
    served: Served, path: str
) -> None:
    most = Limits().sockets_per_device
    token, port = await served.token("viewer"), served.service.port
    mine = [await enter(port, token, ENDPOINTS[n % 2]) for n in range(most)]
    await until(lambda: served.service.sockets.count == most)
    codes = [await (await enter(port, token, path)).closing() for _ in range(3)]
    assert codes == [4429] * 3
    assert served.service.sockets.count == most
    other = await enter(port, await served.token("viewer"), path)
    mine.pop().close()
    await until(lambda: served.service.sockets.count == most)
    mine.append(await enter(port, token, path))
    await until(lambda: served.service.sockets.count == most + 1)
    for each in (*mine, other):
        each.close()


@pytest.mark.parametrize("path", ENDPOINTS)
async def test_R14_a_thousand_sockets_of_viewers_do_not_keep_owners_out(
    tmp_path: Path, path: str
) -> None:
    limits = Limits(sockets=20, sockets_for_owners=4, sockets_per_device=8)
    async with serving(tmp_path, limits) as served:
        port = served.service.port
        crowd: list[RawSocket] = []
        for _ in range(5):
            token = await served.token("operator")
            crowd += [await enter(port, token, path) for _ in range(8)]
        await until(lambda: served.service.sockets.count == 16)
        owner = await enter(port, await served.token(), path)
        await until(lambda: served.service.sockets.count == 17)
        client = await served.client()
        assert (await client.hear("welcome"))["role"] == "owner"
        assert (await client.intend("new_session", cwd=str(served.project)))["ok"]
        for each in (*crowd, owner):
            each.close()


# T-62


@pytest.mark.parametrize("path", ENDPOINTS)
async def test_R14_a_flood_of_pings_ends_its_own_socket(served: Served, path: str) -> None:
    owner = await served.client()
    flood = await enter(served.service.port, await served.token("viewer"), path, buffer=4_096)
    flood.pause()
    for _ in range(200):
        await flood.send(PING * 1_000)
        if served.service.sockets.count == 1:
            break
    await until(lambda: served.service.sockets.count == 1)
    assert (await owner.intend("new_session", cwd=str(served.project)))["ok"]
    flood.close()


@pytest.mark.parametrize("path", ENDPOINTS)
async def test_R14_pings_at_a_bearable_rate_are_answered(served: Served, path: str) -> None:
    client = await enter(served.service.port, await served.token("viewer"), path)
    for number in range(50):
        await client.send(frame(b"%d" % number, first=0x89))
    pongs: list[bytes] = []
    while len(pongs) < 50:
        kind, payload = await client.hear()
        pongs += [payload] if kind == 10 else []
    assert pongs == [b"%d" % number for number in range(50)]
    client.close()


@pytest.mark.parametrize("path", ENDPOINTS)
async def test_R14_messages_that_come_all_at_once_are_carried_out_in_order_and_none_is_lost(
    served: Served, path: str
) -> None:
    client = await enter(served.service.port, await served.token(), path)
    await client.send(b"".join(frame(b'{"type":"nothing %d"}' % n) for n in range(150)))
    heard: list[str] = []
    while len(heard) < 150:
        kind, payload = await client.hear()
        message = json.loads(payload) if kind == 1 else {}
        heard += [message["message"]] if message.get("type") == "error" else []
    assert [f"nothing {n}'" in problem for n, problem in enumerate(heard)] == [True] * 150
    client.close()


@pytest.mark.parametrize("path", ENDPOINTS)
async def test_R14_messages_just_before_the_end_of_a_connection_count(
    served: Served, path: str
) -> None:
    owner = await served.client()
    session = await owner.new_session()
    client = await enter(served.service.port, await served.token("operator"), path)
    padding = frame(json.dumps({"type": "nothing", "x": "y" * 20_000}).encode())
    await client.send(padding + frame(prompting(path, session, "last words").encode()))
    client._writer.write_eof()
    await until(lambda: "last words" in prompts(served))
    client.close()


# T-63


@pytest.mark.parametrize("path", ENDPOINTS)
async def test_R14_a_client_that_asks_and_does_not_read_is_let_go(
    tmp_path: Path, path: str
) -> None:
    limits = Limits(ping_s=0.3, slow_s=1.0, dead_s=60.0)
    async with serving(tmp_path, limits) as served:
        owner = await served.client()
        session = await long_session(owner)
        viewer = await enter(served.service.port, await served.token("viewer"), path, buffer=4_096)
        viewer.pause()
        await fill_up(served, viewer, asking(path, session))
        await until(lambda: served.service.sockets.count == 1)
        assert (await owner.intend("send", session=session, text="hello", uuid=UUID))["ok"]
        viewer.close()


async def test_R14_what_one_device_leaves_unread_on_all_its_sockets_is_bounded(
    tmp_path: Path,
) -> None:
    limits = Limits(unread_bytes_per_device=3_000_000, send_buffer_bytes=1_000_000)
    async with serving(tmp_path, limits) as served:
        owner = await served.client()
        session = await long_session(owner)
        token, port = await served.token("viewer"), served.service.port
        lazy = [await enter(port, token, ENDPOINTS[n % 2], buffer=4_096) for n in range(12)]
        for n, client in enumerate(lazy):
            client.pause()
            for _ in range(4):
                await client.text(asking(ENDPOINTS[n % 2], session))
        await until(lambda: served.service.sockets.count < 12)
        assert (await owner.intend("send", session=session, text="hello", uuid=UUID))["ok"]
        for each in lazy:
            each.close()


@pytest.mark.parametrize("path", ENDPOINTS)
async def test_R14_the_sockets_of_one_device_share_what_it_may_ask_for(
    served: Served, path: str
) -> None:
    owner = await served.client()
    token, port = await served.token("operator"), served.service.port
    crowd = [await enter(port, token, path) for _ in range(8)]
    began = time.monotonic()
    for each in crowd:
        await each.send(frame(b'{"type":"nothing"}') * 90)
    assert (await owner.intend("new_session", cwd=str(served.project)))["ok"]
    for each in crowd:
        errors = 0
        while errors < 90:
            kind, payload = await each.hear()
            errors += kind == 1 and json.loads(payload)["type"] == "error"
        each.close()
    # 720 messages, of which 200 may come at once and 200 a second after that.
    assert time.monotonic() - began > 2.0


# T-64


async def test_R14_an_answer_nested_without_end_leaves_the_bridge_open(served: Served) -> None:
    client = Client(served, await served.token())
    client.socket = await bridge(served, client.token)
    await client.say(type="start", projectPath=str(served.project))
    await client.hear("system", subtype="session_created")
    question = {"question": "Which?", "header": "W", "options": [], "multiSelect": False}
    asked = {"id": "q", "tool": "AskUserQuestion", "input": {"questions": [question]}}
    await client.say(type="input", text=json.dumps([{"ask": asked}, {"wait": 1}]))
    request = await client.hear("permission_request")
    await client.say(type="answer", toolUseId=request["requestId"], result="[" * 100_000)
    # It is an answer in words, as any text that is no JSON.
    assert (await client.hear("result"))["subtype"] == "success"
    await client.say(type="list_sessions")
    assert (await client.hear("system"))["subtype"] == "session_list"


def test_R14_both_endpoints_are_served_by_the_same_connections() -> None:
    """Neither has a reading loop of its own, in which a limit could be forgotten."""
    folder = Path(__file__).parents[3] / "src/fairlead/server"
    for name in ("sockets/sockets.py", "bridge/bridge.py"):
        source = (folder / name).read_text()
        assert "self._connections.serve(" in source
        assert ".receive(" not in source
        assert ".send_text(" not in source
