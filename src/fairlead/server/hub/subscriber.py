"""One client of the hub: the documents it follows, and how much it was sent and has not applied.

A client that acknowledges what it has applied (`ack`) gets nothing more while too much is
unacknowledged. A client that never does is limited only by its socket. Pure.
"""

from __future__ import annotations

from fairlead.server.hub.cursor import Cursor
from fairlead.server.limits import Limits

__all__ = ["Subscriber"]


class Subscriber:
    """A client and its positions."""

    __slots__ = ("_acks", "_limits", "_unacked", "_unacked_bytes", "cursors")

    def __init__(self, limits: Limits) -> None:
        self.cursors: dict[str, Cursor] = {}
        self._limits = limits
        self._acks = False
        self._unacked: dict[str, list[tuple[int, int]]] = {}
        """For each document the numbers that were sent, and how many bytes each took."""
        self._unacked_bytes = 0

    @property
    def is_full(self) -> bool:
        """Whether it follows as many documents as it may."""
        return len(self.cursors) >= self._limits.documents_per_client

    @property
    def is_behind(self) -> bool:
        """Whether too much was sent and not acknowledged."""
        return self._acks and self._unacked_bytes > self._limits.unacked_bytes

    def sent(self, document: str, seq: int, size: int) -> None:
        """A message was sent that leads to a number."""
        if not self._acks:
            self._unacked.clear()
            self._unacked_bytes = 0
        waiting = self._unacked.get(document)
        if waiting is None:
            waiting = self._unacked[document] = []
        waiting.append((seq, size))
        self._unacked_bytes += size

    def applied(self, document: str, seq: int) -> None:
        """The client has applied everything up to a number, and sends acks from now on."""
        self._acks = True
        waiting = self._unacked.get(document)
        if not waiting:
            return
        count = 0
        for sent, size in waiting:
            if sent > seq:
                break
            self._unacked_bytes -= size
            count += 1
        del waiting[:count]

    def clear_unacked(self, document: str) -> None:
        """Forget what was sent of a document."""
        self._unacked_bytes -= sum(size for _, size in self._unacked.pop(document, ()))
