"""Joining a fleet and leaving it, on a real bus."""

from __future__ import annotations

import asyncio
import stat
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from fairlead.errors import UsageError
from fairlead.fleet.bus.bus import BusUnavailable
from fairlead.fleet.bus.memory_bus import MemoryBroker
from fairlead.fleet.bus.nats_bus import NatsBus, tls_context
from fairlead.fleet.bus.nkey import NodeKey
from fairlead.fleet.enrollment.control_channel import NoGateway, ask_gateway, control_channel
from fairlead.fleet.enrollment.enrolling import BusAccess, Enrollment
from fairlead.fleet.enrollment.join_link import join_link, join_number, parse_join_link
from fairlead.fleet.enrollment.roster import EnrolledNode, Roster, with_node, without
from fairlead.fleet.enrollment.shared_roster import SharedRoster
from fairlead.fleet.gateway.devices.joining_devices import FleetCodes
from fairlead.server.refusal import Refusal
from tests.fleet.bus.contract import SOON_S, Inbox
from tests.fleet.bus.nats_harness import NatsHarness, member, running_bus

ACCESS = BusAccess(servers=("tls://bus:4222",), authority="PEM")


class EnrollmentHarness:
    """An enrollment with a clock, and what it did."""

    def __init__(self, folder: Path) -> None:
        self.now = 0.0
        self.applied = 0
        self.while_applying: Callable[[], Awaitable[None]] | None = None
        self.announced: list[tuple[str, bool]] = []
        self.audited: list[str] = []
        bus, key = MemoryBroker().connect(), NodeKey()
        self.enrollment = Enrollment(
            SharedRoster(Roster(folder / "nodes.json"), bus, key, key.public, apply=self._apply),
            ACCESS,
            bucket=bus.bucket("access"),
            codes=FleetCodes(bus, clock=lambda: self.now),
            audit=self._audit,
            announce=self._announce,
            clock=lambda: self.now,
        )

    async def _apply(self) -> None:
        self.applied += 1
        if self.while_applying is not None:
            await self.while_applying()

    async def _audit(self, action: str, details: dict[str, Any], owner: str | None) -> None:
        self.audited.append(action)

    async def _announce(self, node: EnrolledNode, joined: bool) -> None:
        self.announced.append((node.name, joined))


async def test_N17_a_machine_joins_with_a_code_and_an_owners_consent(tmp_path: Path) -> None:
    harness, key = EnrollmentHarness(tmp_path), NodeKey()
    enrollment = harness.enrollment
    code = await enrollment.invite()
    waiting, ticket = await enrollment.ask(code, key.public, "laptop", "192.0.2.7")
    assert waiting.number == join_number(code, key.public)
    assert (await enrollment.admission(ticket)).state == "waiting"
    assert (await enrollment.admission(ticket)).servers == ()
    assert harness.applied == 0
    await enrollment.answer(key.id, "owner", allow=True)
    admission = await enrollment.admission(ticket)
    assert (admission.state, admission.servers, admission.authority) == (
        "allowed",
        ACCESS.servers,
        "PEM",
    )
    assert (harness.applied, harness.announced) == (1, [("laptop", True)])
    assert harness.audited == ["node_asked", "node_allowed"]
    assert Roster(tmp_path / "nodes.json").find("laptop").public == key.public
    assert stat.S_IMODE((tmp_path / "nodes.json").stat().st_mode) == 0o600


async def test_N17_a_machine_that_asks_while_it_is_admitted_still_waits(tmp_path: Path) -> None:
    harness, key = EnrollmentHarness(tmp_path), NodeKey()
    enrollment = harness.enrollment
    _, ticket = await enrollment.ask(await enrollment.invite(), key.public, "laptop", "")
    states: list[str] = []

    async def ask_again() -> None:
        states.append((await enrollment.admission(ticket)).state)
        assert await enrollment.waiting() == (), "no second owner can answer"

    harness.while_applying = ask_again
    await enrollment.answer(key.id, "owner", allow=True)
    assert states == ["waiting"]
    assert (await enrollment.admission(ticket)).state == "allowed"


async def test_N17_a_code_works_once_and_for_ten_minutes(tmp_path: Path) -> None:
    harness = EnrollmentHarness(tmp_path)
    code = await harness.enrollment.invite()
    await harness.enrollment.ask(code, NodeKey().public, "a", "")
    with pytest.raises(Refusal, match="already used"):
        await harness.enrollment.ask(code, NodeKey().public, "b", "")
    late = await harness.enrollment.invite()
    harness.now += 601
    with pytest.raises(Refusal, match="expired"):
        await harness.enrollment.ask(late, NodeKey().public, "c", "")
    assert await harness.enrollment.waiting() == ()
    with pytest.raises(Refusal, match="not the public key"):
        await harness.enrollment.ask(await harness.enrollment.invite(), NodeKey().seed, "d", "")


async def test_N17_a_refused_machine_gets_nothing(tmp_path: Path) -> None:
    harness, key = EnrollmentHarness(tmp_path), NodeKey()
    _, ticket = await harness.enrollment.ask(
        await harness.enrollment.invite(), key.public, "x\x1b[2J", ""
    )
    assert (await harness.enrollment.waiting())[0].name == "x[2J"
    await harness.enrollment.answer(key.id, "owner", allow=False)
    assert (await harness.enrollment.admission(ticket)).state == "refused"
    assert (await harness.enrollment.admission(ticket)).authority == ""
    assert (harness.applied, harness.enrollment.roster.nodes) == (0, ())
    with pytest.raises(Refusal, match="expired"):
        await harness.enrollment.answer(key.id, "owner", allow=True)
    with pytest.raises(Refusal, match="expired"):
        await harness.enrollment.admission("another ticket")


async def test_N17_many_machines_cannot_wait_at_once(tmp_path: Path) -> None:
    harness = EnrollmentHarness(tmp_path)
    for _ in range(10):
        await harness.enrollment.ask(await harness.enrollment.invite(), NodeKey().public, "a", "")
    with pytest.raises(Refusal, match="Too many"):
        await harness.enrollment.ask(await harness.enrollment.invite(), NodeKey().public, "a", "")


def test_a_link_has_the_gateway_and_the_code() -> None:
    link = join_link("https://agents.example.org/fairlead", "abc")
    gateway, code = parse_join_link(link)
    assert (gateway.base, code) == ("https://agents.example.org/fairlead", "abc")
    for wrong in ("https://agents.example.org/#code=x", "https://agents.example.org", "join=x"):
        with pytest.raises(UsageError, match="fairlead fleet invite"):
            parse_join_link(wrong)


def test_a_machine_is_found_by_name_or_id(tmp_path: Path) -> None:
    roster = Roster(tmp_path / "nodes.json")
    keys = [NodeKey(), NodeKey()]
    for key in keys:
        node = EnrolledNode(id=key.id, public=key.public, name="box")
        roster.store(with_node(roster.content, node))
    assert roster.find(keys[0].id).public == keys[0].public
    with pytest.raises(UsageError, match="Several machines"):
        roster.find("box")
    with pytest.raises(UsageError, match="No machine"):
        roster.find("other")
    roster.store(without(roster.content, keys[0].id))
    assert roster.find("box").id == keys[1].id
    (tmp_path / "nodes.json").write_text("{")
    with pytest.raises(UsageError, match="damaged"):
        Roster(tmp_path / "nodes.json")


async def test_N17_a_removed_machine_is_cut_off_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running_bus(tmp_path) as nats:
        roster = Roster(tmp_path / "nodes.json")
        other = await nats.bus(nats.gateways[0])
        enrollment, newcomer = _on(nats, roster, other), NodeKey()
        early = NatsBus(nats.addresses, newcomer, tls_context(nats.certificates.authority))
        early.start()
        assert not await early.wait_connected(0.5)
        await early.close()
        states: list[bool] = []
        other.on_connected(states.append)
        code = await enrollment.invite()
        await enrollment.ask(code, newcomer.public, "new", "")
        await enrollment.answer(newcomer.id, None, allow=True)
        # As a machine does, only after it was admitted: the server reads its list twice, and the
        # second time it ends connections of the new account.
        bus = NatsBus(nats.addresses, newcomer, tls_context(nats.certificates.authority))
        bus.start()
        assert await bus.wait_connected(10)
        await _use_everything(bus, other)
        started = time.monotonic()
        await enrollment.remove("new", None)
        while bus.connected:
            assert time.monotonic() - started < 1
            await asyncio.sleep(0.001)
        with capsys.disabled():
            print(f"\nremoved and cut off in {(time.monotonic() - started) * 1000:.0f} ms")  # noqa: T201
        with pytest.raises(BusUnavailable):
            await bus.publish(f"fl.beat.{newcomer.id}", b"")
        assert not await bus.wait_connected(0.5)
        assert states == []  # The others keep their connections.
        await bus.close()


async def _use_everything(bus: NatsBus, gateway: NatsBus) -> None:
    """What a node does with its account, right after it joined."""
    inbox, beats = Inbox(), Inbox()
    await gateway.subscribe("fl.beat.*", beats)
    # A server needs a moment to connect a new account with the others; a node beats every second.
    async with asyncio.timeout(SOON_S):
        while beats.empty:
            await bus.publish(f"fl.beat.{bus.id}", b"beat")
            await asyncio.sleep(0.01)
    assert (await beats.next()).payload == b"beat"
    await bus.bucket("lease").put(bus.id, b"lease")
    assert await bus.bucket("lease").get(bus.id) is not None
    await bus.bucket("rows").put(f"{bus.id}.s", b"row")
    await gateway.bucket("people").put("device", b"owner")
    assert [entry.key for entry in await bus.bucket("people").entries()] == ["device"]
    number = await bus.stream("log").append(f"fl.log.{bus.id}.s", b"record", after=0)
    assert [each.number for each in await gateway.stream("log").read(f"fl.log.{bus.id}.s")] == [
        number
    ]
    await bus.subscribe(f"fl.do.{bus.id}", inbox)
    asking = asyncio.create_task(gateway.request(f"fl.do.{bus.id}", b"intent", 10))
    question = await inbox.next()
    assert question.reply is not None
    await bus.publish(question.reply, b"done")
    assert await asking == b"done"


def _on(nats: NatsHarness, roster: Roster, bus: NatsBus) -> Enrollment:
    gateways = tuple(member(key) for key in nats.gateways)

    async def apply() -> None:
        await nats.servers[0].set_members(roster.members(nats.admin.public, gateways))

    async def nothing(*_: object) -> None:
        pass

    access = BusAccess(servers=tuple(nats.addresses), authority="")
    return Enrollment(
        SharedRoster(roster, bus, nats.admin, nats.admin.public, apply=apply),
        access,
        bucket=bus.bucket("access"),
        codes=FleetCodes(bus),
        audit=nothing,
        announce=nothing,
    )


async def test_the_gateway_answers_only_known_commands(tmp_path: Path) -> None:
    async def double(question: dict[str, Any]) -> int:
        if question["n"] < 0:
            raise UsageError("not negative")
        return int(question["n"]) * 2

    async with control_channel(tmp_path, {"double": double}):
        assert await asyncio.to_thread(ask_gateway, tmp_path, "double", n=4) == 8
        with pytest.raises(UsageError, match="not negative"):
            await asyncio.to_thread(ask_gateway, tmp_path, "double", n=-1)
        with pytest.raises(UsageError, match="does not know"):
            await asyncio.to_thread(ask_gateway, tmp_path, "other")
        assert stat.S_IMODE((tmp_path / "fleet.sock").stat().st_mode) == 0o600
    with pytest.raises(NoGateway, match="fairlead gateway"):
        await asyncio.to_thread(ask_gateway, tmp_path, "double", n=1)
