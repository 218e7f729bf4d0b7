"""The audit table: who did what and when. Rows are appended and never changed."""

from __future__ import annotations

import sqlite3
from typing import Any

import msgspec
from msgspec import Struct

__all__ = ["AuditRecord", "newest", "put"]


class AuditRecord(Struct, frozen=True, kw_only=True):
    """Something that a person, a device or a policy did."""

    at: float
    action: str
    session: str | None = None
    device: str | None = None
    details: dict[str, Any] = {}


def put(db: sqlite3.Connection, record: AuditRecord) -> None:
    """Append a record."""
    db.execute(
        "INSERT INTO audit (at, action, session, device, details) VALUES (?, ?, ?, ?, ?)",
        (
            record.at,
            record.action,
            record.session,
            record.device,
            msgspec.json.encode(record.details),
        ),
    )


def newest(db: sqlite3.Connection, session: str | None, limit: int) -> list[AuditRecord]:
    """The last records of a session, or of everything, the newest first."""
    rows = db.execute(
        "SELECT at, action, session, device, details FROM audit"
        " WHERE ?1 IS NULL OR session = ?1 ORDER BY id DESC LIMIT ?2",
        (session, limit),
    )
    return [
        AuditRecord(
            at=at,
            action=action,
            session=session_id,
            device=device,
            details=msgspec.json.decode(details),
        )
        for at, action, session_id, device, details in rows
    ]
