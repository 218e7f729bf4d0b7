"""The end of a list that grows with its session, such as turns and files, as clients see it.

The number of rows alone determines which are shown: the last full block and the rows after it. So
all clients see the same rows, whenever they connected. Rows that are no longer shown are removed
by ordinary changes, and changes of hidden rows are left out. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from fairlead.transcript.state.changes import Add, Change, Remove, Replace

__all__ = ["BoundedList", "Rows"]


class Rows(Protocol):
    """A list of rows as it is after the current changes."""

    def count(self, section: str) -> int:
        """The number of rows of a list."""

    def last_ids(self, section: str, count: int) -> tuple[str, ...]:
        """The ids of the last rows of a list, in order."""

    def last(self, section: str, count: int) -> tuple[Any, ...]:
        """The last rows of a list, in order."""


class BoundedList:
    """One list, shown in blocks of `block` rows: the last full block and the rows after it."""

    def __init__(self, section: str, source: Rows, block: int) -> None:
        self.section = section
        self._source = source
        self._block = block
        self._shown: list[str] | None = None
        """The ids that are shown; None if all are shown."""
        if self._start():
            self._shown = self._wanted()

    def rows(self) -> tuple[Any, ...]:
        """The rows that are shown."""
        return self._source.last(self.section, self._length())

    def hides(self, row_id: str) -> bool:
        """Whether a row exists and is not shown."""
        return self._shown is not None and row_id not in self._shown

    def changes(self, changes: Sequence[Change]) -> list[Change]:
        """The changes of one event to this list, as clients get them."""
        if self._shown is None and not self._start():
            return list(changes)
        wanted = self._wanted()
        if any(isinstance(change, Replace) for change in changes):
            return self._replace(wanted)
        if self._shown is None:
            count = self._source.count(self.section)
            out, shown = list(changes), list(self._source.last_ids(self.section, count))
        else:
            out, shown = _visible(changes, self._shown)
        extra = len(shown) - len(wanted)
        if extra < 0 or shown[extra:] != wanted:
            return self._replace(wanted)
        self._shown = wanted if self._start() else None
        return [*out, *(Remove(self.section, row_id) for row_id in shown[:extra])]

    def _replace(self, wanted: list[str]) -> list[Change]:
        self._shown = wanted if self._start() else None
        return [Replace(self.section, self.rows())]

    def _start(self) -> int:
        full = self._source.count(self.section) // self._block
        return max(0, (full - 1) * self._block)

    def _length(self) -> int:
        return self._source.count(self.section) - self._start()

    def _wanted(self) -> list[str]:
        return list(self._source.last_ids(self.section, self._length()))


def _visible(changes: Sequence[Change], shown: list[str]) -> tuple[list[Change], list[str]]:
    """The changes that concern shown rows, and the shown rows after them."""
    out: list[Change] = []
    after = list(shown)
    for change in changes:
        if isinstance(change, Add):
            if change.before is not None and change.before not in after:
                continue
            position = len(after) if change.before is None else after.index(change.before)
            after.insert(position, change.row.id)
        elif isinstance(change, Replace) or change.id not in after:
            continue
        elif isinstance(change, Remove):
            after.remove(change.id)
        out.append(change)
    return out, after
