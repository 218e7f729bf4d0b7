"""Tells the gateways of a fleet which machines there are, in a bucket that nodes cannot write to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec

from fairlead.fleet.bus.bus import Bus, BusError
from fairlead.fleet.bus.storage_check import storage_ready
from fairlead.fleet.enrollment.roster import EnrolledNode

__all__ = ["announce", "announce_all"]

PATIENCE_S = 5.0
"""A nats-server that reads a changed list of accounts refuses its storage for a moment, and the list
has just changed when a machine joins."""

RETRY_S = 0.1

STORAGE_S = 60.0
"""How long a gateway that starts waits for a cluster that elects leaders."""


async def announce_all(bus: Bus, nodes: Sequence[EnrolledNode]) -> None:
    """List all machines. Those that are listed need no write, which a bus may refuse for seconds."""
    try:
        listed = {entry.key: entry.value for entry in await bus.bucket("nodes").entries()}
    except BusError:
        listed = {}
    missing = [node for node in nodes if listed.get(node.id) != _entry(node)]
    if missing:
        await storage_ready(bus, ("nodes",), STORAGE_S)
    for node in missing:
        await announce(bus, node, True)


async def announce(
    bus: Bus, node: EnrolledNode, joined: bool, *, patience_s: float = PATIENCE_S
) -> None:
    """List a machine, or remove it; raises `BusError` if the storage stays unavailable."""
    bucket = bus.bucket("nodes")
    deadline = asyncio.get_running_loop().time() + patience_s
    while True:
        try:
            if joined:
                await bucket.put(node.id, _entry(node))
            else:
                await bucket.delete(node.id)
            return
        except BusError:
            if asyncio.get_running_loop().time() >= deadline:
                raise
            await asyncio.sleep(RETRY_S)


def _entry(node: EnrolledNode) -> bytes:
    return msgspec.json.encode({"name": node.name, "joined": node.joined})
