"""The usage of the CLI's own sessions, from their files: a row for each response of the API.

An answer has a record for each of its blocks, and a fork repeats the answers of its parent, so the
key of a row is the answer's id, and the session that is read first gets it. Only newer CLIs report
cost, as a total (`cost-state`); Fairlead does not estimate prices. A fork's total continues that of
its parent, which is not in its own file, so the fork's first process is not counted. Rows stay
when a file is deleted: the CLI deletes old files, but the usage remains. `server/http/usage`
computes sums by time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from fairlead.store.database.connection import connect
from fairlead.store.database.folder import DATABASE
from fairlead.store.tables.streams import describe, take_key
from fairlead.transcript.history.branch import seconds
from fairlead.transcript.state import plain

__all__ = ["FileSpent", "FileSum", "FileSums", "file_sums", "put", "spent_in"]

TOKENS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)
SYNTHETIC = "<synthetic>"
"""The model name of messages that the CLI writes itself, which cost nothing."""
LEAST_USD = 1e-9
"""Smaller differences are rounding errors."""
QUARTER_S = 900
"""Times are rounded to a quarter of an hour; midnight of every time zone is a multiple of it."""

_FIGURES = (*TOKENS, "cost_usd")
_COLUMNS = ("answer", "at", "model", *_FIGURES)
_CHANGES = "file_usage_changes"
"""Counter of writes, to see whether cached sums are still valid."""


class FileSpent(Struct, frozen=True, kw_only=True):
    """The usage of one answer of the API, or an increase of the cost that a file reports."""

    answer: str
    """The API's id of the answer and its time; for cost, a generated name."""
    at: float
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cost_usd: float = 0.0


class FileSum(Struct, frozen=True, kw_only=True):
    """The usage of one model by a session within a quarter of an hour."""

    session: str
    project: str
    profile: str
    model: str
    at: float
    figures: dict[str, float]


class FileSums(Struct, frozen=True):
    """All sums, and the number of the last change that they include."""

    rows: tuple[FileSum, ...] = ()
    changes: int = -1


# From records


def spent_in(session: str, files: Iterable[Sequence[dict[str, Any]]]) -> tuple[FileSpent, ...]:
    """The usage in a session's files, including the files of its subagents."""
    answers: dict[str, FileSpent] = {}
    costs = _Costs(session)
    for records in files:
        at = 0.0
        for record in records:
            at = seconds(record) or at
            if "forkedFrom" in record:
                continue  # A copy of a record in another session's file.
            if record.get("type") == "assistant":
                _take_answer(record, at, answers)
            elif record.get("type") == "cost-state":
                costs.take(record, at)
    return (*answers.values(), *costs.spent)


def _take_answer(record: dict[str, Any], at: float, into: dict[str, FileSpent]) -> None:
    message = plain.mapping(record.get("message"))
    usage, model = plain.mapping(message.get("usage")), plain.text(message.get("model"))
    name = plain.text(message.get("id"))
    if not name or not usage or model == SYNTHETIC:
        return
    before = into.get(name)
    counts = {kind: max(plain.integer(usage.get(kind)), 0) for kind in TOKENS}
    if before is None:
        # A copy has the time of the original; not every service uses an id only once.
        into[name] = FileSpent(answer=f"{name} {at}", at=at, model=model, **counts)
    elif counts["output_tokens"] >= before.output_tokens:
        # A later block of an answer may have a higher count of output tokens.
        into[name] = structs.replace(before, **counts)


class _Costs:
    """The increases between the cost totals of a session."""

    def __init__(self, session: str) -> None:
        self.spent: list[FileSpent] = []
        self._session = session
        self._count = 0
        self._total = 0.0
        self._models: dict[str, float] = {}

    def take(self, record: dict[str, Any], at: float) -> None:
        """Add a record with totals; a total that decreased was reset (CLI-508)."""
        total = plain.number(record.get("totalCostUSD"))
        if total is None:
            return
        models = {
            name: plain.number(plain.mapping(usage).get("costUSD")) or 0.0
            for name, usage in plain.mapping(record.get("modelUsage")).items()
        }
        if total < self._total:
            self._total, self._models = 0.0, {}
        added = {name: cost - self._models.get(name, 0.0) for name, cost in models.items()}
        added[""] = total - self._total - sum(added.values())
        name = self._name(record)
        self.spent += (
            FileSpent(answer=f"{name} {model}", at=at, model=model, cost_usd=cost)
            for model, cost in added.items()
            if cost > LEAST_USD
        )
        self._count, self._total, self._models = self._count + 1, total, models

    def _name(self, record: dict[str, Any]) -> str:
        """A fork copies the parent's `startTime`, so the first totals of both have one name."""
        began = plain.number(record.get("startTime"))
        if self._count == 0 and began is not None:
            return f"cost {began}"
        return f"cost {self._session} {self._count}"


# In the database


def put(
    session: str, spent: Sequence[FileSpent], project: str, profile: str, db: sqlite3.Connection
) -> None:
    """Store the usage of a session's files; of two equal records, the earlier one counts."""
    describe(db, session, project, profile=profile)
    stream = take_key(db, session)
    update = ", ".join(f"{name} = excluded.{name}" for name in ("stream", *_COLUMNS[1:]))
    db.executemany(
        f"INSERT INTO file_usage (stream, {', '.join(_COLUMNS)})"
        f" VALUES (?{', ?' * len(_COLUMNS)})"
        f" ON CONFLICT (answer) DO UPDATE SET {update}"
        " WHERE stream = excluded.stream OR excluded.at < at",
        [(stream, *(getattr(row, name) for name in _COLUMNS)) for row in spent],
    )
    db.execute(
        "INSERT INTO meta VALUES (?, '1') ON CONFLICT (name) DO UPDATE SET value = value + 1",
        (_CHANGES,),
    )


def file_sums(folder: Path, known: FileSums) -> FileSums:
    """The current sums, or `known` if nothing has changed. Blocks: call it in a thread."""
    with closing(connect(folder / DATABASE, True)) as db:
        row = db.execute("SELECT value FROM meta WHERE name = ?", (_CHANGES,)).fetchone()
        changes = int(row[0]) if row else 0
        return known if changes == known.changes else FileSums(_sums(db), changes)


def _sums(db: sqlite3.Connection) -> tuple[FileSum, ...]:
    sums = ", ".join(f"sum({name}) AS {name}" for name in _FIGURES)
    rows = db.execute(
        "SELECT session, project, profile, used.model, used.at, "
        + ", ".join(f"used.{name}" for name in _FIGURES)
        + f" FROM (SELECT stream, model, min(at) AS at, {sums} FROM file_usage"
        f" GROUP BY stream, model, CAST(at / {QUARTER_S} AS INTEGER)) AS used"
        " JOIN streams ON streams.key = used.stream"
    )
    return tuple(
        FileSum(
            session=session,
            project=project,
            profile=profile,
            model=model,
            at=at,
            figures=dict(zip(_FIGURES, figures, strict=True)),
        )
        for session, project, profile, model, at, *figures in rows
    )
