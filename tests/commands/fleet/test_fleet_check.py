"""What `fairlead fleet doctor` says about a node, on a real bus."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fairlead.commands.fleet.fleet_check import Finding, check_fleet
from fairlead.fleet.bus.nkey import NodeKey
from fairlead.fleet.bus.server_config import Members
from fairlead.fleet.enrollment.membership import KEY_FILE, Membership, store
from fairlead.fleet.node.lease import NodeLease
from fairlead.store.database.folder import DataFolder
from tests.fleet.bus.nats_harness import NatsHarness, member, running_bus


class Joined:
    """A machine that joined, whose node does not run."""

    def __init__(self, nats: NatsHarness, data: Path) -> None:
        self.nats = nats
        self.data = data
        folder = DataFolder(data)
        folder.claim()
        folder.release()
        self.key = NodeKey.stored_in(data / KEY_FILE)
        authority = nats.certificates.authority.read_text("ascii")
        servers = tuple(nats.addresses)
        store(
            data,
            Membership(node=self.key.id, name="desk", servers=servers, authority=authority),
        )

    async def allow(self, *keys: NodeKey) -> None:
        """Let exactly these machines connect."""
        gateways = tuple(member(each) for each in self.nats.gateways)
        nodes = tuple(member(each) for each in keys)
        members = Members(admin=self.nats.admin.public, gateways=gateways, nodes=nodes)
        await self.nats.servers[0].set_members(members)

    async def findings(self) -> list[Finding]:
        return await asyncio.to_thread(check_fleet, self.data)


@pytest.fixture
async def joined(tmp_path: Path) -> AsyncIterator[Joined]:
    async with running_bus(tmp_path / "bus") as nats:
        made = Joined(nats, tmp_path / "desk")
        await made.allow(made.key)
        yield made


async def test_the_doctor_says_whether_a_process_speaks_for_the_machine(joined: Joined) -> None:
    assert [each for each, _ in await joined.findings()] == [True, True, True, None]
    bus = await joined.nats.bus(joined.key)
    lease = NodeLease(bus.bucket("lease"), joined.key.id, "here")
    await lease.acquire()
    is_ok, text = (await joined.findings())[-1]
    assert (is_ok, "speaks for this machine" in text) == (True, True)
    await lease.release()
    is_ok, text = (await joined.findings())[-1]
    assert (is_ok, "no process speaks for this machine" in text) == (None, True)


async def test_the_doctor_says_that_a_machine_was_removed(
    joined: Joined, capfd: pytest.CaptureFixture[str]
) -> None:
    await joined.allow()
    is_ok, text = (await joined.findings())[-1]
    assert is_ok is False
    assert "removed from the fleet" in text
    assert "fairlead fleet invite" in text
    assert capfd.readouterr().err == ""  # The finding is enough.


async def test_the_doctor_makes_no_key(joined: Joined) -> None:
    (joined.data / KEY_FILE).unlink()
    (finding,) = await joined.findings()
    assert finding[0] is False
    assert "the key of this machine is not in" in finding[1]
    assert not (joined.data / KEY_FILE).exists()
