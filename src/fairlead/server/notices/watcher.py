"""Watches the sessions and hands their notices to the outbox.

Called after each batch of events that was stored. Knows the mark of each session; `rules/derive`
decides what is new. The marks of sessions that a killed server left running are loaded before
those sessions are recovered, so that what happened just before the end is not forgotten (B92).
"""

from __future__ import annotations

from collections.abc import Callable

from fairlead.server.notices.outbox import Outbox
from fairlead.server.notices.rules.derive import derive, seed
from fairlead.server.session.live_session import LiveSession
from fairlead.server.sessions.catalog import RUNNING
from fairlead.server.sessions.sessions import Sessions
from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables import notices as table
from fairlead.store.tables.notices import NoticeMark
from fairlead.transcript.state.model import Pending

__all__ = ["Watcher"]


class Watcher:
    """The marks of all sessions."""

    def __init__(self, outbox: Outbox, sessions: Sessions) -> None:
        self._outbox = outbox
        self._sessions = sessions
        self._marks: dict[str, NoticeMark] = {}
        sessions.on_deleted.append(self._forget)

    async def load(self, store: SqliteStore) -> None:
        """Read the marks; call it before the sessions are recovered."""
        self._marks = await store.query(table.marks)
        for row in await store.sessions():
            if row.state == RUNNING:
                # It was killed before its first mark was stored: everything in it is new.
                self._marks.setdefault(row.id, NoticeMark())

    def settled(self, live: LiveSession) -> None:
        """A batch of events of a session was stored and shown."""
        transcript = live.transcript
        mark = self._marks.get(live.id)
        if mark is None:
            mark = self._marks[live.id] = seed(transcript)
            self._outbox.add(live.id, (), mark)
        derived = derive(transcript, mark, self._title(live), self._hash_of(live))
        if derived.mark == mark:
            return
        self._marks[live.id] = derived.mark
        viewed = self._sessions.hub.followers(live.id, looking=True) > 0
        self._outbox.add(live.id, derived.notices, derived.mark, derived.settled, viewed=viewed)

    def _forget(self, session: str) -> None:
        self._marks.pop(session, None)

    def _title(self, live: LiveSession) -> str:
        row = self._sessions.rows.get(live.id)
        return (row.title if row is not None else None) or live.transcript.session.title or ""

    def _hash_of(self, live: LiveSession) -> Callable[[Pending], str]:
        return lambda row: self._sessions.source(live.id).pending_offers.hashes(row)[0]
