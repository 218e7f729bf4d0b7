"""A bus that the gateway does not run: a nats-server or a cluster whose configuration includes a file.

The gateway writes the file, `bus/accounts.conf` in its data folder, with all accounts that may connect.
A command of the operator copies it to the servers and makes them reload it. A gateway that joined a
fleet (`fairlead gateway join`) knows the addresses from the gateway that admitted it.
"""

from __future__ import annotations

import asyncio
import logging
import shlex
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from fairlead.errors import UsageError
from fairlead.fleet.bus.bus import BusError
from fairlead.fleet.bus.nats_admin import prepare_store, store_exists
from fairlead.fleet.bus.nats_bus import tls_context
from fairlead.fleet.bus.nkey import NodeKey
from fairlead.fleet.enrollment.enrolling import BusAccess
from fairlead.fleet.enrollment.roster import Roster
from fairlead.fleet.protocol.permissions import Member, render_accounts
from fairlead.store.database.folder import write_own

__all__ = [
    "ACCOUNTS_FILE",
    "BusMembership",
    "GivenBus",
    "given_bus",
    "joined_bus",
    "store_membership",
]

log = logging.getLogger("fairlead")

ACCOUNTS_FILE = "accounts.conf"
MEMBERSHIP_FILE = "membership.json"
RELOAD_S = 60.0
AGAIN_S = 1.0
LATER_S = 10.0


class BusMembership(Struct, frozen=True, kw_only=True):
    """What a gateway that joined knows of its fleet."""

    name: str
    access: BusAccess


class GivenBus:
    """A bus at known addresses, and who may use it."""

    def __init__(self, folder: Path, access: BusAccess, reload: str | None) -> None:
        """Without a root in `access` this is the first gateway of its fleet."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        self._reload = reload
        self.signer = NodeKey.stored_in(folder / "admin.key")
        self.key = NodeKey.stored_in(folder / "gateway.key")
        self.roster = Roster(folder / "nodes.json")
        self._accepted = {node.id for node in self.roster.nodes}
        self.servers = access.servers
        self.is_first = not access.root
        self.access = replace(access, root=access.root or self.signer.public)

    def write_accounts(self) -> Path:
        """Write the file that the servers include."""
        own = (Member(self.key.id, self.key.public),) if self.is_first else ()
        members = self.roster.members(self.access.root, own)
        path = self._folder / ACCOUNTS_FILE
        text = render_accounts(members.admin, members.gateways, members.nodes)
        write_own(path, text.encode())
        return path

    async def apply_roster(self) -> None:
        """Let exactly the machines of the roster connect."""
        self.write_accounts()
        if self._reload is None:
            if self.is_first:
                log.warning(
                    "%s has changed. Bring it to the servers of the bus and have them read it "
                    "twice, or give the gateway a command with --bus-reload.",
                    self._folder / ACCOUNTS_FILE,
                )
            return  # The first gateway does it.
        await self._run_reload(self._reload)
        nodes = {node.id for node in self.roster.nodes}
        if nodes - self._accepted:
            # A new account reaches the storage only after the second time, and the signals of two
            # commands in a row can arrive as one.
            await asyncio.sleep(AGAIN_S)
            await self._run_reload(self._reload)
        self._accepted = nodes

    async def _run_reload(self, command: str) -> None:
        child = await asyncio.create_subprocess_exec(
            *shlex.split(command), stdin=asyncio.subprocess.DEVNULL
        )
        async with asyncio.timeout(RELOAD_S):
            code = await child.wait()
        if code != 0:
            raise UsageError(f"--bus-reload: {command!r} failed with code {code}.")

    async def prepare(self, replicas: int) -> None:
        """Create the buckets and streams."""
        tls = tls_context(self.access.authority or None)
        await prepare_store(self.servers, self.signer, tls, replicas=replicas)

    async def is_prepared(self) -> bool:
        """Whether the buckets and streams can be read."""
        tls = tls_context(self.access.authority or None)
        return await store_exists(self.servers, self.signer, tls)

    async def bring_up_to_date(self, replicas: int) -> None:
        """Change the buckets and streams of an earlier version, when the bus accepts it."""
        while True:
            try:
                await self.prepare(replicas)
                return
            except BusError as problem:
                log.warning("the storage of the bus cannot be configured yet: %s", problem)
                await asyncio.sleep(LATER_S)


async def given_bus(
    folder: Path,
    servers: Sequence[str],
    authority: Path | None,
    reload: str | None,
    replicas: int,
    stack: AsyncExitStack,
) -> GivenBus:
    """The bus at these addresses, with everything that a fleet stores.

    A cluster that elects leaders cannot be configured for some seconds. A gateway that is started
    again in this time serves with what is there, and configures it later.
    """
    text = "" if authority is None else await asyncio.to_thread(authority.read_text, "ascii")
    bus = GivenBus(folder, BusAccess(servers=tuple(servers), authority=text), reload)
    bus.write_accounts()
    if await bus.is_prepared():
        later = asyncio.create_task(bus.bring_up_to_date(replicas))
        stack.callback(later.cancel)
    else:
        await bus.prepare(replicas)
    return bus


def joined_bus(folder: Path, reload: str | None) -> GivenBus | None:
    """The bus of the fleet that this gateway joined; None if it joined none."""
    path = folder / MEMBERSHIP_FILE
    try:
        membership = msgspec.json.decode(path.read_bytes(), type=BusMembership)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as problem:
        raise UsageError(f"{path} is damaged: {problem}. Join the fleet again.") from None
    return GivenBus(folder, membership.access, reload)


def store_membership(folder: Path, membership: BusMembership) -> None:
    """Remember the fleet that this gateway joined."""
    write_own(folder / MEMBERSHIP_FILE, msgspec.json.encode(membership))
