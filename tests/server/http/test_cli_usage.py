"""What the CLI's own sessions used, in the answers of `/api/usage`: by their files, once each."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import msgspec
import pytest

from fairlead.server.http.search.cli_index import NOTES, CliIndex
from fairlead.server.http.usage import Usage
from fairlead.server.protocol.usage_rows import UsageReport
from fairlead.server.session.log_lines import event_of
from fairlead.server.sessions.copying import import_session
from fairlead.store.cli_files.imports import CliSessions
from fairlead.store.log import OUT, NewEvent
from fairlead.store.sqlite import SqliteStore
from fairlead.transcript.state.facts import ProcessStarted
from tests.server.http.cli_session_files import REAL, write_files

EVER = [0.0, 1e11]
COUNTS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


async def index(store: SqliteStore, folder: Path, *own: str) -> CliSessions:
    cli = CliSessions(folder / "projects", store)
    await cli.refresh()
    await CliIndex(cli, store, folder / "data", own=lambda: set(own)).catch_up()
    return cli


async def report(store: SqliteStore, folder: Path) -> UsageReport:
    return await Usage(folder / "data", lambda: store.epoch).report(EVER)


def tokens(found: UsageReport, source: str) -> int:
    rows = [row for row in found.rows if row.source == source]
    return sum(getattr(row, name) for row in rows for name in COUNTS)


def money(found: UsageReport, source: str) -> float:
    return sum(row.cost_usd for row in found.rows if row.source == source)


async def test_B42_sessions_of_the_cli_are_counted_by_their_files(tmp_path: Path) -> None:
    write_files(tmp_path / "projects", "2.1.325/tools")
    write_files(tmp_path / "projects", "2.1.220/subagent")
    async with SqliteStore(tmp_path / "data") as store:
        cli = await index(store, tmp_path)
        found = await report(store, tmp_path)
        assert found.file_sessions == 2
        projects = {session.cwd for session in cli.sessions()}
    assert {(row.model, row.input_tokens, row.output_tokens) for row in found.rows} == {
        ("claude-opus-5-5", 600, 252),  # As its own total says.
        ("claude-opus-5", 400, 168),
    }
    assert {row.project for row in found.rows} == projects
    assert {row.source for row in found.rows} == {"files"}
    assert money(found, "files") == pytest.approx(0.00744)  # Only the newer one tells.
    assert found.turns == (0,)
    assert found.first is not None
    assert 1.79e9 < found.first < 1.8e9


async def test_B42_what_was_counted_outlives_a_restart_and_the_file(tmp_path: Path) -> None:
    for name in REAL[:6]:
        write_files(tmp_path / "projects", name)
    async with SqliteStore(tmp_path / "data") as store:
        await index(store, tmp_path)
        before = await report(store, tmp_path)
    shutil.rmtree(tmp_path / "projects")
    async with SqliteStore(tmp_path / "data") as store:
        await index(store, tmp_path)
        assert await report(store, tmp_path) == before
    assert tokens(before, "files") > 0


async def test_files_that_were_only_searched_before_are_read_again_for_this(
    tmp_path: Path,
) -> None:
    session = write_files(tmp_path / "projects", "2.1.325/tools")
    async with SqliteStore(tmp_path / "data") as store:
        cli = CliSessions(tmp_path / "projects", store)
        await cli.refresh()
        (found,) = cli.sessions()
        notes = {"epoch": store.epoch, "done": {session: [found.size, found.modified]}}
        (tmp_path / "data" / NOTES).write_bytes(msgspec.json.encode(notes))
        await index(store, tmp_path)
        assert tokens(await report(store, tmp_path), "files") == 852


async def go_on(store: SqliteStore, cli: CliSessions, cli_id: str) -> None:
    """As the server takes a session over: its past, a process, and what a turn cost."""
    found = cli.find(cli_id)
    assert found is not None
    await import_session(store, found, "ours")
    at = found.last_activity + 600.0
    usage = {"claude-opus-5-5": {"inputTokens": 700, "outputTokens": 294, "costUSD": 0.00868}}
    line = {
        "type": "result", "uuid": "r1", "session_id": cli_id, "total_cost_usd": 0.00868,
        "modelUsage": usage,
    }  # fmt: skip
    usage_by_model = {name: {**figures, "inputTokens": 100, "outputTokens": 42, "costUSD": 0.00124}
            for name, figures in usage.items()}  # fmt: skip
    line["model_usage_since_last_result"] = usage_by_model
    started = event_of(ProcessStarted(resumed=cli_id), at)
    await store.append("ours", [started, NewEvent(OUT, json.dumps(line).encode(), at + 5)])


@pytest.mark.parametrize("read_before", [True, False])
async def test_B42_a_session_that_goes_on_here_is_counted_by_its_file_only_up_to_then(
    tmp_path: Path, read_before: bool
) -> None:
    cli_id = write_files(tmp_path / "projects", "2.1.325/tools")
    async with SqliteStore(tmp_path / "data") as store:
        cli = CliSessions(tmp_path / "projects", store)
        if read_before:
            cli = await index(store, tmp_path)
        await cli.refresh()
        await go_on(store, cli, cli_id)
        await index(store, tmp_path, cli_id)
        found = await report(store, tmp_path)
    both = tokens(found, "files") + tokens(found, "log")
    assert both == 852 + 142
    assert money(found, "files") + money(found, "log") == pytest.approx(0.00744 + 0.00124)
    assert tokens(found, "log") == (142 if read_before else both)
