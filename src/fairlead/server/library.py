"""What can be asked once instead of followed: lists, search, exports, health, figures.

Reads the registry and the store; changes nothing. `http` puts it on the wire.
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fairlead.server.export import as_markdown
from fairlead.server.lobby_rows import ListedSession
from fairlead.server.refusal import Refusal
from fairlead.server.registry import Registry
from fairlead.store.search import Filters
from fairlead.store.sqlite import SqliteStore
from fairlead.wire.recorded import write_recorded

__all__ = ["ServerLibrary"]

READ_AT_ONCE = 2_000
"""Events in one read of an export."""


class ServerLibrary:
    """The registry and the store, as the HTTP API asks them."""

    def __init__(self, registry: Registry, store: SqliteStore, sockets: Callable[[], int]) -> None:
        self._registry = registry
        self._store = store
        self._sockets = sockets

    def sessions(self) -> list[ListedSession]:
        """The rows of the lobby's list."""
        return self._registry.lobby.sessions()

    def roots(self) -> list[str]:
        """The folders that sessions work in, as far as sessions may work there.

        The list has sessions of the CLI's own, which may have been anywhere.
        """
        allowed = self._registry.policy.folders
        folders = {Path(row.cwd) for row in self.sessions() if row.cwd}
        within = [one for one in folders if any(one.is_relative_to(root) for root in allowed)]
        return sorted(map(str, within))

    def folder(self, session: str) -> str | None:
        """The folder that a session works in; refuses one that sessions may not work in."""
        row = self._registry.lobby.session(session)
        return None if row is None else self._registry.policy.check_folder(row.cwd)

    def allowed(self) -> list[str]:
        """The folders under which sessions may work."""
        return [str(root) for root in self._registry.policy.folders]

    def has_session(self, session: str) -> bool:
        """Whether the server has a session, with a log of its own."""
        return session in self._registry.sessions.rows

    def own_cli_sessions(self) -> set[str | None]:
        """The CLI's ids of sessions that are the server's own."""
        sessions = self._registry.sessions
        own = {row.cli_session_id for row in sessions.rows.values()}
        for live in sessions.live:  # An id may change within a session (TRUTH 4.30).
            own |= {live.transcript.session.id, *live.transcript.session.previous_ids}
        return own

    def renamed(self, device: str, name: str) -> None:
        """Show a device under another name."""
        self._registry.renamed(device, name)

    async def search(self, query: str, filters: Filters) -> list[Any]:
        """What fits a query, best first."""
        return list(await self._store.search(query, filters)) if query.strip() else []

    async def export(self, session: str, form: str) -> tuple[bytes, str] | None:
        """A session as `json` (its snapshot), `markdown`, or `ndjson` (a recording)."""
        if session not in self._registry.sessions.rows:
            return None
        try:
            live = await self._registry.sessions.load(session)
        except Refusal:
            return None
        if form == "json":
            return live.transcript.snapshot().json(), "application/json"
        if form == "markdown":
            return as_markdown(live.transcript).encode(), "text/markdown; charset=utf-8"
        if form == "ndjson":
            return await self._recording(session), "application/x-ndjson"
        return None

    def health(self) -> dict[str, Any]:
        """Whether all is well."""
        state = self._store.state
        return {
            "ok": state.code == "ok",
            "store": {"state": state.code, "reason": state.reason},
            "sessions": len(self._registry.sessions.rows),
            "live": len(self._registry.sessions.live),
            "sockets": self._sockets(),
        }

    def metrics(self) -> str:
        """Figures in the text form of Prometheus."""
        counters = self._store.counters
        figures = {
            "fairlead_sessions": (len(self._registry.sessions.rows), "Sessions known."),
            "fairlead_sessions_live": (len(self._registry.sessions.live), "Running CLIs."),
            "fairlead_sockets": (self._sockets(), "Connected clients."),
            "fairlead_store_ok": (int(self._store.state.code == "ok"), "1 if events are stored."),
            "fairlead_store_commits_total": (counters.commits, "Commits since the start."),
            "fairlead_store_writes_total": (counters.writes, "Writes since the start."),
            "fairlead_store_slowest_commit_seconds": (counters.slowest_commit, "The slowest one."),
            "fairlead_max_rss_bytes": (
                resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
                "Peak memory of the server.",
            ),
        }
        lines = []
        for name, (value, about) in figures.items():
            kind = "counter" if name.endswith("_total") else "gauge"
            lines += [f"# HELP {name} {about}", f"# TYPE {name} {kind}", f"{name} {value}"]
        return "\n".join(lines) + "\n"

    async def _recording(self, session: str) -> bytes:
        parts: list[str] = []
        after = 0
        while events := await self._store.read(session, after, READ_AT_ONCE):
            after = events[-1].seq
            parts += (
                write_recorded(event.at, event.direction, event.line)
                for event in events
                if event.direction in ("out", "in")
            )
        return "".join(parts).encode()
