"""Connections without a valid token: how many there may be, and which one to close. Pure.

Some have sent no request yet; others have requested files of the app and may read them one byte at
a time. Both kinds count. At the limit, one connection of the larger kind is closed: the oldest of
the address with the most connections, so that many connections do not displace a single one.
"""

from __future__ import annotations

from typing import Generic, TypeVar

__all__ = ["UnauthenticatedConnections"]

T = TypeVar("T")

Kind = dict[str, dict[T, None]]
"""Address -> its connections, the oldest first."""


class UnauthenticatedConnections(Generic[T]):
    """All connections without a valid token."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._addresses: dict[T, str] = {}
        self._silent: Kind[T] = {}
        self._requesting: Kind[T] = {}
        self._silent_count = 0

    def __len__(self) -> int:
        return len(self._addresses)

    def add(self, connection: T, address: str) -> T | None:
        """Add a new connection; returns the connection to close for it."""
        self._addresses[connection] = address
        self._silent.setdefault(address, {})[connection] = None
        self._silent_count += 1
        return self._victim() if len(self) > self._most else None

    def requested(self, connection: T) -> None:
        """The connection has sent a whole request."""
        address = self._addresses.get(connection)
        if address is not None and _take(self._silent, address, connection):
            self._silent_count -= 1
            self._requesting.setdefault(address, {})[connection] = None

    def remove(self, connection: T) -> None:
        """The connection ended or authenticated; an unknown one is ignored."""
        address = self._addresses.pop(connection, None)
        if address is None:
            return
        if _take(self._silent, address, connection):
            self._silent_count -= 1
        else:
            _take(self._requesting, address, connection)

    def _victim(self) -> T:
        silent_are_more = 2 * self._silent_count >= len(self)
        kind = self._silent if silent_are_more else self._requesting
        largest = max(kind, key=lambda address: len(kind[address]))
        return next(iter(kind[largest]))


def _take(kind: Kind[T], address: str, connection: T) -> bool:
    connections = kind.get(address)
    if connections is None or connection not in connections:
        return False
    del connections[connection]
    if not connections:
        del kind[address]
    return True
