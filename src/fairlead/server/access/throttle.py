"""Limits guessing at a constant cost per failure, however many addresses fail.

Failures are counted per peer and for all peers together, in windows of a minute. An IPv6 peer is
its /64 network, because a single machine owns that many addresses. The table has a fixed size:
the peer that failed longest ago is removed first, and the common counter still limits it. Pure;
times are passed in as values.
"""

from __future__ import annotations

import ipaddress
from collections import OrderedDict

from fairlead.server.limits import Limits

__all__ = ["Throttle", "peer_key"]

WINDOW_S = 60.0
ALL_TOGETHER = 10
"""All peers together may fail this many times as often as one."""

MOST_PEERS = 4_096


def peer_key(address: str) -> str:
    """The peer that an address belongs to, for counting: an IPv6 peer is its /64 network."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv4Address):
        return str(ip)
    if ip.ipv4_mapped is not None:
        return str(ip.ipv4_mapped)
    return str(ipaddress.ip_network((ip, 64), strict=False))


class _Window:
    """The failures since a time."""

    __slots__ = ("count", "since")

    def __init__(self, now: float) -> None:
        self.since = now
        self.count = 0

    def at(self, now: float) -> int:
        """The number of failures that count at a time."""
        return self.count if now - self.since < WINDOW_S else 0

    def add(self, now: float, most: int) -> None:
        if now - self.since >= WINDOW_S:
            self.since, self.count = now, 0
        self.count = min(self.count + 1, most)


class Throttle:
    """Decides which peers guess too much; not used for a device with a valid token."""

    def __init__(self, limits: Limits) -> None:
        self._tries = limits.tries_per_minute
        self._peers: OrderedDict[str, _Window] = OrderedDict()
        self._all_peers = _Window(0.0)

    def too_many(self, source: str, now: float) -> bool:
        """Whether this peer, or all peers together, failed too often in this minute."""
        own = self._peers.get(peer_key(source))
        if own is not None and own.at(now) >= self._tries:
            return True
        return self._all_peers.at(now) >= ALL_TOGETHER * self._tries

    def failed(self, source: str, now: float) -> None:
        """A token, a code or a proof was wrong."""
        key = peer_key(source)
        own = self._peers.get(key)
        if own is None:
            own = self._peers[key] = _Window(now)
            if len(self._peers) > MOST_PEERS:
                self._peers.popitem(last=False)
        self._peers.move_to_end(key)
        own.add(now, self._tries)
        self._all_peers.add(now, ALL_TOGETHER * self._tries)
