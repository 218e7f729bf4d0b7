"""The only writer of the document: every operation changes it and is recorded as a change.

The reducers get a `Fold` and say what happened; they never touch the document themselves, so
the changes are, by construction, exactly what happened to the state. Setting a field to the
value it has is no change. The state does not depend on whether changes are recorded: most programs
only look at the state, and finding out what differs takes longer than writing it.
"""

from __future__ import annotations

import copy
from typing import Any

from msgspec import structs

from fairlead.transcript.state.changes import Add, Append, Change, Remove, Replace, Set, units
from fairlead.transcript.state.document import Document, Tail
from fairlead.transcript.state.memory import Memory
from fairlead.transcript.state.model import Ledger, Session, Status, Turn

__all__ = ["LAST_EVENT_STEP_S", "Fold"]

LAST_EVENT_STEP_S = 1.0
"""How far `last_event` may lag behind while deltas stream: a change for each would double them."""


class Fold:
    """The state, the reducer's notes, and the changes of the message at hand."""

    __slots__ = ("at", "changes", "document", "memory", "of_one_moment", "touched", "unsettled")

    def __init__(self) -> None:
        self.document = Document()
        self.memory = Memory()
        self.changes: list[Change] | None = None
        """What the values that are being fed have changed, or None if no caller asked for it."""
        self.at = 0.0
        self.touched = 0.0
        """When the status was last brought up to date."""
        self.of_one_moment = False
        """The values that are being fed have one time, and no caller asked for changes."""
        self.unsettled = False
        """The status is derived after the last of these values."""

    def fork(self) -> Fold:
        """A copy that can go its own way."""
        new = Fold.__new__(Fold)
        new.document = self.document.fork()
        new.memory = copy.deepcopy(self.memory)
        for (_, item), tail in new.document.tails.items():
            for stream in new.memory.streams.values():
                for block in stream.blocks.values():
                    if block.item == item and block.tail is not None:
                        block.tail = tail
        new.changes = None
        new.at = self.at
        new.touched = self.touched
        new.of_one_moment = new.unsettled = False
        return new

    # Reading

    @property
    def session(self) -> Session:
        """What is known of the session."""
        session: Session = self.document.parts["session"]
        return session

    @property
    def status(self) -> Status:
        """What the session is doing."""
        status: Status = self.document.parts["status"]
        return status

    @property
    def ledger(self) -> Ledger:
        """Money, tokens and lines."""
        ledger: Ledger = self.document.parts["ledger"]
        return ledger

    @property
    def turn(self) -> Turn | None:
        """The turn that is running."""
        return None if self.memory.turn is None else self.get("turns", self.memory.turn)

    def get(self, to: str, row_id: str) -> Any:
        """A row of a list, or None."""
        return self.document.get(to, row_id)

    def item(self, item_id: str) -> Any:
        """An item, or None."""
        return self.document.get("items", item_id)

    def ids(self, to: str) -> tuple[str, ...]:
        """The ids of a list in their order."""
        return tuple(self.document.order[to])

    # Writing

    def add(self, to: str, row: Any, before: str | None = None) -> None:
        """Add a row to a list."""
        self.document.add(to, row, before)
        if self.changes is not None:
            self.changes.append(Add(to, row, before))

    def show(self, item: Any) -> None:
        """Add an item; prompts that have not started stay behind it."""
        waiting = self.memory.waiting
        self.add("items", item, waiting[0] if waiting else None)

    def set(self, to: str, row_id: str, **fields: Any) -> None:
        """Set fields of a row, as far as they differ."""
        document = self.document
        row = document.bare(to, row_id)
        if self.changes is not None:
            self._record_set(to, row_id, row, fields)
        document.set_row(to, row_id, row, fields)

    def set_in_steps(self, to: str, row_id: str, *steps: dict[str, Any]) -> None:
        """Set fields of a row that is written once; each step, with its own fields, is a change."""
        document = self.document
        row = document.bare(to, row_id)
        together: dict[str, Any] = {}
        for fields in steps:
            if self.changes is not None:
                self._record_set(to, row_id, row, fields)
            together.update(fields)
        document.set_row(to, row_id, row, together)

    def _record_set(self, to: str, row_id: str, row: Any, fields: dict[str, Any]) -> None:
        assert self.changes is not None
        changed = _changed(row, fields)
        tail = self.document.tails.get((to, row_id))
        if tail is not None and tail.field in fields:
            changed.pop(tail.field, None)
            if tail.text() != fields[tail.field]:
                changed[tail.field] = fields[tail.field]
        if changed:
            self.changes.append(Set(to, row_id, changed))

    def put(self, part: str, **fields: Any) -> None:
        """Set fields of a part, as far as they differ."""
        parts = self.document.parts
        old = parts[part]
        parts[part] = structs.replace(old, **fields)
        if self.changes is not None:
            changed = _changed(old, fields)
            if changed:
                self.changes.append(Set(part, None, changed))

    def touch(self) -> None:
        """Set the time of the last event to now; that is what most messages do to the status."""
        self.touched = at = self.at
        parts = self.document.parts
        status = parts["status"]
        if status.last_event != at:
            parts["status"] = structs.replace(status, last_event=at)
            if self.changes is not None:
                self.changes.append(Set("status", None, {"last_event": at}))

    def append(self, to: str, row_id: str, field: str, text: str) -> Tail:
        """Let a text grow; returns the text, to which more can be added."""
        tail = self.document.tail(to, row_id, field)
        self.grow(to, row_id, tail, text)
        return tail

    def begin(self, item: Any, field: str, text: str) -> Tail:
        """Show an item with a text that grows from now on; returns the text."""
        self.show(item)
        tail = self.document.tails["items", item.id] = Tail(field, [""])
        self.grow("items", item.id, tail, text)
        return tail

    def grow(self, to: str, row_id: str, tail: Tail, text: str) -> None:
        """Add a piece to a text that grows."""
        if self.changes is None:
            tail.length = None
        else:
            offset = tail.length
            if offset is None:
                offset = units(tail.text())
            self.changes.append(Append(to, row_id, tail.field, offset, text))
            tail.length = offset + (len(text) if text.isascii() else units(text))
        tail.pieces.append(text)

    def finish(self, to: str, row_id: str, field: str, text: str, others: dict[str, Any]) -> None:
        """Make a growing text what it is in the end, with the smallest change, and set other fields."""
        document, changes = self.document, self.changes
        row = document.bare(to, row_id)
        if changes is not None:
            old = document.text(to, row_id, field)
            if not text.startswith(old):
                changes.append(Set(to, row_id, {field: text}))
            elif len(text) > len(old):
                changes.append(Append(to, row_id, field, units(old), text[len(old) :]))
            self._record_set(to, row_id, row, others)
        document.set_row(to, row_id, row, {field: text, **others})

    def remove(self, to: str, row_id: str) -> None:
        """Take a row out."""
        self.document.remove(to, row_id)
        if self.changes is not None:
            self.changes.append(Remove(to, row_id))

    def replace(self, to: str, rows: tuple[Any, ...]) -> None:
        """Put new rows in the place of a whole list, if they differ."""
        if rows != self.document.all(to):
            self.document.replace(to, rows)
            if self.changes is not None:
                self.changes.append(Replace(to, rows))

    # Ids

    def number(self, kind: str) -> str:
        """A made-up id: `kind-1`, `kind-2`, …"""
        count = self.memory.counts.get(kind, 0) + 1
        self.memory.counts[kind] = count
        return self.unused(f"{kind}-{count}")

    def unused(self, wanted: str, to: str = "items") -> str:
        """This id, or a derived id if a row with this id exists."""
        rows = self.document.rows[to]
        chosen, n = wanted, 2
        while chosen in rows:
            chosen, n = f"{wanted}~{n}", n + 1
        return chosen

    def turn_for(self, parent: str | None) -> str | None:
        """The turn of a new item: the turn of its parent, else the running turn."""
        if parent is not None:
            owner = self.item(parent)
            if owner is not None:
                turn: str | None = owner.turn
                return turn
        return self.memory.turn

    def parent_of(self, tool_use_id: str | None) -> str | None:
        """The item of a parent tool; its bare id if the tool was never seen."""
        return None if tool_use_id is None else self.memory.tools.get(tool_use_id, tool_use_id)


_FLAT = frozenset({str, int, float, bool})
"""Values whose comparison cannot exceed the depth of the stack."""


def _changed(row: Any, fields: dict[str, Any]) -> dict[str, Any]:
    """Those of the fields that the row has otherwise."""
    changed = {}
    for name, value in fields.items():
        old = getattr(row, name)
        if old is value:
            continue
        # True == 1 and 0 == False in Python, but not in JSON.
        kind = type(value)
        if type(old) is not kind or (old != value if kind in _FLAT else _differ(old, value)):
            changed[name] = value
    return changed


def _differ(old: Any, new: Any) -> bool:
    """Whether two values of one type differ in JSON, where 1 is neither true nor 1.0."""
    try:
        return bool(old != new) or repr(old) != repr(new)
    except RecursionError:
        return True
