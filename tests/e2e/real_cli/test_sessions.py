"""Continuing a session: resume, continue, fork, truncate, rewind, and what is lost (CLI-711)."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import uuid
from pathlib import Path

import pytest

from fairlead import AgentExited, Allow, Deny, OptionError, PermissionRequest, Session
from fairlead.host.options.switches import Debug, SessionFlags
from fairlead.host.process.recording import read_recording
from fairlead.model_api.replies import reply, use
from fairlead.model_api.request import ModelRequest
from fairlead.testing.real_cli import RealCli
from fairlead.wire.events import Assistant, Result, User
from fairlead.wire.system import Init
from tests.e2e.real_cli.cli_harness import (
    TURN_S,
    CliHarness,
    ScriptedDecisions,
    all_of,
    one_of,
    play,
)
from tests.e2e.real_cli.recording_observer import RecordingObserver

UNKNOWN = "00000000-0000-4000-8000-000000000000"


def history_of(request: ModelRequest) -> str:
    return json.dumps(request.messages)


def transcript_of(harness: CliHarness, session_id: str) -> Path:
    """CLI-700: where the transcript is, by folder and id."""
    folder = re.sub(r"[^A-Za-z0-9]", "-", str(harness.project))
    return harness.home / ".claude" / "projects" / folder / f"{session_id}.jsonl"


async def test_a_resumed_session_keeps_its_id_and_history_but_not_its_mode(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-704: resume; is history replayed on stdout on resume; CLI-508: cost after resume."""
    chosen = str(uuid.uuid4())
    harness.model.push(reply("I shall remember the herring."))
    async with harness.session(session_id=chosen, permission_mode="acceptEdits") as session:
        turn = await session.send("remember the herring")
        async with asyncio.timeout(TURN_S):
            await turn
        assert session.session_id == chosen
    async with Session.resume(chosen, harness.options()) as resumed:
        again = await resumed.send("what was it?")
        async with asyncio.timeout(TURN_S):
            messages = [message async for message in again]
        assert resumed.session_id == chosen
    assert "I shall remember the herring." in history_of(harness.model.requests[1])
    assert one_of(Init, messages).permission_mode == "default"
    assert [line.text for line in all_of(Assistant, messages)] == ["Done."]
    assert [line.text for line in all_of(User, messages)] == ["what was it?"]
    # The total may go on or begin anew; the cost of a turn is its own either way.
    assert again.cost_usd == pytest.approx(turn.cost_usd)
    assert again.cost_usd is not None
    assert again.cost_usd > 0
    total = one_of(Result, messages).total_cost_usd
    continues = cli.key >= (2, 1, 325)
    assert total == pytest.approx(again.cost_usd * (2 if continues else 1))


async def test_the_latest_session_continues_and_a_fork_does_not_change_it(
    harness: CliHarness,
) -> None:
    """CLI-702: continue, fork, --session-id, an id that is in use."""
    fork_id = str(uuid.uuid4())
    harness.model.push(reply("First things first."))
    async with harness.session() as session:
        await play(session, "one")
        first_id = session.session_id
        assert first_id is not None
    async with harness.session(continue_latest=True) as session:
        await play(session, "two")
        assert session.session_id == first_id
    before = transcript_of(harness, first_id).read_bytes()
    options = harness.options(session_id=fork_id)
    async with Session.fork(first_id, options) as session:
        await play(session, "three")
        assert session.session_id == fork_id
    assert transcript_of(harness, first_id).read_bytes() == before
    assert transcript_of(harness, fork_id).exists()
    for request in harness.model.requests[1:]:
        assert "First things first." in history_of(request)
    with pytest.raises(AgentExited, match="already in use"):
        await harness.session(session_id=first_id).start()


def test_a_chosen_session_id_with_resume_requires_a_fork(harness: CliHarness) -> None:
    """CLI-113: --resume + --session-id without fork would exit 1."""
    with pytest.raises(OptionError, match="fork"):
        harness.options(resume=UNKNOWN, session_id=str(uuid.uuid4()))


async def test_a_session_that_was_not_saved_cannot_be_resumed(harness: CliHarness) -> None:
    """CLI-703: --no-session-persistence; resume of an unknown id ends before any init."""
    async with harness.session(session=SessionFlags(persist=False)) as session:
        await play(session)
        lost = session.session_id
        assert lost is not None
    assert list(harness.home.glob(".claude/projects/*/*.jsonl")) == []
    with pytest.raises(AgentExited, match="there is no such session") as exited:
        async with Session.resume(lost, harness.options()) as session:
            await play(session)
    assert exited.value.returncode == 1


async def test_a_session_killed_during_a_permission_request_can_be_resumed(
    harness: CliHarness,
) -> None:
    """CLI-700: killed while a permission is pending; nothing is asked again."""
    asked = asyncio.Event()
    withdrawn = asyncio.Event()

    async def wait(request: PermissionRequest) -> Allow | Deny:
        asked.set()
        try:
            return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]
        finally:
            withdrawn.set()

    harness.model.push(use("Write", file_path=str(harness.project / "a.txt"), content="x"))
    async with harness.session(on_permission=wait) as session:
        turn = await session.send("go")
        async with asyncio.timeout(TURN_S):
            await asked.wait()
            assert session.pid is not None
            os.kill(session.pid, signal.SIGTERM)
            try:
                # 2.1.220 ends the turn before it goes.
                assert (await turn).subtype == "error_during_execution"
            except AgentExited as exited:
                assert exited.returncode == 143  # noqa: PT017  either way is right
            await withdrawn.wait()
        killed = session.session_id
        assert session.pending == {}
    assert killed is not None
    decisions = ScriptedDecisions()
    async with Session.resume(killed, harness.options(on_permission=decisions)) as session:
        messages = await play(session, "and now?")
        assert session.session_id == killed
    assert one_of(Result, messages).ok
    assert decisions.asked == []
    assert "go" in history_of(harness.model.requests[-1])


async def test_a_session_resumed_at_a_message_has_no_later_messages(harness: CliHarness) -> None:
    """CLI-700: --resume-session-at."""
    harness.model.push(reply("The first answer."), reply("The second answer."))
    async with harness.session() as session:
        first = await play(session, "one")
        await play(session, "two")
        session_id = session.session_id
    cut = all_of(Assistant, first)[-1].uuid
    async with harness.session(resume=session_id, resume_at=cut) as session:
        await play(session, "three")
    history = history_of(harness.model.requests[2])
    assert "The first answer." in history
    assert "The second answer." not in history


async def test_files_are_restored_to_their_state_before_a_prompt(harness: CliHarness) -> None:
    """CLI-711: rewind_files; the id is the uuid of the prompt."""
    file = harness.project / "a.txt"
    file.write_text("old\n")
    harness.model.push(
        use("Read", file_path=str(file)),
        use("Write", file_path=str(file), content="new\n"),
    )
    async with harness.session(file_checkpoints=True, permission_mode="acceptEdits") as session:
        turn = await session.send("go")
        async with asyncio.timeout(TURN_S):
            await turn
        assert file.read_text() == "new\n"
        trial = await session.rewind_files(turn.uuid, dry_run=True)
        assert trial["canRewind"] is True
        assert trial["filesChanged"] == [str(file)]
        assert file.read_text() == "new\n"
        assert (await session.rewind_files(turn.uuid))["canRewind"] is True
        assert file.read_text() == "old\n"


async def test_both_directions_can_be_recorded_and_read_back(
    harness: CliHarness, tmp_path: Path
) -> None:
    """CLI-1400: what a host writes and what it receives, line by line and exact."""
    record = tmp_path / "session.ndjson"
    session = harness.session(record=record)
    observer = RecordingObserver.of(session)
    async with session:
        await play(session, "on the record")
    lines = list(read_recording(record))
    assert [line.line for line in lines if line.direction == "out"] == [
        one.raw for one in observer.heard
    ]
    written = [json.loads(line.line) for line in lines if line.direction == "in"]
    assert written == observer.written
    kinds = [one["type"] for one in written]
    assert kinds == ["control_request", "user"]
    assert written[1]["message"]["content"][0]["text"] == "on the record"
    assert [line.at for line in lines] == sorted(line.at for line in lines)


async def test_the_debug_log_of_the_cli_is_written_to_the_given_file(
    harness: CliHarness, tmp_path: Path
) -> None:
    """SURFACE b: --debug-file."""
    log = tmp_path / "debug.log"
    async with harness.session(debug_file=log, debug=Debug(enabled=True)) as session:
        await play(session)
    assert "[DEBUG]" in log.read_text("utf-8")
    assert session.stderr == ""
