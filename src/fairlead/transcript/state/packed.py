"""Rows that stay compressed JSON until one of them is read.

Most rows of a long session are never read again. Read back from a checkpoint, they stay
packed in parts of adjacent rows, so that opening such a session costs what is looked at and not
what there is. Below: `model`. Above: `document` opens parts, `checkpoint` makes them.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from fairlead.transcript.state.model import Background, File, Item, Pending, Settled, Task, Turn
from fairlead.wire import decoders

__all__ = ["Packed", "pack", "pack_rows", "unpack"]

PART_ROWS = 500
PART_BYTES = 512 * 1024
"""Where a part ends: unpacking one takes a few milliseconds, and it is what a window needs."""

LEVEL = 1
"""Of compression: JSON becomes five times smaller, and a higher level is not worth its time."""

_ROWS: dict[str, Any] = {
    "items": tuple[Item, ...],
    "turns": tuple[Turn, ...],
    "pending": tuple[Pending, ...],
    "settled": tuple[Settled, ...],
    "tasks": tuple[Task, ...],
    "background": tuple[Background, ...],
    "files": tuple[File, ...],
}
_encode = msgspec.json.Encoder().encode


class Packed:
    """Some adjacent rows of a list."""

    __slots__ = ("body", "ids", "to")

    def __init__(self, to: str, ids: tuple[str, ...], body: bytes) -> None:
        self.to = to
        self.ids = ids
        self.body = body

    def rows(self) -> tuple[Any, ...]:
        """The rows themselves; raises `zlib.error` or `msgspec.DecodeError` if they are broken."""
        rows: tuple[Any, ...] = decoders.decode(zlib.decompress(self.body), _ROWS[self.to])
        return rows


def pack_rows(to: str, ids: Sequence[str], rows: Sequence[Any]) -> Iterator[Packed]:
    """Rows of a list, some of them packed already, all in parts; each can be read back."""
    texts: list[bytes] = []
    names: list[str] = []
    size = place = 0
    while place < len(rows):
        row = rows[place]
        whole = _whole(row, ids, place)
        if whole is None:
            names.append(ids[place])
            texts.append(_encode(_looked_up(row, ids[place])))
            size += len(texts[-1])
            place += 1
        if texts and (whole is not None or len(texts) >= PART_ROWS or size >= PART_BYTES):
            yield _part(to, names, texts)
            names, texts, size = [], [], 0
        if whole is not None:
            yield whole
            place += len(whole.ids)
    if texts:
        yield _part(to, names, texts)


def pack(value: Any) -> bytes:
    """Anything as compressed JSON."""
    return zlib.compress(_encode(value), LEVEL)


def unpack(body: bytes) -> bytes:
    """The JSON text of something packed."""
    return zlib.decompress(body)


def _part(to: str, names: list[str], texts: list[bytes]) -> Packed:
    """Decode it again before it is used: a row may hold what its type does not allow."""
    made = Packed(to, tuple(names), zlib.compress(b"[" + b",".join(texts) + b"]", LEVEL))
    made.rows()
    return made


def _whole(row: Any, ids: Sequence[str], place: int) -> Packed | None:
    """An earlier part that has not changed."""
    if type(row) is Packed and tuple(ids[place : place + len(row.ids)]) == row.ids:
        return row
    return None


def _looked_up(row: Any, row_id: str) -> Any:
    if type(row) is not Packed:
        return row
    return next(packed for packed in row.rows() if packed.id == row_id)
