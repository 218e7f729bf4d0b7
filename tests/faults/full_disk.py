"""An owner revokes a device while nothing can be stored. Prints what it saw as one line of JSON.

    unshare -rm python -m tests.faults.full_disk full FOLDER     a file system of its own, filled up
    python -m tests.faults.full_disk locked FOLDER               another program holds the database

Run as a program, because a mount of its own is for a process of its own. The server is restarted
while nothing can be stored, and again when there is room.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fairlead.server.limits import Limits
from fairlead.store.revocations import RevocationFile
from tests.server.conftest import Client, Served, serving
from tests.waiting import until

FILLER = "filler"
QUICK = Limits(store_retry_s=0.1)


@contextlib.contextmanager
def full(folder: Path) -> Iterator[None]:
    """Not a byte is free."""
    filler = folder / FILLER
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 65_536)
    with filler.open("ab", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x")
    yield
    filler.unlink()


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Another program holds the database and does not let go."""
    (path,) = (folder / "data").glob("*.db")
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    yield
    db.execute("ROLLBACK")
    db.close()


async def status(served: Served, token: str) -> int:
    return (await served.http("/api/sessions", authorization=f"Bearer {token}"))[0]


async def run(folder: Path, trouble: Any) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    file = RevocationFile(folder / "data" / "revoked-devices")
    with contextlib.ExitStack() as stack:
        async with serving(folder, QUICK) as served:
            owner, phone = await served.client(), await served.client("operator")
            device = (await phone.hear("welcome"))["device"]
            tokens = owner.token, phone.token
            await owner.hear("snapshot", document="lobby")
            stack.enter_context(trouble(folder))
            seen["revoked"] = await owner.intend("revoke_device", device=device)
            async with asyncio.timeout(5):
                await phone.socket.wait_closed()
            seen["closed with"] = phone.socket.close_code
            seen["statuses"] = [await status(served, token) for token in tokens]
            seen["in the file"] = list(file.read()) == [device]
        async with serving(folder, QUICK) as served:
            seen["after a restart"] = await status(served, tokens[1])
            seen["a socket after a restart"] = await closing(served, tokens[1])
    async with serving(folder, QUICK) as served:
        seen["with room"] = [await status(served, token) for token in tokens]
        await until(lambda: not file.read())
        found = [
            entry.revoked for entry in await served.service.store.devices() if entry.id == device
        ]
        seen["stored in the end"] = [entry is not None for entry in found]
    return seen


async def closing(served: Served, token: str) -> int | None:
    client = await Client(served, token).connect()
    async with asyncio.timeout(60):
        await client.socket.wait_closed()
    code: int | None = client.socket.close_code
    return code


def main(kind: str, name: str) -> None:
    folder = Path(name)
    if kind == "full":
        command = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
        subprocess.run(command, check=True)
    os.chdir("/")
    seen = asyncio.run(run(folder, {"full": full, "locked": locked}[kind]))
    sys.stdout.write(json.dumps(seen) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
