"""The bus that a gateway runs by itself: a nats-server with its keys, certificates and storage."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from msgspec import Struct

from fairlead.fleet.bus.certificates import ensure_certificates
from fairlead.fleet.bus.nats_admin import prepare_store
from fairlead.fleet.bus.nats_bus import tls_context
from fairlead.fleet.bus.nats_server import NatsServer
from fairlead.fleet.bus.nkey import NodeKey
from fairlead.fleet.bus.server_binary import find_server
from fairlead.fleet.bus.server_config import ServerSettings
from fairlead.fleet.enrollment.enrolling import BusAccess
from fairlead.fleet.enrollment.roster import Roster
from fairlead.fleet.protocol.permissions import Member

__all__ = ["BusSettings", "OwnBus", "own_bus"]


class BusSettings(Struct, frozen=True, kw_only=True):
    """Where machines reach the bus."""

    host: str
    """The address to listen on."""
    port: int
    name: str
    """The name or address by which machines reach it."""
    websocket_port: int | None = None
    program: str | None = None
    """The nats-server to use."""


class OwnBus:
    """A running bus, and who may use it."""

    def __init__(
        self, server: NatsServer, roster: Roster, access: BusAccess, admin: NodeKey, key: NodeKey
    ) -> None:
        self.server = server
        self.roster = roster
        self.access = access
        host = _bracketed(_own_address(server.settings.host))
        self.servers = (f"tls://{host}:{server.settings.port}",)
        """Where the gateway itself reaches it."""
        self.key = key
        """The gateway's own key."""
        self.signer = admin
        """Signs the list of machines."""

    async def apply_roster(self) -> None:
        """Let exactly the machines of the roster connect."""
        gateway = Member(self.key.id, self.key.public)
        await self.server.set_members(self.roster.members(self.signer.public, (gateway,)))


@contextlib.asynccontextmanager
async def own_bus(folder: Path, settings: BusSettings) -> AsyncIterator[OwnBus]:
    """Run a nats-server in this folder, with everything that a fleet stores."""
    program = await find_server(settings.program)
    certificates = ensure_certificates(
        folder, list(dict.fromkeys([settings.name, _own_address(settings.host), "localhost"]))
    )
    admin = NodeKey.stored_in(folder / "admin.key")
    key = NodeKey.stored_in(folder / "gateway.key")
    roster = Roster(folder / "nodes.json")
    server_settings = ServerSettings(
        host=settings.host,
        port=settings.port,
        certificate=certificates.certificate,
        key=certificates.key,
        store=folder / "jetstream",
        websocket_port=settings.websocket_port,
    )
    members = roster.members(admin.public, (Member(key.id, key.public),))
    servers = [f"tls://{_bracketed(settings.name)}:{settings.port}"]
    if settings.websocket_port is not None:
        servers.append(f"wss://{_bracketed(settings.name)}:{settings.websocket_port}")
    access = BusAccess(
        servers=tuple(servers),
        authority=certificates.authority.read_text("ascii"),
        root=admin.public,
    )
    async with NatsServer(program, folder, server_settings, members) as server:
        bus = OwnBus(server, roster, access, admin, key)
        await prepare_store(bus.servers, admin, tls_context(certificates.authority))
        yield bus


def _bracketed(name: str) -> str:
    return f"[{name}]" if ":" in name else name


def _own_address(host: str) -> str:
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
