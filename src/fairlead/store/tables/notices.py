"""The notices table: what users are notified of, and the deliveries that are still to be made.

A notice has a key that is unique in its session, so that it is stored once. `deliveries` has a row
for each target that has not got the notice yet; it is deleted when the target has it, or when it
is not needed any more. `notice_marks` says up to where notices were made from a session. A notice,
its deliveries and the mark are stored in one transaction (S48).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from fairlead.wire import decoders

__all__ = [
    "Delivery",
    "NewDelivery",
    "NewNotice",
    "NoticeMark",
    "StoredTarget",
    "due",
    "finish",
    "forget_target",
    "marks",
    "move",
    "next_due",
    "prune",
    "put",
    "put_target",
    "retries",
    "retry",
    "targets",
]


class NoticeMark(Struct, frozen=True, kw_only=True):
    """Up to where notices were made from a session."""

    turn: str = ""
    """The last turn whose end was considered."""
    keys: tuple[str, ...] = ()
    """The keys of open requests and of limits that were considered."""


class NewDelivery(Struct, frozen=True):
    """A target that should get a notice, and when."""

    target: str
    due: float


class NewNotice(Struct, frozen=True, kw_only=True):
    """A notice that is not stored yet."""

    key: str
    at: float
    body: bytes
    deliveries: tuple[NewDelivery, ...] = ()


class Delivery(Struct, frozen=True, kw_only=True):
    """A notice that a target has not got yet."""

    notice: int
    session: str
    key: str
    body: bytes
    target: str
    due: float
    tries: int


class StoredTarget(Struct, frozen=True, kw_only=True):
    """Where notices are sent: a browser's push subscription, or a channel."""

    id: str
    row: bytes
    last_sent: float | None = None
    problem: str = ""
    """Why the last notice could not be sent."""


def put(
    db: sqlite3.Connection,
    session: str,
    notices: Sequence[NewNotice],
    mark: NoticeMark | None,
    settled: Sequence[str] = (),
) -> None:
    """Store notices with their deliveries, and the new mark of their session.

    `settled` are keys whose notices are not needed any more. A notice replaces an earlier one of
    its session that a target has not got yet.
    """
    for key in settled:
        db.execute(
            "DELETE FROM deliveries WHERE notice IN"
            " (SELECT id FROM notices WHERE session = ? AND key = ?)",
            (session, key),
        )
    for notice in notices:
        cursor = db.execute(
            "INSERT OR IGNORE INTO notices (session, key, at, body) VALUES (?, ?, ?, ?)",
            (session, notice.key, notice.at, notice.body),
        )
        if not cursor.rowcount:
            continue
        for delivery in notice.deliveries:
            db.execute(
                "DELETE FROM deliveries WHERE target = ? AND notice IN"
                " (SELECT id FROM notices WHERE session = ?)",
                (delivery.target, session),
            )
            db.execute(
                "INSERT INTO deliveries (notice, target, due) VALUES (?, ?, ?)",
                (cursor.lastrowid, delivery.target, delivery.due),
            )
    if mark is not None:
        db.execute(
            "INSERT OR REPLACE INTO notice_marks (session, mark) VALUES (?, ?)",
            (session, msgspec.json.encode(mark)),
        )


def marks(db: sqlite3.Connection) -> dict[str, NoticeMark]:
    """The marks of all sessions."""
    rows = db.execute("SELECT session, mark FROM notice_marks")
    return {session: decoders.decode(mark, NoticeMark) for session, mark in rows}


_DELIVERY = (
    "SELECT notices.id, session, key, body, target, due, tries FROM deliveries"
    " JOIN notices ON notices.id = deliveries.notice"
)


def due(db: sqlite3.Connection, now: float, limit: int) -> list[Delivery]:
    """The deliveries that are to be made now, the oldest first."""
    rows = db.execute(f"{_DELIVERY} WHERE due <= ? ORDER BY due, notices.id LIMIT ?", (now, limit))
    return [
        Delivery(
            notice=notice, session=session, key=key, body=body, target=target, due=at, tries=tries
        )
        for notice, session, key, body, target, at, tries in rows
    ]


def next_due(db: sqlite3.Connection) -> float | None:
    """When the next delivery is to be made."""
    (at,) = db.execute("SELECT min(due) FROM deliveries").fetchone()
    return None if at is None else float(at)


def finish(
    db: sqlite3.Connection, notice: int, target: str, sent: float | None, problem: str = ""
) -> None:
    """A target has a notice, or will not get it because of a problem."""
    db.execute("DELETE FROM deliveries WHERE notice = ? AND target = ?", (notice, target))
    if sent is not None or problem:
        db.execute(
            "UPDATE notice_targets SET last_sent = coalesce(?, last_sent), problem = ? WHERE id = ?",
            (sent, problem, target),
        )


def retry(db: sqlite3.Connection, notice: int, target: str, due: float, problem: str) -> None:
    """Try a delivery again later."""
    db.execute(
        "UPDATE deliveries SET due = ?, tries = tries + 1 WHERE notice = ? AND target = ?",
        (due, notice, target),
    )
    db.execute("UPDATE notice_targets SET problem = ? WHERE id = ?", (problem, target))


def retries(db: sqlite3.Connection) -> dict[str, float]:
    """The targets with a delivery that failed, and when the first of them is tried again."""
    rows = db.execute("SELECT target, min(due) FROM deliveries WHERE tries > 0 GROUP BY target")
    return {target: float(due) for target, due in rows}


def move(db: sqlite3.Connection, notice: int, target: str, due: float) -> None:
    """Make a delivery at another time."""
    db.execute(
        "UPDATE deliveries SET due = ? WHERE notice = ? AND target = ?", (due, notice, target)
    )


def put_target(db: sqlite3.Connection, target: str, row: bytes) -> None:
    """Insert or change a target."""
    db.execute(
        "INSERT INTO notice_targets (id, row) VALUES (?, ?)"
        " ON CONFLICT (id) DO UPDATE SET row = excluded.row, problem = ''",
        (target, row),
    )


def forget_target(db: sqlite3.Connection, target: str) -> None:
    """Remove a target, and what it has not got yet."""
    db.execute("DELETE FROM notice_targets WHERE id = ?", (target,))
    db.execute("DELETE FROM deliveries WHERE target = ?", (target,))


def targets(db: sqlite3.Connection) -> list[StoredTarget]:
    """All targets."""
    rows = db.execute("SELECT id, row, last_sent, problem FROM notice_targets ORDER BY id")
    return [
        StoredTarget(id=target, row=row, last_sent=sent, problem=problem)
        for target, row, sent, problem in rows
    ]


def prune(db: sqlite3.Connection, before: float) -> None:
    """Delete notices from before a time that every target has."""
    db.execute(
        "DELETE FROM notices WHERE at < ? AND id NOT IN (SELECT notice FROM deliveries)", (before,)
    )
