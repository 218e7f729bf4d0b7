"""The beginning of a list that a hostile or broken CLI can make long: the open requests. Pure.

Clients see the first rows. A row that is hidden appears when an earlier one is removed, so a client
that answers one request after the other reaches all of them. A row that is shown stays until it is
removed, because new rows are added at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from fairlead.transcript.state.changes import Add, Change, Remove, Replace

__all__ = ["FirstRows", "Rows"]


class Rows(Protocol):
    """A list of rows as it is after the changes at hand."""

    def first_ids(self, section: str, count: int) -> tuple[str, ...]:
        """The ids of the first rows of a list, in order."""

    def row(self, section: str, row_id: str) -> Any:
        """One row of a list by its id, or None."""


class FirstRows:
    """One list, of which at most `count` rows are shown."""

    def __init__(self, section: str, source: Rows, count: int) -> None:
        self.section = section
        self._source = source
        self._count = count
        self._shown = source.first_ids(section, count)

    def rows(self) -> list[Any]:
        """The rows that are shown."""
        ids = self._source.first_ids(self.section, self._count)
        return [self._source.row(self.section, row_id) for row_id in ids]

    def changes(self, changes: Sequence[Change]) -> list[Change]:
        """The changes of one event to this list, as they are shown."""
        before, self._shown = self._shown, self._source.first_ids(self.section, self._count)
        if any(isinstance(change, Replace) for change in changes):
            return [Replace(self.section, self.rows())]
        now = set(self._shown)
        stay = now.intersection(before)
        # A row that appears is sent as it is after all changes, so only rows that stay are changed.
        shown: list[Change] = [
            change
            for change in changes
            if not isinstance(change, Add | Remove | Replace) and change.id in stay
        ]
        shown += [Remove(self.section, row_id) for row_id in before if row_id not in now]
        return [*shown, *self._additions(stay)]

    def _additions(self, stay: set[str]) -> list[Change]:
        additions: list[Change] = []
        following = None
        for row_id in reversed(self._shown):
            if row_id not in stay:
                row = self._source.row(self.section, row_id)
                additions.append(Add(self.section, row, following))
            following = row_id
        # From the end of the list, so that the row after each of them is there already.
        return additions
