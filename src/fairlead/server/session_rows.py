"""A session as the lobby lists it: from its stored row, and from its transcript while loaded. Pure."""

from __future__ import annotations

from msgspec import structs

from fairlead.server.lobby_rows import InboxRow, ListedSession, ListedStatus
from fairlead.store.imports import CliSession
from fairlead.store.sessions import SessionRow
from fairlead.transcript.model import Pending, PromptItem
from fairlead.transcript.transcript import Transcript

__all__ = ["TITLE_CHARS", "cli_row", "inbox_row", "listed", "refreshed", "title_of"]

TITLE_CHARS = 80
"""Letters of the first prompt that stand for a title."""


def listed(row: SessionRow, transcript: Transcript | None, *, live: bool) -> ListedSession:
    """The row of the lobby."""
    return ListedSession(
        id=row.id,
        title=row.title or "",
        cwd=row.cwd,
        cli_session_id=row.cli_session_id,
        status=_status(row, transcript),
        live=live,
        model=row.model,
        mode=row.mode,
        effort=row.effort,
        cost_usd=row.cost_usd,
        created=row.created,
        last_activity=row.last_activity,
        pinned=row.pinned,
        archived=row.archived,
        parent=row.parent,
        items=row.items,
        pending=0 if transcript is None else len(transcript.pending),
        source=row.source,
        agent=row.agent,
    )


def _status(row: SessionRow, transcript: Transcript | None) -> ListedStatus:
    if transcript is None:
        return ListedStatus(state=row.state, since=row.last_activity, last_event=row.last_activity)
    now = transcript.status
    return ListedStatus(
        state=now.state,
        since=now.since,
        last_event=now.last_event,
        waiting=now.waiting,
        background=now.background,
        detail=now.detail,
    )


def refreshed(row: SessionRow, transcript: Transcript, state: str) -> SessionRow:
    """The stored row with what the transcript knows now."""
    session = transcript.session
    return structs.replace(
        row,
        title=row.title or title_of(transcript),
        cli_session_id=session.id or row.cli_session_id,
        origin=None if session.id else row.origin,
        model=session.model or row.model,
        mode=session.permission_mode or row.mode,
        effort=session.effort or row.effort,
        cost_usd=transcript.ledger.cost_usd,
        last_activity=max(row.last_activity, transcript.status.last_event),
        items=transcript.count("items"),
        state=state,
    )


def title_of(transcript: Transcript) -> str | None:
    """What the CLI calls it, else the beginning of the first prompt."""
    if transcript.session.title:
        return transcript.session.title
    for item in transcript.items:
        if isinstance(item, PromptItem) and item.text.strip():
            line = " ".join(item.text.split())
            return line if len(line) <= TITLE_CHARS else line[: TITLE_CHARS - 1] + "…"
    return None


def inbox_row(session: str, title: str, request: Pending) -> InboxRow:
    """What waits for an answer, as the lobby lists it."""
    return InboxRow(
        id=f"{session}:{request.id}",
        session=session,
        session_title=title,
        request_id=request.id,
        kind=request.kind,
        tool_name=request.tool_name,
        title=request.title,
        at=request.at,
    )


def cli_row(found: CliSession, live: bool) -> ListedSession:
    """A session of the CLI's own, as the lobby lists it: it can be looked at and resumed."""
    row = SessionRow(
        id=found.id,
        cwd=found.cwd,
        title=found.title or None,
        cli_session_id=found.id,
        source="cli",
        state="elsewhere" if live else "",
        created=found.created,
        last_activity=found.last_activity,
        items=found.messages,
    )
    return listed(row, None, live=live)
