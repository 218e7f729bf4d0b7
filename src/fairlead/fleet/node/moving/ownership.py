"""Notices that another machine has taken a session over, and gives it up here.

A machine that was paused, cut off or restored from a backup may still run a session that was adopted
elsewhere. It learns this from the bucket `owners`, which is read when the connection is made, every few seconds, and
whenever it changes. A session with a higher generation on another machine is stopped here, and what
is left of it can only be read.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging

from msgspec import structs

from fairlead.fleet.bus.bus import Bus, BusError, Entry, Subscription
from fairlead.fleet.protocol.owners import Owner, decode_owner
from fairlead.server.sessions.sessions import Sessions
from fairlead.store.log import StoreUnavailable
from fairlead.store.tables.audit import AuditRecord
from fairlead.store.tables.sessions import MovedTo

__all__ = ["Ownership"]

log = logging.getLogger("fairlead.fleet")

READ_EVERY_S = 5.0


class Ownership:
    """Compares the sessions of a node with the bucket `owners`."""

    def __init__(self, sessions: Sessions, bus: Bus, node: str) -> None:
        self._sessions = sessions
        self._bus = bus
        self._node = node
        self._wake = asyncio.Event()
        self._subscription: Subscription | None = None
        bus.on_connected(lambda connected: self._wake.set())

    async def start(self) -> None:
        """Begin to listen."""
        with contextlib.suppress(BusError):
            self._subscription = await self._bus.bucket("owners").listen(self._on_entry)

    async def close(self) -> None:
        """Stop listening."""
        if self._subscription is not None:
            with contextlib.suppress(BusError):
                await self._subscription.close()

    async def run(self) -> None:
        """Look at all owners again and again."""
        while True:
            self._wake.clear()
            with contextlib.suppress(BusError, StoreUnavailable):
                await self.check()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(READ_EVERY_S):
                    await self._wake.wait()

    async def check(self) -> None:
        """Give up every session that another machine has."""
        if not self._sessions.rows:
            return
        for entry in await self._bus.bucket("owners").entries():
            owner = decode_owner(entry.value)
            if owner is not None and self._is_lost(entry.key, owner):
                await self._give_up(entry.key, owner)

    def _on_entry(self, entry: Entry) -> None:
        self._wake.set()

    def _is_lost(self, session: str, owner: Owner) -> bool:
        row = self._sessions.rows.get(session)
        if row is None or row.moved is not None or owner.node == self._node:
            return False
        return owner.generation > row.generation

    async def _give_up(self, session: str, owner: Owner) -> None:
        name = owner.name or owner.node
        log.warning("session %s was taken over by %s; it is stopped here", session, name)
        now = self._sessions.clock()
        moved = MovedTo(
            node=owner.node, name=name, generation=owner.generation, link=owner.link, at=now
        )
        record = AuditRecord(
            at=now,
            action="lose_session",
            session=session,
            details={"to": owner.node, "generation": owner.generation},
        )
        # First, so that nothing starts it again; then its CLI is stopped.
        row = structs.replace(self._sessions.row(session), moved=moved)
        self._sessions.rows[session] = row
        live = self._sessions.loaded(session)
        if live is not None:
            live.prompts.closed = True
            live.note_stop(name)
            await live.stop()
        row = structs.replace(self._sessions.row(session), moved=moved, state="stopped")
        await self._sessions.store.put_session(row, audit=[record])
        self._sessions.rows[session] = row
        self._sessions.catalog.show(session)
