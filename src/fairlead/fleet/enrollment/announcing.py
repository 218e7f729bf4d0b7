"""Tells the gateways of a fleet which machines there are, in a bucket that nodes cannot write to."""

from __future__ import annotations

import asyncio

import msgspec

from fairlead.fleet.bus.bus import Bus, BusError
from fairlead.fleet.enrollment.roster import EnrolledNode

__all__ = ["announce"]

PATIENCE_S = 5.0
"""A nats-server that reads a changed list of accounts refuses its storage for a moment, and the list
has just changed when a machine joins."""

RETRY_S = 0.1


async def announce(
    bus: Bus, node: EnrolledNode, joined: bool, *, patience_s: float = PATIENCE_S
) -> None:
    """List a machine, or remove it; raises `BusError` if the storage stays unavailable."""
    bucket = bus.bucket("nodes")
    deadline = asyncio.get_running_loop().time() + patience_s
    while True:
        try:
            if joined:
                entry = {"name": node.name, "joined": node.joined}
                await bucket.put(node.id, msgspec.json.encode(entry))
            else:
                await bucket.delete(node.id)
            return
        except BusError:
            if asyncio.get_running_loop().time() >= deadline:
                raise
            await asyncio.sleep(RETRY_S)
