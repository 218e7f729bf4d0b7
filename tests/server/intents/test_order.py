"""Sessions in order: tags, deleting many with an undo, and what a deletion must not touch."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from fairlead.server.limits import Limits
from fairlead.server.protocol.intents import (
    DeleteSessions,
    Fork,
    KeepDraft,
    Resume,
    SetTags,
    Stop,
    UndoDelete,
)
from tests.server.cli_file import cli_file
from tests.server.intents.stored_state import files_below, stored_rows
from tests.server.server_harness import ServerHarness, device

SOON = Limits(delete_undo_s=0.05, store_retry_s=0.1)
NEVER = Limits(delete_undo_s=3_600.0)


async def finished(harness: ServerHarness, prompt: str) -> str:
    """A session with one turn whose process has ended."""
    session = await harness.new(prompt=prompt)
    live = await harness.state(session, "idle")
    await harness.act(Stop(session=session))
    await harness.until(lambda: not live.live)
    return session


async def gone(harness: ServerHarness, *sessions: str) -> None:
    await harness.until(lambda: not set(sessions) & set(harness.lobby("sessions")))


async def test_B75_tags_are_stored_once_each_and_in_order(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new()
        result = await harness.act(
            SetTags(session=session, tags=("zeta", "  Api  work ", "zeta", ""))
        )
        assert result.result["tags"] == ["Api work", "zeta"]
        assert harness.lobby("sessions")[session]["tags"] == ["Api work", "zeta"]
        for tags in (tuple(f"t{n}" for n in range(13)), ("x" * 33,)):
            refused = await harness.act(SetTags(session=session, tags=tags))
            assert refused.code in ("too_many", "too_large")
        assert harness.lobby("sessions")[session]["tags"] == ["Api work", "zeta"]
    async with ServerHarness(tmp_path) as harness:
        assert harness.lobby("sessions")[session]["tags"] == ["Api work", "zeta"]


async def test_B76_deleted_sessions_are_erased_and_nothing_of_others_is_lost(
    tmp_path: Path,
) -> None:
    async with ServerHarness(tmp_path, limits=SOON) as harness:
        first, second, third = [await finished(harness, f"prompt {n}") for n in range(3)]
        fork = await harness.act(Fork(session=first))
        forked = str(fork.result["session"])
        await harness.state(forked, "ready", "idle")
        await harness.act(Stop(session=forked))
        for session in (first, second, third):
            await harness.act(KeepDraft(session=session, text="unsent"))
        before = stored_rows(harness.store.folder, (third, forked))
        assert stored_rows(harness.store.folder, (first,))[first]["events"]
        result = await harness.act(DeleteSessions(sessions=(first, second)))
        assert result.result == {"deleted": [first, second], "refused": {}}
        await gone(harness, first, second)
        erased = stored_rows(harness.store.folder, (first, second))
        assert all(rows == [] for tables in erased.values() for rows in tables.values())
        assert stored_rows(harness.store.folder, (third, forked)) == before
        live = await harness.registry.sessions.load(forked)
        assert "prompt 0" in [getattr(item, "text", "") for item in live.transcript.items]
        audit = await harness.store.audit(first)
        assert audit[0].action == "delete_session"
        assert audit[0].device == harness.owner.id
        again = await harness.act(DeleteSessions(sessions=(first,)))
        assert again.code == "conflict"
    async with ServerHarness(tmp_path) as harness:
        assert {third, forked} <= set(harness.lobby("sessions"))
        assert not {first, second} & set(harness.lobby("sessions"))


async def test_B76_a_session_is_erased_while_sessions_that_nobody_needs_are_unloaded(
    tmp_path: Path,
) -> None:
    limits = Limits(delete_undo_s=0.05, transcripts_loaded=0)
    async with ServerHarness(tmp_path, limits=limits) as harness:
        session, sessions = await finished(harness, "hello"), harness.registry.sessions
        culling = []

        async def cull(_: str) -> None:
            culling.append(asyncio.create_task(sessions.cull()))

        sessions.deletions.end_terminals = cull  # It is called when the deletion begins.
        await harness.act(DeleteSessions(sessions=(session,)))
        await harness.until(lambda: bool(culling))
        await asyncio.wait_for(culling[0], 20)
        await asyncio.wait_for(gone(harness, session), 20)
        erased = stored_rows(harness.store.folder, (session,))[session]
        assert all(rows == [] for rows in erased.values())


async def test_B76_a_new_session_after_a_deletion_does_not_inherit_anything(
    tmp_path: Path,
) -> None:
    async with ServerHarness(tmp_path, limits=SOON) as harness:
        first = await finished(harness, "old words")
        await harness.act(DeleteSessions(sessions=(first,)))
        await gone(harness, first)
        second = await finished(harness, "new words")
        events = await harness.store.read(second, 0, 100)
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert not any(b"old words" in event.line for event in events)
        assert await harness.store.read(first, 0, 100) == []
        assert not any(hit.session == first for hit in await harness.store.search("old words"))


async def test_B76_only_an_owner_deletes_and_a_session_in_a_turn_stays(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, limits=SOON) as harness:
        busy = await harness.new(prompt='[{"ask": {"id": "ask-1"}}, {"wait": 1}]')
        await harness.pending(busy)
        operator = device("operator", "phone")
        refused = await harness.act(DeleteSessions(sessions=(busy,)), who=operator)
        assert refused.code == "forbidden"
        refused = await harness.act(DeleteSessions(sessions=(busy, "unknown")))
        assert refused.code == "conflict"
        assert "Stop the session" in refused.result["refused"][busy]
        assert "not found" in refused.result["refused"]["unknown"]
        assert harness.lobby("sessions")[busy]["deleting"] is None


async def test_B77_a_deletion_can_be_undone_and_is_refused_to_act_on(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, limits=NEVER) as harness:
        session = await finished(harness, "hello")
        before = stored_rows(harness.store.folder, (session,))
        await harness.act(DeleteSessions(sessions=(session,), files=True))
        assert harness.lobby("sessions")[session]["deleting"] > 0
        for intent in (Resume(session=session), Fork(session=session)):
            refused = await harness.act(intent)
            assert refused.code == "conflict"
            assert "being deleted" in (refused.message or "")
        result = await harness.act(UndoDelete(sessions=(session,)))
        assert result.result == {"restored": [session]}
        assert harness.lobby("sessions")[session]["deleting"] is None
        assert stored_rows(harness.store.folder, (session,)) == before
        assert (await harness.act(UndoDelete(sessions=(session,)))).code == "stale"
        assert (await harness.act(Resume(session=session))).ok


SERVER = """
import asyncio, sys
from pathlib import Path
from fairlead.server.limits import Limits
from fairlead.server.protocol.intents import DeleteSessions
from tests.server.intents.test_order import finished
from tests.server.server_harness import ServerHarness

async def main() -> None:
    harness = ServerHarness(Path(sys.argv[1]), limits=Limits(delete_undo_s=3600.0), cli=True)
    await harness.__aenter__()
    wanted, other = await finished(harness, "delete me"), await finished(harness, "keep me")
    result = await harness.act(DeleteSessions(sessions=(wanted,), files=True))
    assert result.ok, result
    if sys.argv[2] == "begun":
        assert await harness.store.begin_deletion(wanted)
    print(wanted, other, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


def killed_server(folder: Path, moment: str) -> tuple[str, str]:
    """A server that is killed after it stored a deletion: the deleted session and another."""
    root = Path(__file__).parents[3]
    env = {**os.environ, "PYTHONPATH": f"{root}/src:{root}"}
    command = [sys.executable, "-c", SERVER, str(folder), moment]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root, env=env) as child:
        assert child.stdout is not None
        wanted, other = child.stdout.readline().split()
        child.kill()
    return wanted, other


async def test_B77_a_server_that_is_killed_in_the_undo_period_offers_it_again(
    tmp_path: Path,
) -> None:
    wanted, other = await asyncio.to_thread(killed_server, tmp_path, "waiting")
    async with ServerHarness(tmp_path, limits=NEVER, cli=True) as harness:
        rows = harness.lobby("sessions")
        assert rows[wanted]["deleting"] > 0
        assert rows[other]["deleting"] is None
        assert (await harness.act(UndoDelete(sessions=(wanted,)))).ok
        live = await harness.registry.sessions.load(wanted)
        assert "delete me" in [getattr(item, "text", "") for item in live.transcript.items]
    async with ServerHarness(tmp_path, limits=SOON, cli=True) as harness:
        assert harness.lobby("sessions")[wanted]["deleting"] is None
        await harness.act(DeleteSessions(sessions=(wanted,)))
        await gone(harness, wanted)
        assert other in harness.lobby("sessions")


async def test_B77_a_deletion_that_had_begun_is_completed_by_the_next_server(
    tmp_path: Path,
) -> None:
    wanted, other = await asyncio.to_thread(killed_server, tmp_path, "begun")
    before = stored_rows(tmp_path / "data", (other,))
    async with ServerHarness(tmp_path, limits=NEVER, cli=True) as harness:
        assert wanted not in harness.lobby("sessions")
        assert harness.store.state.ok
        assert (await harness.act(UndoDelete(sessions=(wanted,)))).code == "stale"
        erased = stored_rows(harness.store.folder, (wanted,))
        assert all(rows == [] for rows in erased[wanted].values())
        assert stored_rows(harness.store.folder, (other,)) == before


@pytest.mark.parametrize("files", [True, False])
async def test_B78_the_clis_file_goes_only_if_it_was_chosen(tmp_path: Path, files: bool) -> None:
    async with ServerHarness(tmp_path, limits=SOON, cli=True) as harness:
        kept, deleted = str(uuid.uuid4()), str(uuid.uuid4())
        _, path = (cli_file(harness, each, str(harness.project)) for each in (kept, deleted))
        beside = path.with_suffix("") / "subagents"
        beside.mkdir(parents=True)
        (beside / "agent-1.jsonl").write_text("{}\n")
        secret = tmp_path / "outside.txt"
        secret.write_text("outside")
        (path.with_suffix("") / "link").symlink_to(secret)
        before = files_below(harness.projects)
        result = await harness.act(Resume(session=deleted))
        session = str(result.result["session"])
        await harness.state(session, "ready", "idle")
        await harness.act(DeleteSessions(sessions=(session,), files=files))
        await gone(harness, session)
        assert path.exists() is not files
        assert path.with_suffix("").exists() is not files
        left = files_below(harness.projects)
        assert {name: before[name] for name in left} == left
        assert set(before) - set(left) == {name for name in before if files and deleted in name}
        assert secret.read_text() == "outside"
        # Without its session here, a file that stays is listed as one of the CLI's own again.
        await harness.until(lambda: (deleted in harness.lobby("sessions")) is not files)


async def test_B78_a_file_that_another_session_needs_stays(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, limits=SOON, cli=True) as harness:
        cli_id = str(uuid.uuid4())
        path = cli_file(harness, cli_id, str(harness.project))
        resumed = str((await harness.act(Resume(session=cli_id))).result["session"])
        await harness.state(resumed, "ready", "idle")
        fork = await harness.act(Fork(session=resumed))
        forked = str(fork.result["session"])  # Its own file does not exist before its first prompt.
        await harness.state(forked, "ready", "idle")
        await harness.act(DeleteSessions(sessions=(resumed,), files=True))
        await gone(harness, resumed)
        assert path.exists()
        assert (await harness.act(Stop(session=forked))).ok
        assert (await harness.act(Resume(session=forked))).ok


async def test_B78_a_session_that_is_only_a_file_is_deleted_with_it(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, limits=SOON, cli=True) as harness:
        cli_id, fresh = str(uuid.uuid4()), str(uuid.uuid4())
        path, in_use = (cli_file(harness, each, str(harness.project)) for each in (cli_id, fresh))
        os.utime(in_use)
        await harness.until(lambda: {cli_id, fresh} <= set(harness.lobby("sessions")))
        refused = await harness.act(DeleteSessions(sessions=(cli_id,)))
        assert refused.code == "conflict"
        result = await harness.act(DeleteSessions(sessions=(cli_id, fresh), files=True))
        assert result.result["deleted"] == [cli_id]
        assert "Another program" in result.result["refused"][fresh]
        assert harness.lobby("sessions")[cli_id]["deleting"] > 0
        await gone(harness, cli_id)
        assert not path.exists()
        assert in_use.exists()
