"""One client of the hub: the documents it follows, and how much it was sent and has not applied.

A client that says what it has applied (`ack`) is held to it: with too much on the way it gets no
more until it has caught up. One that never does is held back by its socket alone. Pure.
"""

from __future__ import annotations

from collections import deque

from fairlead.server.limits import Limits
from fairlead.server.place import Place

__all__ = ["Subscriber"]


class Subscriber:
    """A client, by its places."""

    __slots__ = ("_acks", "_limits", "_unacked", "_unacked_bytes", "places")

    def __init__(self, limits: Limits) -> None:
        self.places: dict[str, Place] = {}
        self._limits = limits
        self._acks = False
        self._unacked: dict[str, deque[tuple[int, int]]] = {}
        """For each document the numbers that were sent, and how many bytes each took."""
        self._unacked_bytes = 0

    @property
    def is_full(self) -> bool:
        """Whether it follows as many documents as it may."""
        return len(self.places) >= self._limits.documents_per_client

    @property
    def is_behind(self) -> bool:
        """Whether too much is on the way to it."""
        return self._acks and self._unacked_bytes > self._limits.unacked_bytes

    def sent(self, document: str, seq: int, size: int) -> None:
        """It was sent what leads to a number."""
        if not self._acks:
            self._unacked.clear()
            self._unacked_bytes = 0
        self._unacked.setdefault(document, deque()).append((seq, size))
        self._unacked_bytes += size

    def applied(self, document: str, seq: int) -> None:
        """It has applied everything up to a number, and says so from now on."""
        self._acks = True
        waiting = self._unacked.get(document, ())
        while waiting and waiting[0][0] <= seq:
            self._unacked_bytes -= waiting.popleft()[1]

    def forgive(self, document: str) -> None:
        """What it was sent of a document counts no longer."""
        self._unacked_bytes -= sum(size for _, size in self._unacked.pop(document, ()))
