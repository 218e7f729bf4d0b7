"""Small WebSocket frames of a client, read without the general parser. Pure.

A client acknowledges every frame that it gets, so acks are most of what a server receives. Each is
one short final text frame (RFC 6455, 5.2). `short_text` reads such a frame. It may only be used
where a frame begins: `FrameBoundary` follows all other bytes and knows where that is.
"""

from __future__ import annotations

__all__ = ["FrameBoundary", "short_text"]

FINAL_TEXT = 0x81
MASKED = 0x80
LONG, VERY_LONG = 126, 127
"""Values of the length field that announce a longer length."""
HEAD = 6
"""Bytes before the payload of a short masked frame: two, and the mask."""
NO_MASK = b"\0\0\0\0"


def short_text(data: bytes, at: int) -> tuple[bytes, int] | None:
    """The payload of a whole short text frame at a place, and where the next frame begins.

    None if the frame there is another one or is not complete.
    """
    if len(data) - at < HEAD or data[at] != FINAL_TEXT:
        return None
    size = data[at + 1] - MASKED
    end = at + HEAD + size
    if not 0 <= size < LONG or end > len(data):
        return None
    mask, payload = data[at + 2 : at + HEAD], data[at + HEAD : end]
    return (payload if mask == NO_MASK else _unmasked(payload, mask)), end


def _unmasked(payload: bytes, mask: bytes) -> bytes:
    size = len(payload)
    key = (mask * (size // len(mask) + 1))[:size]
    return (int.from_bytes(payload) ^ int.from_bytes(key)).to_bytes(size)


class FrameBoundary:
    """Follows the bytes of a connection and knows whether they end where a frame ends."""

    __slots__ = ("_head", "_left")

    def __init__(self) -> None:
        self._head = b""
        """The beginning of a head that is not complete."""
        self._left = 0
        """Bytes of the current frame that have not arrived."""

    @property
    def reached(self) -> bool:
        """Whether the next byte begins a frame."""
        return not self._left and not self._head

    def feed(self, data: bytes) -> None:
        """These bytes follow."""
        at, end = 0, len(data)
        if self._head:
            data, self._head = self._head + data, b""
            end = len(data)
        while at < end:
            if self._left:
                step = min(self._left, end - at)
                self._left -= step
                at += step
                continue
            size = _frame_size(data[at : at + 10])
            if size is None:
                self._head = data[at:]
                return
            self._left = size


def _frame_size(head: bytes) -> int | None:
    """The size of a whole frame by its first bytes; None if there are too few of them."""
    if len(head) < 2:
        return None
    size = head[1] & ~MASKED
    extended = {LONG: 2, VERY_LONG: 8}.get(size, 0)
    if len(head) < 2 + extended:
        return None
    if extended:
        size = int.from_bytes(head[2 : 2 + extended])
    return 2 + extended + (4 if head[1] & MASKED else 0) + size
