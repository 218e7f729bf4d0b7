"""The clients that only look: `python -m bench.server_load.crowd`, orders on stdin.

The first line of stdin is JSON: the port, the tokens of some devices, and for each socket the
session it follows.
When all are connected it says so; told `tell` it tells what came and where each socket is; told
the end of stdin it ends.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from bench.server_load.choir import obey
from bench.server_load.follower import Follower, Tally, connect

__all__ = ["main"]

AT_ONCE = 16
"""Sockets that are connecting at the same time; the server lets few strangers wait."""


async def main() -> None:
    """Follow until stdin ends."""
    orders: dict[str, Any] = json.loads(sys.stdin.readline())
    tokens: list[str] = orders["tokens"]
    tally = Tally()
    gate = asyncio.Semaphore(AT_ONCE)

    async def follow(number: int, session: str) -> Follower:
        async with gate:
            hello = {"token": tokens[number % len(tokens)], "session": session}
            return await connect(orders["port"], hello, tally)

    followers = await asyncio.gather(
        *(follow(number, session) for number, session in enumerate(orders["sessions"]))
    )
    print(json.dumps({"ready": True}), flush=True)

    def told() -> dict[str, Any]:
        where = [
            [name.decode(), seq]
            for follower in followers
            for name, seq in follower.positions.items()
        ]
        return {**vars(tally), "positions": where}

    await obey(told)


if __name__ == "__main__":
    asyncio.run(main())
