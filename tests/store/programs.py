"""Programs that tests start as processes of their own, to kill them or to be in their way.

python programs.py NAME FOLDER [MORE]
"""

from __future__ import annotations

import asyncio
import resource
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from fairlead.store.database.folder import DATABASE
from fairlead.store.database.migrations import MIGRATIONS, Migration
from fairlead.store.log import OUT, NewEvent, StoreUnavailable
from fairlead.store.pace import Pace
from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables.audit import AuditRecord
from fairlead.store.tables.intents import IntentOutcome

ROOT = Path(__file__).parents[2]
LONG_MIGRATION = Migration(
    MIGRATIONS[-1].number + 1,
    (
        "CREATE TABLE copies AS SELECT * FROM events",
        "CREATE INDEX copies_by_line ON copies (line)",
        "DELETE FROM copies WHERE seq % 2",
        "DROP TABLE copies",
        "CREATE TABLE later (name TEXT)",
    ),
)
"""Takes long enough to be killed in the middle, and leaves a table."""


def start(name: str, *arguments: object, before: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """Start one of these programs; its stdout is a pipe."""
    return subprocess.Popen(
        [*before, sys.executable, "-u", __file__, name, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"},
        cwd=ROOT,
    )


def line_for(session: str, seq: int) -> bytes:
    """The line a writer stores under a number, so that a reader can tell whether it is right."""
    return f"{session}:{seq}:".encode() + b"." * (seq * 37 % 900)


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")


async def append(folder: str) -> None:
    """Append to three sessions forever, and tell each number once it is acknowledged."""

    async def write(store: SqliteStore, session: str, step: int) -> None:
        seq = 0
        while True:
            new = [NewEvent(OUT, line_for(session, seq + n), 0.0) for n in range(1, step + 1)]
            last = await store.append(
                session,
                new,
                intent=IntentOutcome(client=session, n=seq + step, result=b"{}"),
                audit=[AuditRecord(at=0.0, action="append", session=session)],
            )
            assert last == seq + step
            seq = last
            say(session, seq)

    async with SqliteStore(folder, pace=Pace(rest=0.005)) as store:
        await asyncio.gather(
            *(write(store, name, n) for name, n in (("a", 1), ("b", 3), ("c", 50)))
        )


async def hold_folder(folder: str) -> None:
    """Claim a folder until stdin ends."""
    async with SqliteStore(folder):
        say("claimed")
        await asyncio.to_thread(sys.stdin.read)


def hold_lock(folder: str) -> None:
    """Hold the write lock of the database until stdin ends."""
    db = sqlite3.connect(Path(folder) / DATABASE, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    say("locked")
    sys.stdin.read()
    db.execute("ROLLBACK")
    db.close()


async def migrate(folder: str) -> None:
    """Migrate a database to a schema that Fairlead does not know yet."""
    say("starting")
    async with SqliteStore(folder, migrations=(*MIGRATIONS, LONG_MIGRATION)) as store:
        say(store.state.code)


async def fill(folder: str, make_room: Callable[[], object]) -> None:
    """Append until the disk is full, free space on request, continue; print everything."""
    changes: asyncio.Queue[str] = asyncio.Queue()
    async with SqliteStore(folder, pace=Pace(rest=0, probe=0.01)) as store:
        store.on_state(lambda state: changes.put_nowait(state.code))
        seq = 0
        while True:
            try:
                seq = await store.append("a", [NewEvent(OUT, line_for("a", seq + 1), 0.0)])
            except StoreUnavailable as refused:
                say("refused", seq, refused.code)
                break
        assert await changes.get() == "disk_full"
        await asyncio.to_thread(sys.stdin.readline)
        make_room()
        while await changes.get() != "ok":
            pass
        last = await store.append("a", [NewEvent(OUT, line_for("a", seq + 1), 0.0)])
        read = await store.read("a", 0, 1_000_000)
        complete = all(item.line == line_for("a", item.seq) for item in read)
        say("recovered", last, len(read), complete)


def fill_limited(folder: str) -> None:
    """`fill` where no file may grow beyond 1 MiB."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    endless = resource.RLIM_INFINITY
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024 * 1024, endless))
    asyncio.run(fill(folder, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (endless, endless))))


def fill_small_disk(folder: str) -> None:
    """`fill` on its own file system of 1 MiB, which is then made larger."""

    def mount(options: str) -> None:
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=True)

    mount("size=1m")
    asyncio.run(fill(f"{folder}/data", lambda: mount("remount,size=8m")))


def main(name: str, *arguments: str) -> None:
    program = globals()[name]
    if asyncio.iscoroutinefunction(program):
        asyncio.run(program(*arguments))
    else:
        program(*arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
