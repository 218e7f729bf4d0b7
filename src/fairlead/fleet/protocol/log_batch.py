"""A part of a session's log as it is copied to other machines: exact lines, compressed.

A batch leads from one number to another, like a change of a document. The raw lines travel, not what
a transcript made of them: any version of Fairlead can fold them again, and a session that moves to
another machine needs them.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from fairlead.errors import FairleadError
from fairlead.store.log import Event

__all__ = ["LogBatch", "UnreadableBatch", "decode_batch", "encode_batch"]

VERSION = 1
"""Incremented when older code can no longer read a batch."""

LEVEL = 1
"""The fastest level of zlib; higher ones gain little on JSON lines."""

MOST_BYTES = 64 * 1024 * 1024
"""Most bytes of a batch after decompression: a damaged or hostile one cannot fill the memory."""


class UnreadableBatch(FairleadError):
    """A record is no batch that this version can read."""


class LogBatch(Struct, frozen=True, kw_only=True):
    """The events of a session after a number."""

    session: str
    epoch: str
    """The epoch of the node's database. Numbers of another epoch are of another log."""
    generation: int = 0
    """How often the session has moved to another machine."""
    after: int
    """The number before the first event."""
    events: tuple[Event, ...] = ()
    deleted: bool = False
    """The session was deleted on its machine; copies must be deleted too."""

    @property
    def last(self) -> int:
        """The number of the last event."""
        return self.events[-1].seq if self.events else self.after


class _Packed(Struct, frozen=True, kw_only=True, array_like=True):
    """A batch as it is encoded; fields are only added at the end."""

    version: int
    session: str
    epoch: str
    generation: int
    after: int
    deleted: bool
    events: tuple[tuple[str, bytes, float], ...]


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(_Packed)


def encode_batch(batch: LogBatch) -> bytes:
    """A batch as bytes. Its events must follow `after` without a gap."""
    check_numbers(batch.after, batch.events)
    packed = _Packed(
        version=VERSION,
        session=batch.session,
        epoch=batch.epoch,
        generation=batch.generation,
        after=batch.after,
        deleted=batch.deleted,
        events=tuple((event.direction, event.line, event.at) for event in batch.events),
    )
    return zlib.compress(_encoder.encode(packed), LEVEL)


def decode_batch(payload: bytes) -> LogBatch:
    """A batch from bytes; raises `UnreadableBatch`."""
    try:
        unpacking = zlib.decompressobj()
        content = unpacking.decompress(payload, MOST_BYTES)
        if not unpacking.eof:
            raise UnreadableBatch("A batch of a log is cut off or too large.")
        packed = _decoder.decode(content)
    except (zlib.error, msgspec.DecodeError) as problem:
        raise UnreadableBatch(f"A batch of a log cannot be read: {problem}.") from None
    if packed.version > VERSION:
        raise UnreadableBatch(
            f"A batch of a log has version {packed.version}; this version of Fairlead reads up to "
            f"{VERSION}. Update Fairlead on this machine."
        )
    return LogBatch(
        session=packed.session,
        epoch=packed.epoch,
        generation=packed.generation,
        after=packed.after,
        deleted=packed.deleted,
        events=tuple(
            Event(packed.after + place, *event) for place, event in enumerate(packed.events, 1)
        ),
    )


def check_numbers(after: int, events: Sequence[Event]) -> None:
    """Raise `ValueError` unless the events follow a number without a gap."""
    if [event.seq for event in events] != list(range(after + 1, after + 1 + len(events))):
        raise ValueError(f"the events of a batch do not follow {after} without a gap")
