"""The usage windows of each account, as the CLIs reported them last, and what to do at a limit.

A CLI reports a window only while it works, so the last report is kept in a file of the data folder:
`fairlead limits` and a restarted server show it. A window whose reset time has passed says nothing
about the present and is not shown. The file also has the server's default for "Continue when it
resets"; each session may decide otherwise.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from fairlead.server.protocol.lobby_rows import LimitRow
from fairlead.wire.events import RateLimitInfo

__all__ = ["FILE", "WARN_AT", "LimitBook", "read_book"]

FILE = "usage-limits.json"

WARN_AT = (0.80, 0.95)
"""Used parts of a window at which clients warn."""


class _Stored(msgspec.Struct, frozen=True):
    windows: tuple[LimitRow, ...] = ()
    continue_at_reset: bool = False


class LimitBook:
    """The windows of all accounts; in memory only until `load` names a file for them."""

    def __init__(self) -> None:
        self._windows: dict[tuple[str, str], LimitRow] = {}
        self.continue_at_reset = False
        """Whether a session that a limit stopped continues by itself when the limit resets."""
        self.changed: Callable[[], None] = lambda: None
        self._file: Path | None = None

    def load(self, file: Path) -> None:
        """Read the stored windows from this file, and write every change to it from now on."""
        self._file = file
        stored = read_book(file)
        self._windows = {(row.account, row.kind): row for row in stored.windows}
        self.continue_at_reset = stored.continue_at_reset

    def rows(self, now: float) -> tuple[LimitRow, ...]:
        """The windows that have not reset yet, by account."""
        current = (row for row in self._windows.values() if is_current(row, now))
        return tuple(sorted(current, key=lambda row: (row.account, row.kind)))

    def report(self, account: str, info: RateLimitInfo, at: float) -> None:
        """A CLI of this account reported its usage."""
        before = dict(self._windows)
        for row in _rows_of(account, info, at):
            known = self._windows.get((account, row.kind))
            if known is None or known.at <= at:
                self._windows[account, row.kind] = row
        if before != self._windows:
            self.changed()
            self._write()

    def set_default(self, *, continue_at_reset: bool) -> None:
        """Set what sessions do that make no choice of their own; raises `OSError`."""
        self.continue_at_reset = continue_at_reset
        self.changed()
        self._write(strict=True)

    def _write(self, *, strict: bool = False) -> None:
        if self._file is None:
            return
        stored = _Stored(tuple(self._windows.values()), self.continue_at_reset)
        part = self._file.with_name(f"{self._file.name}.part")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(part, flags, 0o600), "w", encoding="utf-8") as file:
                json.dump(msgspec.to_builtins(stored), file)
                file.flush()
                os.fsync(file.fileno())
            part.replace(self._file)
        except OSError:
            # The next report of a CLI writes the windows again; a choice of a user must not be lost.
            if strict:
                raise


def read_book(file: Path) -> _Stored:
    """What a file of a data folder contains; nothing if it is missing or damaged."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=_Stored)
    except (OSError, msgspec.DecodeError, RecursionError):
        return _Stored()


def is_current(row: LimitRow, now: float) -> bool:
    """Whether a window has not reset since it was reported."""
    return row.resets_at is None or row.resets_at > now


def _rows_of(account: str, info: RateLimitInfo, at: float) -> Iterator[LimitRow]:
    windows = info.windows
    for kind, window in windows.items():
        yield _row(account, kind, at, structs.asdict(window))
    if info.rate_limit_type and info.rate_limit_type not in windows:
        values = {"utilization": info.utilization, "resets_at": info.resets_at}
        yield _row(account, info.rate_limit_type, at, {**values, "status": info.status})


def _row(account: str, kind: str, at: float, values: dict[str, Any]) -> LimitRow:
    if values["utilization"] is None and values["status"] == "rejected":
        values["utilization"] = 1.0
    return LimitRow(account=account, kind=kind, at=at, **values)
