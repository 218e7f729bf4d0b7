"""Attacks by files among the CLI's own sessions: none hides the others or stops the list."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from fairlead.store.cli_files.imports import CliSessions
from fairlead.store.cli_files.transcript_file import FILE_BYTES
from tests.server.cli_file import cli_file
from tests.server.server_harness import ServerHarness

# T-83


def _line(folder: Path, text: str) -> None:
    (folder / f"{uuid.uuid4()}.jsonl").write_text(text)


def _meta(folder: Path) -> None:
    name = str(uuid.uuid4())
    (folder / name / "subagents").mkdir(parents=True)
    (folder / f"{name}.jsonl").write_text('{"type":"user","uuid":"u","message":{"content":"x"}}\n')
    side = folder / name / "subagents" / "agent-a.jsonl"
    side.write_text('{"type":"user","uuid":"u","message":{"content":"x"}}\n')
    os.truncate(_touched(side.with_suffix(".meta.json")), 8 * 1024**3)


def _touched(path: Path) -> Path:
    path.touch()
    return path


def _loop(folder: Path) -> None:
    name = folder / "loop"
    name.symlink_to(folder, target_is_directory=True)
    (folder / f"{uuid.uuid4()}.jsonl").symlink_to(folder / "there.jsonl")
    (folder / "there.jsonl").symlink_to(folder / "there.jsonl")


HOSTILE: dict[str, Callable[[Path], object]] = {
    "deep lists": lambda folder: _line(folder, "[" * 100_000 + "\n"),
    "deep record": lambda folder: _line(
        folder, '{"type":"user","message":' + '{"a":' * 50_000 + "1" + "}" * 50_001 + "\n"
    ),
    "no such day": lambda folder: _line(
        folder, '{"type":"user","uuid":"u","timestamp":"0000-00-00T00:00:00Z","message":{}}\n'
    ),
    "day 99": lambda folder: _line(
        folder, '{"type":"user","uuid":"u","timestamp":"2026-99-99T99:99:99.9Z","message":{}}\n'
    ),
    "tags": lambda folder: _line(
        folder,
        '{"type":"user","uuid":"u","message":{"content":"' + "<command-name>" * 30_000 + '"}}\n',
    ),
    "a name that is no text": lambda folder: os.mknod(
        os.fsencode(folder) + b"/\xff\xfe.jsonl", 0o600
    ),
    "a folder that is no text": lambda folder: os.mkdir(os.fsencode(folder.parent) + b"/\xff"),
    "a pipe": lambda folder: os.mkfifo(folder / f"{uuid.uuid4()}.jsonl"),
    "a folder": lambda folder: (folder / f"{uuid.uuid4()}.jsonl").mkdir(),
    "links in a loop": _loop,
    "a giant file beside": _meta,
    "a giant file": lambda folder: os.truncate(
        _touched(folder / f"{uuid.uuid4()}.jsonl"), FILE_BYTES + 1
    ),
    "no right to read": lambda folder: _touched(folder / f"{uuid.uuid4()}.jsonl").chmod(0),
    "binary": lambda folder: (folder / f"{uuid.uuid4()}.jsonl").write_bytes(os.urandom(100_000)),
    "lone surrogates": lambda folder: _line(
        folder, '{"type":"user","uuid":"u","cwd":"\\ud800","message":{"content":"\\udfff"}}\n'
    ),
    "numbers": lambda folder: _line(
        folder, '{"type":1e999,"uuid":{},"timestamp":[],"cwd":9,"message":"m","version":null}\n'
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_R14_no_file_among_the_clis_sessions_hides_the_others(
    tmp_path: Path, name: str
) -> None:
    async with ServerHarness(tmp_path, cli=True) as harness:
        folder = harness.projects / "some-folder"
        folder.mkdir(parents=True)
        HOSTILE[name](folder)
        good = str(uuid.uuid4())
        cli_file(harness, good, str(harness.project))
        await harness.until(lambda: good in harness.lobby("sessions"))
        later = str(uuid.uuid4())
        cli_file(harness, later, str(harness.project))
        assert harness.cli is not None
        await harness.cli.refresh()
        assert harness.cli.find(later) is not None
        for session in harness.lobby("sessions"):
            await harness.registry.open(session)
        assert harness.registry.lobby.section("server").listing_problem is None


async def test_R14_a_file_that_cannot_be_read_is_listed_with_the_reason(tmp_path: Path) -> None:
    folder = tmp_path / "a-folder"
    folder.mkdir()
    giant = folder / f"{uuid.uuid4()}.jsonl"
    os.truncate(_touched(giant), FILE_BYTES + 1)
    cli = CliSessions(tmp_path)
    await cli.refresh()
    (row,) = cli.sessions()
    assert row.id == giant.stem
    assert row.title == "Damaged session file: it is larger than 1024 MiB"
    assert not await cli.refresh(), "a damaged file is not read again until it changes"
    giant.write_text('{"type":"user","uuid":"u","message":{"content":"well again"}}\n')
    await cli.refresh()
    assert cli.sessions()[0].title == "well again"


async def test_R14_a_watch_that_fails_begins_again_and_the_lobby_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairlead.server.sessions.cli_documents.RETRY_S", 0.01)
    failures = iter([OSError("the disk is on fire")])
    refresh = CliSessions.refresh

    async def failing(self: CliSessions, *args: object) -> object:
        for problem in failures:
            raise problem
        return await refresh(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(CliSessions, "refresh", failing)
    async with ServerHarness(tmp_path, cli=True) as harness:
        hub_client = harness.registry.lobby
        await harness.until(lambda: hub_client.section("server").listing_problem)
        assert "the disk is on fire" in hub_client.section("server").listing_problem
        good = str(uuid.uuid4())
        cli_file(harness, good, str(harness.project))
        await harness.until(lambda: good in harness.lobby("sessions"))
        await harness.until(lambda: hub_client.section("server").listing_problem is None)
