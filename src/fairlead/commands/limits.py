"""Usage limits in the terminal: `fairlead limits`, and the notes of `fairlead run` and `chat`.

`fairlead limits` prints the usage windows of the accounts, as the CLIs of the server reported them
last. It reads the file in the data folder, so it works whether or not the server runs. A CLI that
is logged in with a subscription also reports its windows to `run` and `chat` (CLI-1700), which
keep them in memory.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from fairlead.commands.console.screen import Screen
from fairlead.commands.console.terminal import Style, plain
from fairlead.commands.serving.checks import default_data_folder
from fairlead.server.limit_book import FILE, WARN_AT, LimitBook, is_current, read_book
from fairlead.server.protocol.lobby_rows import LimitRow
from fairlead.transcript.reducers.notices import stopping_limit
from fairlead.wire.decode import AnyMessage
from fairlead.wire.events import RateLimitEvent

__all__ = ["LimitNotes", "add_arguments", "moment", "run"]

NAMES = {"five_hour": "5-hour limit", "seven_day": "weekly limit"}
BAR = 20
"""The width of a full bar in characters."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `fairlead limits`."""
    parser.add_argument("--data", type=Path, help="the data folder of the server")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the windows that have not reset yet; returns the exit code."""
    book = read_book((arguments.data or default_data_folder()) / FILE)
    now = time.time()
    rows = sorted(
        (row for row in book.windows if is_current(row, now)),
        key=lambda row: (row.account, row.kind),
    )
    if arguments.json:
        print(json.dumps({"windows": to_builtins(rows)}))
        return 0
    if not rows:
        print(
            "No limit has been reported yet. Claude Code reports the windows of a subscription "
            "while it works for `fairlead serve`; with an API key there are none."
        )
    for row in rows:
        print(line_of(row, now))
    return 0


def line_of(row: LimitRow, now: float) -> str:
    """One window: its name, a bar, the used part, its reset and the age of the report."""
    style = Style()
    name = name_of(row.kind)
    account = f"{row.account}: " if row.account else ""
    used = row.utilization or 0.0
    bar = "█" * round(min(used, 1.0) * BAR)
    figure = "   –" if row.utilization is None else f"{used * 100:3.0f}%"
    warned = style.ask(figure) if used >= WARN_AT[0] else figure
    reset = "" if row.resets_at is None else f"  resets {moment(row.resets_at, now)}"
    return f"{account}{name:<14} {bar:<{BAR}} {warned}{reset}  (reported {moment(row.at, now)})"


def name_of(kind: str) -> str:
    """The name of a window, such as "5-hour limit"."""
    return NAMES.get(kind, kind.replace("_", " "))


def moment(at: float, now: float) -> str:
    """A time of this day, or with its day."""
    then, today = time.localtime(at), time.localtime(now)
    same = then[:3] == today[:3]
    return time.strftime("%H:%M" if same else "%a %d %b %H:%M", then)


class LimitNotes:
    """What the CLI of one terminal session reported about its limits."""

    def __init__(self, screen: Screen, clock: Callable[[], float] = time.time) -> None:
        self._screen = screen
        self._clock = clock
        self._book = LimitBook()
        self._warned: set[tuple[str, float, float | None]] = set()
        self._shown = ""
        self._stopped: dict[str, Any] | None = None

    def begin(self) -> None:
        """A prompt is sent: the CLI reports again whether a limit stops it."""
        self._stopped = None

    def take(self, message: AnyMessage) -> None:
        """Read a report, and warn if a window is nearly used up."""
        if not isinstance(message, RateLimitEvent) or message.rate_limit_info is None:
            return
        info = message.rate_limit_info
        self._book.report("", info, self._clock())
        self._stopped = stopping_limit(info) if info.status == "rejected" else None
        for row in self._rows():
            self._warn(row)

    def end(self) -> None:
        """A turn has ended: show the windows if they have changed, and what stopped the turn."""
        now = self._clock()
        windows = " · ".join(_window(row, now) for row in self._rows())
        if windows and windows != self._shown:
            self._shown = windows
            self._screen.note(windows)

    @property
    def is_stopped(self) -> bool:
        """Whether a limit stopped the last turn."""
        return self._stopped is not None

    @property
    def resets_at(self) -> float | None:
        """When the limit resets that stopped the last turn, if the CLI said so."""
        return None if self._stopped is None else self._stopped["resets_at"]

    def stop_text(self) -> str:
        """Which limit stopped the last turn, and when it resets."""
        stopped = self._stopped or {"kind": "limit", "resets_at": None}
        name = plain(name_of(stopped["kind"]))
        at = stopped["resets_at"]
        resets = "" if at is None else f" It resets {moment(at, self._clock())}."
        return f"The {name} is reached.{resets}"

    def _rows(self) -> tuple[LimitRow, ...]:
        return self._book.rows(self._clock())

    def _warn(self, row: LimitRow) -> None:
        reached = [level for level in WARN_AT if (row.utilization or 0.0) >= level]
        if not reached or (row.kind, reached[-1], row.resets_at) in self._warned:
            return
        self._warned |= {(row.kind, level, row.resets_at) for level in reached}
        self._screen.warn(f"Nearly used up: {_window(row, self._clock())}")


def _window(row: LimitRow, now: float) -> str:
    used = "not known" if row.utilization is None else f"{row.utilization * 100:.0f} %"
    resets = "" if row.resets_at is None else f", resets {moment(row.resets_at, now)}"
    return f"{name_of(row.kind)} {used}{resets}"
