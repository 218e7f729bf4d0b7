"""Takes the notices of nodes, and answers each that was stored.

A node cannot be trusted more than its sessions: a notice about a session of another machine is
ignored, and so are more than `MOST` notices of one node in a minute.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Protocol

import msgspec
from msgspec import structs

from fairlead.fleet.bus.bus import Bus, BusError, Message, Subscription
from fairlead.fleet.gateway.node_client import NodeClient
from fairlead.fleet.protocol import subjects
from fairlead.fleet.protocol.envelopes import NoticeAsk, NoticeFrame, UnreadableEnvelope, decode
from fairlead.fleet.protocol.names import name_of
from fairlead.server.notices.rules.notice import KINDS, Notice
from fairlead.server.protocol.lobby_rows import ListedSession
from fairlead.server.refusal import Refusal
from fairlead.store.log import StoreUnavailable

__all__ = ["NoticeIntake", "Take"]

log = logging.getLogger("fairlead.fleet")

MOST, PER_S = 60, 60.0
"""Notices of one node that are taken, and in which time."""

Take = Callable[[str, str, Notice], Awaitable[bool]]
"""Stores the notice of a node about a session; False if it is not for this process."""


class KnownSessions(Protocol):
    """The part of a directory that is needed here."""

    def owner(self, name: str) -> tuple[str, str] | None:
        """The node of a session and its id there."""

    def session_of(self, node: str, session: str) -> ListedSession | None:
        """The last known row of a session of a node."""


class NoticeIntake:
    """Hears the notices of all nodes on a bus."""

    def __init__(
        self,
        bus: Bus,
        client: NodeClient,
        directory: KnownSessions,
        take: Take,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._bus = bus
        self._client = client
        self._directory = directory
        self._take = take
        self._clock = clock
        self._times: dict[str, deque[float]] = {}
        self._tasks: dict[tuple[str, int], asyncio.Task[None]] = {}
        self._subscription: Subscription | None = None

    async def start(self) -> None:
        """Begin to take notices."""
        self._subscription = await self._bus.subscribe(subjects.notices("*"), self._hear)

    async def close(self) -> None:
        """Take no more notices."""
        if self._subscription is not None:
            with contextlib.suppress(BusError):
                await self._subscription.close()
        tasks = tuple(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _hear(self, message: Message) -> None:
        node = message.subject.split(".")[2]
        try:
            frame = decode(message.payload, NoticeFrame)
            notice = msgspec.json.decode(frame.notice, type=Notice)
        except (UnreadableEnvelope, msgspec.DecodeError):
            log.warning("a notice of the machine %s cannot be read", node)
            return
        key = node, frame.number
        if key in self._tasks or notice.kind not in KINDS or not self._has_room(node):
            return
        row = self._directory.session_of(node, frame.session)
        name = name_of(node, frame.session, "fairlead" if row is None else row.source)
        if self._directory.owner(name) != (node, frame.session):
            return  # It is of another machine, or not listed yet: then the node repeats it.
        task = asyncio.create_task(
            self._store(node, name, structs.replace(notice, number=frame.number))
        )
        self._tasks[key] = task
        task.add_done_callback(lambda _: self._tasks.pop(key, None))

    def _has_room(self, node: str) -> bool:
        now, times = self._clock(), self._times.setdefault(node, deque())
        while times and times[0] <= now - PER_S:
            times.popleft()
        if len(times) >= MOST:
            return False
        times.append(now)
        return True

    async def _store(self, node: str, name: str, notice: Notice) -> None:
        try:
            if await self._take(node, name, notice):
                await self._client.noticed(node, NoticeAsk(number=notice.number))
        except (BusError, Refusal, StoreUnavailable) as problem:
            log.debug("a notice of %s is not taken yet: %s", node, problem)
