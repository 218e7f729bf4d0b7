"""A server without sockets in a process of its own, which a test kills with SIGKILL.

    python -m tests.server.limits.killable_server FOLDER

Its clock is the number in FOLDER/clock, so that a test sets the time. Every change of the session
is printed as a line of JSON: the state of its limit, and whether a turn runs.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from fairlead.server.limits import Limits
from fairlead.server.protocol.intents import ContinueAtReset
from tests.server.server_harness import ServerHarness

JITTER_S = 7.0
LIMITS = Limits(tick_every_s=0.02, reset_jitter_s=(JITTER_S, JITTER_S), restarts=0)


async def main(folder: Path) -> None:
    clock = folder / "clock"
    first = folder / "first-prompt"
    async with ServerHarness(
        folder, limits=LIMITS, clock=lambda: float(clock.read_text())
    ) as harness:
        if first.exists():
            prompt = first.read_text()
            first.unlink()
            session = await harness.new()
            await harness.act(ContinueAtReset(session=session, on=True))
            await harness.say(session, text=prompt)
            await harness.say(session, text="queued before the limit")
        (session,) = harness.registry.sessions.rows
        before: Any = None
        while True:
            now = state_of(harness, session)
            if now != before:
                print(json.dumps(now), flush=True)  # noqa: T201 - this is a program
                before = now
            await asyncio.sleep(0.005)


def state_of(harness: ServerHarness, session: str) -> dict[str, Any]:
    live = harness.registry.sessions.loaded(session)
    if live is None:
        return {"loaded": False, "limit": harness.lobby("sessions")[session]["limit"]}
    turns = live.transcript.turns
    return {
        "limit": harness.lobby("sessions")[session]["limit"],
        "reported": live.transcript.limit is not None,
        "running": live.transcript.turn is not None,
        "turns": len(turns),
        "queued": [prompt.text for prompt in live.prompts.queue.held],
        "states": {
            item.text: item.state
            for item in live.transcript.items
            if hasattr(item, "state") and hasattr(item, "text")
        },
    }


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
