"""A session file that the CLI has only begun to write is awaited, and not called damaged."""

from __future__ import annotations

import asyncio
import json
import os
import uuid
from pathlib import Path

from fairlead.server.protocol.intents import Fork, Restart, Resume, Stop
from tests.server.server_harness import ServerHarness

FIRST = {"type": "queue-operation", "operation": "enqueue"}
"""Old CLIs write this record first; it does not name the folder."""


def record(harness: ServerHarness, session: str) -> dict[str, object]:
    return {
        "type": "user",
        "uuid": str(uuid.uuid4()),
        "sessionId": session,
        "cwd": str(harness.project),
        "timestamp": "2026-01-02T03:04:05Z",
        "message": {"role": "user", "content": "hello"},
    }


def begin_file(harness: ServerHarness, session: str) -> Path:
    """A file with the first record of a session and half of the second."""
    path = harness.projects / "-project" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{json.dumps(FIRST)}\n" + json.dumps(record(harness, session))[:40])
    return path


def finish_file(harness: ServerHarness, path: Path) -> None:
    path.write_text(f"{json.dumps(FIRST)}\n{json.dumps(record(harness, path.stem))}\n")


async def running(harness: ServerHarness) -> tuple[str, str]:
    session = await harness.new(prompt="hello")
    live = await harness.state(session, "idle")
    return session, str(live.transcript.session.id)


async def finished_after_a_look(harness: ServerHarness, path: Path) -> None:
    """Finish the file once the server has seen that it names no folder."""
    cli = harness.cli
    assert cli is not None
    seen = await harness.until(lambda: cli.find(path.stem))
    assert not seen.cwd
    finish_file(harness, path)


async def test_B45_a_restart_waits_for_a_file_that_is_being_written(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, cli=True) as harness:
        session, cli_id = await running(harness)
        path = begin_file(harness, cli_id)
        asked = asyncio.create_task(harness.act(Restart(session=session)))
        await finished_after_a_look(harness, path)
        restarted = await asked
        assert restarted.ok, restarted
        await harness.until(lambda: len(harness.told("argv")) == 2)


async def test_B45_a_fork_of_a_running_session_waits_for_a_file_that_is_being_written(
    tmp_path: Path,
) -> None:
    async with ServerHarness(tmp_path, cli=True) as harness:
        session, cli_id = await running(harness)
        path = begin_file(harness, cli_id)
        asked = asyncio.create_task(harness.act(Fork(session=session)))
        await finished_after_a_look(harness, path)
        forked = await asked
        assert forked.ok, forked


async def test_B45_a_file_that_another_program_has_just_created_is_awaited(
    tmp_path: Path,
) -> None:
    async with ServerHarness(tmp_path, cli=True) as harness:
        path = begin_file(harness, str(uuid.uuid4()))
        asked = asyncio.create_task(harness.act(Fork(session=path.stem)))
        await finished_after_a_look(harness, path)
        forked = await asked
        assert forked.ok, forked


async def test_B45_an_old_file_without_a_folder_is_damaged_at_once(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, cli=True) as harness:
        session, cli_id = await running(harness)
        assert (await harness.act(Stop(session=session))).ok
        path = begin_file(harness, cli_id)
        os.utime(path, (1_000_000_000, 1_000_000_000))
        refused = await harness.act(Resume(session=session))
        assert (refused.code, refused.result["check"]) == ("conflict", "damaged_file")
