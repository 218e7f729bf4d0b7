"""The rows of the lobby, as clients get them: the single source of their types.

The TypeScript types in `web/src/protocol/lobby.ts` are generated from this file. Shapes only:
`session_rows` makes the rows of sessions, `presence` those of devices, and `lobby` keeps them all.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

__all__ = [
    "DeviceRow",
    "InboxRow",
    "ListedSession",
    "ListedStatus",
    "LobbyRow",
    "LobbySections",
    "Progress",
    "ServerInfo",
    "StoreInfo",
]


class ListedStatus(Struct, frozen=True, kw_only=True):
    """What a session in the list is doing; a part of the transcript's status."""

    state: str
    """One of the transcript's; `elsewhere` if another process writes it; empty if nothing runs."""
    since: float
    last_event: float
    waiting: int = 0
    background: int = 0
    detail: str | None = None


class ListedSession(Struct, frozen=True, kw_only=True):
    """A session in the lobby."""

    id: str
    title: str
    cwd: str
    cli_session_id: str | None
    status: ListedStatus
    live: bool
    """Whether a process runs it, ours or another."""
    model: str | None
    mode: str | None
    effort: str | None
    cost_usd: float
    created: float
    last_activity: float
    pinned: bool
    archived: bool
    parent: str | None
    """The session that it is a fork of."""
    items: int
    pending: int
    source: str
    """`fairlead`, or `cli` for one that the CLI made by itself."""
    agent: str | None
    draft: str = ""


class InboxRow(Struct, frozen=True, kw_only=True):
    """Something that waits for an answer, in the lobby."""

    id: str
    """The session and the request, with a colon between."""
    session: str
    session_title: str
    request_id: str
    kind: str
    tool_name: str
    title: str
    at: float


class DeviceRow(Struct, frozen=True, kw_only=True):
    """A device that may come, and whether it is here."""

    id: str
    name: str
    role: str
    last_seen: float
    connected: bool


class StoreInfo(Struct, frozen=True):
    """Whether events can be stored, and why not."""

    state: str = "ok"
    reason: str | None = None


class Progress(Struct, frozen=True):
    """How far a long look has come."""

    done: int
    total: int


class ServerInfo(Struct, frozen=True, kw_only=True):
    """The server itself."""

    agent: str = ""
    version: str = ""
    mode_ceiling: str = ""
    roots: tuple[str, ...] = ()
    store: StoreInfo = StoreInfo()
    listing: Progress | None = None
    """While the CLI's own sessions are first listed."""
    indexing: Progress | None = None
    """While they are read, so that they can be searched."""


LobbyRow: TypeAlias = ListedSession | InboxRow | DeviceRow


class LobbySections(Struct, frozen=True, kw_only=True):
    """The whole lobby."""

    sessions: tuple[ListedSession, ...]
    inbox: tuple[InboxRow, ...]
    devices: tuple[DeviceRow, ...]
    server: ServerInfo
