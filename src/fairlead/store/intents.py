"""The intents table: what became of each thing a client wanted, so that a resend acts once.

A result is written once and never changed. Only the last `KEPT` of a client are kept: a client
resends what it has no answer to, and never that much.
"""

from __future__ import annotations

import sqlite3

from msgspec import Struct

__all__ = ["KEPT", "IntentOutcome", "find", "last", "put"]

KEPT = 1_000
"""Results kept for each client; it has far fewer intents without an answer at any time."""


class IntentOutcome(Struct, frozen=True, kw_only=True):
    """The n-th intent of a client, and the JSON of its result."""

    client: str
    n: int
    result: bytes


def put(db: sqlite3.Connection, outcome: IntentOutcome) -> None:
    """Keep a result; if there is one already, that one stays."""
    db.execute(
        "INSERT OR IGNORE INTO intents (client, n, result) VALUES (?, ?, ?)",
        (outcome.client, outcome.n, outcome.result),
    )
    db.execute(
        "DELETE FROM intents WHERE client = ? AND n <= ?", (outcome.client, outcome.n - KEPT)
    )


def find(db: sqlite3.Connection, client: str, n: int) -> bytes | None:
    """The JSON of a result, if the intent was acted on."""
    found = db.execute(
        "SELECT result FROM intents WHERE client = ? AND n = ?", (client, n)
    ).fetchone()
    return bytes(found[0]) if found else None


def last(db: sqlite3.Connection, client: str) -> int:
    """The highest n of a client that has a result; 0 if none has."""
    found = db.execute("SELECT max(n) FROM intents WHERE client = ?", (client,)).fetchone()
    return int(found[0] or 0)
