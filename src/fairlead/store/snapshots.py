"""The snapshots table: a transcript at some event, packed; the last `KEPT` of each session.

Packed and unpacked row by row: JSON of many megabytes in one call would hold the interpreter
and with it the event loop, though it happens in another thread.
"""

from __future__ import annotations

import sqlite3
import zlib
from typing import Any

import msgspec

from fairlead.store.log import StoredSnapshot
from fairlead.store.streams import key_of, take_key

__all__ = ["KEPT", "latest", "pack", "put", "unpack"]

KEPT = 2
"""One could be damaged; more than two only fill the disk."""

_encode = msgspec.json.Encoder().encode
_sections = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_rows = msgspec.json.Decoder(list[msgspec.Raw]).decode
_value = msgspec.json.Decoder().decode


def pack(state: dict[str, Any]) -> bytes:
    """A document as compressed JSON."""
    packer = zlib.compressobj(level=1)
    parts = []
    before = b"{"
    for name, section in state.items():
        parts.append(packer.compress(before + _encode(name) + b":"))
        before = b","
        if isinstance(section, list | tuple) and section:
            for number, row in enumerate(section):
                parts.append(packer.compress((b"," if number else b"[") + _encode(row)))
            parts.append(packer.compress(b"]"))
        else:
            parts.append(packer.compress(_encode(section)))
    parts.append(packer.compress(b"}" if state else b"{}"))
    parts.append(packer.flush())
    return b"".join(parts)


def unpack(packed: bytes) -> dict[str, Any]:
    """The inverse of `pack`."""
    sections = _sections(zlib.decompress(packed))
    return {name: _section(raw) for name, raw in sections.items()}


def put(db: sqlite3.Connection, session: str, seq: int, packed: bytes) -> None:
    """Keep a packed snapshot and forget the oldest."""
    stream = take_key(db, session)
    db.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)", (stream, seq, packed))
    db.execute(
        "DELETE FROM snapshots WHERE stream = ?1 AND seq NOT IN"
        " (SELECT seq FROM snapshots WHERE stream = ?1 ORDER BY seq DESC LIMIT ?2)",
        (stream, KEPT),
    )


def latest(db: sqlite3.Connection, session: str) -> StoredSnapshot | None:
    """The newest snapshot that can be read; a damaged one is as good as none."""
    stream = key_of(db, session)
    if stream is None:
        return None
    found = db.execute(
        "SELECT seq, state FROM snapshots WHERE stream = ? ORDER BY seq DESC", (stream,)
    )
    for seq, packed in found:
        try:
            return StoredSnapshot(seq, unpack(packed))
        except (zlib.error, msgspec.DecodeError, TypeError):
            continue
    return None


def _section(raw: msgspec.Raw) -> Any:
    text = memoryview(raw)
    return [_value(row) for row in _rows(text)] if text[0] == ord("[") else _value(text)
