"""Waits until the storage of a bus accepts writes.

A cluster that has lost a server elects new leaders for its buckets, one after the other. Until then it
answers pings and refuses writes, and a gateway that starts in this time must not give up (N18).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from fairlead.fleet.bus.bus import Bus, BusError

__all__ = ["is_readable", "storage_ready"]

KEY = "storage-check"
"""A key that never has a value: deleting it is a write that changes nothing."""
PAUSE_S = 0.2


async def is_readable(bus: Bus, bucket: str, key: str) -> bool:
    """Whether a bucket can be read and has this key: its fleet exists, and a start needs no write."""
    try:
        return await bus.bucket(bucket).get(key) is not None
    except BusError:
        return False


async def storage_ready(bus: Bus, buckets: Sequence[str], within_s: float) -> None:
    """Wait until every bucket can be written; raises the last `BusError` after `within_s`."""
    until = time.monotonic() + within_s
    for name in buckets:
        while True:
            try:
                await bus.bucket(name).delete(KEY)
                break
            except BusError:
                if time.monotonic() > until:
                    raise
                await asyncio.sleep(PAUSE_S)
