"""One document that clients follow: its last changes, and a snapshot for each window.

A ring of changes leads from any recent position to the present; an older position needs a snapshot.
Items have keys that grow along their order, so that "the items from here on" is one number, and
whether a change concerns a client is one comparison. Holds no rows: `Source` has them. Pure.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, Protocol, TypeAlias

import msgspec
from msgspec import Struct

from fairlead.server.limits import Limits
from fairlead.server.protocol.messages import Changes, Page, Snapshot, Window
from fairlead.transcript.state.changes import Add, Append, Change, Remove, Replace, Set
from fairlead.transcript.state.coalesce import coalesce

__all__ = ["ALL", "Beside", "Document", "Source", "Step"]

ITEMS = "items"
"""The only section that is sent in windows."""

ALL = -1
"""The key before every item: the window of a client that has all of them."""

GAP = 1 << 62
"""Distance of the keys of two items that were added at the end, so that others fit between."""

STRIDE = 1 << 20

OVERHEAD = 90
"""The approximate bytes of an append in addition to its text."""

ENTRY_BYTES = 600
"""Approximate memory of an entry of the ring without its texts: objects, and a dict of fields."""

_encode = msgspec.json.encode
_SEQ = attrgetter("seq")
_SMALL = frozenset({int, float, bool})


class Source(Protocol):
    """Where a document's rows are; always at the document's own sequence number."""

    @property
    def sections(self) -> tuple[str, ...]:
        """The names of all sections but the items."""

    def section(self, name: str) -> Any:
        """The value of a section, anything that can be written as JSON."""

    def item(self, item_id: str) -> Any:
        """One item."""


Beside: TypeAlias = Callable[[Sequence[str]], tuple[Any, ...]]
"""The turns that a page of these items needs and the document's own sections do not have."""


class _Entry(Struct, frozen=True):
    """What one or several events changed, which were published together."""

    since: int
    """The document's number before these events."""
    seq: int
    changes: tuple[Change, ...]
    keys: tuple[int, ...] | None
    """For each change the key of its item, or a very large one; None if no item is concerned."""
    low: int
    size: int
    total: int
    """The sizes of all entries up to this one."""


class Step(Struct, frozen=True):
    """A message that brings a client up to date, and its approximate length."""

    message: Changes
    size: int


NOT_AN_ITEM = 1 << 200


class Document:
    """The order of a document's items, its sequence number, and its last changes."""

    def __init__(
        self,
        name: str,
        source: Source,
        limits: Limits,
        *,
        seq: int,
        epoch: str,
        item_ids: Iterable[str] | None = None,
        beside: Beside | None = None,
        gap: int = GAP,
        offset: int = 0,
    ) -> None:
        self.name = name
        self.epoch = epoch
        self.seq = seq
        self.floor = seq
        """The oldest position from which the ring leads to now."""
        self.windowed = item_ids is not None
        self.offset = offset
        """The number of older items that the source does not have; a copy begins with the last."""
        self.every_s = 0.0
        """Least time between two updates of clients; 0 for no limit."""
        self.due = 0.0
        self.copied = False
        """Whether another process has the document itself, which can be at a later number (N50)."""
        self.throttled = False
        """Whether its changes wait because clients were updated recently."""
        self.released_at = 0.0
        self.offered = seq
        """The number up to which clients are updated while it is throttled, because the hub lets
        them have it with other messages."""
        self._source = source
        self._beside = beside
        self._limits = limits
        self._gap = gap
        self._entries: list[_Entry] = []
        self._bytes = 0
        self._total = 0
        """The sizes of all entries ever added."""
        self._ids: list[str] = []
        self._keys: list[int] = []
        self._key_of: dict[str, int] = {}
        self._prepended: list[tuple[int, int]] = []
        """For each call of `prepend` the key after its items, and the document's number then."""
        self._steps: dict[tuple[int, int], Step] = {}
        self._snapshots: dict[int, tuple[Snapshot, int, int]] = {}
        self._collected: list[Change] = []
        """What was published to a document with an interval since `release`."""
        self._collected_to = seq
        self._number(item_ids or ())

    # Taking in

    def publish(self, seq: int, changes: Sequence[Change]) -> None:
        """The events up to this number changed this; the source is there already.

        The changes are merged (`coalesce`), because a client that keeps up is sent them as they are.
        A document with an interval collects them until `release`.
        """
        if seq <= self._collected_to:
            raise ValueError(f"event {seq} of {self.name} comes after event {self._collected_to}")
        self._collected_to = seq
        if self.every_s:
            self._collected += changes
        else:
            self._add(seq, changes)

    @property
    def has_collected(self) -> bool:
        """Whether something was published that clients do not get yet."""
        return self._collected_to > self.seq

    def release(self) -> None:
        """Let clients get what was collected, as one change from one number to one other.

        All clients of a round then have the same position, and share one message.
        """
        if self.has_collected:
            collected, self._collected = self._collected, []
            self._add(self._collected_to, coalesce(collected))

    def _add(self, seq: int, changes: Sequence[Change]) -> None:
        """Add an entry to the ring."""
        since = self.seq
        self.seq = seq
        self._steps.clear()
        self._snapshots.clear()
        if not changes:
            return
        keys: list[int] | None = None
        for place, change in enumerate(changes):
            if self.windowed and change.to == ITEMS:
                key = self._index(change)
                if key is None:
                    self._forget(changes[place + 1 :])
                    return
                if keys is None:
                    keys = [NOT_AN_ITEM] * len(changes)
                keys[place] = key
        size = sum(map(_size, changes))
        low = NOT_AN_ITEM if keys is None else min(keys)
        item_keys = None if keys is None else tuple(keys)
        self._bytes += size + ENTRY_BYTES
        self._total += size
        self._entries.append(_Entry(since, seq, tuple(changes), item_keys, low, size, self._total))
        if self._bytes > self._limits.ring_bytes:
            self._trim()

    def prepend(self, item_ids: Sequence[str]) -> None:
        """The source has got these older items, which precede its first one."""
        if not item_ids or not self._keys:
            return
        self.offset -= len(item_ids)
        self._snapshots.clear()
        following = self._keys[0]
        first = following - self._gap * len(item_ids)
        if first <= 0:  # Items were inserted before those that the source had.
            self._number([*item_ids, *self._ids])
            self.forget()
            return
        keys = [first + self._gap * place for place in range(len(item_ids))]
        self._ids[:0] = item_ids
        self._keys[:0] = keys
        self._key_of.update(zip(item_ids, keys, strict=True))
        self._prepended.append((following, self.seq))

    def forget(self) -> None:
        """Drop all changes: a client that is not up to date needs a snapshot."""
        self._entries.clear()
        self._steps.clear()
        self._bytes = 0
        self.floor = self.seq

    # Handing out

    def offer(self, now: float) -> None:
        """Let clients get what was collected from now on, and what comes later at the next time."""
        self.release()
        self.released_at = now
        self.due = now + self.every_s

    def throttle(self, rest_s: float) -> None:
        """Offer nothing for this time after the last offer, because many clients are updated."""
        self.due = max(self.due, self.released_at + rest_s)

    def leads_from(self, position: int) -> bool:
        """Whether the changes since a position are still there.

        Not from a number between two events that were published together: no client was sent it.
        """
        if position == self.seq:
            return True
        if not self.floor <= position < self.seq:
            return False
        place = self._place_after(position)
        return place == len(self._entries) or self._entries[place].since >= position

    def backlog(self, position: int) -> int:
        """About the bytes of the changes since a position."""
        place = self._place_after(position)
        if place == len(self._entries):
            return 0
        return self._total - self._entries[place].total + self._entries[place].size

    def made_step(self, position: int, first: int) -> Step | None:
        """The result of `step` for another client, if nothing was published since."""
        return self._steps.get((position, first))

    def step(self, position: int, first: int) -> Step:
        """The next message for a client at a position that has the items from a key on."""
        entries, seq = self._next(position)
        everything = all(entry.low >= first for entry in entries)
        shared = (position, ALL)
        if everything and shared in self._steps:
            made = self._steps[shared]
        else:
            if everything and len(entries) == 1:  # The usual case: a client that keeps up.
                changes, size = entries[0].changes, entries[0].size + OVERHEAD
            else:
                changes = coalesce(_visible(entries, first))
                size = sum(map(_size, changes)) + OVERHEAD
            message = Changes(document=self.name, from_seq=position, seq=seq, changes=changes)
            made = Step(message, size)
            if everything:
                self._steps[shared] = made
        self._steps[position, first] = made
        return made

    def snapshot(self, window: int) -> tuple[Snapshot, int, int]:
        """The document now, with the end of its items; the key they begin with, and the size.

        Sections are already written as JSON (`msgspec.Raw`), because many clients get the same.
        """
        self.release()  # The source has it already.
        window = max(1, min(window, self._limits.window_items))
        cached = self._snapshots.get(window)
        if cached is not None:
            return cached
        state = {
            name: msgspec.Raw(_encode(self._source.section(name))) for name in self._source.sections
        }
        size = sum(len(bytes(part)) for part in state.values())
        shown = Window(first=0, total=0)
        first = ALL
        if self.windowed:
            items, start, bytes_of_items = self._slice(len(self._ids), window)
            state[ITEMS] = items  # type: ignore[assignment]
            shown = self._window(start)
            first = self._key_at(start)
            size += bytes_of_items
        message = Snapshot(
            document=self.name, epoch=self.epoch, seq=self.seq, state=state, window=shown
        )
        self._snapshots[window] = message, first, size
        return message, first, size

    def page(self, before: str, count: int) -> tuple[Page, int, int]:
        """Items before one that is there; the key they begin with, and the size."""
        stop = bisect_left(self._keys, self._key_of[before])
        items, start, size = self._slice(stop, max(1, min(count, self._limits.window_items)))
        page = Page(
            document=self.name,
            before=before,
            items=tuple(items),
            window=self._window(start),
            turns=self._beside(self._ids[start:stop]) if self._beside is not None else (),
        )
        return page, self._key_at(start), size

    def key(self, item_id: str) -> int | None:
        """The key of an item, if it is there."""
        return self._key_of.get(item_id)

    def first_from(self, key: int) -> str | None:
        """The first item of a window that begins with this key."""
        place = bisect_left(self._keys, key)
        return self._ids[place] if place < len(self._ids) else None

    def window_from(self, key: int) -> Window:
        """The window that begins with this key."""
        return self._window(bisect_left(self._keys, key))

    def has_changes_of(self, key: int, position: int) -> bool:
        """Whether the ring has the changes of the items from a key on since a position."""
        return all(key >= following or position >= seq for following, seq in self._prepended)

    def has_section(self, name: str) -> bool:
        """Whether there is such a section."""
        return name in self._source.sections

    def section(self, name: str) -> Any:
        """The value of a section now."""
        return self._source.section(name)

    # Within

    def _window(self, start: int) -> Window:
        return Window(first=self.offset + start, total=self.offset + len(self._ids))

    def _key_at(self, start: int) -> int:
        """The key of the window that begins with an item; `ALL` if there is no older one."""
        return self._keys[start] if start or (self.offset and self._keys) else ALL

    def _slice(self, stop: int, count: int) -> tuple[list[msgspec.Raw], int, int]:
        """Up to `count` items before a position, as far as their bytes allow."""
        items: list[msgspec.Raw] = []
        size = 0
        start = stop
        while start > 0 and len(items) < count:
            text = _encode(self._source.item(self._ids[start - 1]))
            if items and size + len(text) > self._limits.window_bytes:
                break
            items.append(msgspec.Raw(text))
            size += len(text) + 1
            start -= 1
        items.reverse()
        return items, start, size

    def _since(self, position: int) -> list[_Entry]:
        return self._entries[self._place_after(position) :]

    def _place_after(self, position: int) -> int:
        entries = self._entries
        if not entries or entries[-1].seq <= position:
            return len(entries)
        if entries[-1].since <= position:  # The usual case: a client that keeps up.
            return len(entries) - 1
        return bisect_right(entries, position, key=_SEQ)

    def _next(self, position: int) -> tuple[list[_Entry], int]:
        """The entries of one message, and the number it leads to."""
        entries = self._since(position)
        size = 0
        for place, entry in enumerate(entries):
            size += entry.size
            if size > self._limits.frame_bytes and place:
                return entries[:place], entries[place - 1].seq
        return entries, self.seq

    def _trim(self) -> None:
        """Drop the older half, so that trimming is rare."""
        place = 0
        while self._bytes > self._limits.ring_bytes // 2 and place < len(self._entries):
            self._bytes -= self._entries[place].size + ENTRY_BYTES
            self.floor = self._entries[place].seq
            place += 1
        del self._entries[:place]

    def _forget(self, rest: Sequence[Change]) -> None:
        """The order was rebuilt and earlier keys are invalid, so every client gets a snapshot."""
        for change in rest:
            if change.to == ITEMS:
                self._index(change)
        self.forget()

    def _index(self, change: Change) -> int | None:
        """Update the order of the items; returns the item's key, None if all keys are new."""
        if isinstance(change, Add):
            return self._insert(_id(change.row), change.before)
        if isinstance(change, Replace):
            self._number(_id(row) for row in change.value)
            return None
        item_id = change.id
        key = self._key_of[item_id] if item_id is not None else NOT_AN_ITEM
        if isinstance(change, Remove):
            place = bisect_left(self._keys, key)
            del self._keys[place], self._ids[place], self._key_of[change.id]
        return key

    def _insert(self, item_id: str, before: str | None) -> int | None:
        if before is None:
            key = self._keys[-1] + self._gap if self._keys else self._gap
            place = len(self._keys)
        else:
            place = bisect_left(self._keys, self._key_of[before])
            previous = self._keys[place - 1] if place else 0
            room = self._keys[place] - previous
            if room < 2:
                self._ids.insert(place, item_id)
                self._number(list(self._ids))
                return None
            key = previous + max(1, min(STRIDE, room // 2))
        self._keys.insert(place, key)
        self._ids.insert(place, item_id)
        self._key_of[item_id] = key
        return key

    def _number(self, ids: Iterable[str]) -> None:
        self._ids = list(ids)
        self._keys = [self._gap * (self.offset + place + 1) for place in range(len(self._ids))]
        self._prepended.clear()
        self._key_of = dict(zip(self._ids, self._keys, strict=True))


def _visible(entries: list[_Entry], first: int) -> list[Change]:
    changes: list[Change] = []
    for entry in entries:
        if entry.low >= first or entry.keys is None:
            changes += entry.changes
        else:
            changes += [
                change
                for change, key in zip(entry.changes, entry.keys, strict=True)
                if key >= first
            ]
    return changes


def _size(change: Change) -> int:
    """About the bytes of a change."""
    if type(change) is Append:
        return len(change.text) + OVERHEAD
    if type(change) is Set:
        return OVERHEAD + sum(map(_value_size, change.fields.values()))
    return len(_encode(change))


def _value_size(value: Any) -> int:
    if type(value) is str:
        return len(value) + 20
    if value is None or type(value) in _SMALL:
        return 30
    return len(_encode(value)) + 20


def _id(row: Any) -> str:
    return str(row["id"] if isinstance(row, dict) else row.id)
