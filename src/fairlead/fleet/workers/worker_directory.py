"""The sessions of the workers in the lobby of the front, where they look like its own."""

from __future__ import annotations

from pathlib import PurePath

from msgspec import structs

from fairlead.fleet.gateway.directory import Directory, NodeEntry
from fairlead.server.protocol.lobby_rows import InboxRow, LimitRow, ListedSession, ServerInfo
from fairlead.server.view.lobby import Lobby

__all__ = ["WorkerDirectory"]

AWAY = (
    "The process that runs this session is being started again, so nothing was done. Try again in "
    "a moment."
)


AT_REST = ("", "ready", "idle", "ended", "disconnected", "error")
"""States of a session in which no turn runs."""


class WorkerDirectory(Directory):
    """The workers, which are no machines: clients do not see them."""

    def __init__(self, lobby: Lobby) -> None:
        super().__init__(lobby)
        lobby.with_others = self._with_workers

    def away(self, node: str) -> str:
        return AWAY

    def lost(self, node: str) -> None:
        """The process of a worker ended."""
        entry = self._nodes.get(node)
        if entry is not None:
            entry.here = False

    def at_folder(self, cwd: str) -> str | None:
        """The worker of a session that works in a folder or in a worktree there."""
        for entry in self._nodes.values():
            for row in entry.sessions().values():
                if row.cwd == cwd or (row.worktree is not None and row.worktree.path == cwd):
                    return entry.id
        return None

    def busy_at(self, folder: str) -> list[ListedSession]:
        """The server's sessions that work in a folder or below it now."""
        return [
            row
            for row in self._lobby.sessions()
            if row.live
            and row.source == "fairlead"
            and row.status.state not in AT_REST
            and PurePath(row.cwd).is_relative_to(folder)
        ]

    def latest_at(self, cwd: str) -> str | None:
        """The worker of the session that was last active in a folder; None if it is the front's."""
        rows = [row for row in self._lobby.sessions() if row.cwd == cwd]
        latest = max(rows, key=lambda row: row.last_activity, default=None)
        owner = None if latest is None else self.owner(latest.id)
        return None if owner is None else owner[0]

    def cli_sessions(self) -> set[str | None]:
        """The CLI's ids of the workers' sessions."""
        nodes = self._nodes.values()
        return {row.cli_session_id for entry in nodes for row in entry.sessions().values()}

    def _put_session(self, entry: NodeEntry, row: ListedSession) -> None:
        entry.names[row.id] = row.id
        self._owners[row.id] = entry.id, row.id
        self._lobby.put("sessions", row)
        file = None if row.cli_session_id is None else self._lobby.session(row.cli_session_id)
        if file is not None and file.source == "cli":
            self._lobby.remove("sessions", file.id)

    def _put_request(self, entry: NodeEntry, row: InboxRow, shown: set[str]) -> None:
        shown.add(row.id)
        self._lobby.put("inbox", structs.replace(row, node=""))

    def _show_node(self, entry: NodeEntry) -> None:
        """Clients do not see workers."""

    def _show_server(self) -> None:
        self._lobby.show_server()

    def _with_workers(self, own: ServerInfo) -> ServerInfo:
        """What the front shows of itself, with the limits and budgets of the workers' sessions."""
        servers = [entry.lobby.server() for entry in self._nodes.values()]
        limits: dict[tuple[str, str], LimitRow] = {}
        for row in (row for server in (own, *servers) for row in server.limits):
            known = limits.get((row.account, row.kind))
            if known is None or known.at < row.at:
                limits[row.account, row.kind] = row
        budgets = [each for server in servers for each in server.budgets if each.scope == "session"]
        return structs.replace(own, limits=tuple(limits.values()), budgets=(*own.budgets, *budgets))
