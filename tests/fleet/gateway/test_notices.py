"""Notices of machines reach the devices of a fleet: once, from one gateway, also after an outage."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from fairlead.fleet.bus.memory_bus import MemoryBroker
from fairlead.fleet.node import notice_relay
from fairlead.fleet.protocol import subjects
from fairlead.fleet.protocol.envelopes import NoticeAsk, NoticeFrame, encode
from fairlead.server.notices.outcome import Postponed, Sent
from fairlead.server.notices.rules.notice import Notice
from tests.fleet.fleet_harness import Fleet
from tests.server.conftest import PATIENT
from tests.server.notices.conftest import ASK, WAIT, Phone
from tests.server.notices.push_service import PushService
from tests.waiting import until

PATIENCE_S = 60.0
AT_ONCE = replace(PATIENT, notice_delay_s=0.0, notice_viewed_delay_s=0.0)


@pytest.fixture
async def push() -> AsyncIterator[PushService]:
    async with PushService() as service:
        yield service


@pytest.fixture
async def team(tmp_path: Path) -> AsyncIterator[Fleet]:
    made = Fleet(tmp_path, AT_ONCE)
    try:
        for name in ("node0", "node1"):
            await made.add_node(name)
        for name in ("gate0", "gate1"):
            await made.add_gateway(name, push_to_loopback=True)
        await made.known()
        yield made
    finally:
        await made.close()


async def phone_at(team: Fleet, place: int, push: PushService) -> Phone:
    gate = team.gateways[place]
    return Phone(gate, push, await gate.client())


async def test_N40_a_request_on_a_machine_is_pushed_and_denied_through_a_gateway(
    team: Fleet, push: PushService
) -> None:
    phone = await phone_at(team, 0, push)
    await phone.subscribe(kinds=["approval"])
    session = await phone.client.new_session([ASK, WAIT, {"say": "done"}])
    message = await phone.message()
    assert (message["kind"], message["session"]) == ("approval", session)
    status, answer = await phone.call("/api/push/deny", {"ticket": message["deny"]})
    assert (status, answer) == (200, {"denied": True})
    node = team.nodes[0]
    await until(lambda: node.told("control_response"), PATIENCE_S)
    (decided,) = node.told("control_response")
    assert decided["response"]["response"]["behavior"] == "deny"


async def test_N40_a_notice_waits_until_a_gateway_can_be_reached(
    team: Fleet, push: PushService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notice_relay, "RETRY_S", 0.2)
    phone = await phone_at(team, 0, push)
    await phone.subscribe(kinds=["approval"])
    node = team.nodes[0]
    own = await node.served.client()
    for gate in team.gateways:
        gate.bus.cut()
    session = await own.new_session([ASK, WAIT])
    await own.pending(session)
    assert push.received == []
    for gate in team.gateways:
        gate.bus.heal()
    assert (await phone.message())["session"] == session


async def test_N41_one_gateway_sends_and_all_share_the_settings(
    team: Fleet, push: PushService
) -> None:
    first, second = await phone_at(team, 0, push), await phone_at(team, 1, push)
    second.client.token = first.client.token  # The same device, at another gateway.
    await first.subscribe(kinds=["approval", "finished"])

    async def is_shared() -> bool:
        return (await second.call("/api/push"))[1]["settings"] is not None

    async with asyncio.timeout(PATIENCE_S):
        while not await is_shared():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    answers = [(await phone.call("/api/push"))[1] for phone in (first, second)]
    assert answers[0]["key"] == answers[1]["key"]
    session = await first.client.new_session([ASK, WAIT, {"say": "done"}])
    await first.message()
    row = await first.client.pending(session)
    answer = {"request_id": row["id"], "input_sha256": row["input_sha256"], "decision": "allow"}
    assert (await first.client.intend("decide", session=session, **answer))["ok"]
    kinds = [message["kind"] for message in await first.messages(2)]
    assert kinds == ["approval", "finished"]  # Each of them once, though two gateways heard it.
    assert (await second.call("/api/push/remove", {}))[0] == 200
    async with asyncio.timeout(PATIENCE_S):
        while (await first.call("/api/push"))[1]["settings"] is not None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_N41_a_machine_cannot_notify_of_the_sessions_of_another(
    team: Fleet, push: PushService
) -> None:
    phone = await phone_at(team, 0, push)
    await phone.subscribe(kinds=["approval"])
    session = await phone.client.new_session([{"say": "hello"}, WAIT])
    owner = team.gateways[0].rows("sessions")[session].node
    (other,) = (node for node in team.nodes if node.id != owner)
    forged = Notice(kind="approval", key="forged", at=time.time(), title="forged")
    for number, (name, body) in enumerate(
        ((session, msgspec.json.encode(forged)), (session, b'{"kind": 1}'), ("unknown", b"{}"))
    ):
        frame = NoticeFrame(session=name, number=number, notice=msgspec.Raw(body))
        await other.bus.publish(subjects.notices(other.id), encode(frame))
    await other.bus.publish(subjects.notices(other.id), b"garbage")
    asking = await phone.client.new_session([ASK, WAIT])
    assert [message["session"] for message in await phone.messages(1)] == [asking]


async def test_N40_an_offer_of_a_notice_holds_up_no_other_delivery() -> None:
    bus = MemoryBroker().connect()
    relay = notice_relay.NoticeRelay(bus, "n")
    notice = Notice(kind="approval", key="k", title="t", at=0.0)
    for cut in (False, True):  # No gateway listens, or there is no bus at all.
        if cut:
            bus.cut()
        async with asyncio.timeout(0.5):  # It must not await an answer, so the load is no matter.
            assert isinstance(await relay.send("s", 1, notice), Postponed)
    await relay.answer(encode(NoticeAsk(number=1)))
    assert isinstance(await relay.send("s", 1, notice), Sent)
