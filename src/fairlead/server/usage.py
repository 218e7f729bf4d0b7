"""What all sessions together cost and used: by time, project and model.

Sums are taken from the results of turns as the log has them, the way the transcript's ledger
takes them for one session, and kept in memory: the first question after a start looks through
the log once, every later one only through what is new. A fork's log begins with the lines of
its parent, whose results have the same ids, and nothing is counted twice.

Sessions of the CLI's own are counted by their files (`store/file_usage`), one that went on here
only up to then: from its first process here the log tells.
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

import msgspec
from msgspec import Struct

from fairlead.server.log_lines import fed_by
from fairlead.server.refusal import Refusal
from fairlead.server.usage_rows import UsageReport, UsageRow
from fairlead.store.file_usage import FileSums, file_sums
from fairlead.store.log import Event
from fairlead.store.usage import TellingLine, telling_lines
from fairlead.transcript import plain
from fairlead.transcript.facts import Accounted, ProcessStarted
from fairlead.wire.events import Result
from fairlead.wire.usage import ModelUsage

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
T = TypeVar("T")


class Spent(Struct, frozen=True, kw_only=True):
    """What one turn spent on one model; the model is empty where the CLI did not say."""

    at: float
    project: str
    model: str
    turn: int | None
    """Numbers the turns, so that one that used two models counts as one; None by a file."""
    figures: Figures


class Account:
    """The running totals of one session's CLI, which begin anew with each process."""

    __slots__ = ("_fresh", "_models", "_total")

    def __init__(self) -> None:
        self._fresh = False
        self._total = 0.0
        self._models: dict[str, Figures] = {}

    def start(self) -> None:
        """A process was started: its totals may begin at nothing."""
        self._fresh = True

    def take_total(self, total: float, models: dict[str, Any]) -> dict[str, Figures]:
        """A file says what everything so far has cost."""
        totals = {name: _figures(_usage(value)) for name, value in models.items()}
        self._total, self._models = total, totals
        return _with_rest(totals, total)

    def take(self, result: Result) -> dict[str, Figures]:
        """What a turn spent, by model."""
        reported = result.total_cost_usd
        if self._fresh or (reported is not None and reported < self._total):
            self._total, self._models = 0.0, {}
        totals = {name: _figures(usage) for name, usage in result.model_usage.items()}
        told = plain.mapping(result.data).get("model_usage_since_last_result")
        if isinstance(told, dict):
            spent = {name: _figures(_usage(value)) for name, value in told.items()}
            cost = sum(one["cost_usd"] for one in spent.values())
        else:
            spent = {name: _less(now, self._models.get(name, {})) for name, now in totals.items()}
            cost = 0.0 if reported is None else max(reported - self._total, 0.0)
        if reported is not None:
            self._total, self._fresh = reported, False
        self._models = totals
        return _with_rest(spent, cost)


class Usage:
    """The sums, brought up to date at each question."""

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
        """What a file had cost before its session went on here, by our name of the session."""
        self._started: dict[str, float] = {}
        """When the last process of a session was started here."""
        self._ran: dict[str, tuple[str, float]] = {}
        """The CLI's sessions that ran here: as which of ours, and since when."""

    async def report(self, bounds: Sequence[float]) -> UsageReport:
        """Sums between each two of the moments given, which are in order."""
        _check(bounds)
        async with self._busy:
            await self._catch_up()
            self._files = await self._ask(file_sums, self._folder, self._files)
        told = {one.session for one in self._files.rows}
        spent = [*self._spent, *self._left(told)]
        return _summed(spent, self._of_files(), len(told), bounds)

    def _of_files(self) -> list[Spent]:
        return [
            Spent(at=one.at, project=one.project, model=one.model, turn=None, figures=one.figures)
            for one in self._files.rows
            if one.session not in self._ran or one.at < self._ran[one.session][1]
        ]

    def _left(self, told: set[str]) -> list[Spent]:
        """What was imported of sessions whose files were never read for their usage."""
        read = {ours for name, (ours, _) in self._ran.items() if name in told}
        return [one for ours, spent in self._imported.items() if ours not in read for one in spent]

    async def _ask(self, read: Callable[..., T], *given: Any) -> T:
        try:
            return await asyncio.to_thread(read, *given)
        except sqlite3.Error as problem:
            raise Refusal("unavailable", f"the log cannot be read now: {problem}") from None

    async def _catch_up(self) -> None:
        if self._known != self._epoch():
            self._forget()
        while True:
            piece = await self._ask(telling_lines, self._folder, self._reached)
            if piece.last < self._reached:
                self._forget()  # The end of the log was taken away: its numbers are given anew.
                continue
            for line in piece.lines:
                self._take(line)
            self._reached = piece.reached
            if piece.reached >= piece.last:
                return

    def _take(self, line: TellingLine) -> None:
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

    def _note_run(self, cli_session: str | None, line: TellingLine) -> None:
        if cli_session:
            since = self._started.get(line.session, line.at)
            self._ran.setdefault(cli_session, (line.session, since))

    def _is_new(self, mark: str) -> bool:
        """Whether it was not counted before: a fork's log has it again. Totals are known there."""
        new = mark not in self._seen
        self._seen.add(mark)
        return new

    def _costs(self, line: TellingLine, spent: dict[str, Figures]) -> list[Spent]:
        self._turns += 1
        return [
            Spent(at=line.at, project=line.project, model=model, turn=self._turns, figures=figures)
            for model, figures in spent.items() or (("", dict.fromkeys(_FIGURES, 0.0)),)
        ]


def _check(bounds: Sequence[float]) -> None:
    if not 2 <= len(bounds) <= MOST_BOUNDS:
        raise Refusal("bad_message", f"give 2 to {MOST_BOUNDS} moments, in seconds since 1970")
    if not all(map(isfinite, bounds)) or any(
        later <= earlier for earlier, later in pairwise(bounds)
    ):
        raise Refusal("bad_message", "each moment must be later than the one before")


def _summed(
    log: Sequence[Spent], files: Sequence[Spent], sessions: int, bounds: Sequence[float]
) -> UsageReport:
    rows: dict[tuple[int, str, str, str], Figures] = {}
    turns: list[set[int]] = [set() for _ in bounds[1:]]
    for source, all_spent in (("log", log), ("files", files)):
        for one in all_spent:
            bucket = bisect_right(bounds, one.at) - 1
            if not 0 <= bucket < len(turns):
                continue
            if one.turn is not None:
                turns[bucket].add(one.turn)
            key = bucket, one.project, one.model, source
            sums = rows.setdefault(key, dict.fromkeys(_FIGURES, 0.0))
            for name, value in one.figures.items():
                sums[name] += value
    return UsageReport(
        first=min((one.at for one in (*log, *files)), default=None),
        turns=tuple(len(one) for one in turns),
        rows=tuple(_row(key, sums) for key, sums in sorted(rows.items())),
        file_sessions=sessions,
    )


def _row(key: tuple[int, str, str, str], sums: Figures) -> UsageRow:
    bucket, project, model, source = key
    return UsageRow(
        bucket=bucket,
        project=project,
        model=model,
        source=source,
        input_tokens=int(sums["input_tokens"]),
        output_tokens=int(sums["output_tokens"]),
        cache_read_input_tokens=int(sums["cache_read_input_tokens"]),
        cache_creation_input_tokens=int(sums["cache_creation_input_tokens"]),
        cost_usd=round(sums["cost_usd"], _DIGITS),
    )


def _usage(value: Any) -> ModelUsage:
    try:
        return msgspec.convert(value, ModelUsage, strict=False)
    except msgspec.ValidationError:
        return ModelUsage()


def _figures(usage: ModelUsage) -> Figures:
    return {name: getattr(usage, name) or 0 for name in _FIGURES}


def _less(now: Figures, before: Figures) -> Figures:
    if any(now[name] < before.get(name, 0) for name in _FIGURES):
        return now  # A total that went down began anew.
    return {name: now[name] - before.get(name, 0) for name in _FIGURES}


def _with_rest(spent: dict[str, Figures], cost: float) -> dict[str, Figures]:
    """Only what is something; and money that belongs to no model, if there is any."""
    found = {name: figures for name, figures in spent.items() if any(figures.values())}
    rest = cost - sum(one["cost_usd"] for one in found.values())
    if rest > 1e-9:
        found[""] = {**dict.fromkeys(_FIGURES, 0.0), "cost_usd": rest}
    return found
