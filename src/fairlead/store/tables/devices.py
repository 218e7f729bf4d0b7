"""The devices table: the devices that may connect. It has a hash of each token, never the token."""

from __future__ import annotations

import sqlite3

from msgspec import Struct

__all__ = ["Device", "by_token_hash", "put", "revoke", "rows"]


class Device(Struct, frozen=True, kw_only=True):
    """A browser, a phone or a program that has a token."""

    id: str
    name: str
    role: str
    """viewer, approver, operator, or owner."""
    token_hash: str
    created: float
    last_seen: float = 0.0
    revoked: float | None = None
    """When its token was revoked."""


_COLUMNS = "id, name, role, token_hash, created, last_seen, revoked"


def put(db: sqlite3.Connection, device: Device) -> None:
    """Insert or replace a device by its id; a revoked one stays revoked."""
    db.execute(
        f"INSERT INTO devices ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE"
        " SET name = excluded.name, role = excluded.role, token_hash = excluded.token_hash,"
        " last_seen = max(last_seen, excluded.last_seen),"
        " revoked = coalesce(revoked, excluded.revoked)",
        (
            device.id,
            device.name,
            device.role,
            device.token_hash,
            device.created,
            device.last_seen,
            device.revoked,
        ),
    )


def rows(db: sqlite3.Connection) -> list[Device]:
    """All devices, revoked ones too, in the order of their creation."""
    return [
        _device(row) for row in db.execute(f"SELECT {_COLUMNS} FROM devices ORDER BY created, id")
    ]


def by_token_hash(db: sqlite3.Connection, token_hash: str) -> Device | None:
    """The device whose token has this hash, unless it was revoked."""
    row = db.execute(
        f"SELECT {_COLUMNS} FROM devices WHERE token_hash = ? AND revoked IS NULL", (token_hash,)
    ).fetchone()
    return _device(row) if row else None


def revoke(db: sqlite3.Connection, device: str, at: float) -> bool:
    """Revoke a token; False if there is no such device or it was revoked before."""
    cursor = db.execute(
        "UPDATE devices SET revoked = ? WHERE id = ? AND revoked IS NULL", (at, device)
    )
    return cursor.rowcount > 0


def _device(row: tuple[str, str, str, str, float, float, float | None]) -> Device:
    device, name, role, token_hash, created, last_seen, revoked = row
    return Device(
        id=device,
        name=name,
        role=role,
        token_hash=token_hash,
        created=created,
        last_seen=last_seen,
        revoked=revoked,
    )
