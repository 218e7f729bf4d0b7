"""The clients that only follow: `python -m bench.server_load.viewers`, instructions on stdin.

The first line of stdin is JSON: the ports, which the sockets use in turn, the tokens of some devices,
and for each socket the session it follows.
When all sockets are connected, it prints a line. Each further line on stdin is answered with the counts of
received frames and the position of each socket; the process ends at the end of stdin.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from bench.server_load.agents import answer_commands
from bench.server_load.follower import Follower, Tally, connect

__all__ = ["main"]

AT_ONCE = 16
"""Most sockets that connect at the same time; the server limits unauthenticated connections."""


async def main() -> None:
    """Follow until stdin ends."""
    instructions: dict[str, Any] = json.loads(sys.stdin.readline())
    tokens: list[str] = instructions["tokens"]
    tally = Tally()
    gate = asyncio.Semaphore(AT_ONCE)

    async def follow(number: int, session: str) -> Follower:
        async with gate:
            hello = {"token": tokens[number % len(tokens)], "session": session}
            port = instructions["ports"][number % len(instructions["ports"])]
            return await connect(port, hello, tally)

    followers = await asyncio.gather(
        *(follow(number, session) for number, session in enumerate(instructions["sessions"]))
    )
    print(json.dumps({"ready": True}), flush=True)

    def report() -> dict[str, Any]:
        where = [
            [name.decode(), seq]
            for follower in followers
            for name, seq in follower.positions.items()
        ]
        return {**vars(tally), "positions": where}

    await answer_commands(report)


if __name__ == "__main__":
    asyncio.run(main())
