"""A program with one session in the middle of a turn, to be killed.

    python -m tests.host.killable_host '{"agent": …, "cwd": …, "env": …}' [exit | fork]

It allows every tool, writes `PID` of the CLI to stdout as soon as it is started, and waits for
its turn. With `exit` it leaves without closing the session once a line comes on stdin; with
`fork` it has a child that lives on and holds all its files.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys

from fairlead import Allow, Options, PermissionRequest, Session


def allow(request: PermissionRequest) -> Allow:
    return Allow()


async def main(how: str) -> None:
    # Started by nohup or in the background of a script, a process inherits ignored signals.
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    session = Session(Options(**json.loads(sys.argv[1]), on_permission=allow))
    await session.start()
    if how == "fork":
        child = os.fork()
        if not child:
            signal.pause()
        print(child, flush=True)  # noqa: T201
    print(session.pid, flush=True)  # noqa: T201
    turn = await session.send("go")
    if how == "exit":
        await asyncio.to_thread(sys.stdin.readline)
        os._exit(3)
    await turn


if __name__ == "__main__":
    asyncio.run(main(sys.argv[2] if len(sys.argv) > 2 else ""))
