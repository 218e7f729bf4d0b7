"""Loading a session: from a checkpoint and the events after it, or from the first event."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from fairlead.server.limits import Limits
from fairlead.server.session.checkpoints import Checkpoints
from fairlead.server.session.loading import Loaded
from fairlead.server.session.log_lines import event_of
from fairlead.server.sessions.catalog import RUNNING
from fairlead.store.code_version import code_version
from fairlead.store.database.folder import DATABASE
from fairlead.store.log import IN, Event, NewEvent, StoredSnapshot
from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables.search import Filters
from fairlead.store.tables.sessions import SessionRow
from fairlead.transcript.state.facts import HostStopping, ProcessStarted, PromptHeld
from fairlead.transcript.transcript import Transcript
from fairlead.wire.inputs import ForeignPrompt, UnknownInput
from tests.server.server_harness import ServerHarness
from tests.store.memory_log import MemoryLog
from tests.transcript.recordings import all_streams, stream
from tests.transcript.story import prompt

SESSION = "a"


class Counting(MemoryLog):
    """A log that counts what is read of it."""

    def __init__(self) -> None:
        super().__init__()
        self.events_read = 0

    async def read(self, session: str, after: int, limit: int) -> list[Event]:
        found = await super().read(session, after, limit)
        self.events_read += len(found)
        return found


class Held:
    """A session in memory, without a process."""

    def __init__(self, loaded: Loaded, session: str = SESSION) -> None:
        self.id = session
        self.seq = loaded.seq
        self.transcript = loaded.transcript


def recorded(name: str) -> list[NewEvent]:
    return [
        NewEvent(IN, fed.raw, at)
        if isinstance(fed, ForeignPrompt | UnknownInput)
        else event_of(fed, at)
        for fed, at in stream(name)
    ]


def plain(transcript: Transcript) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(transcript.snapshot().json())
    return values


async def kept(log: MemoryLog | SqliteStore) -> Loaded:
    loaded = await Loaded.from_log(log, SESSION)
    await Checkpoints(log, Limits()).keep(Held(loaded))
    return loaded


NAMES = [name for name in all_streams() if name.startswith(("2.1.325/", "sessions/2.1.38/"))]


@pytest.mark.parametrize("name", NAMES)
async def test_a_checkpoint_and_the_events_after_it_are_the_whole_session(name: str) -> None:
    log, events = Counting(), recorded(name)
    half = len(events) // 2
    await log.append(SESSION, events[:half])
    await kept(log)
    await log.append(SESSION, events[half:])
    log.events_read = 0
    loaded = await Loaded.from_log(log, SESSION)
    assert log.events_read == len(events) - half
    everything = Loaded()
    everything.fold(await log.read(SESSION, 0, len(events)))
    assert (loaded.seq, loaded.checkpoint_seq) == (len(events), half)
    assert plain(loaded.transcript) == plain(everything.transcript)


async def test_W60_sessions_can_be_opened_at_once_directly_after_the_start(tmp_path: Path) -> None:
    # The process ended with a segmentation fault: threads created the same decoders.
    names, expected = [str(number) for number in range(24)], []
    async with SqliteStore(tmp_path / "data") as store:
        for name in names:
            events = recorded("2.1.325/parallel")
            facts = [event_of(ProcessStarted(), 1.0), event_of(HostStopping(), 2.0)]
            await store.append(name, [*facts, *events])
            loaded = await Loaded.from_log(store, name)
            await Checkpoints(store, Limits()).keep(Held(loaded, name))
            expected.append(await store.append(name, [*events, *facts]))
    program = [sys.executable, "-m", "tests.server.session.opening_program"]
    process = await asyncio.create_subprocess_exec(
        *program, str(tmp_path / "data"), *names, stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await process.communicate()
    assert process.returncode == 0
    assert [int(line) for line in printed.split()] == expected


async def test_a_checkpoint_of_other_code_is_left() -> None:
    log, events = Counting(), recorded("2.1.325/parallel")
    await log.append(SESSION, events)
    whole = await kept(log)
    found = await log.latest_snapshot(SESSION, code_version())
    assert found is not None
    await log.keep_snapshot(SESSION, StoredSnapshot(found.seq, "older code", found.parts))
    log.events_read = 0
    loaded = await Loaded.from_log(log, SESSION)
    assert log.events_read == len(events)
    assert plain(loaded.transcript) == plain(whole.transcript)


@pytest.mark.parametrize("parts", [(), (b"no checkpoint",)], ids=["nothing", "something else"])
async def test_parts_that_are_no_checkpoint_are_left(parts: tuple[bytes, ...]) -> None:
    log, events = Counting(), recorded("2.1.325/parallel")
    await log.append(SESSION, events)
    await log.keep_snapshot(SESSION, StoredSnapshot(3, code_version(), parts))
    loaded = await Loaded.from_log(log, SESSION)
    assert (loaded.seq, loaded.checkpoint_seq, log.events_read) == (len(events), 0, len(events))


async def test_a_checkpoint_beyond_the_end_of_the_log_is_left() -> None:
    log, events = Counting(), recorded("2.1.325/parallel")
    await log.append(SESSION, events)
    found = tuple(Transcript().checkpoint().parts())
    await log.keep_snapshot(SESSION, StoredSnapshot(len(events) + 1, code_version(), found))
    assert (await Loaded.from_log(log, SESSION)).seq == len(events)


async def test_a_damaged_checkpoint_costs_time_and_nothing_else(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "data") as store:
        await store.append(SESSION, recorded("2.1.325/parallel"))
        whole = await kept(store)
    db = sqlite3.connect(tmp_path / "data" / DATABASE)
    with db:
        body = db.execute("SELECT body FROM snapshot_parts WHERE number = 0").fetchone()[0]
        changed = bytes([body[0] ^ 1]) + body[1:]
        db.execute("UPDATE snapshot_parts SET body = ? WHERE number = 0", (changed,))
    db.close()
    async with SqliteStore(tmp_path / "data") as store:
        loaded = await Loaded.from_log(store, SESSION)
    assert loaded.checkpoint_seq == 0
    assert plain(loaded.transcript) == plain(whole.transcript)


async def test_a_checkpoint_is_due_after_enough_events_and_not_before() -> None:
    limits = Limits(checkpoint_events=100, checkpoint_share=4)
    checkpoints = Checkpoints(MemoryLog(), limits)
    session = Held(Loaded())
    due = []
    for session.seq in range(1, 1_001):
        if checkpoints.is_due(session):
            due.append(session.seq)
            checkpoints.begin(SESSION, session.seq)
    assert due[:3] == [100, 200, 300]
    gaps = [after - before for before, after in pairwise(due[4:])]
    assert gaps == sorted(gaps)
    assert gaps[-1] >= 200


async def test_a_long_session_is_kept_while_it_runs_and_loaded_from_there(tmp_path: Path) -> None:
    limits = Limits(checkpoint_events=200, checkpoint_last_events=10_000)
    async with ServerHarness(tmp_path, limits=limits) as harness:
        session = await harness.new()
        await harness.say(session, {"flood": 500})
        live = await harness.state(session, "idle")
        before = plain(live.transcript)
        async with asyncio.timeout(60):
            while await harness.store.latest_snapshot(session, code_version()) is None:
                pass
    async with ServerHarness(tmp_path, limits=limits) as harness:
        loaded = await Loaded.from_log(harness.store, session)
        assert loaded.checkpoint_seq >= 200
        assert plain(loaded.transcript)["items"] == before["items"]


async def test_a_session_that_ends_is_kept_as_it_was(tmp_path: Path) -> None:
    limits = Limits(checkpoint_last_events=1)
    async with ServerHarness(tmp_path, limits=limits) as harness:
        session = await harness.new()
        await harness.say(session, text="hello")
        await harness.state(session, "idle")
    async with ServerHarness(tmp_path, limits=limits) as harness:
        loaded = await Loaded.from_log(harness.store, session)
        assert loaded.checkpoint_seq == loaded.seq == await harness.store.last_seq(session)
        assert "hello" in json.dumps(plain(loaded.transcript))


async def test_what_a_server_that_was_killed_had_not_indexed_is_found_after_it(
    tmp_path: Path,
) -> None:
    async with SqliteStore(tmp_path / "data") as store:
        await store.put_session(SessionRow(id=SESSION, cwd=str(tmp_path), state=RUNNING))
        events = recorded("2.1.325/tools_bash")
        await store.append(SESSION, events[: len(events) - 1])  # Killed before the turn was over.
    async with ServerHarness(tmp_path) as harness:
        async with asyncio.timeout(60):
            while not await harness.store.search("bash", Filters(session=SESSION)):
                pass


async def test_prompts_that_wait_are_loaded_from_a_checkpoint_too() -> None:
    log = MemoryLog()
    waiting = prompt("later")
    await log.append(SESSION, [event_of(PromptHeld(waiting), 1.0)])
    await kept(log)
    assert (await Loaded.from_log(log, SESSION)).transcript.held == (waiting,)
