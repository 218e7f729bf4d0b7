"""Slow readers, wrong positions, an old database, a lock, too few files, and the end of it all."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import websockets

from fairlead.transcript.state.changes import apply
from tests.faults.checker import check
from tests.faults.fault_harness import RESTLESS, FaultHarness, open_fault_harness, read_log
from tests.faults.faulty_client import GOOD, FaultyClient
from tests.faults.kill_harness import processes_with
from tests.server.raw_requests import RawSocket

ROOT = Path(__file__).parents[2]
PATIENCE_S = 100.0
"""Far more than any of this takes, for machines with much else to do."""

HELD_UP = 30_000
"""Bytes of a slow turn that must have come while the store was locked: some tenths of a second."""

pytestmark = pytest.mark.timeout(300)


async def follow(
    harness: FaultHarness, client: FaultyClient
) -> tuple[asyncio.Event, asyncio.Task[None]]:
    stop = asyncio.Event()
    return stop, asyncio.create_task(client.run(stop))


async def leave(stop: asyncio.Event, running: asyncio.Task[None]) -> None:
    stop.set()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


# F-27


@pytest.mark.matrix(target="faults", cases=0)
async def test_clients_that_do_not_read_delay_no_other_and_are_disconnected(tmp_path: Path) -> None:
    limits = replace(RESTLESS, slow_s=1.0)
    async with open_fault_harness(tmp_path, limits=limits) as harness:
        session = await harness.session()
        lazy = [await never_reading(harness, session) for _ in range(8)]
        client = await harness.client(session, harness.service.port, 27, fault_rates=GOOD)
        stop, running = await follow(harness, client)
        for _ in range(3):
            client.prompt(json.dumps([{"flood": 2_000}, {"pile": [600, 8_000]}]))
        most = 0
        began = time.monotonic()
        while client.waiting or not harness.at_rest(session):
            assert time.monotonic() - began < PATIENCE_S
            most = max(most, largest_buffer(harness))
            await asyncio.sleep(0.01)  # A sample now and then; there is no event for a buffer.
        last = await harness.service.store.last_seq(session)
        await harness.until(lambda: client.seq == last)
        await harness.until(lambda: harness.service.sockets.count == 1)
        await leave(stop, running)
        findings = await check(harness.service.store, [session], [client], read_log(harness.log), harness.policy)  # fmt: skip
    for entry in lazy:
        entry.close()
    print(f"\n{findings}; largest buffer of a socket {most / 1e6:.1f} MB")  # noqa: T201
    assert findings.problems == {}
    assert findings.events > 10_000
    assert most <= limits.send_buffer_bytes


async def never_reading(harness: FaultHarness, session: str) -> RawSocket:
    """A client that says hello and takes nothing but what its system takes for it."""
    paired = await harness.service.devices.make_device("lazy", "viewer")
    client = await RawSocket.open(harness.service.port, buffer=4_096)
    client.pause()
    hello = {"type": "hello", "protocol": 1, "token": paired.token, "client": str(uuid.uuid4())}
    await client.text(json.dumps({**hello, "session": session}))
    return client


def largest_buffer(harness: FaultHarness) -> int:
    connections: Any = harness.service._server.server_state.connections
    return max((entry.transport.get_write_buffer_size() for entry in connections), default=0)


# F-29


async def test_any_position_that_a_client_claims_leads_to_the_same_state(tmp_path: Path) -> None:
    async with open_fault_harness(tmp_path) as harness:
        session = await harness.session()
        client = await harness.client(session, harness.service.port, 29, fault_rates=GOOD)
        history: dict[int, dict[str, Any]] = {}
        stop, running = await follow(harness, client)
        for number in range(4):
            client.prompt(json.dumps([{"drip": [60, 0.2]}, {"say": f"answer {number}"}]))
        while client.waiting or not harness.at_rest(session):
            if client.state is not None and client.seq is not None:
                history[client.seq] = client.state
            await asyncio.sleep(0.005)  # Some of the states, as they come.
        last = await harness.service.store.last_seq(session)
        await harness.until(lambda: client.seq == last)
        assert client.state is not None
        final, epoch, oldest = (
            client.state,
            client.epoch,
            client.state["items"][0]["id"],
        )
        await leave(stop, running)
        history[last] = final
        with_items = sorted(seq for seq, state in history.items() if state["items"])
        assert len(with_items) > 10
        places = [0, 1, -1, last, last + 1, 2**62, *with_items[:: len(with_items) // 8]]
        for claimed in places:
            for claimed_epoch in (epoch, "another", None):
                for claimed_oldest in (oldest, "nothing", None):
                    state = await answer_to(
                        harness, client, claimed, claimed_epoch, claimed_oldest, history
                    )
                    assert state == final, (claimed, claimed_epoch, claimed_oldest)


async def answer_to(
    harness: FaultHarness,
    client: FaultyClient,
    claimed: int,
    epoch: str | None,
    oldest: str | None,
    history: dict[int, dict[str, Any]],
) -> dict[str, Any]:
    """The state of a client that reports a position, after the server's answer."""
    state, seq = history.get(claimed), claimed
    async with websockets.connect(f"ws://{harness.authority}/ws", proxy=None, max_size=None) as ws:
        hello = {"type": "hello", "protocol": 1, "token": client.token, "client": "x"}
        where = {"last_seq": claimed, "epoch": epoch, "oldest": oldest}
        await ws.send(json.dumps({**hello, "session": client.session, **where}))
        async with asyncio.timeout(60):
            while True:
                message = json.loads(await ws.recv())
                if message.get("document") != client.session:
                    continue
                if message["type"] == "snapshot":
                    return dict(message["state"])
                assert message["from_seq"] == seq
                if state is None:  # It never was there: any step from there on is an answer.
                    return history[max(history)]
                state, seq = apply(state, message["changes"]), message["seq"]
                if seq == client.seq:
                    return state


# F-30


async def test_a_database_put_back_from_a_copy_is_never_taken_for_the_later_one(
    tmp_path: Path,
) -> None:
    async with open_fault_harness(tmp_path) as harness:
        session = await harness.session()
        client = await harness.client(session, harness.service.port, 30, fault_rates=GOOD)
        client.prompt("before the copy")
        await done(harness, client)
    shutil.copytree(tmp_path / "data", tmp_path / "copy")
    async with open_fault_harness(tmp_path) as harness:
        client.server, client.port = harness.authority, harness.service.port
        client.prompt(json.dumps([{"flood": 50}]))
        await done(harness, client)
    shutil.rmtree(tmp_path / "data")
    shutil.copytree(tmp_path / "copy", tmp_path / "data")
    ahead = client.seq or 0
    async with open_fault_harness(tmp_path) as harness:
        other = await harness.client(session, harness.service.port, 31, fault_rates=GOOD)
        other.prompt(json.dumps([{"flood": 200}, {"say": "another story"}]))
        await done(harness, other)
        assert await harness.service.store.last_seq(session) > ahead
        # It comes back with a position that this database has too, with another story behind it.
        client.server, client.port = harness.authority, harness.service.port
        await done(harness, client)
        assert client.state == other.state


async def done(harness: FaultHarness, client: FaultyClient) -> None:
    """All intents of the client are done, and it has seen everything."""
    stop, running = await follow(harness, client)
    began = client.counts["snapshot"] + client.counts["changes"]
    await harness.until(lambda: not client.waiting)
    await harness.until(lambda: client.counts["snapshot"] + client.counts["changes"] > began)
    await harness.until(lambda: harness.at_rest(client.session))
    last = await harness.service.store.last_seq(client.session)
    await harness.until(lambda: client.seq == last)
    await leave(stop, running)


# F-42


async def test_a_locked_database_costs_time_and_nothing_else(tmp_path: Path) -> None:
    async with open_fault_harness(tmp_path) as harness:
        session = await harness.session()
        client = await harness.client(session, harness.service.port, 42, fault_rates=GOOD)
        stop, running = await follow(harness, client)
        client.prompt(json.dumps([{"drip": [300, 1.5]}]))
        await harness.until(lambda: client.highest > 50)
        lag: list[float] = []
        watching = asyncio.create_task(watch_the_loop(lag))
        locked = await asyncio.to_thread(lock, tmp_path / "data")
        await harness.until(lambda: harness.unstored(session) > HELD_UP)
        during = client.highest
        locked.rollback()
        locked.close()
        await harness.until(lambda: not client.waiting and harness.at_rest(session))
        watching.cancel()
        last = await harness.service.store.last_seq(session)
        await harness.until(lambda: client.seq == last)
        await leave(stop, running)
        findings = await check(harness.service.store, [session], [client], read_log(harness.log), harness.policy)  # fmt: skip
    lag.sort()
    print(f"\n{findings}; lag of the loop p99 {lag[int(len(lag) * 0.99)] * 1000:.0f} ms")  # noqa: T201
    assert findings.problems == {}
    assert last > during
    assert lag[len(lag) // 2] < 0.05


async def watch_the_loop(lag: list[float]) -> None:
    while True:
        began = time.monotonic()
        await asyncio.sleep(0.005)  # How much longer it takes is what is measured.
        lag.append(time.monotonic() - began - 0.005)


def lock(data: Path) -> sqlite3.Connection:
    (path,) = (entry for entry in data.iterdir() if entry.suffix in (".db", ".sqlite", ".sqlite3"))
    connection = sqlite3.connect(path, timeout=10, check_same_thread=False, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    return connection


# The command itself: F-47, F-48, F-49, F-52

QUIET_AGENT = """#!/bin/sh
[ "$1" = --version ] && echo "2.1.325 (Claude Code)" && exit
while IFS= read -r line; do
  case "$line" in *'"initialize"'*)
    id=${line#*'"request_id":"'}; id=${id%%'"'*}
    printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{}}}\\n' "$id";;
  esac
done
"""


@pytest.fixture
def commands() -> Iterator[list[Command]]:
    """Servers that a test has started; those still there after it are killed."""
    started: list[Command] = []
    yield started
    for entry in started:
        entry.process.kill()
        entry.process.communicate()


class Command:
    """`fairlead serve` in a process of its own."""

    def __init__(
        self, folder: Path, started: list[Command], *, files: int = 4_096, port: int = 0
    ) -> None:
        self.folder = folder
        started.append(self)
        (folder / "project").mkdir(exist_ok=True)
        agent = folder / "claude-quiet"
        agent.write_text(QUIET_AGENT)
        agent.chmod(0o755)
        command = shlex.join(
            [sys.executable, "-m", "fairlead.commands.main", "serve", "--no-browser", "--port",
             str(port), "--agent", str(agent), "--data", str(folder / "data"), "--root", str(folder)]
        )  # fmt: skip
        env = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT / "src")}
        self.errors = folder / f"errors-{uuid.uuid4().hex}.txt"  # A pipe would fill up.
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen(
                ["/bin/sh", "-c", f"ulimit -n {files}; exec {command}"],
                stdout=subprocess.PIPE, stderr=errors, text=True, env=env, cwd=folder,
            )  # fmt: skip

    def ready(self) -> Command:
        assert self.process.stdout is not None
        output = ""
        while "/#code=" not in output:
            line = self.process.stdout.readline()
            assert line, f"it ended: {output}"
            output += line
        found = re.search(r"(http://\S+)/#code=(\S+)", output)
        assert found is not None
        self.base, self.code = found[1], found[2]
        self.port = int(self.base.rpartition(":")[2])
        return self

    async def client(self, token: str) -> Any:
        ws = await websockets.connect(f"ws://127.0.0.1:{self.port}/ws", proxy=None, max_size=None)
        hello = {"type": "hello", "protocol": 1, "token": token, "client": str(uuid.uuid4())}
        await ws.send(json.dumps(hello))
        return ws

    async def pair(self) -> str:
        head = f"POST /api/pair HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nOrigin: {self.base}\r\n"
        body = json.dumps({"code": self.code, "name": "test"})
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(
            f"{head}Connection: close\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
        )
        async with asyncio.timeout(60):
            answer = await reader.read()
        writer.close()
        return str(json.loads(answer.partition(b"\r\n\r\n")[2])["token"])

    def wait(self) -> tuple[str, str]:
        """What it printed until its end, and its errors."""
        out, _ = self.process.communicate(timeout=PATIENCE_S)
        return out, self.errors.read_text()

    def end(self) -> str:
        """Ask it to end; gives what went wrong."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM)
        return self.wait()[1]


async def intend(ws: Any, n: int, **intent: Any) -> dict[str, Any]:
    await ws.send(json.dumps({"type": "intent", "n": n, "intent": intent}))
    async with asyncio.timeout(PATIENCE_S):
        while True:
            message: dict[str, Any] = json.loads(await ws.recv())
            if message["type"] == "intent_result" and message["n"] == n:
                return message


def test_a_port_in_use_is_reported_and_no_other_is_used(
    tmp_path: Path, commands: list[Command]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        out, err = Command(tmp_path, commands, port=port).wait()
    assert out == ""
    assert f"127.0.0.1:{port}" in err
    assert "--port" in err
    assert "Traceback" not in err


def test_a_second_server_on_the_same_data_is_refused_and_the_first_goes_on(
    tmp_path: Path, commands: list[Command]
) -> None:
    first = Command(tmp_path, commands).ready()
    second = Command(tmp_path, commands)
    _, err = second.wait()
    assert second.process.returncode == 20
    assert str(first.process.pid) in err
    assert "Traceback" not in err
    with socket.create_connection(("127.0.0.1", first.port), timeout=5):
        pass
    first.end()
    assert first.process.returncode == 0


async def test_fifty_sessions_end_with_the_server_and_no_process_remains(
    tmp_path: Path, commands: list[Command]
) -> None:
    server = await asyncio.to_thread(Command(tmp_path, commands).ready)
    ws = await server.client(await server.pair())
    for n in range(1, 51):
        assert (await intend(ws, n, kind="new_session", cwd=str(tmp_path / "project")))["ok"]
    agent = str(tmp_path / "claude-quiet")
    async with asyncio.timeout(PATIENCE_S):
        while len(await asyncio.to_thread(processes_with, agent)) < 50:  # noqa: ASYNC110
            await asyncio.sleep(0.05)  # They start in other processes; a look at all of them costs.
    began = time.monotonic()
    err = await asyncio.to_thread(server.end)
    took = time.monotonic() - began
    print(f"\n50 sessions ended in {took:.1f} s")  # noqa: T201
    assert server.process.returncode == 0, err
    assert took < 45.0  # 30 s for the sessions, 5 s for requests that still run
    assert await asyncio.to_thread(processes_with, str(tmp_path)) == []
    await asyncio.wait_for(ws.wait_closed(), 10)


async def test_too_few_files_refuse_what_is_new_and_keep_what_is_there(
    tmp_path: Path, commands: list[Command]
) -> None:
    server = await asyncio.to_thread(Command(tmp_path, commands, files=128).ready)
    token = await server.pair()
    ws = await server.client(token)
    first = await intend(ws, 1, kind="new_session", cwd=str(tmp_path / "project"))
    assert first["ok"]
    results = [
        await intend(ws, n, kind="new_session", cwd=str(tmp_path / "project")) for n in range(2, 36)
    ]
    crowd = [await attempt(server.port) for _ in range(100)]
    session = first["result"]["session"]
    kept = await intend(ws, 100, kind="rename", session=session, title="still here")
    assert kept["ok"], kept
    for writer in filter(None, crowd):
        writer.transport.abort()
    for n, result in enumerate(results, 200):
        if result["ok"]:
            await intend(ws, n, kind="stop", session=result["result"]["session"])
    async with asyncio.timeout(PATIENCE_S):
        while True:
            with contextlib.suppress(OSError, websockets.WebSocketException, TimeoutError):
                again = await server.client(token)
                made = await intend(again, 1, kind="new_session", cwd=str(tmp_path / "project"))
                if made["ok"]:
                    break
            await asyncio.sleep(0.1)  # As a person would: not at once again.
    assert server.process.poll() is None
    err = await asyncio.to_thread(server.end)
    assert server.process.returncode == 0, err
    assert await asyncio.to_thread(processes_with, str(tmp_path)) == []


async def attempt(port: int) -> asyncio.StreamWriter | None:
    try:
        async with asyncio.timeout(1.0):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
    except (OSError, TimeoutError):
        return None
    return writer
