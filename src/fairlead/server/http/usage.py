"""Cost and usage of all sessions, by time, project, profile and model.

The sums are taken from the results of turns in the log, as the transcript's ledger does for one
session, and cached in memory: the first query after a start reads the whole log, later ones only
what is new. A fork's log begins with the lines of its parent, whose results have the same ids, so
nothing is counted twice.

The CLI's own sessions are counted by their files (`store/cli_files/file_usage`). A session that
was continued on this server is counted by its file only up to its first process here, and by the
log from then on.
"""

from __future__ import annotations

import asyncio
import sqlite3
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from fairlead.server.protocol.usage_rows import UsageReport, UsageRow
from fairlead.server.refusal import Refusal
from fairlead.server.session.log_lines import fed_by
from fairlead.store.cli_files.file_usage import FileSums, file_sums
from fairlead.store.log import Event
from fairlead.store.tables.usage import UsageLine, usage_lines
from fairlead.transcript.state import plain
from fairlead.transcript.state.facts import Accounted, ProcessStarted
from fairlead.wire.events import Result
from fairlead.wire.usage import ModelUsage, read_model_usage

__all__ = ["Account", "Spent", "Usage"]

MOST_BOUNDS = 500
_DIGITS = 10
_COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)
_FIGURES = (*_COUNTS, "cost_usd")

Figures = dict[str, float]
_Key = tuple[int, str, str, str, str]
"""Period, project, profile, model and source."""
T = TypeVar("T")


class Spent(Struct, frozen=True, kw_only=True):
    """What one turn spent on one model; the model is empty if the CLI did not report it."""

    at: float
    project: str
    profile: str
    model: str
    turn: int | None
    """The number of the turn, so that a turn with two models counts once; None if from a file."""
    figures: Figures


class Account:
    """The running totals of one session's CLI, which restart with each process."""

    __slots__ = ("_fresh", "_models", "_total")

    def __init__(self) -> None:
        self._fresh = False
        self._total = 0.0
        self._models: dict[str, Figures] = {}

    def start(self) -> None:
        """A process was started: its totals may start at zero."""
        self._fresh = True

    def take_total(self, total: float, models: dict[str, Any]) -> dict[str, Figures]:
        """A file reports the total cost so far."""
        totals = {name: _figures(read_model_usage(value)) for name, value in models.items()}
        self._total, self._models = total, totals
        return _with_rest(totals, total)

    def take(self, result: Result) -> dict[str, Figures]:
        """What a turn spent, by model."""
        reported = result.total_cost_usd
        if self._fresh or (reported is not None and reported < self._total):
            self._total, self._models = 0.0, {}
        totals = {name: _figures(usage) for name, usage in result.model_usage.items()}
        since_last = plain.mapping(result.data).get("model_usage_since_last_result")
        if isinstance(since_last, dict):
            spent = {name: _figures(read_model_usage(value)) for name, value in since_last.items()}
            cost = sum(figures["cost_usd"] for figures in spent.values())
        else:
            spent = {name: _less(now, self._models.get(name, {})) for name, now in totals.items()}
            cost = 0.0 if reported is None else max(reported - self._total, 0.0)
        if reported is not None:
            self._total, self._fresh = reported, False
        self._models = totals
        return _with_rest(spent, cost)


class Usage:
    """The sums, brought up to date at each query."""

    def __init__(self, folder: Path, epoch: Callable[[], str]) -> None:
        self._folder = folder
        self._epoch = epoch
        self._busy = asyncio.Lock()
        self._forget()

    def _forget(self) -> None:
        self._known = self._epoch()
        self._reached = 0
        self._turns = 0
        self._accounts: dict[str, Account] = {}
        self._seen: set[str] = set()
        self._spent: list[Spent] = []
        self._files = FileSums()
        self._imported: dict[str, list[Spent]] = {}
        """The cost in a file before its session was continued here, by the server's session id."""
        self._started: dict[str, float] = {}
        """When the last process of a session was started here."""
        self._ran: dict[str, tuple[str, float]] = {}
        """The CLI's sessions that ran here: the server's session id, and since when."""

    async def report(self, bounds: Sequence[float]) -> UsageReport:
        """Sums between each two consecutive timestamps, which are in ascending order."""
        _check(bounds)
        async with self._busy:
            await self._catch_up()
            self._files = await self._read(file_sums, self._folder, self._files)
        with_file = {row.session for row in self._files.rows}
        spent = [*self._spent, *self._imported_without_file(with_file)]
        return _summed(spent, self._of_files(), len(with_file), bounds)

    def _of_files(self) -> list[Spent]:
        return [
            Spent(
                at=row.at,
                project=row.project,
                profile=row.profile,
                model=row.model,
                turn=None,
                figures=row.figures,
            )
            for row in self._files.rows
            if row.session not in self._ran or row.at < self._ran[row.session][1]
        ]

    def _imported_without_file(self, with_file: set[str]) -> list[Spent]:
        """Imported costs of sessions whose files were never read for their usage."""
        counted = {session for name, (session, _) in self._ran.items() if name in with_file}
        return [
            cost
            for session, spent in self._imported.items()
            if session not in counted
            for cost in spent
        ]

    async def _read(self, read: Callable[..., T], *arguments: Any) -> T:
        try:
            return await asyncio.to_thread(read, *arguments)
        except sqlite3.Error as problem:
            raise Refusal(
                "unavailable", f"The log cannot be read now: {problem}. Try again later."
            ) from None

    async def _catch_up(self) -> None:
        if self._known != self._epoch():
            self._forget()
        while True:
            piece = await self._read(usage_lines, self._folder, self._reached)
            if piece.last < self._reached:
                self._forget()  # The end of the log was removed: its numbers are used again.
                continue
            for line in piece.lines:
                self._take(line)
            self._reached = piece.reached
            if piece.reached >= piece.last:
                return

    def _take(self, line: UsageLine) -> None:
        fed = fed_by(Event(0, line.direction, line.line, line.at))
        account = self._accounts.setdefault(line.session, Account())
        if isinstance(fed, ProcessStarted):
            account.start()
            self._started[line.session] = line.at
            self._note_run(fed.resumed, line)
        elif isinstance(fed, Accounted):
            spent = account.take_total(fed.total_usd, fed.models)
            if self._is_new(f"{line.at} {fed.total_usd}"):
                self._imported[line.session] = self._costs(line, spent)
        elif isinstance(fed, Result):
            self._note_run(fed.session_id, line)
            spent = account.take(fed)
            if fed.uuid is None or self._is_new(fed.uuid):
                self._spent += self._costs(line, spent)

    def _note_run(self, cli_session: str | None, line: UsageLine) -> None:
        if cli_session:
            since = self._started.get(line.session, line.at)
            self._ran.setdefault(cli_session, (line.session, since))

    def _is_new(self, mark: str) -> bool:
        """Whether it was not counted before: a fork's log repeats it, with the totals known."""
        new = mark not in self._seen
        self._seen.add(mark)
        return new

    def _costs(self, line: UsageLine, spent: dict[str, Figures]) -> list[Spent]:
        self._turns += 1
        return [
            Spent(
                at=line.at,
                project=line.project,
                profile=line.profile,
                model=model,
                turn=self._turns,
                figures=figures,
            )
            for model, figures in spent.items() or (("", dict.fromkeys(_FIGURES, 0.0)),)
        ]


def _check(bounds: Sequence[float]) -> None:
    if not 2 <= len(bounds) <= MOST_BOUNDS:
        raise Refusal("bad_message", f"Send 2 to {MOST_BOUNDS} bounds as Unix timestamps.")
    if not all(map(isfinite, bounds)) or any(
        later <= earlier for earlier, later in pairwise(bounds)
    ):
        raise Refusal("bad_message", "Each bound must be later than the one before it.")


def _summed(
    log: Sequence[Spent], files: Sequence[Spent], sessions: int, bounds: Sequence[float]
) -> UsageReport:
    rows: dict[_Key, Figures] = {}
    turns: list[set[int]] = [set() for _ in bounds[1:]]
    for source, all_spent in (("log", log), ("files", files)):
        for cost in all_spent:
            bucket = bisect_right(bounds, cost.at) - 1
            if not 0 <= bucket < len(turns):
                continue
            if cost.turn is not None:
                turns[bucket].add(cost.turn)
            key = bucket, cost.project, cost.profile, cost.model, source
            sums = rows.setdefault(key, dict.fromkeys(_FIGURES, 0.0))
            for name, value in cost.figures.items():
                sums[name] += value
    return UsageReport(
        first=min((cost.at for cost in (*log, *files)), default=None),
        turns=tuple(len(numbers) for numbers in turns),
        rows=tuple(_row(key, sums) for key, sums in sorted(rows.items())),
        file_sessions=sessions,
    )


def _row(key: _Key, sums: Figures) -> UsageRow:
    bucket, project, profile, model, source = key
    return UsageRow(
        bucket=bucket,
        project=project,
        profile=profile,
        model=model,
        source=source,
        input_tokens=int(sums["input_tokens"]),
        output_tokens=int(sums["output_tokens"]),
        cache_read_input_tokens=int(sums["cache_read_input_tokens"]),
        cache_creation_input_tokens=int(sums["cache_creation_input_tokens"]),
        cost_usd=round(sums["cost_usd"], _DIGITS),
    )


def _figures(usage: ModelUsage) -> Figures:
    return {name: getattr(usage, name) or 0 for name in _FIGURES}


def _less(now: Figures, before: Figures) -> Figures:
    if any(now[name] < before.get(name, 0) for name in _FIGURES):
        return now  # A total that decreased was restarted.
    return {name: now[name] - before.get(name, 0) for name in _FIGURES}


def _with_rest(spent: dict[str, Figures], cost: float) -> dict[str, Figures]:
    """Figures that are not zero, and a cost that belongs to no model, if there is one."""
    nonzero = {name: figures for name, figures in spent.items() if any(figures.values())}
    rest = cost - sum(figures["cost_usd"] for figures in nonzero.values())
    if rest > 1e-9:
        nonzero[""] = {**dict.fromkeys(_FIGURES, 0.0), "cost_usd": rest}
    return nonzero
