"""The schedules table, and their runs.

A run is stored as planned, together with the time of the next one, before anything is done for it
(S51). Its number makes what is done for it happen once.
"""

from __future__ import annotations

import sqlite3

from msgspec import Struct

__all__ = [
    "Run",
    "StoredSchedule",
    "change_run",
    "last_runs",
    "open_runs",
    "plan",
    "put",
    "remove",
    "rows",
    "set_next",
]

KEPT_RUNS = 100
"""Runs kept for each schedule."""


class StoredSchedule(Struct, frozen=True, kw_only=True):
    """A schedule and when it runs next."""

    id: str
    row: bytes
    next_at: float | None


class Run(Struct, frozen=True, kw_only=True):
    """One run of a schedule."""

    id: int
    schedule: str
    due: float
    state: str
    """planned, sent, done, or failed."""
    session: str = ""
    prompt: str = ""
    """The uuid of the prompt in an existing session."""
    outcome: str = ""
    """How its turn ended, or why it failed."""
    cost_usd: float | None = None


_RUN = "id, schedule, due, state, session, prompt, outcome, cost_usd"


def put(db: sqlite3.Connection, schedule: str, row: bytes, next_at: float | None) -> None:
    """Insert or replace a schedule."""
    db.execute(
        "INSERT OR REPLACE INTO schedules (id, row, next_at) VALUES (?, ?, ?)",
        (schedule, row, next_at),
    )


def remove(db: sqlite3.Connection, schedule: str) -> None:
    """Delete a schedule and its runs; the sessions stay."""
    db.execute("DELETE FROM schedules WHERE id = ?", (schedule,))
    db.execute("DELETE FROM schedule_runs WHERE schedule = ?", (schedule,))


def rows(db: sqlite3.Connection) -> list[StoredSchedule]:
    """All schedules."""
    entries = db.execute("SELECT id, row, next_at FROM schedules ORDER BY id")
    return [StoredSchedule(id=name, row=row, next_at=at) for name, row, at in entries]


def set_next(db: sqlite3.Connection, schedule: str, next_at: float | None) -> None:
    """Set the time of the next run."""
    db.execute("UPDATE schedules SET next_at = ? WHERE id = ?", (next_at, schedule))


def plan(
    db: sqlite3.Connection, schedule: str, due: float, next_at: float | None, prompt: str
) -> Run:
    """Store a run that is due now, and the time of the next one."""
    cursor = db.execute(
        "INSERT INTO schedule_runs (schedule, due, state, prompt) VALUES (?, ?, 'planned', ?)",
        (schedule, due, prompt),
    )
    number = int(cursor.lastrowid or 0)
    set_next(db, schedule, next_at)
    db.execute(
        "DELETE FROM schedule_runs WHERE schedule = ? AND id NOT IN"
        " (SELECT id FROM schedule_runs WHERE schedule = ? ORDER BY id DESC LIMIT ?)",
        (schedule, schedule, KEPT_RUNS),
    )
    return Run(id=number, schedule=schedule, due=due, state="planned", prompt=prompt)


def change_run(db: sqlite3.Connection, run: Run) -> None:
    """Store what has become of a run."""
    db.execute(
        "UPDATE schedule_runs SET state = ?, session = ?, prompt = ?, outcome = ?, cost_usd = ?"
        " WHERE id = ?",
        (run.state, run.session, run.prompt, run.outcome, run.cost_usd, run.id),
    )


def open_runs(db: sqlite3.Connection) -> list[Run]:
    """The runs that have not ended."""
    query = f"SELECT {_RUN} FROM schedule_runs WHERE state IN ('planned', 'sent') ORDER BY id"
    return [_run(row) for row in db.execute(query)]


def last_runs(db: sqlite3.Connection) -> dict[str, Run]:
    """The last run of each schedule."""
    query = f"SELECT {_RUN} FROM schedule_runs WHERE id IN (SELECT max(id) FROM schedule_runs GROUP BY schedule)"
    return {run.schedule: run for run in map(_run, db.execute(query))}


def _run(row: tuple[int, str, float, str, str, str, str, float | None]) -> Run:
    number, schedule, due, state, session, prompt, outcome, cost = row
    return Run(
        id=number,
        schedule=schedule,
        due=due,
        state=state,
        session=session,
        prompt=prompt,
        outcome=outcome,
        cost_usd=cost,
    )
