"""How much a transport of asyncio reads at once.

asyncio reads up to 256 KiB, and CPython allocates a buffer of that size for every read before it knows
how much there is. An allocation above 128 KiB is mapped and unmapped by the system (glibc): 16 µs of
CPU time for a line of 400 bytes, instead of 0.6 µs with a smaller buffer.
"""

from __future__ import annotations

import asyncio

__all__ = ["READ_BYTES", "limit_reads"]

READ_BYTES = 112 * 1024
"""Below the limit of the allocator, and some 120 lines of an agent that writes at full speed. A read of
400 bytes costs the same as with 64 KiB, and reading at full speed takes 5 % less."""


def limit_reads(transport: asyncio.BaseTransport) -> None:
    """Read less at once; does nothing for transports of other kinds, such as those of uvloop."""
    if hasattr(transport, "max_size"):
        transport.max_size = READ_BYTES
