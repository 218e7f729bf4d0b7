"""Assembles the notices of a gateway: the shared targets and key, the outbox, and the routes."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from fairlead.fleet.bus.bus import Bus
from fairlead.fleet.gateway.directory import Directory
from fairlead.fleet.gateway.documents import FleetDocuments
from fairlead.fleet.gateway.node_client import NodeClient
from fairlead.fleet.gateway.notices.fleet_notices import FleetNotices
from fairlead.fleet.gateway.notices.shared_key import store_push_key
from fairlead.fleet.gateway.notices.shared_targets import SharedTargets
from fairlead.server.access.devices import DeviceRegistry
from fairlead.server.background import run_until_closed
from fairlead.server.http.routes import Route
from fairlead.server.hub.hub import Hub
from fairlead.server.limits import Limits
from fairlead.server.notices.channel_routes import ChannelRoutes
from fairlead.server.notices.channels.sender import ChannelSender
from fairlead.server.notices.notices import PUSH_KEY
from fairlead.server.notices.push.sender import PushSender
from fairlead.server.notices.push_routes import PushRoutes
from fairlead.store.sqlite import SqliteStore

__all__ = ["open_notices"]

FOLDER = "notices"
"""The folder of the database with notices that were not sent yet, in the gateway's data folder."""


@asynccontextmanager
async def open_notices(
    bus: Bus,
    data: Path,
    *,
    gateway: str,
    devices: DeviceRegistry,
    documents: FleetDocuments,
    client: NodeClient,
    directory: Directory,
    hub: Hub,
    limits: Limits,
    base_url: str,
    loopback: bool = False,
) -> AsyncIterator[tuple[Route, ...]]:
    """Notify the devices of a fleet; gives the routes. `loopback` is for tests."""
    async with AsyncExitStack() as stack:
        store = SqliteStore(data / FOLDER)
        stack.push_async_callback(store.close)
        await store.start()
        key = data / FOLDER / PUSH_KEY
        await store_push_key(bus, key)
        targets = SharedTargets(store, bus)
        stack.push_async_callback(targets.close)
        await targets.start()
        sender = PushSender(key, devices.find, loopback=loopback)
        channels = ChannelSender(base_url)
        notices = FleetNotices(
            bus,
            store,
            gateway=gateway,
            targets=targets,
            sender=sender,
            channels=channels,
            client=client,
            directory=directory,
            hub=hub,
            limits=limits,
        )
        stack.push_async_callback(notices.close)
        await notices.start()
        for work in (targets.run(), notices.run()):
            run_until_closed(stack, work)
        push = PushRoutes(targets, sender, devices, documents, limits, time.time)
        yield (*push.routes, *ChannelRoutes(targets, channels, time.time).routes)
