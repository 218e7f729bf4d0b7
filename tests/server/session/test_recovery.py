"""Crashes of the CLI and of the server, a full disk, a session that cannot go on."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from functools import partial
from pathlib import Path

import pytest
from msgspec import structs

from fairlead.server.limits import Limits
from fairlead.server.protocol.intents import NewSession, Resume, Send, Stop
from fairlead.server.session.live_session import LiveSession
from fairlead.server.session.loading import Loaded
from fairlead.server.sessions.restarts import RestartBudget
from fairlead.store.database.connection import connect
from fairlead.store.pace import Pace
from fairlead.store.sqlite import SqliteStore
from fairlead.transcript.state.model import NoticeItem, PromptItem
from tests.host.children import CHUNK_BYTES, is_full
from tests.server.cli_file import cli_file
from tests.server.server_harness import ServerHarness

ASK = {"ask": {"id": "ask-1", "input": {"command": "make"}}}
WAIT = {"wait": 1}


# The CLI crashes


async def test_a_session_that_crashes_is_resumed_and_what_waited_goes_out(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new(prompt="hello")
        live = await harness.state(session, "idle")
        cli_id = live.transcript.session.id
        await harness.say(session, ASK, WAIT, {"die": 3})
        await harness.pending(session)
        await harness.say(session, text="afterwards")
        pid = live.client.pid if live.client else None
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        await harness.until(lambda: "afterwards" in harness.prompts())
        await harness.state(session, "idle")
        assert f"--resume={cli_id}" in harness.told("argv")[1]["argv"]
        (settled,) = live.transcript.settled
        assert settled.outcome == "process_ended"
        assert harness.prompts().count("afterwards") == 1
        assert len(harness.prompts()) == 3  # what was running when it crashed is not sent again


def crashed(live: LiveSession, times: int) -> bool:
    outcomes = [turn.outcome for turn in live.transcript.turns]
    return outcomes.count("process_ended") == times


def started(harness: ServerHarness, times: int) -> bool:
    return len(harness.told("argv")) == times


async def test_a_crash_loop_is_given_up_when_the_budget_is_spent(tmp_path: Path) -> None:
    limits = Limits(restarts=2, restart_delays_s=(0.0,))
    async with ServerHarness(tmp_path, limits=limits) as harness:
        session = await harness.new(prompt="hello")
        live = await harness.state(session, "idle")
        for crashes in (1, 2, 3):
            await harness.say(session, {"die": 3})
            await harness.until(partial(crashed, live, crashes))
            if crashes < 3:
                await harness.until(partial(started, harness, crashes + 1))
        await harness.state(session, "disconnected")
        await harness.until(lambda: not live.live)
        assert len(harness.told("argv")) == 3
        row = harness.lobby("sessions")[session]
        assert row["live"] is False
        assert "told to" in (row["status"]["detail"] or "")
        assert (await harness.act(Resume(session=session))).ok  # a person may still try
        assert len(harness.told("argv")) == 4


def test_the_budget_comes_back_with_time() -> None:
    limits = Limits(restarts=2, restart_window_s=100.0, restart_delays_s=(1.0, 5.0))
    budget = RestartBudget(limits)
    assert [budget.take(0.0), budget.take(1.0), budget.take(2.0)] == [1.0, 5.0, None]
    assert budget.take(200.0) == 1.0


async def test_a_session_that_was_stopped_stays_stopped(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new(prompt="hello")
        live = await harness.state(session, "idle")
        assert (await harness.act(Stop(session=session))).ok
        await harness.state(session, "ended")
        assert not live.live
        assert len(harness.told("argv")) == 1


async def test_an_agent_that_cannot_start_says_why_in_the_session(tmp_path: Path) -> None:
    broken = tmp_path / "claude-broken"
    broken.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo 2.1.325 && exit\necho oops >&2; exit 7\n'
    )
    broken.chmod(0o755)
    async with ServerHarness(tmp_path, agent=broken) as harness:
        session = await harness.new(prompt="hello")
        live = await harness.state(session, "disconnected")
        assert "oops" in (live.transcript.status.detail or "")
        assert live.transcript.status.returncode == 7
        await harness.until(lambda: not live.live)
        assert [item.text for item in live.transcript.items if isinstance(item, PromptItem)] == [
            "hello"
        ]


# The server is killed


SERVER = """
import asyncio, sys
from pathlib import Path
from tests.server.server_harness import ServerHarness

async def main() -> None:
    harness = ServerHarness(Path(sys.argv[1]))
    await harness.__aenter__()
    session = await harness.new(prompt="hello")
    await harness.state(session, "idle")
    hub_client = await harness.hub_client(session)
    await harness.say(session, {"flood": 100000}, {"ask": {"id": "ask-1"}}, {"wait": 1})
    await harness.say(session, text="waits")
    print(session, flush=True)
    now = 0.0
    while True:
        now += 1.0
        hub_client.drain(now)
        if hub_client.state["pending"]:
            print("seen", hub_client.seq, "pending", flush=True)
        else:
            print("seen", hub_client.seq, flush=True)
        await asyncio.sleep(0.004)  # A client's pace: one frame, then the next.

asyncio.run(main())
"""


def kill_after(folder: Path, lines: int, *, wait_for: str = "seen") -> tuple[str, int]:
    """Run a server in a process, kill it at some moment; the session and the last number seen."""
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", SERVER, str(folder)]
    env = {**os.environ, "PYTHONPATH": f"{root}/src:{root}"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root, env=env) as child:
        assert child.stdout is not None
        session = child.stdout.readline().strip()
        seen, counted = 0, 0
        for line in child.stdout:
            words = line.split()
            seen = int(words[1])
            counted += wait_for in words
            if counted >= lines:
                break
        child.kill()
        rest = child.stdout.read().splitlines()
    # What it had shown before it died counts too, though we read it after.
    return session, max([seen, *(int(entry.split()[1]) for entry in rest if entry.count(" ") >= 1)])


@pytest.mark.parametrize("moment", [1, 3, 10, 30])
async def test_what_was_seen_is_there_after_the_server_was_killed(
    tmp_path: Path, moment: int
) -> None:
    session, seen = await asyncio.to_thread(kill_after, tmp_path, moment)
    async with ServerHarness(tmp_path) as harness:
        assert await harness.store.last_seq(session) >= seen
        assert harness.lobby("sessions")[session]["live"] is False
        hub_client = await harness.hub_client(session)
        assert hub_client.state is not None
        assert hub_client.state["status"]["state"] == "ended"
        assert hub_client.state["pending"] == []
        states = {
            item["text"]: item["state"]
            for item in hub_client.state["items"]
            if item["kind"] == "prompt"
        }
        assert states["hello"] == "started"
        assert states["waits"] == "cancelled"
        row = await harness.store.session(session)
        assert row is not None
        await harness.until(lambda: harness.registry.sessions.row(session).state == "interrupted")
        assert (await harness.act(Resume(session=session))).ok
        await harness.say(session, text="again")
        await harness.until(lambda: harness.prompts()[-1] == "again")


async def test_B57_requests_of_a_killed_server_are_over_and_it_is_no_activity(
    tmp_path: Path,
) -> None:
    session, _ = await asyncio.to_thread(kill_after, tmp_path, 1, wait_for="pending")
    store = SqliteStore(tmp_path / "data")
    await store.start()
    (last,) = await store.read(session, await store.last_seq(session) - 1, 1)
    await store.close()
    async with ServerHarness(tmp_path) as harness:
        live = await harness.registry.sessions.load(session)
        assert live.transcript.turns[-1].outcome == "host_stopped"
        assert harness.lobby("sessions")[session]["last_activity"] <= last.at
        assert live.transcript.pending == ()
        assert [request.outcome for request in live.transcript.settled] == ["process_ended"]
        assert harness.lobby("inbox") == {}
        again = await Loaded.from_log(harness.store, session)
        assert again.transcript.snapshot() == live.transcript.snapshot()


async def test_a_server_that_ended_well_leaves_nothing_to_recover(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new(prompt="hello")
        await harness.state(session, "idle")
    async with ServerHarness(tmp_path) as harness:
        row = await harness.store.session(session)
        assert row is not None
        assert row.state == "stopped"
        live = await harness.registry.sessions.load(session)
        assert live.transcript.status.state == "ended"


async def test_B57_a_server_that_stops_in_a_turn_interrupts_it_and_is_no_activity(
    tmp_path: Path,
) -> None:
    async with ServerHarness(tmp_path) as harness:
        working = await harness.new(prompt="hello")
        live = await harness.state(working, "idle")
        await harness.say(working, ASK, WAIT)
        await harness.pending(working)
        idle = await harness.new(prompt="hello")
        await harness.state(idle, "idle")
        before = {
            entry: harness.live(entry).transcript.status.last_event for entry in (working, idle)
        }
        assert live.transcript.turn is not None
    async with ServerHarness(tmp_path) as harness:
        live = await harness.registry.sessions.load(working)
        assert [turn.outcome for turn in live.transcript.turns] == ["success", "host_stopped"]
        assert not [item for item in live.transcript.items if isinstance(item, NoticeItem)]
        rows = harness.lobby("sessions")
        after = {entry: rows[entry]["last_activity"] for entry in (working, idle)}
        assert after == before
        assert (await harness.act(Resume(session=working))).ok


# The disk is full


async def test_a_full_disk_refuses_inputs_pauses_what_is_shown_and_recovers_by_itself(
    tmp_path: Path,
) -> None:
    pages = [200]

    def limited(path: Path, read_only: bool) -> sqlite3.Connection:
        db = connect(path, read_only)
        db.execute(f"PRAGMA max_page_count = {pages[0]}")
        return db

    pace = Pace(rest=0.0, probe=0.01)
    store = SqliteStore(tmp_path / "data", connect=limited, pace=pace)
    async with ServerHarness(tmp_path, store=store) as harness:
        session = await harness.new()
        hub_client = await harness.hub_client(session)
        await harness.say(session, {"flood": 10_000})
        await harness.until(lambda: not store.state.ok)
        refused = await harness.act(Send(session=session, text="lost?", uuid=str(uuid.uuid4())))
        assert (refused.ok, refused.code) == (False, "unavailable")
        assert "disk is full" in (refused.message or "")
        lobby = harness.registry.lobby
        await harness.until(lambda: lobby.section("server").store.state == "disk_full")
        for now in range(5):
            hub_client.drain(float(now))
        assert (hub_client.seq or 0) <= await store.last_seq(session)
        live = harness.live(session)
        assert live.transcript.status.state != "idle"
        pages[0] = 100_000
        await harness.state(session, "idle")
        assert any("word9999 " in getattr(item, "text", "") for item in live.transcript.items)
        await harness.until(lambda: store.state.ok)
        assert "lost?" not in harness.prompts()
        await harness.say(session, text="works again")
        await harness.until(lambda: harness.prompts()[-1] == "works again")
        again = await Loaded.from_log(store, session)
        assert again.transcript.items[:2] == live.transcript.items[:2]


async def test_B40_a_cli_whose_words_cannot_be_stored_waits_until_they_can(tmp_path: Path) -> None:
    pages = [200]

    def limited(path: Path, read_only: bool) -> sqlite3.Connection:
        db = connect(path, read_only)
        db.execute(f"PRAGMA max_page_count = {pages[0]}")
        return db

    store = SqliteStore(tmp_path / "data", connect=limited, pace=Pace(rest=0.0, probe=0.01))
    limits = Limits(unstored_bytes=500_000, store_retry_s=0.05)
    async with ServerHarness(tmp_path, store=store, limits=limits) as harness:
        session = await harness.new()
        await harness.state(session, "ready")
        await harness.say(session, {"flood": 20_000})
        live = harness.live(session)
        await harness.until(lambda: live.journal.full)
        pid = live.running().pid
        await harness.until(lambda: is_full(pid))
        assert live.journal.bytes < limits.unstored_bytes + 2 * CHUNK_BYTES
        pages[0] = 1_000_000
        await harness.state(session, "idle")
        assert any("word19999 " in getattr(item, "text", "") for item in live.transcript.items)


# Going on with a session


async def stopped_session(harness: ServerHarness) -> tuple[str, str]:
    session = await harness.new(prompt="hello")
    live = await harness.state(session, "idle")
    assert (await harness.act(Stop(session=session))).ok
    return session, str(live.transcript.session.id)


async def test_a_session_whose_file_is_gone_is_not_resumed_but_a_new_one_is_offered(
    tmp_path: Path,
) -> None:
    async with ServerHarness(tmp_path, cli=True) as harness:
        session, _ = await stopped_session(harness)
        result = await harness.act(Resume(session=session))
        assert result.code == "conflict"
        assert result.result == {"check": "no_file", "offers": ["fresh"]}
        sent = await harness.act(Send(session=session, text="x", uuid=str(uuid.uuid4())))
        assert sent.result["check"] == "no_file"
        assert len(harness.told("argv")) == 1
        hub_client = await harness.hub_client(session)
        assert hub_client.state is not None
        assert hub_client.state["items"][0]["text"] == "hello"
        unknown = await harness.act(Resume(session="unknown"))
        assert (unknown.code, unknown.message) == ("not_found", "Session 'unknown' not found.")


class Clock:
    """The time of the machine, and what a test adds to it."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead


async def test_B58_a_session_that_cannot_be_resumed_says_so_in_its_row(tmp_path: Path) -> None:
    clock = Clock()
    limits = Limits(restart_delays_s=(0.0,), cull_every_s=0.05)
    async with ServerHarness(tmp_path, cli=True, clock=clock, limits=limits) as harness:
        session, cli_id = await stopped_session(harness)

        def problem() -> str:
            return str(harness.lobby("sessions")[session]["resume_problem"] or "")

        assert problem() == ""  # Its file may not be listed yet.
        clock.ahead = 60.0
        await harness.until(lambda: "file was deleted" in problem())
        cli_file(harness, cli_id, str(harness.project))
        assert harness.cli is not None
        await harness.cli.refresh()
        await harness.until(lambda: problem() == "")
        moved = harness.project.rename(tmp_path / "elsewhere")
        await harness.until(lambda: "no longer exists" in problem())
        moved.rename(harness.project)
        await harness.until(lambda: problem() == "")
        begun = await harness.new()
        await harness.until(lambda: harness.lobby("sessions")[begun]["live"])
        assert (await harness.act(Stop(session=begun))).ok
        await harness.until(lambda: not harness.lobby("sessions")[begun]["live"])
        assert harness.lobby("sessions")[begun]["resume_problem"] is None


async def test_B58_a_session_of_the_cli_in_a_folder_that_is_gone_says_so(tmp_path: Path) -> None:
    limits = Limits(cull_every_s=0.05)
    harness = ServerHarness(tmp_path, cli=True, limits=limits, clock=lambda: time.time() + 600)
    cli_id = str(uuid.uuid4())
    cli_file(harness, cli_id, str(tmp_path / "gone"))
    async with harness:
        await harness.until(lambda: cli_id in harness.lobby("sessions"))
        await harness.until(lambda: harness.lobby("sessions")[cli_id]["resume_problem"])
        assert "no longer exists" in harness.lobby("sessions")[cli_id]["resume_problem"]


async def test_a_session_that_worked_elsewhere_can_be_repaired(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, cli=True) as harness:
        session, cli_id = await stopped_session(harness)
        other = tmp_path / "other"
        other.mkdir()
        cli_file(harness, cli_id, str(other))
        result = await harness.act(Resume(session=session))
        assert result.code == "conflict"
        assert result.result["check"] == "other_folder"
        assert result.result["offers"] == ["repair", "fork", "fresh"]
        assert result.result["found_cwd"] == str(other)
        assert (await harness.act(Resume(session=session, repair=True))).ok
        last = harness.told("argv")[-1]
        assert last["cwd"] == str(other)
        assert f"--resume={cli_id}" in last["argv"]
        assert harness.lobby("sessions")[session]["cwd"] == str(other)


async def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, cli=True) as harness:
        session, cli_id = await stopped_session(harness)
        cli_file(harness, cli_id, str(harness.project))
        harness.project.rmdir()
        result = await harness.act(Resume(session=session))
        assert (result.code, result.result["check"]) == ("conflict", "no_folder")


async def test_a_session_that_a_cli_made_elsewhere_goes_on_here_with_its_history(
    tmp_path: Path,
) -> None:
    async with ServerHarness(tmp_path, cli=True) as harness:
        cli_id = str(uuid.uuid4())
        cli_file(harness, cli_id, str(harness.project))
        result = await harness.act(Resume(session=cli_id))
        assert result.ok, result
        session = result.result["session"]
        assert session != cli_id
        await harness.until(lambda: harness.told("argv"))
        assert f"--resume={cli_id}" in harness.told("argv")[0]["argv"]
        hub_client = await harness.hub_client(session)
        assert hub_client.state is not None
        texts = [item.get("text") for item in hub_client.state["items"]]
        assert texts[:2] == ["an old question", "an old answer"]
        await harness.say(session, text="and now?")
        await harness.until(lambda: harness.prompts() == ["and now?"])


async def test_the_latest_session_of_a_folder_is_continued(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, cli=True) as harness:
        cli_id = str(uuid.uuid4())
        cli_file(harness, cli_id, str(harness.project))
        wanted = NewSession(
            cwd=str(harness.project), continue_latest=True, prompt="and now?", model="small"
        )
        result = await harness.act(wanted)
        assert result.ok
        await harness.until(lambda: harness.prompts() == ["and now?"])
        assert f"--resume={cli_id}" in harness.told("argv")[0]["argv"]
        assert "--model=small" in harness.told("argv")[0]["argv"]
        again = await harness.act(structs.replace(wanted, prompt="and then?"))
        assert again.result["session"] == result.result["session"]
        await harness.until(lambda: harness.prompts() == ["and now?", "and then?"])


async def test_a_session_of_the_cli_is_listed_and_can_be_looked_at_but_not_touched(
    tmp_path: Path,
) -> None:
    async with ServerHarness(tmp_path, cli=True) as harness:
        cli_id = str(uuid.uuid4())
        cli_file(harness, cli_id, str(harness.project))
        await harness.until(lambda: cli_id in harness.lobby("sessions"))
        row = harness.lobby("sessions")[cli_id]
        assert (row["source"], row["live"], row["cwd"]) == ("cli", False, str(harness.project))
        hub_client = await harness.hub_client(cli_id)
        assert hub_client.state is not None
        assert hub_client.state["items"][0]["text"] == "an old question"
        result = await harness.act(Send(session=cli_id, text="x", uuid=str(uuid.uuid4())))
        assert result.code == "not_found"


async def test_a_session_that_is_used_elsewhere_is_free_again_when_it_is_quiet(
    tmp_path: Path,
) -> None:
    now = time.time()
    limits = Limits(cull_every_s=0.02)
    async with ServerHarness(tmp_path, cli=True, limits=limits, clock=lambda: now) as harness:
        cli_id = str(uuid.uuid4())
        path = cli_file(harness, cli_id, str(harness.project))
        os.utime(path, (now, now))
        await harness.until(lambda: cli_id in harness.lobby("sessions"))
        row = harness.lobby("sessions")[cli_id]
        assert (row["status"]["state"], row["live"]) == ("elsewhere", True)
        refused = await harness.act(Resume(session=cli_id))
        assert (refused.code, refused.result["check"]) == ("conflict", "in_use")
        now += 200.0  # Nothing writes to it any more, and nothing says so.
        await harness.until(lambda: not harness.lobby("sessions")[cli_id]["live"])
        assert harness.lobby("sessions")[cli_id]["status"]["state"] == ""


# Ending


async def test_a_server_that_ends_while_sessions_start_leaves_no_process_behind(
    tmp_path: Path,
) -> None:
    async with ServerHarness(tmp_path) as harness:
        for _ in range(4):
            await harness.new(prompt="hello")
            await asyncio.sleep(0)
    assert await asyncio.to_thread(running_with, str(tmp_path)) == []


def running_with(text: str) -> list[str]:
    """The processes that have a text in their command line."""
    lines = Path("/proc").glob("[0-9]*/cmdline")
    return [str(entry) for entry in lines if text.encode() in _read(entry)]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
