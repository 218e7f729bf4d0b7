"""Notifies the devices and channels of a fleet of what happens on its machines.

    node's outbox ──frame──► gateway: claim, store ──answer──► node removes it
                                       └──► gateway's outbox ──► push services, channels

Every gateway hears the notice of a node, and the one that claims it first stores it in its own outbox
before it answers. If that gateway ends before it has answered, the node repeats the notice, and after
`CLAIM_S` another gateway takes it. Messages have the number that the notice has at its node, so a
browser shows a repeated one once, whichever gateway sent it (N40, N41).
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable

import msgspec
from msgspec import Struct

from fairlead.fleet.bus.bus import Bus, Conflict
from fairlead.fleet.gateway.directory import Directory
from fairlead.fleet.gateway.node_client import NodeClient
from fairlead.fleet.gateway.notices.intake import NoticeIntake
from fairlead.fleet.gateway.notices.shared_targets import SharedTargets
from fairlead.server.hub.hub import Hub
from fairlead.server.limits import Limits
from fairlead.server.notices.channels.sender import ChannelSender
from fairlead.server.notices.outbox import Outbox
from fairlead.server.notices.outcome import Outcome, Postponed, Unneeded
from fairlead.server.notices.push.sender import PushSender
from fairlead.server.notices.rules.notice import Notice
from fairlead.server.notices.targets import ChannelTarget, PushTarget, Target
from fairlead.store.sqlite import SqliteStore

__all__ = ["FleetNotices"]

log = logging.getLogger("fairlead.fleet")

CLAIM_S = 30.0
"""After this time a claim of a gateway that has not answered is void."""
CLAIMS = "notice"
"""The first part of a claim's key in the bucket `clients`; the node and the number follow."""
SETTLED_S = 30.0
"""The age from which on a notice of a request is dropped if its session waits for nothing. Before, the
row of the session may be older than the request."""
AWAY_S = 60.0
REQUESTS = ("approval", "question", "plan")


class _Claim(Struct, frozen=True, kw_only=True):
    """Which gateway takes a notice."""

    gateway: str
    at: float


class FleetNotices:
    """The notices of all machines, at one gateway."""

    def __init__(
        self,
        bus: Bus,
        store: SqliteStore,
        *,
        gateway: str,
        targets: SharedTargets,
        sender: PushSender,
        channels: ChannelSender,
        client: NodeClient,
        directory: Directory,
        hub: Hub,
        limits: Limits,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._claims = bus.bucket("clients")
        self._gateway = gateway
        self._sender = sender
        self._channels = channels
        self._directory = directory
        self._hub = hub
        self._clock = clock
        self._claimed: deque[tuple[float, str]] = deque()
        """The claims of this gateway, the oldest first."""
        self._intake = NoticeIntake(bus, client, directory, self._take, clock)
        self.outbox = Outbox(
            store,
            targets,
            self._send,
            clock=clock,
            delay_s=limits.notice_delay_s,
            viewed_delay_s=limits.notice_viewed_delay_s,
        )

    async def start(self) -> None:
        """Begin to take notices."""
        await self._intake.start()

    async def close(self) -> None:
        """Take no more notices."""
        await self._intake.close()

    async def run(self) -> None:
        """Send what is due, until cancelled."""
        await self.outbox.run()

    # From nodes

    async def _take(self, node: str, name: str, notice: Notice) -> bool:
        await self._remove_old_claims()
        key = f"{CLAIMS}.{node}.{notice.number}"
        if not await self._claim(key):
            return False
        self._claimed.append((self._clock(), key))
        viewed = self._hub.followers(name, looking=True) > 0
        await self.outbox.put(name, notice, viewed=viewed)
        return True

    async def _remove_old_claims(self) -> None:
        """Remove the claims of notices that nodes no longer repeat."""
        while self._claimed and self._claimed[0][0] < self._clock() - CLAIM_S:
            await self._claims.delete(self._claimed[0][1])
            self._claimed.popleft()

    async def _claim(self, key: str) -> bool:
        """Whether this gateway takes the notice, and no other one does at the same time."""
        claim = msgspec.json.encode(_Claim(gateway=self._gateway, at=self._clock()))
        try:
            entry = await self._claims.get(key)
            if entry is None or entry.value is None:
                await self._claims.create(key, claim)
                return True
            held = msgspec.json.decode(entry.value, type=_Claim)
            if held.gateway != self._gateway:
                if self._clock() - held.at < CLAIM_S:
                    return False
                await self._claims.update(key, claim, entry.revision)
        except Conflict:
            return False
        return True

    # To devices and channels

    async def _send(
        self, target: Target, session: str, number: int, notice: Notice, now: float
    ) -> Outcome:
        if self._is_over(session, notice, now):
            return Unneeded()
        number = notice.number or number
        if isinstance(target, ChannelTarget):
            return await self._channels.send(target, session, number, notice, now)
        if isinstance(target, PushTarget):
            return await self._sender.send(target, session, number, notice, now)
        return Postponed(AWAY_S)

    def _is_over(self, session: str, notice: Notice, now: float) -> bool:
        """Whether the request of a notice is no longer open, such as after quiet hours."""
        if notice.kind not in REQUESTS or now - notice.at < SETTLED_S:
            return False
        owner = self._directory.owner(session)
        row = None if owner is None else self._directory.session_of(*owner)
        return row is not None and row.pending == 0
