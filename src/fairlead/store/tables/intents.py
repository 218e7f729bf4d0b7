"""The intents table: the result of each intent of a client, so that a resend acts once.

A result is written once and never changed. The table is bounded: the last `KEPT` results of a
client, and at most `CLIENTS` clients of a device. A client name is `device/client`. A client that
sent an intent within the last `LIVE_S` is never forgotten, because it may still resend one.
"""

from __future__ import annotations

import sqlite3
import time

from msgspec import Struct

__all__ = [
    "CLIENTS",
    "KEPT",
    "LIVE_S",
    "IntentOutcome",
    "IntentWriter",
    "find",
    "has_room",
    "last",
    "make_room",
    "of_session",
]

KEPT = 1_000
"""Results kept for each client; it has far fewer intents without an answer at any time."""
CLIENTS = 256
"""Clients of one device; each page of the web app and each run of a program is one."""
USED_STEP_S = 60
"""How exactly the table knows when a client was last used: an intent a second later writes nothing."""
LIVE_S = 3_600 + USED_STEP_S
"""Seconds after the noted use during which a client is not forgotten: an hour after its last intent."""
CLIENTS_NOTED = 4_096
"""Clients of which it is in memory when their use was noted."""
UNUSED_S = 60 * 24 * 3_600
"""Seconds after which an unused client is forgotten in any case; its device has expired before."""

_NOW = "CAST(strftime('%s', 'now') AS INTEGER)"


class IntentOutcome(Struct, frozen=True, kw_only=True):
    """The n-th intent of a client, and the JSON of its result."""

    client: str
    n: int
    result: bytes


class IntentWriter:
    """Stores results, and when clients were last used, with as few statements as possible.

    Belongs to the one connection that writes. `forget` must be called when a transaction is rolled
    back or the file is another one.
    """

    def __init__(self) -> None:
        self._noted: dict[str, float] = {}
        """Client -> when its use was noted, by the monotonic clock."""

    def put(self, db: sqlite3.Connection, outcome: IntentOutcome) -> None:
        """Store a result; an existing one is not replaced."""
        client, n = outcome.client, outcome.n
        db.execute(
            "INSERT OR IGNORE INTO intents (client, n, result) VALUES (?, ?, ?)",
            (client, n, outcome.result),
        )
        if n > KEPT:
            db.execute("DELETE FROM intents WHERE client = ? AND n <= ?", (client, n - KEPT))
        now = time.monotonic()
        if now - self._noted.get(client, float("-inf")) >= USED_STEP_S:
            self._note_use(db, client, now)

    def forget(self) -> None:
        """What was noted may not be stored."""
        self._noted.clear()

    def _note_use(self, db: sqlite3.Connection, client: str, now: float) -> None:
        db.execute(
            f"INSERT INTO intent_clients (device, client, used) VALUES (?, ?, {_NOW})"
            " ON CONFLICT (device, client) DO UPDATE SET used = excluded.used",
            (_device(client), client),
        )
        if len(self._noted) >= CLIENTS_NOTED:
            self._noted.clear()
        self._noted[client] = now


def find(db: sqlite3.Connection, client: str, n: int) -> bytes | None:
    """The JSON of a result, if the intent was acted on."""
    row = db.execute(
        "SELECT result FROM intents WHERE client = ? AND n = ?", (client, n)
    ).fetchone()
    return bytes(row[0]) if row else None


def of_session(db: sqlite3.Connection, session: str) -> list[IntentOutcome]:
    """The results of intents about a session; those of older versions do not name it."""
    rows = db.execute(
        "SELECT client, n, result FROM intents"
        " WHERE json_extract(CAST(result AS TEXT), '$.session') = ? ORDER BY client, n",
        (session,),
    )
    return [IntentOutcome(client=client, n=n, result=bytes(result)) for client, n, result in rows]


def last(db: sqlite3.Connection, client: str) -> int:
    """The highest n of a client that has a result; 0 if none has."""
    row = db.execute("SELECT max(n) FROM intents WHERE client = ?", (client,)).fetchone()
    return int(row[0] or 0)


def has_room(db: sqlite3.Connection, client: str) -> bool:
    """Whether results of this client can be stored without deleting another client."""
    device = _device(client)
    row = db.execute(
        "SELECT 1 FROM intent_clients WHERE device = ? AND client = ?", (device, client)
    ).fetchone()
    return row is not None or _count(db, device) < CLIENTS


def make_room(db: sqlite3.Connection, client: str) -> bool:
    """Delete the clients of the same device that were unused for longest.

    False if too many of them were used so recently that they may still resend an intent.
    """
    _forget(db, f"used < {_NOW} - {UNUSED_S}", ())
    if has_room(db, client):
        return True
    device = _device(client)
    surplus = _count(db, device) - CLIENTS + 1
    _forget(
        db,
        "device = ? AND client IN (SELECT client FROM intent_clients"
        f" WHERE device = ? AND used < {_NOW} - {LIVE_S} ORDER BY used LIMIT ?)",
        (device, device, surplus),
    )
    return has_room(db, client)


def _forget(db: sqlite3.Connection, where: str, values: tuple[object, ...]) -> None:
    selection = f"SELECT client FROM intent_clients WHERE {where}"
    db.execute(f"DELETE FROM intents WHERE client IN ({selection})", values)
    db.execute(f"DELETE FROM intent_clients WHERE {where}", values)


def _count(db: sqlite3.Connection, device: str) -> int:
    row = db.execute("SELECT count(*) FROM intent_clients WHERE device = ?", (device,)).fetchone()
    return int(row[0])


def _device(client: str) -> str:
    return client.partition("/")[0]
