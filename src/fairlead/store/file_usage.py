"""What the CLI's own sessions used, by what their files tell: a row for each answer of the API.

An answer has a record for each of its blocks, and a fork holds the answers of its parent again, so
a row goes by the answer's own id, and whichever session is read first has it. Money is told only
by newer CLIs, as a total (`cost-state`); no price is ever guessed. A fork's total goes on from
its parent's, which its own file does not hold, so that its first process there is not counted.
Rows stay when a file is gone: the CLI clears its files away, and what was used was used. Sums by
time are `server/usage`'s.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from fairlead.store.connection import connect
from fairlead.store.folder import DATABASE
from fairlead.store.streams import place
from fairlead.transcript import plain
from fairlead.transcript.branch import seconds

__all__ = ["FileSpent", "FileSum", "FileSums", "file_sums", "put", "spent_in"]

TOKENS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)
SYNTHETIC = "<synthetic>"
"""The model of what the CLI says by itself, which costs nothing."""
LEAST_USD = 1e-9
"""Less is a matter of rounding."""
QUARTER_S = 900
"""Moments are told to a quarter of an hour, which every time zone's midnight is a multiple of."""

_FIGURES = (*TOKENS, "cost_usd")
_COLUMNS = ("answer", "at", "model", *_FIGURES)
_CHANGES = "file_usage_changes"
"""Counts what is written, so that the sums of before can be known to be those of now."""


class FileSpent(Struct, frozen=True, kw_only=True):
    """What one answer of the API used, or what a file says that a model has cost since."""

    answer: str
    """The API's id of the answer and its time; for money, a name of our own."""
    at: float
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cost_usd: float = 0.0


class FileSum(Struct, frozen=True, kw_only=True):
    """What a session used of a model within a quarter of an hour."""

    session: str
    project: str
    model: str
    at: float
    figures: dict[str, float]


class FileSums(Struct, frozen=True):
    """All sums, and the number of the last change that is in them."""

    rows: tuple[FileSum, ...] = ()
    changes: int = -1


# From records


def spent_in(session: str, files: Iterable[Sequence[dict[str, Any]]]) -> tuple[FileSpent, ...]:
    """What the records of a session's files tell, the files of its subagents among them."""
    answers: dict[str, FileSpent] = {}
    money = _Money(session)
    for records in files:
        at = 0.0
        for record in records:
            at = seconds(record) or at
            if "forkedFrom" in record:
                continue  # A copy of what another session's file tells.
            if record.get("type") == "assistant":
                _take_answer(record, at, answers)
            elif record.get("type") == "cost-state":
                money.take(record, at)
    return (*answers.values(), *money.spent)


def _take_answer(record: dict[str, Any], at: float, into: dict[str, FileSpent]) -> None:
    message = plain.mapping(record.get("message"))
    usage, model = plain.mapping(message.get("usage")), plain.text(message.get("model"))
    name = plain.text(message.get("id"))
    if not name or not usage or model == SYNTHETIC:
        return
    before = into.get(name)
    counts = {kind: max(plain.integer(usage.get(kind)), 0) for kind in TOKENS}
    if before is None:
        # A copy has the time of the original; not every service gives an id only once.
        into[name] = FileSpent(answer=f"{name} {at}", at=at, model=model, **counts)
    elif counts["output_tokens"] >= before.output_tokens:
        # A later block of an answer may know more of what was written.
        into[name] = structs.replace(before, **counts)


class _Money:
    """What a session's totals say that was added from one to the next."""

    def __init__(self, session: str) -> None:
        self.spent: list[FileSpent] = []
        self._session = session
        self._count = 0
        self._total = 0.0
        self._models: dict[str, float] = {}

    def take(self, record: dict[str, Any], at: float) -> None:
        """One record with totals; one that went down began anew (TRUTH 1.5)."""
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
        """A fork takes over the parent's `startTime`: the first totals of both have one name."""
        began = plain.number(record.get("startTime"))
        if self._count == 0 and began is not None:
            return f"cost {began}"
        return f"cost {self._session} {self._count}"


# In the database


def put(session: str, spent: Sequence[FileSpent], project: str, db: sqlite3.Connection) -> None:
    """Keep what a session's files tell; of two that tell the same, the earlier one counts."""
    stream = place(db, session, project)
    update = ", ".join(f"{name} = excluded.{name}" for name in ("stream", *_COLUMNS[1:]))
    db.executemany(
        f"INSERT INTO file_usage (stream, {', '.join(_COLUMNS)})"
        f" VALUES (?{', ?' * len(_COLUMNS)})"
        f" ON CONFLICT (answer) DO UPDATE SET {update}"
        " WHERE stream = excluded.stream OR excluded.at < at",
        [(stream, *(getattr(one, name) for name in _COLUMNS)) for one in spent],
    )
    db.execute(
        "INSERT INTO meta VALUES (?, '1') ON CONFLICT (name) DO UPDATE SET value = value + 1",
        (_CHANGES,),
    )


def file_sums(folder: Path, known: FileSums) -> FileSums:
    """The sums now: those known, if nothing has changed. Blocks: call it in a thread."""
    with closing(connect(folder / DATABASE, True)) as db:
        found = db.execute("SELECT value FROM meta WHERE name = ?", (_CHANGES,)).fetchone()
        changes = int(found[0]) if found else 0
        return known if changes == known.changes else FileSums(_sums(db), changes)


def _sums(db: sqlite3.Connection) -> tuple[FileSum, ...]:
    sums = ", ".join(f"sum({name}) AS {name}" for name in _FIGURES)
    found = db.execute(
        "SELECT session, project, used.model, used.at, "
        + ", ".join(f"used.{name}" for name in _FIGURES)
        + f" FROM (SELECT stream, model, min(at) AS at, {sums} FROM file_usage"
        f" GROUP BY stream, model, CAST(at / {QUARTER_S} AS INTEGER)) AS used"
        " JOIN streams ON streams.key = used.stream"
    )
    return tuple(
        FileSum(
            session=session,
            project=project,
            model=model,
            at=at,
            figures=dict(zip(_FIGURES, figures, strict=True)),
        )
        for session, project, model, at, *figures in found
    )
