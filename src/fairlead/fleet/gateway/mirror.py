"""A copy of one document of a node, as a source of the gateway's hub. Pure.

It takes a frame only if the frame begins at its own number: an older frame is a repetition and is
dropped, a later one means that something is missing (`Gap`), and the gateway then opens the document
again at the number of the mirror. So however messages are lost, repeated or reordered, a mirror is
always equal to the node's document at one number.

A mirror has the last items of the document, like a client. Changes of older items only change how
many there are. The five operations are generic, so a mirror need not know what the rows mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from fairlead.fleet.protocol.envelopes import DocumentBody, Frame, PageBody
from fairlead.transcript.state.changes import Add, Append, Change, Remove, Replace, Set, cut

__all__ = ["Gap", "Mirror"]

ITEMS = "items"


class Gap(Exception):
    """A frame does not follow what the mirror has: it must be opened again."""


class Mirror:
    """A document at one number."""

    def __init__(self, body: DocumentBody) -> None:
        """From a snapshot."""
        self.epoch = body.epoch
        self.generation = body.generation
        self.seq = body.seq
        self.broken = False
        """Whether it must be replaced, because a change did not fit."""
        self.windowed = ITEMS in body.state
        self.offset = body.window.first
        """The number of older items that it does not have."""
        self._sections: dict[str, Any] = {
            name: _section(value) for name, value in body.state.items() if name != ITEMS
        }
        self._items: dict[str, Any] = {row["id"]: row for row in body.state.get(ITEMS, ())}
        self._order: list[str] = list(self._items)
        self._turns: dict[str, Any] = {}
        """Turns of older pages that the section `turns` does not have."""

    # As a source of the hub

    @property
    def sections(self) -> tuple[str, ...]:
        """The names of all sections but the items."""
        return tuple(self._sections)

    def section(self, name: str) -> Any:
        """The value of a section."""
        value = self._sections[name]
        return value.in_order() if isinstance(value, _Rows) else value

    def row(self, section: str, row_id: str) -> dict[str, Any] | None:
        """A row of a list, if it is there."""
        rows = self._sections.get(section)
        return rows.by_id.get(row_id) if isinstance(rows, _Rows) else None

    def item(self, item_id: str) -> Any:
        """One item."""
        return self._items[item_id]

    @property
    def item_ids(self) -> list[str] | None:
        """Its items in order; None for a document without items."""
        return list(self._order) if self.windowed else None

    def turns_of(self, item_ids: Sequence[str]) -> tuple[Any, ...]:
        """The turns of some items, without those that are in the section already."""
        wanted = dict.fromkeys(self._items[item_id].get("turn") for item_id in item_ids)
        return tuple(
            self._turns[turn]
            for turn in wanted
            if turn in self._turns and self.row("turns", str(turn)) is None
        )

    # Taking in

    def is_behind(self, epoch: str, seq: int) -> bool:
        """Whether the node's document is at a later number, or was started again."""
        return epoch != self.epoch or seq > self.seq

    def take(self, frame: Frame) -> list[Change] | None:
        """Apply a frame and return what changed; None for a repetition. Raises `Gap`."""
        if self.broken:
            raise Gap
        if frame.generation < self.generation:
            return None  # From a node that no longer has the session.
        if frame.epoch != self.epoch or frame.generation > self.generation:
            raise Gap
        if frame.seq <= self.seq:
            return None
        if frame.from_seq != self.seq:
            raise Gap
        try:
            changed = self._apply(frame.changes)
        except LookupError:
            self.broken = True
            raise Gap from None
        self.seq = frame.seq
        if self.offset and not self._order:
            # It has none of the items that are there: a client could not ask for older ones.
            self.broken = True
            raise Gap
        return changed

    def catch_up(self, body: DocumentBody) -> list[Change] | None:
        """Apply the answer to `open`; None if it changes nothing. Raises `Gap` for a snapshot."""
        if body.from_seq is None:
            raise Gap
        return self.take(
            Frame(
                epoch=body.epoch,
                generation=body.generation,
                from_seq=body.from_seq,
                seq=body.seq,
                changes=body.changes,
            )
        )

    def begins_with(self, item_id: str) -> bool:
        """Whether this is its oldest item, and there are older ones."""
        return self.offset > 0 and bool(self._order) and self._order[0] == item_id

    def prepend(self, page: PageBody) -> list[str]:
        """Add older items, which are as the document is at the mirror's number; their ids."""
        items = {row["id"]: row for row in page.items if row["id"] not in self._items}
        self._items = {**items, **self._items}
        self._order[:0] = items
        self.offset = page.window.first
        self._turns.update((row["id"], row) for row in page.turns)
        return list(items)

    # Within

    def _apply(self, changes: Sequence[Change]) -> list[Change]:
        shown: list[Change] = []
        for change in changes:
            if change.to == ITEMS and self.windowed:
                known = self._apply_to_items(change)
                if known is not None:
                    shown.append(known)
            else:
                self._apply_to_section(change)
                shown.append(change)
        return shown

    def _apply_to_section(self, change: Change) -> None:
        value = self._sections.get(change.to)
        if isinstance(change, Replace):
            self._sections[change.to] = _section(change.value)
        elif isinstance(change, Set) and change.id is None and isinstance(value, dict):
            self._sections[change.to] = {**value, **change.fields}
        elif isinstance(value, _Rows):
            value.apply(change)
        else:
            raise LookupError(change.to)

    def _apply_to_items(self, change: Change) -> Change | None:
        """Apply a change of an item; None if it concerns only items that the mirror does not have."""
        if isinstance(change, Add):
            return self._add(change)
        if isinstance(change, Replace):
            self._items = {row["id"]: row for row in change.value}
            self._order = list(self._items)
            self.offset = 0
            return change
        item_id = change.id
        if item_id is None or item_id not in self._items:
            if isinstance(change, Remove):
                self.offset -= 1
            return None
        if isinstance(change, Remove):
            del self._items[item_id]
            del self._order[_last_place(self._order, item_id)]
        else:
            self._items[item_id] = _changed_row(self._items[item_id], change)
        return change

    def _add(self, change: Add) -> Add | None:
        item_id = change.row["id"]
        if change.before is None:
            self._order.append(item_id)
        elif change.before in self._items:
            self._order.insert(_last_place(self._order, change.before), item_id)
        else:
            self.offset += 1
            return None
        self._items[item_id] = change.row
        return change


class _Rows:
    """A list of rows, found by their ids: a machine may list thousands of sessions.

    A change replaces a row and does not modify it, because the ring of the hub refers to it.
    """

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        self.by_id = {row["id"]: row for row in rows}

    def in_order(self) -> list[dict[str, Any]]:
        return list(self.by_id.values())

    def apply(self, change: Add | Append | Set | Remove) -> None:
        rows = self.by_id
        if isinstance(change, Add):
            self._add(change)
        elif isinstance(change, Remove):
            del rows[change.id]
        else:
            row_id = str(change.id)
            rows[row_id] = _changed_row(rows[row_id], change)

    def _add(self, change: Add) -> None:
        row = change.row
        if change.before is None:
            self.by_id[row["id"]] = row
            return
        rows = self.in_order()
        rows.insert(rows.index(self.by_id[change.before]), row)
        self.by_id = {each["id"]: each for each in rows}


def _section(value: Any) -> Any:
    """A section as the mirror has it: a list of rows by their ids, anything else as it is."""
    if isinstance(value, list) and all(_is_row(each) for each in value):
        return _Rows(value)
    return value


def _is_row(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("id"), str)


def _changed_row(row: dict[str, Any], change: Append | Set) -> dict[str, Any]:
    if isinstance(change, Set):
        return {**row, **change.fields}
    return {**row, change.field: cut(row[change.field], change.offset) + change.text}


def _last_place(ids: list[str], item_id: str) -> int:
    """Where an item is; from the end, because changes are about what is new."""
    for place in range(len(ids) - 1, -1, -1):
        if ids[place] == item_id:
            return place
    raise LookupError(item_id)
