"""Queries of the HTTP API on the registry and the store: lists, search, exports, health, metrics.

It changes nothing. `api` sends it to clients.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from fairlead.server.access.roles import may
from fairlead.server.files import Folders
from fairlead.server.http.export.exports import pieces
from fairlead.server.http.export.html_export import html_parts
from fairlead.server.http.search.searches import Searches
from fairlead.server.intents.registry import Registry
from fairlead.server.protocol.lobby_rows import ListedSession
from fairlead.server.refusal import Refusal
from fairlead.server.view.export import json_parts, markdown_parts
from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables.search import Filters
from fairlead.transcript.transcript import Transcript
from fairlead.wire.recorded import write_recorded

__all__ = ["ServerLibrary"]

_FORMS = {
    "json": (json_parts, "application/json"),
    "markdown": (markdown_parts, "text/markdown; charset=utf-8"),
    "html": (html_parts, "text/html; charset=utf-8"),
}
"""What writes each form of a transcript, and its media type."""

READ_AT_ONCE = 100
"""Events in one read of an export; an export never has more of them in memory."""


class ServerLibrary:
    """The registry and the store, as the HTTP API reads them."""

    def __init__(self, registry: Registry, store: SqliteStore, sockets: Callable[[], int]) -> None:
        self._registry = registry
        self._store = store
        self._sockets = sockets
        self._searches = Searches(store.search, registry.limits)

    @property
    def opening(self) -> Folders:
        """Opens the files and folders of sessions."""
        return self._registry.policy.opening

    def sessions(self) -> list[ListedSession]:
        """The rows of the lobby's list."""
        return self._registry.lobby.sessions()

    def roots(self) -> list[str]:
        """The folders in which sessions work, if the policy allows sessions there.

        The list contains the CLI's own sessions, which can be in any folder.
        """
        allowed = self._registry.policy.folders
        folders = {Path(row.cwd) for row in self.sessions() if row.cwd}
        within = [path for path in folders if any(path.is_relative_to(root) for root in allowed)]
        return sorted(map(str, within))

    def folder(self, session: str) -> str | None:
        """The folder that a session works in; refuses one that sessions may not work in."""
        row = self._registry.lobby.session(session)
        if row is None:
            return None
        real = self._registry.policy.check_folder(row.cwd)
        if real != row.cwd and self.has_session(session):
            raise Refusal(
                "not_found",
                "The folder of this session was replaced by a link, so the server does not read it.",
            )
        return real

    def base_commit(self, session: str) -> str | None:
        """The commit that was checked out when a session started, if that is known."""
        row = self._registry.sessions.rows.get(session)
        return None if row is None else row.base_commit

    def allowed(self) -> list[str]:
        """The folders under which sessions may work."""
        return [str(root) for root in self._registry.policy.folders]

    async def drafts(self, session: str, reader: str) -> list[dict[str, Any]]:
        """Drafts of a session from other devices that may send prompts, the newest first."""
        shown = []
        for draft in await self._store.drafts(session):
            writer = (
                None if draft.device == reader else self._registry.sessions.device(draft.device)
            )
            if writer is not None and may(writer.role, "operator"):
                shown.append(
                    {
                        "device": draft.device,
                        "name": writer.name,
                        "text": draft.text,
                        "at": draft.at,
                    }
                )
        return shown

    def has_session(self, session: str) -> bool:
        """Whether this is a session of the server, with a log in the store."""
        return session in self._registry.sessions.rows

    def own_cli_sessions(self) -> set[str | None]:
        """The CLI's ids of the server's own sessions."""
        sessions = self._registry.sessions
        own = {row.cli_session_id for row in sessions.rows.values()} | sessions.elsewhere()
        for live in sessions.live:  # An id may change within a session (CLI-604).
            own |= {live.transcript.session.id, *live.transcript.session.previous_ids}
        return own

    def renamed(self, device: str, name: str) -> None:
        """Show a device under another name."""
        self._registry.renamed(device, name)

    async def search(self, query: str, filters: Filters, device: str) -> list[Any]:
        """The hits of a query, best first; refuses a search that takes too long."""
        return await self._searches.run(device, query, filters) if query.strip() else []

    async def export(self, session: str, form: str) -> tuple[AsyncIterator[bytes], str] | None:
        """A session as `json` (its snapshot), `markdown`, `html` or `ndjson` (a recording).

        In pieces. One of the CLI's own sessions has no recording: its file has no lines of a host.
        Refuses `html` if the web app has not been built.
        """
        if form == "ndjson" and self.has_session(session):
            return self._recording(session), "application/x-ndjson"
        transcript = await self._transcript(session) if form in _FORMS else None
        if transcript is None:
            return None
        write, media_type = _FORMS[form]
        parts = await asyncio.to_thread(write, transcript.snapshot())
        return pieces(parts), media_type

    async def _transcript(self, session: str) -> Transcript | None:
        """The transcript of a session of the server, or of one of the CLI's own."""
        sessions = self._registry.sessions
        try:
            if session in sessions.rows:
                return (await sessions.load(session)).transcript
            return None if sessions.cli is None else await sessions.cli.transcript(session)
        except (Refusal, KeyError, OSError):
            return None

    def health(self) -> dict[str, Any]:
        """Whether the server works and stores events."""
        state = self._store.state
        return {
            "ok": state.code == "ok",
            "store": {"state": state.code, "reason": state.reason},
            "sessions": len(self._registry.sessions.rows),
            "live": len(self._registry.sessions.live),
            "sockets": self._sockets(),
        }

    def metrics(self) -> str:
        """Metrics in the text format of Prometheus."""
        counters = self._store.counters
        metrics = {
            "fairlead_sessions": (len(self._registry.sessions.rows), "Sessions of the server."),
            "fairlead_sessions_live": (len(self._registry.sessions.live), "Running CLIs."),
            "fairlead_sockets": (self._sockets(), "Connected clients."),
            "fairlead_store_ok": (int(self._store.state.code == "ok"), "1 if events are stored."),
            "fairlead_store_commits_total": (counters.commits, "Commits since the start."),
            "fairlead_store_writes_total": (counters.writes, "Writes since the start."),
            "fairlead_store_slowest_commit_seconds": (
                counters.slowest_commit,
                "Duration of the slowest commit.",
            ),
            "fairlead_max_rss_bytes": (
                resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
                "Peak memory of the server.",
            ),
        }
        lines = []
        for name, (value, about) in metrics.items():
            kind = "counter" if name.endswith("_total") else "gauge"
            lines += [f"# HELP {name} {about}", f"# TYPE {name} {kind}", f"{name} {value}"]
        return "\n".join(lines) + "\n"

    async def _recording(self, session: str) -> AsyncIterator[bytes]:
        after = 0
        while events := await self._store.read(session, after, READ_AT_ONCE):
            after = events[-1].seq
            lines = (
                write_recorded(event.at, event.direction, event.line).encode()
                for event in events
                if event.direction in ("out", "in")
            )
            async for piece in pieces(lines):
                yield piece
