"""Opens all sessions of a data folder at once, as a server does after its start.

    python -m tests.server.session.opening_program FOLDER SESSION…

Prints the last number of each session. Python changes threads as often as it can, so that threads
meet wherever they can meet.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from fairlead.server.session.loading import Loaded
from fairlead.store.sqlite import SqliteStore

SWITCH_S = 1e-6


async def main(folder: Path, sessions: list[str]) -> None:
    async with SqliteStore(folder) as store:
        opened = await asyncio.gather(*(Loaded.from_log(store, name) for name in sessions))
    sys.stdout.write("".join(f"{loaded.seq}\n" for loaded in opened))


if __name__ == "__main__":
    sys.setswitchinterval(SWITCH_S)
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2:]))
