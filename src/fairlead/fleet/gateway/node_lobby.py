"""A gateway's copy of the lobby of one node, and its changes. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from fairlead.fleet.gateway.mirror import Gap, Mirror
from fairlead.fleet.protocol.envelopes import DocumentBody, Frame
from fairlead.server.protocol.lobby_rows import InboxRow, ListedSession, ListedStatus, ServerInfo
from fairlead.transcript.state.changes import Add, Change, Remove, Set

__all__ = ["LobbyChange", "NodeLobby"]

SESSIONS, INBOX, SERVER = "sessions", "inbox", "server"


class LobbyChange(NamedTuple):
    """What is different in the lobby of a node."""

    sessions: dict[str, frozenset[str]] | None
    """The ids of the sessions that changed, with the fields that were set, or with none if the row was
    added or removed; None for all."""
    inbox: set[str] | None
    """The ids of the open requests that changed; None for all."""
    server: bool
    """Whether what the node says about itself changed."""


EVERYTHING = LobbyChange(None, None, True)


class NodeLobby:
    """A copy of a node's lobby (`mirrors.Copy`)."""

    def __init__(self, changed: Callable[[LobbyChange], None]) -> None:
        self._mirror: Mirror | None = None
        self._changed = changed
        self._server = ServerInfo()
        self._server_section: Any = None

    @property
    def is_known(self) -> bool:
        """Whether the lobby was read."""
        return self._mirror is not None

    @property
    def position(self) -> tuple[int | None, str | None]:
        mirror = self._mirror
        return (None, None) if mirror is None or mirror.broken else (mirror.seq, mirror.epoch)

    def is_behind(self, epoch: str, seq: int) -> bool:
        mirror = self._mirror
        return mirror is None or mirror.broken or mirror.is_behind(epoch, seq)

    def take(self, frame: Frame) -> bool:
        if self._mirror is None:
            return False
        try:
            changes = self._mirror.take(frame)
        except Gap:
            return False
        if changes:
            self._changed(_lobby_change(changes))
        return True

    def opened(self, body: DocumentBody) -> bool:
        if body.from_seq is None:
            self._mirror = Mirror(body)
            self._changed(EVERYTHING)
            return True
        if self._mirror is None:
            return False
        try:
            changes = self._mirror.catch_up(body)
        except Gap:
            return False
        if changes:
            self._changed(_lobby_change(changes))
        return True

    # Rows

    def sessions(self) -> dict[str, ListedSession]:
        """The rows of its sessions."""
        return _rows(self._mirror, SESSIONS, ListedSession)

    def inbox(self) -> dict[str, InboxRow]:
        """The rows of its open requests."""
        return _rows(self._mirror, INBOX, InboxRow)

    def row(self, session: str) -> ListedSession | None:
        """The row of a session."""
        value = None if self._mirror is None else self._mirror.row(SESSIONS, session)
        return None if value is None else _convert(value, ListedSession)

    def status(self, session: str) -> ListedStatus | None:
        """The status of a session."""
        row = None if self._mirror is None else self._mirror.row(SESSIONS, session)
        status = None if row is None else _convert(row.get("status"), ListedStatus)
        return status if isinstance(status, ListedStatus) else None

    def request(self, row_id: str) -> InboxRow | None:
        """The row of an open request."""
        value = None if self._mirror is None else self._mirror.row(INBOX, row_id)
        return None if value is None else _convert(value, InboxRow)

    def server(self) -> ServerInfo:
        """What the node says about itself."""
        value = None if self._mirror is None else self._mirror.section(SERVER)
        if value is not self._server_section:  # A change makes a new value.
            self._server_section = value
            self._server = (None if value is None else _convert(value, ServerInfo)) or ServerInfo()
        return self._server


def _lobby_change(changes: list[Change]) -> LobbyChange:
    inbox = _ids(changes, INBOX)
    return LobbyChange(
        _ids(changes, SESSIONS),
        None if inbox is None else set(inbox),
        any(change.to == SERVER for change in changes),
    )


def _ids(changes: list[Change], to: str) -> dict[str, frozenset[str]] | None:
    """The ids of the rows of a list that changed, with their fields; None if it was replaced."""
    ids: dict[str, frozenset[str]] = {}
    others: set[str] = set()
    for change in changes:
        if change.to != to:
            continue
        if isinstance(change, Add):
            others.add(change.row["id"])
        elif isinstance(change, Remove):
            others.add(change.id)
        elif isinstance(change, Set) and change.id is not None:
            ids[change.id] = ids.get(change.id, frozenset()).union(change.fields)
        else:
            return None
    return {**ids, **dict.fromkeys(others, frozenset[str]())}


def _rows(mirror: Mirror | None, section: str, kind: type[Any]) -> dict[str, Any]:
    if mirror is None or section not in mirror.sections:
        return {}
    rows = (_convert(row, kind) for row in mirror.section(section))
    return {row.id: row for row in rows if row is not None}


def _convert(value: Any, kind: type[Any]) -> Any:
    """A row of a node, which may have another version; None if it cannot be read."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return None
