"""`fairlead limits`: the usage windows of the accounts, as the CLIs of the server reported them last.

Reads the file in the data folder, so it works whether or not the server runs.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from msgspec import to_builtins

from fairlead.commands.serving.checks import default_data_folder
from fairlead.commands.terminal import Style
from fairlead.server.limit_book import FILE, WARN_AT, is_current, read_book
from fairlead.server.protocol.lobby_rows import LimitRow

__all__ = ["add_arguments", "run"]

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
    name = NAMES.get(row.kind, row.kind.replace("_", " "))
    account = f"{row.account}: " if row.account else ""
    used = row.utilization or 0.0
    bar = "█" * round(min(used, 1.0) * BAR)
    figure = "   –" if row.utilization is None else f"{used * 100:3.0f}%"
    warned = style.ask(figure) if used >= WARN_AT[0] else figure
    reset = "" if row.resets_at is None else f"  resets {_moment(row.resets_at, now)}"
    return f"{account}{name:<14} {bar:<{BAR}} {warned}{reset}  (reported {_moment(row.at, now)})"


def _moment(at: float, now: float) -> str:
    then, today = time.localtime(at), time.localtime(now)
    same = then[:3] == today[:3]
    return time.strftime("%H:%M" if same else "%a %d %b %H:%M", then)
