"""The rows of all sessions: stores them, lists them in the lobby, and indexes items for the search.

The rows outlive the process; the other values that the lobby shows come from the transcript while
a session is loaded. This module knows no CLI and starts nothing; `starter` does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from operator import is_
from typing import Any

from msgspec import structs

from fairlead.server.branches import Branches
from fairlead.server.protocol.lobby_rows import InboxRow
from fairlead.server.protocol.pending_row import REQUESTS_LISTED
from fairlead.server.refusal import Refusal
from fairlead.server.session.live_session import LiveSession
from fairlead.server.sessions.resume_problems import ResumeProblems
from fairlead.server.view import session_rows
from fairlead.server.view.lobby import Lobby
from fairlead.store.log import StoreUnavailable
from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables.intents import IntentOutcome
from fairlead.store.tables.sessions import SessionRow
from fairlead.transcript.state.changes import Add, Change, Remove, Replace
from fairlead.transcript.state.model import Pending, Status

__all__ = ["INTERRUPTED", "RUNNING", "STOPPED", "SessionCatalog"]

UNSHOWN_S = 2.0
"""How long the row of a session may lack its last sentence, tasks and lines."""

UNSHOWN_PER_SESSION_S = 0.02
"""What each loaded session adds to that time above a hundred of them: four seconds for 200."""

INBOX_TOTAL = 1_000
"""Requests of all sessions in the inbox; above it each further session lists only a few."""
INBOX_FEW = 5

RUNNING, STOPPED, INTERRUPTED = "running", "stopped", "interrupted"
"""States of a stored row: what the next server must know about the session."""


class SessionCatalog:
    """The rows of sessions in memory, in the store and in the lobby."""

    def __init__(
        self,
        store: SqliteStore,
        lobby: Lobby,
        loaded: Callable[[str], LiveSession | None],
        spawn: Callable[[Coroutine[Any, Any, Any]], None],
        problems: ResumeProblems,
        hashes: Callable[[str, Pending], tuple[str, str]],
        clock: Callable[[], float],
    ) -> None:
        """`hashes` gives those of a session's request: of its input, and of its group."""
        self.rows: dict[str, SessionRow] = {}
        self._store = store
        self._lobby = lobby
        self._loaded = loaded
        self._spawn = spawn
        self.resume_problems = problems
        self._hashes = hashes
        self._clock = clock
        self._branches = Branches(clock)
        self.deleting: dict[str, float] = {}
        """The sessions that are to be deleted, and until when that can be undone."""
        self.closing: set[str] = set()
        """Sessions whose deletion is being stored: no intent may start them again."""
        self.moving: dict[str, bool] = {}
        """Sessions that are being moved to another machine, and whether their CLI is stopped."""
        self._unsaved: set[str] = set()
        self._unindexed: dict[str, set[str]] = {}
        self._inbox: dict[str, dict[str, InboxRow]] = {}
        """The open requests by session and request, as the lobby shows them."""
        self._shown: dict[str, _Shown] = {}
        """What the lobby shows of each loaded session."""
        self._unshown: set[str] = set()
        """Sessions with events since their whole row was shown; a timer runs while there are any."""
        self._checked: dict[str, tuple[SessionRow | None, bool, Status]] = {}
        """The row, whether a CLI ran, and the status when `refresh` last found nothing to show."""

    def row(self, session: str) -> SessionRow:
        """The row of a session; refuses if there is none."""
        row = self.rows.get(session)
        if row is None:
            raise Refusal("not_found", f"Session {session!r} does not exist.")
        return row

    async def save(self, row: SessionRow, intent: IntentOutcome | None = None) -> None:
        """Store a row and list it; if this raises `StoreUnavailable`, nothing has changed."""
        await self._store.put_session(row, intent=intent)
        self.rows[row.id] = row
        self._unsaved.discard(row.id)
        self.show(row.id)

    def forget(self, session: str) -> None:
        """A session was deleted: remove it from memory and from the lobby."""
        self.rows.pop(session, None)
        self.deleting.pop(session, None)
        self._unsaved.discard(session)
        self._unshown.discard(session)
        self._unindexed.pop(session, None)
        self._shown.pop(session, None)
        self._checked.pop(session, None)
        for row in self._inbox.pop(session, {}).values():
            self._lobby.remove("inbox", row.id)
        self._lobby.remove("sessions", session)

    def save_soon(self, row: SessionRow) -> None:
        """List a row now, and store it as soon as the store is available."""
        self.rows[row.id] = row
        self._unsaved.add(row.id)
        self.show(row.id)
        self._spawn(self.save_all())

    def refresh(self, live: LiveSession) -> None:
        """Update the lobby after events, most of which do not change it."""
        transcript = live.transcript
        status, pending = transcript.status, transcript.count("pending")
        row, running = self.rows.get(live.id), live.live
        self._note_unshown(live.id)
        checked = self._checked.get(live.id)
        if checked is not None and not pending and _same(checked, (row, running, status)):
            return
        self._checked.pop(live.id, None)
        outside = _outside(live, row)
        shown = self._shown.get(live.id)
        if shown is None or shown.outside != outside or shown.is_old(status):
            self.show(live.id)
        elif not session_rows.looks_same(shown.status, status):
            self._lobby.set("sessions", live.id, status=session_rows.status_of(transcript))
            shown.status = status
        else:
            self._checked[live.id] = row, running, status

    def _note_unshown(self, session: str) -> None:
        """The row may differ from what the lobby shows: show it soon, even if no event follows."""
        if not self._unshown:
            wait_s = max(UNSHOWN_S, UNSHOWN_PER_SESSION_S * len(self._shown))
            asyncio.get_running_loop().call_later(wait_s, self._show_unshown)
        self._unshown.add(session)

    def _show_unshown(self) -> None:
        sessions, self._unshown = self._unshown, set()
        for session in sessions:
            live = self._loaded(session)
            if live is not None:
                self._show_work(live)

    def _show_work(self, live: LiveSession) -> None:
        """Update what `refresh` does not compare: the result of the work, and the branch."""
        row, shown = self.rows.get(live.id), self._shown.get(live.id)
        listed, outside = self._lobby.session(live.id), _outside(live, row)
        is_new = shown is None or shown.outside != outside
        if row is None or listed is None or is_new or not live.live:
            self.show(live.id)
            return
        self._shown[live.id] = _Shown(outside, live.transcript.status)
        changed = session_rows.worked(listed, live.transcript, self._branch(row))
        if changed:
            self._lobby.set("sessions", live.id, **changed)
        self._list_inbox(live.id, listed.title)

    def show(self, session: str) -> None:
        """Update a session's row in the lobby, and its open requests."""
        self._shown.pop(session, None)
        self._checked.pop(session, None)
        row, live = self.rows.get(session), self._loaded(session)
        if row is None:
            return
        if live is not None:
            self._shown[session] = _Shown(_outside(live, row), live.transcript.status)
        transcript = live.transcript if live is not None else None
        running = live is not None and live.live
        problem = None if running else self.resume_problems.of_own(row, transcript, self._clock())
        new = session_rows.listed(
            row,
            transcript,
            live=running,
            resume_problem=problem,
            branch=self._branch(row),
            deleting=self.deleting.get(session),
            before=self._lobby.session(session),
        )
        self._lobby.put("sessions", new)
        self._list_inbox(session, new.title)

    def _branch(self, row: SessionRow) -> str | None:
        return None if row.archived else self._branches.of(row.cwd)

    def _list_inbox(self, session: str, title: str) -> None:
        live = self._loaded(session)
        before = self._inbox.get(session, {})
        count = live.transcript.count("pending") if live is not None else 0
        if not count and not before:
            return
        others = sum(len(rows) for rows in self._inbox.values()) - len(before)
        most = min(REQUESTS_LISTED, max(INBOX_FEW, INBOX_TOTAL - others))
        pending = live.transcript.pending[:most] if live is not None and count else ()
        is_new = live is not None and any(request.id not in before for request in pending)
        reason = session_rows.last_sentence(live.transcript) if live is not None and is_new else ""
        wanted = {}
        for request in pending:
            known = before.get(request.id)
            wanted[request.id] = (
                session_rows.inbox_row(
                    session, title, request, reason, *self._hashes(session, request)
                )
                if known is None
                else structs.replace(
                    known,
                    session_title=title,
                    title=request.title,
                    held=request.details.get("held"),
                )
            )
        for request_id, row in before.items():
            if request_id not in wanted:
                self._lobby.remove("inbox", row.id)
        for request_id, row in wanted.items():
            if before.get(request_id) != row:
                self._lobby.put("inbox", row)
        if wanted:
            self._inbox[session] = wanted
        else:
            self._inbox.pop(session, None)

    def show_resume_problems(self) -> None:
        """List every session again whose file or folder disappeared or reappeared."""
        for session, row in self.rows.items():
            listed, live = self._lobby.session(session), self._loaded(session)
            if listed is None or (live is not None and live.live):
                continue
            transcript = live.transcript if live is not None else None
            problem = self.resume_problems.of_own(row, transcript, self._clock())
            if problem != listed.resume_problem:
                self.show(session)

    async def save_all(self) -> None:
        """Store the rows that are not stored yet.

        Several calls may run at the same time; each row is in one of them, until that call fails.
        """
        while rows := [
            row for session in self._unsaved if (row := self.rows.get(session)) is not None
        ]:
            self._unsaved.clear()
            try:
                await self._store.put_sessions(rows)
            except BaseException as problem:  # Also if the task is cancelled.
                self._unsaved.update(row.id for row in rows)
                if isinstance(problem, StoreUnavailable):
                    return
                raise

    # Search

    def touched(self, session: str, changes: Sequence[Change]) -> None:
        """These changes were published; their items are indexed when the turn is over."""
        items = self._unindexed.setdefault(session, set())
        for change in changes:
            if change.to != "items" or isinstance(change, Replace):
                continue
            if isinstance(change, Remove):
                items.discard(change.id)
            else:
                items.add(change.row.id if isinstance(change, Add) else str(change.id))

    def index_again(self, session: str, items: Sequence[str]) -> None:
        """Index items that the last server may not have indexed."""
        self._unindexed.setdefault(session, set()).update(items)

    def turn_over(self, live: LiveSession, state: str) -> None:
        """A turn ended: store the row, and index the items of the turn."""
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
        if live.id not in self.rows:
            return  # It was deleted meanwhile.
        present = [item for name in items if (item := live.transcript.item(name)) is not None]
        try:
            row, model = self.rows[live.id], live.transcript.session.model or ""
            await self._store.index_items(
                live.id, present, project=row.cwd, model=model, profile=row.profile
            )
        except StoreUnavailable:
            self._unindexed.setdefault(live.id, set()).update(items)


class _Shown:
    """What the row of a session in the lobby was made from."""

    __slots__ = ("_last_event", "outside", "status")

    def __init__(self, outside: tuple[Any, ...], status: Status) -> None:
        self.outside = outside
        """Everything but the status."""
        self.status = status
        """The status that the lobby shows now."""
        self._last_event = status.last_event

    def is_old(self, status: Status) -> bool:
        """Whether the whole row is due again: it has the last sentence, tasks and lines."""
        return status.last_event - self._last_event >= session_rows.LAST_EVENT_STEP_S


def _outside(live: LiveSession, row: SessionRow | None) -> tuple[Any, ...]:
    """What a row of the lobby is made from, but for the status."""
    transcript = live.transcript
    return (
        *(row, live.live, transcript.pending if transcript.count("pending") else ()),
        *(transcript.limit, transcript.queue_hold, transcript.in_turn),
    )


def _same(before: tuple[Any, ...], after: tuple[Any, ...]) -> bool:
    """Whether both have the same objects; they are immutable, so nothing in them differs."""
    return all(map(is_, before, after))
