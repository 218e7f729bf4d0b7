"""Decides which logs of a node are copied to the bus, and notices what there is to copy.

The owner of the machine names folders (`fairlead node --copy-logs FOLDER`); only sessions that work
below one of them are copied. Sessions are looked at once a second instead of at each event: the
replicator reads what it sends from the database anyway, so nothing can be missed. The rows of these
sessions in the lobby are copied too, so that a gateway that starts while the machine is away lists
them.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from fairlead.fleet.bus.bus import Bus, BusError
from fairlead.fleet.node.replicator import Replicator
from fairlead.fleet.protocol import subjects
from fairlead.server.protocol.lobby_rows import ListedSession
from fairlead.server.sessions.sessions import Sessions
from fairlead.server.view.lobby import Lobby
from fairlead.store.sqlite import SqliteStore

__all__ = ["LogCopies"]

LOOK_S = 1.0

ROWS_EVERY = 2
"""How many looks there are for each copy of the changed rows."""


class LogCopies:
    """The copies of a node's logs."""

    def __init__(
        self,
        sessions: Sessions,
        lobby: Lobby,
        store: SqliteStore,
        bus: Bus,
        node: str,
        folders: Sequence[Path],
        *,
        on_fenced: Callable[[str, int], None],
    ) -> None:
        self._sessions = sessions
        self._lobby = lobby
        self._node = node
        self._bucket = bus.bucket("rows")
        self._rows: dict[str, ListedSession] = {}
        """The rows that are on the bus."""
        self._folders = tuple(folder.resolve() for folder in folders)
        self._seen: dict[str, int] = {}
        """The last event of each session that was noted."""
        self.replicator = Replicator(
            store,
            bus.stream(subjects.LOG_STREAM),
            node,
            may_leave=self.may_leave,
            on_fenced=on_fenced,
            generation=self._generation,
        )

    def may_leave(self, session: str) -> bool:
        """Whether the owner agreed that the log of a session leaves this machine."""
        row = self._sessions.rows.get(session)
        if row is None or row.moved is not None:
            return False
        return any(Path(row.cwd).is_relative_to(folder) for folder in self._folders)

    def _generation(self, session: str) -> int:
        row = self._sessions.rows.get(session)
        return 0 if row is None else row.generation

    async def run(self) -> None:
        """Copy logs until cancelled."""
        for session in tuple(self._sessions.rows):
            self._seen[session] = -1  # What a copy of an earlier run lacks is not known yet.
            self.replicator.changed(session)
        copying = asyncio.create_task(self.replicator.run())
        try:
            looks = 0
            while not copying.done():
                self._look()
                if looks % ROWS_EVERY == 0:
                    await self._copy_rows()
                looks += 1
                await asyncio.wait([copying], timeout=LOOK_S)
            copying.result()
        finally:
            copying.cancel()
            await asyncio.wait([copying])

    async def _copy_rows(self) -> None:
        """Copy the rows that changed; what the bus did not take is copied with the next look."""
        rows = {row.id: row for row in self._lobby.sessions() if self.may_leave(row.id)}
        with contextlib.suppress(BusError):
            for session, row in rows.items():
                if self._rows.get(session) != row:
                    await self._bucket.put(f"{self._node}.{session}", msgspec.json.encode(row))
                    self._rows[session] = row
            for session in self._rows.keys() - rows.keys():
                await self._bucket.delete(f"{self._node}.{session}")
                del self._rows[session]

    def _look(self) -> None:
        sessions = self._sessions
        for session in tuple(sessions.rows):
            loaded = sessions.loaded(session)
            if loaded is not None and loaded.seq != self._seen.get(session):
                self._seen[session] = loaded.seq
                self.replicator.changed(session)
        for session in [each for each in self._seen if each not in sessions.rows]:
            del self._seen[session]
            self.replicator.deleted(session)
