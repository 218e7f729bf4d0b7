"""Small WebSocket frames of a client, read without the general parser. Pure.

A client acknowledges every frame that it gets, so acks are most of what a server receives. An ack,
like most intents, is one small final text frame (RFC 6455, 5.2). `small_text` reads such a frame. It may
only be used where a frame begins: `FrameBoundary` follows all other bytes and knows where that is.
"""

from __future__ import annotations

__all__ = ["MOST_BYTES", "FrameBoundary", "small_text"]

FINAL_TEXT = 0x81
MASKED = 0x80
LONG, VERY_LONG = 126, 127
"""Values of the length field that announce a longer length."""
HEAD = 6
"""Bytes before the payload of a short masked frame: two, and the mask."""
LONG_HEAD = 8
"""The same with two bytes more for the length."""
MOST_BYTES = 4 * 1024
"""Larger payloads are left to the general parser."""
NO_MASK = b"\0\0\0\0"


def small_text(data: bytes, at: int) -> tuple[bytes, int] | None:
    """The payload of a whole small text frame at a place, and where the next frame begins.

    None if the frame there is another one or is not complete.
    """
    if len(data) - at < HEAD or data[at] != FINAL_TEXT:
        return None
    size, begin = data[at + 1] - MASKED, at + HEAD
    if size == LONG:
        size, begin = int.from_bytes(data[at + 2 : at + 4]), at + LONG_HEAD
        is_small = LONG <= size <= MOST_BYTES
    else:
        is_small = 0 <= size < LONG
    end = begin + size
    if not is_small or end > len(data):
        return None
    mask, payload = data[begin - len(NO_MASK) : begin], data[begin:end]
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
