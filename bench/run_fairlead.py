"""Fairlead reads one turn: `python -m bench.run_fairlead AGENT VERSION [--transcript] [--kinds]`.

Typed messages to an `async for`, which is what the SDKs do too; with `--transcript` it also
keeps the transcript, as a session does unless told otherwise.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter

from bench.measurement import Measurement, peak_rss

__all__ = ["main"]


def main(arguments: list[str]) -> None:
    """Run once and tell."""
    agent, version, *flags = arguments
    began = time.process_time()
    from fairlead import Options, Session

    import_s = time.process_time() - began

    async def run() -> Measurement:
        kinds: Counter[str] = Counter()
        messages = 0
        options = Options(agent=agent, version=version, partial_messages=True)
        async with Session(options, transcript="--transcript" in flags) as session:
            began = time.process_time()
            turn = await session.send("go")
            if "--kinds" in flags:
                async for message in turn:
                    kinds[message.type] += 1
            else:
                async for _ in turn:
                    messages += 1
            cpu_s = time.process_time() - began
        return Measurement(
            messages=messages or kinds.total(),
            cpu_s=cpu_s,
            import_s=import_s,
            peak_rss=peak_rss(),
            kinds=dict(kinds) or None,
        )

    asyncio.run(run()).write()


if __name__ == "__main__":
    main(sys.argv[1:])
