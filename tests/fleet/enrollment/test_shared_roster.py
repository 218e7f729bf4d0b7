"""The list of machines at several gateways, on a bus within one process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from fairlead.fleet.bus.memory_bus import MemoryBroker
from fairlead.fleet.bus.nkey import NodeKey
from fairlead.fleet.enrollment.roster import (
    EnrolledGateway,
    EnrolledNode,
    Roster,
    SignedList,
    admission_text,
    with_gateway,
    with_node,
    without,
)
from fairlead.fleet.enrollment.shared_roster import SharedRoster
from tests.waiting import until


class Gateways:
    """Gateways that share a list, and how often each had to apply it."""

    def __init__(self, folder: Path) -> None:
        self.broker = MemoryBroker()
        self.root = NodeKey()
        self.applied: dict[str, int] = {}
        self._folder = folder
        self._stack = AsyncExitStack()

    async def add(self, name: str, key: NodeKey) -> SharedRoster:
        async def apply() -> None:
            self.applied[name] = self.applied.get(name, 0) + 1

        roster = Roster(self._folder / f"{name}.json")
        made = SharedRoster(roster, self.broker.connect(), key, self.root.public, apply=apply)
        await made.start()
        running = asyncio.create_task(made.run())
        self._stack.callback(running.cancel)
        return made

    async def put(self, content: SignedList) -> None:
        """What a thief with the key of a gateway for the bus can write."""
        bucket = self.broker.connect().bucket("access")
        await bucket.put("roster", msgspec.json.encode(content))

    async def close(self) -> None:
        await self._stack.aclose()


@pytest.fixture
async def gateways(tmp_path: Path) -> AsyncIterator[Gateways]:
    made = Gateways(tmp_path)
    yield made
    await made.close()


def node(name: str) -> EnrolledNode:
    key = NodeKey()
    return EnrolledNode(id=key.id, public=key.public, name=name)


def _added(each: EnrolledNode, content: SignedList) -> SignedList:
    return with_node(content, each)


def _has(shared: SharedRoster, ids: set[str]) -> bool:
    return {node.id for node in shared.roster.nodes} == ids


def admitted(by: NodeKey, signer: NodeKey) -> EnrolledGateway:
    key = NodeKey()
    gateway = EnrolledGateway(
        id=key.id, public=key.public, name="gate", signer=signer.public, admitted_by=by.public
    )
    return replace(gateway, admission=by.sign(admission_text(gateway)).decode())


async def test_N34_each_gateway_adds_and_removes_machines_for_all(gateways: Gateways) -> None:
    second_key = NodeKey()
    first = await gateways.add("first", gateways.root)
    gateway = admitted(gateways.root, second_key)
    await first.change(lambda content: with_gateway(content, gateway))
    second = await gateways.add("second", second_key)
    machines = [node(f"machine{number}") for number in range(6)]
    await asyncio.gather(
        *(
            (first, second)[place % 2].change(partial(_added, each))
            for place, each in enumerate(machines)
        )
    )
    everyone = {each.id for each in machines}
    for each in (first, second):
        await until(partial(_has, each, everyone))
    applied = gateways.applied["first"]
    await second.change(lambda content: without(content, machines[0].id))
    await until(lambda: machines[0].id not in {node.id for node in first.roster.nodes})
    await until(lambda: gateways.applied["first"] > applied)
    assert first.roster.content == second.roster.content


async def test_N34_a_list_that_no_gateway_signed_is_not_taken(gateways: Gateways) -> None:
    first = await gateways.add("first", gateways.root)
    await first.change(lambda content: with_node(content, node("good")))
    present, thief = first.roster.content, NodeKey()
    forged = replace(with_node(present, node("evil")), number=present.number + 10)
    own_gateway = with_gateway(forged, admitted(thief, thief))
    for content in (forged, forged.signed_by(thief), own_gateway.signed_by(thief)):
        await gateways.put(content)
        await first.change(lambda content: content)
        assert [each.name for each in first.roster.nodes] == ["good"]
        later = await gateways.add("later", gateways.root)
        assert [each.name for each in later.roster.nodes] == ["good"]


async def test_N34_an_earlier_list_does_not_bring_a_removed_machine_back(
    gateways: Gateways,
) -> None:
    first = await gateways.add("first", gateways.root)
    lost = node("lost")
    await first.change(lambda content: with_node(content, lost))
    earlier = first.roster.content
    await first.change(lambda content: without(content, lost.id))
    await gateways.put(earlier)
    await first.change(lambda content: content)
    assert first.roster.nodes == ()


async def test_N34_a_removed_gateway_signs_no_more(gateways: Gateways) -> None:
    first, key = await gateways.add("first", gateways.root), NodeKey()
    gateway = admitted(gateways.root, key)
    await first.change(lambda content: with_gateway(content, gateway))
    before = first.roster.content
    await first.change(lambda content: without(content, gateway.id))
    comeback = replace(with_node(before, node("evil")), number=before.number + 10)
    assert comeback.signed_by(key).is_trusted(gateways.root.public)  # For who does not know better.
    await gateways.put(comeback.signed_by(key))
    await first.change(lambda content: content)
    assert first.roster.nodes == ()


async def test_N34_a_list_outlives_the_storage_of_the_bus(
    gateways: Gateways, tmp_path: Path
) -> None:
    first = await gateways.add("first", gateways.root)
    await first.change(lambda content: with_node(content, node("laptop")))
    gateways.broker = MemoryBroker()
    again = await gateways.add("first", gateways.root)
    entry = await gateways.broker.connect().bucket("access").get("roster")
    assert entry is not None
    assert [each.name for each in again.roster.nodes] == ["laptop"]
    stored = msgspec.json.decode(entry.value or b"", type=SignedList)
    assert [each.name for each in stored.nodes] == ["laptop"]
