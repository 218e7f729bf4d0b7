"""The lobby: a document with all sessions, all open requests, and the devices.

Like a session's document it has lists of rows and one object, which are changed by the same
operations. Its numbers are its own and start again with each run of the server, and so does its
epoch. Callers put whole rows; the lobby publishes what differs. It knows neither the store nor any
client.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct, structs

from fairlead.server.hub.hub import Hub
from fairlead.server.protocol.lobby_rows import ListedSession, LobbyRow, LobbySections, ServerInfo
from fairlead.server.protocol.messages import LOBBY
from fairlead.transcript.state.changes import Add, Change, Remove, Set

__all__ = ["Lobby"]

SECTIONS = LobbySections.__struct_fields__
LISTS = SECTIONS[:-1]
"""All sections except the object about the server."""


class Lobby:
    """The rows of the lobby, and the number of its last change."""

    sections = SECTIONS

    def __init__(self, hub: Hub, epoch: str, every_s: float = 0.0) -> None:
        self._hub = hub
        self._rows: dict[str, dict[str, LobbyRow]] = {name: {} for name in LISTS}
        self._own_server = ServerInfo()
        self._server = self._own_server
        self.with_others: Callable[[ServerInfo], ServerInfo] = _unchanged
        """Adds what other processes of the server report about themselves."""
        self._seq = 0
        hub.attach(LOBBY, self, seq=0, epoch=epoch, every_s=every_s)

    # As a document

    def section(self, name: str) -> Any:
        """A list of rows, or the object about the server."""
        return self._server if name == "server" else list(self._rows[name].values())

    def item(self, item_id: str) -> Any:
        """The lobby has no items."""
        raise KeyError(item_id)

    # Rows

    def sessions(self) -> list[ListedSession]:
        """The rows of all sessions."""
        return [row for row in self._rows["sessions"].values() if isinstance(row, ListedSession)]

    def session(self, session: str) -> ListedSession | None:
        """The row of a session."""
        row = self._rows["sessions"].get(session)
        return row if isinstance(row, ListedSession) else None

    def ids(self, to: str) -> tuple[str, ...]:
        """The ids of a list."""
        return tuple(self._rows[to])

    def put(self, to: str, row: LobbyRow) -> None:
        """Add or replace a row, and publish only the fields that differ."""
        rows = self._rows[to]
        before = rows.get(row.id)
        rows[row.id] = row
        if before is None:
            self._publish(Add(to, row))
        elif changed := _changed(before, row):
            self._publish(Set(to, row.id, changed))

    def update(self, to: str, row_id: str, **fields: Any) -> None:
        """Set some fields of a row, if it exists."""
        before = self._rows[to].get(row_id)
        if before is not None:
            self.put(to, structs.replace(before, **fields))

    def set(self, to: str, row_id: str, **fields: Any) -> None:
        """Set fields of a row that are known to differ, if it exists; the others are not compared."""
        before = self._rows[to].get(row_id)
        if before is not None:
            self._rows[to][row_id] = structs.replace(before, **fields)
            self._publish(Set(to, row_id, fields))

    def remove(self, to: str, row_id: str) -> None:
        """Remove a row, if it exists."""
        if self._rows[to].pop(row_id, None) is not None:
            self._publish(Remove(to, row_id))

    def set_server(self, **fields: Any) -> None:
        """Set fields of the object about the server."""
        self._own_server = structs.replace(self._own_server, **fields)
        self.show_server()

    def show_server(self) -> None:
        """Publish what differs in the object about the server, with what `with_others` adds."""
        before, self._server = self._server, self.with_others(self._own_server)
        if changed := _changed(before, self._server):
            self._publish(Set("server", None, changed))

    def _publish(self, change: Change) -> None:
        self._seq += 1
        self._hub.publish(LOBBY, self._seq, [change])


def _unchanged(server: ServerInfo) -> ServerInfo:
    """There are no other processes."""
    return server


def _changed(before: Struct, after: Struct) -> dict[str, Any]:
    """The fields that differ."""
    return {
        name: value
        for name in after.__struct_fields__
        if (value := getattr(after, name)) != getattr(before, name)
    }
