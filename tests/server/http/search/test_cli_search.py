"""The CLI's own sessions, as real CLIs wrote their files: found, opened at the hit, forgotten."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from fairlead.server.http.search.cli_index import CliIndex
from fairlead.store.cli_files.imports import CliSessions
from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables.search import KINDS, Filters, entries
from tests.server.http.cli_session_files import REAL, write_files
from tests.server.server_harness import ServerHarness


def index_of(cli: CliSessions, store: SqliteStore, folder: Path, **more: Any) -> CliIndex:
    return CliIndex(cli, store, folder, own=set, **more)


@pytest.mark.parametrize("name", REAL)
async def test_every_hit_in_a_real_session_names_an_item_that_opens(
    name: str, tmp_path: Path
) -> None:
    session = write_files(tmp_path / "projects", name)
    async with SqliteStore(tmp_path / "data") as store:
        cli = CliSessions(tmp_path / "projects", store)
        await cli.refresh()
        assert await index_of(cli, store, tmp_path / "data").catch_up() == 1
        transcript = await cli.transcript(session)
        words = {
            (item.kind, item.body.split()[0].strip('"'))
            for item in entries(transcript.items)
            if item.body.split()[0].strip('"').isalnum()
        }
        assert words
        for kind, word in words:
            hits = await store.search(word, Filters(session=session, kinds=(kind,)))
            assert hits
            assert {hit.item for hit in hits} <= set(transcript.item_ids)
            assert {hit.kind for hit in hits} <= set(KINDS)
        cwd = cli.sessions()[0].cwd
        some = next(iter(words))[1]
        assert await store.search(some, Filters(project=cwd))
        assert not await store.search(some, Filters(project=f"{cwd}/elsewhere"))


async def test_S41_a_session_whose_file_is_gone_is_no_longer_found(tmp_path: Path) -> None:
    projects = tmp_path / "projects"
    write_files(projects, REAL[0])
    async with SqliteStore(tmp_path / "data") as store:
        cli = CliSessions(projects, store)
        index = index_of(cli, store, tmp_path / "data")
        await cli.refresh()
        await index.catch_up()
        (listed,) = cli.sessions()
        word = listed.first_prompt.split()[0]
        assert await store.search(word)
        shutil.rmtree(projects)
        await cli.refresh()
        await index.catch_up()
        assert await store.search(word) == []


async def test_S41_nothing_is_forgotten_before_all_files_were_looked_at(tmp_path: Path) -> None:
    projects = tmp_path / "projects"
    write_files(projects, REAL[0])
    async with SqliteStore(tmp_path / "data") as store:
        cli = CliSessions(projects, store)
        await cli.refresh()
        await index_of(cli, store, tmp_path / "data").catch_up()
        word = cli.sessions()[0].first_prompt.split()[0]
        fresh = CliSessions(projects, store)
        await index_of(fresh, store, tmp_path / "data").catch_up()
        assert await store.search(word)


async def test_B39_the_search_index_tells_its_progress(tmp_path: Path) -> None:
    for name in REAL[:3]:
        write_files(tmp_path / "projects", name)
    reported: list[tuple[int, int]] = []
    async with SqliteStore(tmp_path / "data") as store:
        cli = CliSessions(tmp_path / "projects", store)
        await cli.refresh()
        index = index_of(
            cli,
            store,
            tmp_path / "data",
            progress=lambda done, total: reported.append((done, total)),
        )
        count = await index.catch_up()
    assert reported == [(number, count) for number in range(1, count + 1)]


async def test_B39_all_clients_see_the_progress_of_the_first_list(tmp_path: Path) -> None:
    write_files(tmp_path / "cli-projects", REAL[0])
    async with ServerHarness(tmp_path, cli=True) as harness:
        await harness.until(lambda: harness.registry.lobby.ids("sessions"))
        assert harness.registry.lobby.section("server").listing is None
