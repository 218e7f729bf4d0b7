"""A transcript with its reducer's notes, as parts that can be stored.

A fold that continues from a checkpoint ends in the same state as a fold of all events. Taking one is
quick and shares the rows; writing it takes its time and may be done in another thread. The form
belongs to this exact code: a store of checkpoints also stores which code made them. `packed`
has the rows; where the parts are kept is the business of `store`.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

import msgspec
from msgspec import Struct

from fairlead.transcript.state.document import LISTS, Document
from fairlead.transcript.state.fold import Fold
from fairlead.transcript.state.memory import Block, Memory, Notes, Stream
from fairlead.transcript.state.model import Ledger, Session, Status
from fairlead.transcript.state.packed import Packed, pack, pack_rows, unpack
from fairlead.wire import decoders

__all__ = ["Checkpoint", "Unreadable", "checkpoint", "restore"]

LONG = ("items", "turns", "settled")
"""The lists that grow with the session; of the others every row is looked at all the time."""

GROWING = ("seen", "made", "blocks", "tools")
"""The notes that grow with the session; they are written in parts, like rows."""

ENTRIES = 5_000
"""Entries of such a note in one part: JSON of many megabytes in one call holds up every thread."""


class Unreadable(Exception):
    """The parts are not a checkpoint of this code. Fold the log instead."""


class _KeptBlock(Struct, frozen=True, kw_only=True):
    kind: str
    item: str | None
    final: bool
    grows: bool


class _KeptStream(Struct, frozen=True, kw_only=True):
    parent: str | None
    message: str
    model: str | None
    open: str | None
    blocks: dict[int, _KeptBlock]


class _Head(Struct, frozen=True, kw_only=True):
    """What is small, and which parts hold the rest."""

    session: Session
    status: Status
    ledger: Ledger
    touched: float
    notes: Notes
    streams: tuple[_KeptStream, ...]
    tails: tuple[tuple[str, str, str], ...]
    """List, row and field of the texts that grow."""
    rows: dict[str, tuple[tuple[str, ...], ...]]
    """List -> the ids of the rows in each of its parts."""
    growing: dict[str, int]
    """Note -> the number of its parts."""


_names = msgspec.json.Decoder(list[str]).decode
_entries = msgspec.json.Decoder(list[tuple[str, Any]]).decode
_made = msgspec.json.Decoder(list[tuple[str, tuple[str, ...]]]).decode


class Checkpoint:
    """The state of a transcript at one moment; later events do not change it."""

    def __init__(self, fold: Fold) -> None:
        document, memory = fold.document, fold.memory
        document.join_all()
        self._parts = dict(document.parts)
        self._ids = {name: tuple(document.order[name]) for name in LISTS}
        self._rows = {
            name: tuple(document.rows[name][row_id] for row_id in self._ids[name]) for name in LISTS
        }
        self._tails = tuple((to, row, tail.field) for (to, row), tail in document.tails.items())
        self._touched = fold.touched
        self._streams = tuple(_keep(parent, stream) for parent, stream in memory.streams.items())
        self._notes = Notes(
            **{name: copy(getattr(memory, name)) for name in Notes.__struct_fields__}
        )
        # This is the only note whose values are mutable.
        self._notes.open_pending = {request: [*ids] for request, ids in memory.open_pending.items()}

    def parts(self) -> Iterator[bytes]:
        """The parts to keep, in order; raises `Unreadable` if they could not be read back."""
        try:
            yield from self._written()
        except (msgspec.DecodeError, UnicodeError, TypeError, ValueError, RecursionError) as why:
            raise Unreadable(f"this transcript cannot be stored: {why}") from why

    def _written(self) -> Iterator[bytes]:
        rows: dict[str, list[tuple[str, ...]]] = {name: [] for name in LISTS}
        for name in LISTS:
            for part in pack_rows(name, self._ids[name], self._rows[name]):
                rows[name].append(part.ids)
                yield part.body
        growing = dict.fromkeys(GROWING, 0)
        for name in GROWING:
            note = getattr(self._notes, name)
            entries = list(note.items()) if isinstance(note, dict) else list(note)
            for start in range(0, len(entries), ENTRIES):
                growing[name] += 1
                yield pack(entries[start : start + ENTRIES])
            note.clear()
        head = _Head(
            **self._parts,
            touched=self._touched,
            notes=self._notes,
            streams=self._streams,
            tails=self._tails,
            rows={name: tuple(ids) for name, ids in rows.items()},
            growing=growing,
        )
        body = pack(head)
        decoders.decode(unpack(body), _Head)
        yield body


def checkpoint(fold: Fold) -> Checkpoint:
    """What the fold is now."""
    return Checkpoint(fold)


def restore(parts: Sequence[bytes]) -> Fold:
    """A fold that continues from a checkpoint; raises `Unreadable`."""
    try:
        head: _Head = decoders.decode(unpack(parts[-1]), _Head)
        bodies = iter(parts[:-1])
        fold = Fold()
        fold.touched = head.touched
        _restore_document(fold.document, head, bodies)
        fold.memory = _restore_memory(fold.document, head, bodies)
        if next(bodies, None) is not None:
            raise Unreadable("there are more parts than the head knows")
        return fold
    except (zlib.error, msgspec.DecodeError, StopIteration, LookupError) as problem:
        raise Unreadable(f"this is not a checkpoint: {problem!r}") from problem


def _restore_document(document: Document, head: _Head, bodies: Iterator[bytes]) -> None:
    document.parts.update(session=head.session, status=head.status, ledger=head.ledger)
    for name in LISTS:
        for ids in head.rows[name]:
            packed = Packed(name, ids, next(bodies))
            document.order[name] += ids
            if name in LONG:
                document.rows[name].update(dict.fromkeys(ids, packed))
            else:
                document.rows[name].update({row.id: row for row in packed.rows()})
    for to, row_id, field in head.tails:
        document.tail(to, row_id, field)


def _restore_memory(document: Document, head: _Head, bodies: Iterator[bytes]) -> Memory:
    memory = Memory(**{name: getattr(head.notes, name) for name in Notes.__struct_fields__})
    for name in GROWING:
        note = getattr(memory, name)
        decode = {"seen": _names, "made": _made}.get(name, _entries)
        for _ in range(head.growing[name]):
            note.update(decode(unpack(next(bodies))))
    for saved in head.streams:
        memory.streams[saved.parent] = _stream(document, saved)
    return memory


def _keep(parent: str | None, stream: Stream) -> _KeptStream:
    return _KeptStream(
        parent=parent,
        message=stream.message,
        model=stream.model,
        open=stream.open,
        blocks={
            index: _KeptBlock(
                kind=block.kind,
                item=block.item,
                final=block.final,
                grows=block.tail is not None and block.tail.open,
            )
            for index, block in stream.blocks.items()
        },
    )


def _stream(document: Document, saved: _KeptStream) -> Stream:
    stream = Stream(saved.message, saved.model)
    stream.open = saved.open
    for index, saved_block in saved.blocks.items():
        block = stream.blocks[index] = Block(saved_block.kind)
        block.item, block.final = saved_block.item, saved_block.final
        if saved_block.grows:
            block.tail = document.tails["items", saved_block.item or ""]
    return stream
