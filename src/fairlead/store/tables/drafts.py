"""The drafts table: unsent text, one row for each session and device."""

from __future__ import annotations

import sqlite3

from msgspec import Struct

__all__ = ["Draft", "find", "of_session", "put"]


class Draft(Struct, frozen=True, kw_only=True):
    """Unsent text in a text field."""

    session: str
    device: str
    text: str
    at: float


def put(db: sqlite3.Connection, draft: Draft) -> None:
    """Insert or replace a draft; an empty one is deleted."""
    if not draft.text:
        db.execute(
            "DELETE FROM drafts WHERE session = ? AND device = ?", (draft.session, draft.device)
        )
        return
    db.execute(
        "INSERT OR REPLACE INTO drafts (session, device, text, at) VALUES (?, ?, ?, ?)",
        (draft.session, draft.device, draft.text, draft.at),
    )


def find(db: sqlite3.Connection, session: str, device: str) -> Draft | None:
    """The draft of one device."""
    row = db.execute(
        "SELECT text, at FROM drafts WHERE session = ? AND device = ?", (session, device)
    ).fetchone()
    return Draft(session=session, device=device, text=row[0], at=row[1]) if row else None


def of_session(db: sqlite3.Connection, session: str) -> list[Draft]:
    """All drafts of a session, the newest first."""
    rows = db.execute(
        "SELECT device, text, at FROM drafts WHERE session = ? ORDER BY at DESC, device", (session,)
    )
    return [Draft(session=session, device=device, text=text, at=at) for device, text, at in rows]
