"""The push key of a fleet: browsers bind their subscriptions to it, so all gateways have the same."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

from fairlead.fleet.bus.bus import Bus, Conflict
from fairlead.server.notices.push.server_key import PushKey
from fairlead.store.database.folder import write_own
from fairlead.store.log import StoreUnavailable

__all__ = ["store_push_key"]

KEY = "push_key"
"""The key in the bucket `access`, which only gateways can read."""


async def store_push_key(bus: Bus, file: Path) -> None:
    """Store the push key of the fleet in a file; the first gateway makes it."""
    bucket = bus.bucket("access")
    entry = await bucket.get(KEY)
    if entry is None or entry.value is None:
        await asyncio.to_thread(PushKey.stored_in, file)
        own = await asyncio.to_thread(file.read_bytes)
        with contextlib.suppress(Conflict):
            await bucket.create(KEY, own)
        entry = await bucket.get(KEY)
    if entry is None or entry.value is None:
        raise StoreUnavailable("The push key of the fleet cannot be read.", code="damaged")
    await asyncio.to_thread(write_own, file, entry.value)
