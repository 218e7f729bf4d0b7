"""A bus that someone else runs: one nats-server or a cluster, whose configuration includes a file.

The gateway writes the file, `bus/accounts.conf` in its data folder, with everyone who may connect. A
command of the operator brings it to the servers and has them read it again.
"""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from fairlead.errors import UsageError
from fairlead.fleet.bus.nats_admin import prepare_store
from fairlead.fleet.bus.nats_bus import tls_context
from fairlead.fleet.bus.nkey import NodeKey
from fairlead.fleet.enrolment.enrolling import BusAccess
from fairlead.fleet.enrolment.roster import Roster
from fairlead.fleet.protocol.permissions import Member, render_accounts
from fairlead.store.database.folder import own_file

__all__ = ["ACCOUNTS_FILE", "GivenBus", "given_bus"]

ACCOUNTS_FILE = "accounts.conf"
RELOAD_S = 60.0


class GivenBus:
    """A bus at known addresses, and who may use it."""

    def __init__(
        self, folder: Path, servers: Sequence[str], authority: Path | None, reload: str | None
    ) -> None:
        folder.mkdir(mode=0o700, exist_ok=True)
        self._folder = folder
        self._reload = reload
        self._admin = NodeKey.stored_in(folder / "admin.key")
        self.key = NodeKey.stored_in(folder / "gateway.key")
        self.roster = Roster(folder / "nodes.json")
        self.servers = tuple(servers)
        text = "" if authority is None else authority.read_text("ascii")
        self.access = BusAccess(servers=self.servers, authority=text)

    def write_accounts(self) -> Path:
        """Write the file that the servers include."""
        gateway = Member(self.key.id, self.key.public)
        members = self.roster.members(self._admin.public, (gateway,))
        path = self._folder / ACCOUNTS_FILE
        draft = path.with_suffix(".new")
        handle = own_file(draft)
        try:
            os.ftruncate(handle, 0)
            text = render_accounts(members.admin, members.gateways, members.nodes)
            os.write(handle, text.encode())
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(draft, path)
        return path

    async def apply_roster(self) -> None:
        """Let exactly the machines of the roster connect."""
        self.write_accounts()
        if self._reload is None:
            raise UsageError(
                f"{self._folder / ACCOUNTS_FILE} has changed. Bring it to the servers of the bus "
                "and have them read it twice, or give the gateway a command with --bus-reload."
            )
        for _ in range(2):  # A new account reaches the storage only after the second time.
            await self._run_reload(self._reload)

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
        await prepare_store(self.servers, self._admin, tls, replicas=replicas)


async def given_bus(
    data: Path, servers: Sequence[str], authority: Path | None, reload: str | None, replicas: int
) -> GivenBus:
    """The bus at these addresses, with everything that a fleet stores."""
    bus = GivenBus(data, servers, authority, reload)
    bus.write_accounts()
    await bus.prepare(replicas)
    return bus
