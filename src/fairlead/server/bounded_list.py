"""The end of a list that grows with its session: what clients see of its turns, files and so on.

Which rows are shown depends on nothing but how many there are: the last block that is full and
what follows it. So every client sees the same, whenever it came. Rows that fall out are removed
by ordinary changes, and changes of rows that nobody sees are left out. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from fairlead.transcript.changes import Add, Change, Remove, Replace

__all__ = ["BoundedList", "Rows"]


class Rows(Protocol):
    """A list of rows as it is after the changes at hand."""

    def count(self, section: str) -> int:
        """How many rows a list has."""

    def last_ids(self, section: str, count: int) -> tuple[str, ...]:
        """The ids of the last rows of a list, in order."""

    def last(self, section: str, count: int) -> tuple[Any, ...]:
        """The last rows of a list, in order."""


class BoundedList:
    """One list, shown in blocks of `block` rows: the last full one, and those after it."""

    def __init__(self, section: str, source: Rows, block: int) -> None:
        self.section = section
        self._source = source
        self._block = block
        self._shown: list[str] | None = None
        """The ids that are shown; None while that is all of them."""
        if self._start():
            self._shown = self._wanted()

    def rows(self) -> tuple[Any, ...]:
        """The rows that are shown."""
        return self._source.last(self.section, self._length())

    def hides(self, row_id: str) -> bool:
        """Whether a row is there and not shown."""
        return self._shown is not None and row_id not in self._shown

    def changes(self, changes: Sequence[Change]) -> list[Change]:
        """The changes of one event to this list, as they are shown."""
        if self._shown is None and not self._start():
            return list(changes)
        wanted = self._wanted()
        if any(isinstance(change, Replace) for change in changes):
            return self._anew(wanted)
        if self._shown is None:
            everything = self._source.count(self.section)
            out, shown = list(changes), list(self._source.last_ids(self.section, everything))
        else:
            out, shown = _visible(changes, self._shown)
        extra = len(shown) - len(wanted)
        if extra < 0 or shown[extra:] != wanted:
            return self._anew(wanted)
        self._shown = wanted if self._start() else None
        return [*out, *(Remove(self.section, one) for one in shown[:extra])]

    def _anew(self, wanted: list[str]) -> list[Change]:
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
    """Those of the changes that concern rows that are shown, and the rows after them."""
    out: list[Change] = []
    after = list(shown)
    for change in changes:
        if isinstance(change, Add):
            if change.before is not None and change.before not in after:
                continue
            place = len(after) if change.before is None else after.index(change.before)
            after.insert(place, change.row.id)
        elif isinstance(change, Replace) or change.id not in after:
            continue
        elif isinstance(change, Remove):
            after.remove(change.id)
        out.append(change)
    return out, after
