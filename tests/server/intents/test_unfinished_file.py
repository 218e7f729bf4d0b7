"""A session file that the CLI has only begun to write is awaited, and not called damaged."""

from __future__ import annotations

import asyncio
import json
import os
import uuid
from pathlib import Path

from fairlead.server.protocol.intents import Fork, Restart, Resume, Stop
from tests.server.stage import Stage

FIRST = {"type": "queue-operation", "operation": "enqueue"}
"""Old CLIs write this record first; it does not name the folder."""


def record(stage: Stage, session: str) -> dict[str, object]:
    return {
        "type": "user",
        "uuid": str(uuid.uuid4()),
        "sessionId": session,
        "cwd": str(stage.project),
        "timestamp": "2026-01-02T03:04:05Z",
        "message": {"role": "user", "content": "hello"},
    }


def begin_file(stage: Stage, session: str) -> Path:
    """A file with the first record of a session and half of the second."""
    path = stage.projects / "-project" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{json.dumps(FIRST)}\n" + json.dumps(record(stage, session))[:40])
    return path


def finish_file(stage: Stage, path: Path) -> None:
    path.write_text(f"{json.dumps(FIRST)}\n{json.dumps(record(stage, path.stem))}\n")


async def running(stage: Stage) -> tuple[str, str]:
    session = await stage.new(prompt="hello")
    live = await stage.state(session, "idle")
    return session, str(live.transcript.session.id)


async def finished_after_a_look(stage: Stage, path: Path) -> None:
    """Finish the file once the server has seen that it names no folder."""
    cli = stage.cli
    assert cli is not None
    seen = await stage.until(lambda: cli.find(path.stem))
    assert not seen.cwd
    finish_file(stage, path)


async def test_B45_a_restart_waits_for_a_file_that_is_being_written(tmp_path: Path) -> None:
    async with Stage(tmp_path, cli=True) as stage:
        session, cli_id = await running(stage)
        path = begin_file(stage, cli_id)
        asked = asyncio.create_task(stage.act(Restart(session=session)))
        await finished_after_a_look(stage, path)
        restarted = await asked
        assert restarted.ok, restarted
        await stage.until(lambda: len(stage.told("argv")) == 2)


async def test_B45_a_fork_of_a_running_session_waits_for_a_file_that_is_being_written(
    tmp_path: Path,
) -> None:
    async with Stage(tmp_path, cli=True) as stage:
        session, cli_id = await running(stage)
        path = begin_file(stage, cli_id)
        asked = asyncio.create_task(stage.act(Fork(session=session)))
        await finished_after_a_look(stage, path)
        forked = await asked
        assert forked.ok, forked


async def test_B45_a_file_that_another_program_has_just_created_is_awaited(
    tmp_path: Path,
) -> None:
    async with Stage(tmp_path, cli=True) as stage:
        path = begin_file(stage, str(uuid.uuid4()))
        asked = asyncio.create_task(stage.act(Fork(session=path.stem)))
        await finished_after_a_look(stage, path)
        forked = await asked
        assert forked.ok, forked


async def test_B45_an_old_file_without_a_folder_is_damaged_at_once(tmp_path: Path) -> None:
    async with Stage(tmp_path, cli=True) as stage:
        session, cli_id = await running(stage)
        assert (await stage.act(Stop(session=session))).ok
        path = begin_file(stage, cli_id)
        os.utime(path, (1_000_000_000, 1_000_000_000))
        refused = await stage.act(Resume(session=session))
        assert (refused.code, refused.result["check"]) == ("conflict", "damaged_file")
