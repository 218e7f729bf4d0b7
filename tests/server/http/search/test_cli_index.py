"""The CLI's own sessions can be found."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fairlead.server.http.search.cli_index import CliIndex
from fairlead.store.cli_files.imports import CliSessions
from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables.search import Filters

ID = "11111111-2222-4333-8444-555555555555"


def record(text: str, second: int) -> dict[str, Any]:
    return {
        "type": "user",
        "uuid": f"u{second}",
        "timestamp": f"2026-11-15T20:00:{second:02}.500Z",
        "cwd": "/home/me/ship",
        "sessionId": ID,
        "version": "2.1.325",
        "message": {"role": "user", "content": text},
    }


def write(projects: Path, *texts: str, age: float = 60.0) -> Path:
    path = projects / "-home-me-ship" / f"{ID}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record(t, n)) + "\n" for n, t in enumerate(texts)))
    os.utime(path, (time.time() - age,) * 2)
    return path


def nobody() -> set[str | None]:
    return set()


async def index(
    store: SqliteStore, tmp_path: Path, own: Callable[[], set[str | None]] = nobody
) -> int:
    cli = CliSessions(tmp_path / "projects")
    await cli.refresh()
    return await CliIndex(cli, store, tmp_path / "data", own=own).catch_up()


async def test_B35_sessions_of_the_cli_are_found_by_their_words(tmp_path: Path) -> None:
    write(tmp_path / "projects", "where is the albatross")
    async with SqliteStore(tmp_path / "data") as store:
        assert await index(store, tmp_path) == 1
        (hit,) = await store.search("albatross", Filters(project="/home/me/ship"))
    assert (hit.session, hit.kind) == (ID, "prompt")


async def test_a_file_is_read_again_only_when_it_has_changed(tmp_path: Path) -> None:
    write(tmp_path / "projects", "one")
    async with SqliteStore(tmp_path / "data") as store:
        assert await index(store, tmp_path) == 1
        assert await index(store, tmp_path) == 0
        write(tmp_path / "projects", "one", "two gannets", age=50.0)
        assert await index(store, tmp_path) == 1
        assert len(await store.search("gannets")) == 1


async def test_a_file_that_is_being_written_waits(tmp_path: Path) -> None:
    write(tmp_path / "projects", "busy", age=0.0)
    async with SqliteStore(tmp_path / "data") as store:
        assert await index(store, tmp_path) == 0


async def test_the_servers_own_sessions_are_left_out(tmp_path: Path) -> None:
    write(tmp_path / "projects", "mine")
    async with SqliteStore(tmp_path / "data") as store:
        assert await index(store, tmp_path, own=lambda: {ID}) == 0


async def test_unreadable_notes_are_rebuilt(tmp_path: Path) -> None:
    write(tmp_path / "projects", "again")
    async with SqliteStore(tmp_path / "data") as store:
        assert await index(store, tmp_path) == 1
        (tmp_path / "data" / "cli-search.json").write_text("{half")
        assert await index(store, tmp_path) == 1
