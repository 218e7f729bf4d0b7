"""The budgets table: what may be spent, what was spent by each turn, and what was announced.

The cost of a turn is stored once. A level (a warning, or that a budget is reached) is stored
together with the cost that led to it, so that it is announced once (S50).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from msgspec import Struct

__all__ = [
    "Spent",
    "add_level",
    "budgets",
    "clear_levels",
    "levels",
    "put_budget",
    "put_spent",
    "remove_budget",
    "spent_in_project",
    "spent_in_session",
    "spent_since",
]


class Spent(Struct, frozen=True, kw_only=True):
    """What one turn cost, with its subagents."""

    session: str
    turn: str
    at: float
    project: str
    cost_usd: float


def put_spent(db: sqlite3.Connection, rows: Sequence[Spent]) -> int:
    """Store costs; returns how many were new."""
    count = 0
    for row in rows:
        count += db.execute(
            "INSERT OR IGNORE INTO spending (session, turn, at, project, cost_usd)"
            " VALUES (?, ?, ?, ?, ?)",
            (row.session, row.turn, row.at, row.project, row.cost_usd),
        ).rowcount
    return count


def spent_in_session(db: sqlite3.Connection, session: str) -> float:
    """What a session has spent."""
    return _sum(db, "session = ?", session)


def spent_in_project(db: sqlite3.Connection, project: str) -> float:
    """What the sessions in a folder have spent."""
    return _sum(db, "project = ?", project)


def spent_since(db: sqlite3.Connection, at: float) -> float:
    """What all sessions have spent since a time."""
    return _sum(db, "at >= ?", at)


def _sum(db: sqlite3.Connection, condition: str, value: object) -> float:
    query = f"SELECT coalesce(sum(cost_usd), 0) FROM spending WHERE {condition}"
    return round(float(db.execute(query, (value,)).fetchone()[0]), 10)


def put_budget(db: sqlite3.Connection, budget: str, row: bytes) -> None:
    """Insert or replace a budget."""
    db.execute("INSERT OR REPLACE INTO budgets (id, row) VALUES (?, ?)", (budget, row))


def remove_budget(db: sqlite3.Connection, budget: str) -> None:
    """Delete a budget and what was announced about it."""
    db.execute("DELETE FROM budgets WHERE id = ?", (budget,))
    clear_levels(db, budget)


def budgets(db: sqlite3.Connection) -> dict[str, bytes]:
    """All budgets."""
    return dict(db.execute("SELECT id, row FROM budgets ORDER BY id").fetchall())


def add_level(db: sqlite3.Connection, budget: str, period: str, level: str, at: float) -> bool:
    """Note that a level is reached in a period; False if that was noted before."""
    return bool(
        db.execute(
            "INSERT OR IGNORE INTO budget_levels (budget, period, level, at) VALUES (?, ?, ?, ?)",
            (budget, period, level, at),
        ).rowcount
    )


def levels(db: sqlite3.Connection) -> set[tuple[str, str, str]]:
    """What was announced: budget, period and level."""
    return set(db.execute("SELECT budget, period, level FROM budget_levels").fetchall())


def clear_levels(db: sqlite3.Connection, budget: str) -> None:
    """Forget what was announced about a budget, because it was changed."""
    db.execute("DELETE FROM budget_levels WHERE budget = ?", (budget,))
