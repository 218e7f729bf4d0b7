"""The rows of all sessions: stored, listed in the lobby, and their items made findable.

What outlives the process is in the rows; what the lobby shows besides comes from the transcript
while a session is loaded. Knows no CLI and starts nothing; `starter` does.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from msgspec import structs

from fairlead.server import session_rows
from fairlead.server.live_session import LiveSession
from fairlead.server.lobby import Lobby
from fairlead.server.lobby_rows import ListedStatus
from fairlead.server.refusal import Refusal
from fairlead.store.intents import IntentOutcome
from fairlead.store.log import StoreUnavailable
from fairlead.store.sessions import SessionRow
from fairlead.store.sqlite import SqliteStore
from fairlead.transcript.changes import Add, Change, Remove, Replace

__all__ = ["INTERRUPTED", "RUNNING", "STOPPED", "SessionBook"]

LAST_EVENT_STEP_S = 5.0
"""How often the lobby is told that a session that works is still alive."""


RUNNING, STOPPED, INTERRUPTED = "running", "stopped", "interrupted"
"""States of a stored row: what a server that starts must know of the one before it."""


class SessionBook:
    """The rows, and who has to know of them."""

    def __init__(
        self,
        store: SqliteStore,
        lobby: Lobby,
        loaded: Callable[[str], LiveSession | None],
        spawn: Callable[[Coroutine[Any, Any, Any]], None],
    ) -> None:
        self.rows: dict[str, SessionRow] = {}
        self._store = store
        self._lobby = lobby
        self._loaded = loaded
        self._spawn = spawn
        self._unsaved: set[str] = set()
        self._unindexed: dict[str, set[str]] = {}
        self._shown: dict[str, tuple[float, tuple[Any, ...]]] = {}
        """What `refresh` found when it last showed a session, and the time of its last event."""

    def row(self, session: str) -> SessionRow:
        """The row of a session; refuses if there is none."""
        found = self.rows.get(session)
        if found is None:
            raise Refusal("not_found", f"there is no session {session!r}")
        return found

    async def save(self, row: SessionRow, intent: IntentOutcome | None = None) -> None:
        """Store a row and list it; raises `StoreUnavailable`, and then nothing has changed."""
        await self._store.put_session(row, intent=intent)
        self.rows[row.id] = row
        self._unsaved.discard(row.id)
        self.show(row.id)

    def save_soon(self, row: SessionRow) -> None:
        """Store a row when the store can; what it says is true in any case."""
        self.rows[row.id] = row
        self._unsaved.add(row.id)
        self.show(row.id)
        self._spawn(self.save_all())

    def refresh(self, live: LiveSession) -> None:
        """Bring the lobby up to date after events, most of which it need not know of."""
        status = live.transcript.status
        pending = live.transcript.count("pending")
        telling = (
            *(self.rows.get(live.id), live.live, pending, status.state, status.since),
            *(status.waiting, status.background, status.detail),
        )
        at, told = self._shown.get(live.id, (0.0, ()))
        if pending or told != telling or status.last_event - at >= LAST_EVENT_STEP_S:
            self.show(live.id)
            self._shown[live.id] = status.last_event, telling

    def show(self, session: str) -> None:
        """Bring a session's row of the lobby up to date, and what waits in it."""
        self._shown.pop(session, None)
        row, live = self.rows.get(session), self._loaded(session)
        if row is None:
            return
        transcript = live.transcript if live is not None else None
        new = session_rows.listed(row, transcript, live=live is not None and live.live)
        old = self._lobby.session(session)
        if old is not None:
            status = _calm(old.status, new.status)
            new = structs.replace(new, draft=old.draft, status=status)
        self._lobby.put("sessions", new)
        self._list_inbox(session, new.title)

    def _list_inbox(self, session: str, title: str) -> None:
        live = self._loaded(session)
        pending = live.transcript.pending if live is not None else ()
        rows = [session_rows.inbox_row(session, title, one) for one in pending]
        wanted = {row.id for row in rows}
        for gone in self._lobby.ids("inbox"):
            if gone.startswith(f"{session}:") and gone not in wanted:
                self._lobby.remove("inbox", gone)
        for row in rows:
            self._lobby.put("inbox", row)

    async def save_all(self) -> None:
        """Store the rows that could not be stored yet."""
        for session in tuple(self._unsaved):
            row = self.rows[session]
            try:
                await self._store.put_session(row)
            except StoreUnavailable:
                return
            if self.rows[session] is row:
                self._unsaved.discard(session)

    # Search

    def touched(self, session: str, changes: Sequence[Change]) -> None:
        """These changes were shown; the items in them are indexed when the turn is over."""
        items = self._unindexed.setdefault(session, set())
        for change in changes:
            if change.to != "items" or isinstance(change, Replace):
                continue
            if isinstance(change, Remove):
                items.discard(change.id)
            else:
                items.add(change.row.id if isinstance(change, Add) else str(change.id))

    def doubt(self, session: str, items: Sequence[str]) -> None:
        """These may not have been indexed before the last server ended."""
        self._unindexed.setdefault(session, set()).update(items)

    def turn_over(self, live: LiveSession, state: str) -> None:
        """Nothing runs now: keep what is known, and make what was said findable."""
        row = self.rows.get(live.id)
        if row is None:
            return
        new = session_rows.refreshed(row, live.transcript, state)
        if structs.replace(row, last_activity=new.last_activity) != new:
            self.save_soon(new)
        items = self._unindexed.pop(live.id, None)
        if items:
            self._spawn(self._index(live, items))

    async def _index(self, live: LiveSession, items: set[str]) -> None:
        found = [item for one in items if (item := live.transcript.item(one)) is not None]
        try:
            project, model = self.rows[live.id].cwd, live.transcript.session.model or ""
            await self._store.index_items(live.id, found, project=project, model=model)
        except StoreUnavailable:
            self._unindexed.setdefault(live.id, set()).update(items)


def _calm(old: ListedStatus, new: ListedStatus) -> ListedStatus:
    """The old one, if nothing but the time of its last event is new and that is not long ago."""
    same = structs.replace(new, last_event=old.last_event) == old
    return old if same and new.last_event - old.last_event < LAST_EVENT_STEP_S else new
