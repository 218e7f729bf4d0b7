"""The public state as typed values: lists of rows, parts that are one value each, open texts.

Only `Fold` changes it, by the same operations that go out as changes. Rows are frozen and
replaced; those of a checkpoint are packed until one is read. A text that grows is a list of pieces
next to its row, and the pieces are joined when the row is read, so that one delta costs the same
however long the text or the session is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, structs

from fairlead.transcript.state.model import Ledger, Session, Status
from fairlead.transcript.state.packed import Packed

__all__ = ["LISTS", "Document", "Tail"]

LISTS = ("items", "turns", "pending", "settled", "tasks", "background", "files")
"""The sections that are lists of rows; the parts are session, status and ledger."""


class Tail(Struct, gc=False):
    """A text that grows. Once it is no longer `open`, no piece can be added."""

    field: str
    pieces: list[str]
    open: bool = True
    length: int | None = None
    """In UTF-16 code units, if it was counted: only changes need it."""

    def text(self) -> str:
        """The text so far, in one piece from now on."""
        pieces = self.pieces
        if len(pieces) > 1:
            pieces[:] = ["".join(pieces)]
        return pieces[0]


class Document:
    """The sections of a transcript."""

    __slots__ = ("order", "parts", "rows", "tails")

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, Any]] = {name: {} for name in LISTS}
        self.order: dict[str, list[str]] = {name: [] for name in LISTS}
        self.parts: dict[str, Any] = {"session": Session(), "status": Status(), "ledger": Ledger()}
        self.tails: dict[tuple[str, str], Tail] = {}

    def fork(self) -> Document:
        """A copy that shares its rows with the original."""
        new = Document.__new__(Document)
        new.rows = {name: dict(rows) for name, rows in self.rows.items()}
        new.order = {name: list(order) for name, order in self.order.items()}
        new.parts = dict(self.parts)
        new.tails = {}
        for key in list(self.tails):
            self._join(key)
            tail = self.tails[key]
            new.tails[key] = Tail(tail.field, tail.pieces[:])
        return new

    def get(self, to: str, row_id: str) -> Any:
        """A row with its texts joined, or None."""
        if self.tails and (to, row_id) in self.tails:
            self._join((to, row_id))
        row = self.rows[to].get(row_id)
        return self._opened(row, row_id) if type(row) is Packed else row

    def bare(self, to: str, row_id: str) -> Any:
        """A row that is there, for those who do not look at a text that may be growing."""
        row = self.rows[to][row_id]
        return self._opened(row, row_id) if type(row) is Packed else row

    def all(self, to: str) -> tuple[Any, ...]:
        """The rows of a list in their order, texts joined."""
        return self.some(to, self.order[to])

    def some(self, to: str, ids: Sequence[str]) -> tuple[Any, ...]:
        """These rows of a list, texts joined."""
        for key in self.tails:
            if key[0] == to:
                self._join(key)
        return tuple(self.bare(to, row_id) for row_id in ids)

    def join_all(self) -> None:
        """Let every row have the text it has by now."""
        for key in self.tails:
            self._join(key)

    def add(self, to: str, row: Any, before: str | None) -> None:
        """Put a row before another, or at the end."""
        order, row_id = self.order[to], row.id
        self.rows[to][row_id] = row
        if before is None:
            order.append(row_id)
        else:
            order.insert(_place(order, before), row_id)

    def set_row(self, to: str, row_id: str, row: Any, fields: dict[str, Any]) -> None:
        """Set fields of a row, which is what `bare` has returned."""
        if self.tails:
            tail = self.tails.get((to, row_id))
            if tail is not None and tail.field in fields:
                tail.open = False
                del self.tails[to, row_id]
        self.rows[to][row_id] = structs.replace(row, **fields)

    def tail(self, to: str, row_id: str, field: str) -> Tail:
        """The growing text of a row. Only one field of a row grows at a time."""
        key = (to, row_id)
        tail = self.tails.get(key)
        if tail is None or tail.field != field:
            text = self.text(to, row_id, field)
            if tail is not None:
                self._join(key)
                self._drop(key)
            tail = self.tails[key] = Tail(field, [text])
        return tail

    def text(self, to: str, row_id: str, field: str) -> str:
        """A text of a row, which may be growing."""
        tail = self.tails.get((to, row_id))
        if tail is not None and tail.field == field:
            return tail.text()
        text: str = getattr(self.bare(to, row_id), field)
        return text

    def remove(self, to: str, row_id: str) -> None:
        """Take a row out."""
        self._drop((to, row_id))
        del self.rows[to][row_id]
        order = self.order[to]
        del order[_place(order, row_id)]

    def replace(self, to: str, rows: tuple[Any, ...]) -> None:
        """New rows in the place of all of a list."""
        self.rows[to] = {row.id: row for row in rows}
        self.order[to] = [row.id for row in rows]

    def _opened(self, packed: Packed, row_id: str) -> Any:
        """Unpack the part that a row is in, but for rows that were changed or removed since."""
        rows = self.rows[packed.to]
        for row in packed.rows():
            if rows.get(row.id) is packed:
                rows[row.id] = row
        return rows[row_id]

    def _drop(self, key: tuple[str, str]) -> None:
        tail = self.tails.pop(key, None)
        if tail is not None:
            tail.open = False

    def _join(self, key: tuple[str, str]) -> None:
        tail = self.tails[key]
        to, row_id = key
        row: Struct = self.rows[to][row_id]
        text = tail.text()
        if getattr(row, tail.field) is not text:
            self.rows[to][row_id] = structs.replace(row, **{tail.field: text})


NEWEST = 64
"""How many rows at the end of a list are searched first: most changes are about new rows."""


def _place(order: list[str], row_id: str) -> int:
    """The position of a row.

    `list.index` searches in C, so that 2,000 requests that end together do not take a second.
    """
    try:
        return order.index(row_id, max(len(order) - NEWEST, 0))
    except ValueError:
        return order.index(row_id)
