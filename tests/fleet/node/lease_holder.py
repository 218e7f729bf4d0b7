"""A process that writes records while it holds a node's lease; tests pause it anywhere.

Arguments: the bus's address, its authority's file, the seed's file, and a name.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from fairlead.fleet.bus.bus import BusError, Conflict
from fairlead.fleet.bus.nats_bus import NatsBus, tls_context
from fairlead.fleet.bus.nkey import NodeKey
from fairlead.fleet.node.lease import LeaseTaken, NodeLease

LEASE_S = 1.0


async def main(address: str, authority: str, seed: str, place: str) -> None:
    key = NodeKey.stored_in(Path(seed))
    bus = NatsBus([address], key, tls_context(Path(authority)))
    bus.start()
    lease = NodeLease(bus.bucket("lease"), key.id, place, lease_s=LEASE_S, renew_s=LEASE_S / 3)
    keeping = asyncio.create_task(lease.keep(lambda held: None))
    stream, subject = bus.stream("log"), f"fl.log.{key.id}.s"
    last, generation, count = 0, 0, 0
    while not keeping.done():
        if not lease.held:
            await asyncio.sleep(0.01)
            continue
        try:
            if generation != lease.generation:
                generation = lease.generation
                record = await stream.last(subject)
                last = 0 if record is None else record.number
            count += 1
            text = f"{generation} {place} {count}"
            last = await stream.append(subject, text.encode(), after=last)
            await asyncio.sleep(0.005)  # Leaves the machine's other work some time.
        except Conflict:
            generation = 0  # Look again, if the lease is still held.
        except (BusError, LeaseTaken):
            await asyncio.sleep(0.01)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
