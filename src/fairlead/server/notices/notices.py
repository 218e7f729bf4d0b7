"""The parts of the notices of one server, put together."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import TracebackType

from fairlead.server.access.devices import DeviceRegistry
from fairlead.server.http.routes import Route
from fairlead.server.intents.registry import Registry
from fairlead.server.limits import Limits
from fairlead.server.notices.channel_routes import ChannelRoutes
from fairlead.server.notices.channels.sender import ChannelSender
from fairlead.server.notices.outbox import Outbox
from fairlead.server.notices.outcome import Outcome, Postponed
from fairlead.server.notices.push.sender import PushSender
from fairlead.server.notices.push_routes import Acting, PushRoutes
from fairlead.server.notices.rules.notice import Notice
from fairlead.server.notices.targets import (
    RELAY,
    ChannelTarget,
    RelayTarget,
    Target,
    Targets,
)
from fairlead.server.notices.watcher import Watcher
from fairlead.store.log import StoreUnavailable
from fairlead.store.sqlite import SqliteStore

__all__ = ["PUSH_KEY", "Notices", "Relay"]

Relay = Callable[[str, int, Notice], Awaitable[Outcome]]
"""Passes the notice of a session with a number on to other machines."""

PUSH_KEY = "push-key.pem"
"""The file of the server's push key in the data folder."""
RELAY_RETRY_S = 10.0


class Notices:
    """Targets, outbox, watcher and routes. Call `load` before the sessions are recovered."""

    def __init__(
        self,
        data: Path,
        store: SqliteStore,
        registry: Registry,
        devices: DeviceRegistry,
        limits: Limits,
        *,
        acting: Acting | None = None,
        base_url: str = "",
        loopback: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`acting` carries out the intents of notifications, by default `registry`. `base_url` is the
        address of the web app in messages; `loopback` is for tests."""
        self._store = store
        self.targets = Targets(store)
        self.sender = PushSender(data / PUSH_KEY, devices.find, loopback=loopback)
        self.channels = ChannelSender(base_url)
        self.outbox = Outbox(
            store,
            self.targets,
            self._send,
            clock=clock,
            delay_s=limits.notice_delay_s,
            viewed_delay_s=limits.notice_viewed_delay_s,
        )
        self.watcher = Watcher(self.outbox, registry.sessions)
        registry.sessions.on_settled.append(self.watcher.settled)
        push = PushRoutes(self.targets, self.sender, devices, acting or registry, limits, clock)
        channels = ChannelRoutes(self.targets, self.channels, clock)
        self.routes: tuple[Route, ...] = (*push.routes, *channels.routes)
        self._running: asyncio.Task[None] | None = None
        self._relay: Relay | None = None

    async def load(self) -> None:
        """Read the targets and the marks of the sessions."""
        try:
            await self.targets.load()
            await self.watcher.load(self._store)
        except StoreUnavailable:
            return  # The server starts without a readable database, and says so.

    async def relay_to(self, relay: Relay) -> None:
        """Pass all notices on to a fleet as well, from now on."""
        self._relay = relay
        await self.targets.put(RELAY, RelayTarget())

    async def __aenter__(self) -> Notices:
        self._running = asyncio.create_task(self.outbox.run())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])

    async def _send(
        self, target: Target, session: str, number: int, notice: Notice, now: float
    ) -> Outcome:
        if isinstance(target, RelayTarget):
            # The server starts before its connection to the fleet does.
            if self._relay is None:
                return Postponed(RELAY_RETRY_S)
            return await self._relay(session, number, notice)
        if isinstance(target, ChannelTarget):
            return await self.channels.send(target, session, number, notice, now)
        return await self.sender.send(target, session, number, notice, now)
