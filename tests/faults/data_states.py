"""Data folders in every bad state, on their own small file systems; prints the results as JSON.

    unshare -rm python -m tests.faults.data_states FOLDER

A program, because the mounts belong to a process with its own namespace. Each state is a folder.
`fairlead serve` is started on it; the result has its exit code, its messages, and whether any byte
of the folder changed.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NoReturn

from fairlead.commands.main import main as fairlead
from fairlead.commands.serve import run  # noqa: F401 - imported once, for all states
from fairlead.errors import FairleadError
from fairlead.server.store_opening import StoreRefused, opened_store
from fairlead.store.log import NewEvent, StoreUnavailable
from fairlead.store.sqlite import SqliteStore

START_S = 30

SERVE = ("--agent=demo", "--no-browser", "--port=0")


def mount(folder: Path, *options: str) -> None:
    subprocess.run(["mount", *options, str(folder)], check=True)


def serve(data: Path, *flags: str) -> dict[str, Any]:
    """Start the server; a good one is ended as soon as it prints its address.

    It runs in a fork of this process, which has imported everything once for all states.
    """
    (output, its_output), (errors, its_errors) = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(its_output, 1)
        os.dup2(its_errors, 2)
        for pipe in (output, its_output, errors, its_errors):
            os.close(pipe)
        _become_server(data, *flags)
    os.close(its_output)
    os.close(its_errors)
    with os.fdopen(output) as lines, os.fdopen(errors) as complaint:
        started = any(line.startswith("  open ") for line in lines)
        if started:
            os.kill(pid, signal.SIGINT)
        said = complaint.read()
    _, status = os.waitpid(pid, 0)
    return {"started": started, "exit": os.waitstatus_to_exitcode(status), "said": said}


def _become_server(data: Path, *flags: str) -> NoReturn:
    code = 1
    try:
        code = fairlead(["serve", *SERVE, f"--data={data}", *flags])
    except BaseException:  # noqa: BLE001 - the test reads it on stderr
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def serve_in_new_process(data: Path) -> dict[str, Any]:
    """Start a server that is refused, next to threads of this process, which a fork would copy."""
    command = [sys.executable, "-m", "fairlead.commands.main", "serve", *SERVE, f"--data={data}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=START_S, check=False)
    return {"started": "  open " in done.stdout, "exit": done.returncode, "said": done.stderr}


def content(folder: Path) -> dict[str, str]:
    """Name -> hash of every file that existed, except for the lock, which only contains a
    number."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "lock"
    }


def damaged(folder: Path) -> None:
    path = folder / "fairlead.db"
    broken = bytearray(path.read_bytes())
    broken[4096:20_000] = b"\x55" * (20_000 - 4096)
    path.write_bytes(broken)


def no_database(folder: Path) -> None:
    (folder / "fairlead.db").write_text("a letter to somebody\n" * 1000)


def newer(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "fairlead.db", isolation_level=None)) as db:
        db.execute("PRAGMA user_version = 999")


def of_another_program(folder: Path) -> None:
    (folder / "fairlead.db").unlink()
    with closing(sqlite3.connect(folder / "fairlead.db", isolation_level=None)) as db:
        db.execute("CREATE TABLE recipes (name)")
        db.execute("INSERT INTO recipes VALUES ('soup')")


def somebodys_letters(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir(mode=0o755)
    (folder / "letter.txt").write_text("Dear")


def a_link(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to(folder.with_name("elsewhere"))


STATES: dict[str, Callable[[Path], None]] = {
    "damaged": damaged,
    "no database": no_database,
    "newer": newer,
    "of another program": of_another_program,
    "somebody's letters": somebodys_letters,
    "a link": a_link,
}


@contextmanager
def read_only(folder: Path) -> Iterator[Path]:
    other = folder.with_name("read-only-view")
    other.mkdir()
    mount(other, "--bind", str(folder))
    mount(other, "-o", "remount,bind,ro")
    yield other
    subprocess.run(["umount", str(other)], check=True)


async def opened(folder: Path) -> str:
    """The state of a store that is opened as the server does it, or how it is refused."""
    try:
        async with opened_store(folder) as store:
            return store.state.code
    except StoreRefused as refused:
        return f"refused: {refused.state.code}"
    except (OSError, sqlite3.Error, FairleadError) as problem:
        return f"{type(problem).__name__}: {problem}"


def sizes(top: Path) -> dict[str, str]:
    """What becomes of a new store on file systems of many sizes, in pages."""
    top.mkdir()
    results = {}
    for pages in (1, 2, 5, 12, 20, 40, 58, 120):
        mount(top, "-t", "tmpfs", "-o", f"size={4 * pages}k", "tmpfs")
        results[str(pages)] = asyncio.run(opened(top / "data"))
        subprocess.run(["umount", str(top)], check=True)
    return results


async def fill(folder: Path) -> dict[str, Any]:
    """Append until the disk is full; what was acknowledged, and what is there afterwards."""
    acknowledged = 0
    line = os.urandom(2000).hex().encode()
    async with SqliteStore(folder) as store:
        try:
            while True:
                await store.append("s", [NewEvent(at=0.0, direction="out", line=line)])
                acknowledged += 1
        except StoreUnavailable as problem:
            refused = problem.code
    (folder.parent / "ballast").unlink()
    async with SqliteStore(folder) as store:
        stored = await store.last_seq("s")
        again = await store.append("s", [NewEvent(at=0.0, direction="out", line=line)])
    return {"refused": refused, "acknowledged": acknowledged, "stored": stored, "again": again}


def main(name: str) -> None:
    top = Path(name)
    mount(top, "-t", "tmpfs", "-o", "size=16m", "tmpfs")
    os.chdir("/")
    good = top / "good"
    seen: dict[str, Any] = {"good": serve(good)}
    for state, make in STATES.items():
        folder = top / "states" / state / "data"
        shutil.copytree(good, folder)
        make(folder)
        before = content(folder)
        seen[state] = serve(folder)
        seen[state]["unchanged"] = content(folder) == before
        if "--new-database" in seen[state]["said"]:
            seen[f"{state}, new"] = serve(folder, "--new-database")
            kept = content(folder)
            old = before["fairlead.db"]
            seen[f"{state}, new"]["kept"] = [n for n in kept if kept[n] == old]
    seen["whole, new"] = serve(good, "--new-database")
    (top / "file").write_text("a file")
    seen["a file"] = {**serve(top / "file"), "unchanged": (top / "file").read_text() == "a file"}
    with read_only(good) as folder:
        before = content(good)
        seen["read-only"] = {**serve(folder), "unchanged": content(good) == before}
    seen["sizes"] = sizes(top / "sizes")
    for size, state in (("16k", "full at first"), ("100k", "too full"), ("3m", "fills up")):
        small = top / state
        small.mkdir()
        mount(small, "-t", "tmpfs", "-o", f"size={size}", "tmpfs")
        if state == "fills up":
            (small / "ballast").write_bytes(b"x" * 1_000_000)
            seen[state] = asyncio.run(fill(small / "data"))
        else:
            seen[state] = serve(small / "data")
    holder = SqliteStore(good)

    async def two() -> dict[str, Any]:
        async with holder:
            return await asyncio.to_thread(serve_in_new_process, good)

    seen["in use"] = asyncio.run(two())
    sys.stdout.write(json.dumps(seen) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
