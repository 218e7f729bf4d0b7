"""The only writer of the document: every operation changes it and is recorded as a change.

The reducers get a `Fold` and say what happened; they never touch the document themselves, so
the changes are, by construction, exactly what happened to the state. Setting a field to the
value it has is no change.
"""

from __future__ import annotations

import copy
from typing import Any

from msgspec import structs

from fairlead.transcript.state.changes import Add, Append, Change, Remove, Replace, Set, units
from fairlead.transcript.state.document import Document
from fairlead.transcript.state.memory import Memory
from fairlead.transcript.state.model import Ledger, Session, Status, Turn

__all__ = ["Fold"]


class Fold:
    """The state, the reducer's notes, and the changes of the message at hand."""

    __slots__ = ("at", "changes", "document", "memory", "touched")

    def __init__(self) -> None:
        self.document = Document()
        self.memory = Memory()
        self.changes: list[Change] = []
        self.at = 0.0
        self.touched = 0.0
        """When the status was last brought up to date."""

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
        new.changes = []
        new.at = self.at
        new.touched = self.touched
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
        self.changes.append(Add(to, row, before))

    def show(self, item: Any) -> None:
        """Add an item; prompts that have not started stay behind it."""
        waiting = self.memory.waiting
        self.add("items", item, waiting[0] if waiting else None)

    def set(self, to: str, row_id: str, **fields: Any) -> None:
        """Set fields of a row, as far as they differ."""
        document = self.document
        row = document.to_set(to, row_id, fields)
        changed = _changed(row, fields)
        if changed:
            document.set_row(to, row_id, row, changed)
            self.changes.append(Set(to, row_id, changed))

    def put(self, part: str, **fields: Any) -> None:
        """Set fields of a part, as far as they differ."""
        parts = self.document.parts
        changed = _changed(parts[part], fields)
        if changed:
            parts[part] = structs.replace(parts[part], **changed)
            self.changes.append(Set(part, None, changed))

    def touch(self) -> None:
        """Set the time of the last event to now; that is what most messages do to the status."""
        self.touched = at = self.at
        status = self.document.parts["status"]
        if status.last_event != at:
            self.document.parts["status"] = structs.replace(status, last_event=at)
            self.changes.append(Set("status", None, {"last_event": at}))

    def append(self, to: str, row_id: str, field: str, text: str) -> None:
        """Let a text grow."""
        tail = self.document.tail(to, row_id, field)
        self.changes.append(Append(to, row_id, field, tail.length, text))
        tail.pieces.append(text)
        tail.length += units(text)

    def write(self, to: str, row_id: str, field: str, text: str) -> None:
        """Make a text what it is in the end, with the smallest change."""
        old = getattr(self.document.get(to, row_id), field)
        if text.startswith(old):
            if len(text) > len(old):
                self.append(to, row_id, field, text[len(old) :])
            self.document.close(to, row_id)
        else:
            self.set(to, row_id, **{field: text})

    def remove(self, to: str, row_id: str) -> None:
        """Take a row out."""
        self.document.remove(to, row_id)
        self.changes.append(Remove(to, row_id))

    def replace(self, to: str, rows: tuple[Any, ...]) -> None:
        """Put new rows in the place of a whole list, if they differ."""
        if rows != self.document.all(to):
            self.document.replace(to, rows)
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
    try:
        return bool(old != new)
    except RecursionError:
        return True
