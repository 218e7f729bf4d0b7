"""`fairlead serve --workers 2` as its user starts it: real processes, signals and a killed worker."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.browser.server_process import ServerProcess
from tests.fleet.fleet_harness import text_of
from tests.launching import python_launcher
from tests.server.conftest import AGENT, Client
from tests.waiting import until


class WorkerServer(ServerProcess):
    """A server with two workers."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        (folder / "project").mkdir()
        launcher = python_launcher(folder / "claude-scripted", AGENT, folder / "agent.log")
        options = ("--workers", "2")
        super().__init__(folder, agent=launcher, project=folder / "project", options=options)

    async def client(self) -> Client:
        code = self.link().partition("#code=")[2]
        body = json.dumps({"code": code, "name": "a test"}).encode()
        request = urllib.request.Request(
            f"{self.base}/api/pair", body, {"Origin": self.base}, method="POST"
        )

        def ask() -> Any:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read())

        self.token = str((await asyncio.to_thread(ask))["token"])
        return await self.again()

    async def again(self) -> Client:
        served: Any = self
        return await Client(served, self.token).connect()

    def processes(self) -> dict[int, int]:
        """Number of a worker -> its process."""
        found = {}
        for process in children(self.pid):
            words = command_line(process)
            if "--worker" in words:
                found[int(words[words.index("--worker") + 1])] = process
        return found


def children(pid: int) -> list[int]:
    """The processes that any thread of a process started."""
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, path.read_text().split())
    return found


def agents_of(pid: int) -> list[int]:
    """The processes of its sessions."""
    return [
        each for each in children(pid) if any("stream-json" in word for word in command_line(each))
    ]


def command_line(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
    except OSError:
        return []


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[WorkerServer]:
    made = WorkerServer(tmp_path)
    await made.start()
    try:
        yield made
    finally:
        await made.stop()


async def a_session_of_each(server: WorkerServer, client: Client) -> dict[int, str]:
    """Worker -> one of its running sessions."""
    workers = server.processes()
    found: dict[int, str] = {}
    while len(found) < 2:
        before = {number: set(agents_of(pid)) for number, pid in workers.items()}

        def grown(before: dict[int, set[int]] = before) -> list[int]:
            return [n for n, pid in workers.items() if set(agents_of(pid)) - before[n]]

        session = await client.new_session([{"say": "ready"}, {"wait": 1}])
        await text_of(client, session, "ready")
        (number,) = await until(grown)
        found.setdefault(number, session)
    return found


async def test_N32_a_killed_worker_ends_only_its_sessions_and_is_started_again(
    server: WorkerServer,
) -> None:
    client = await server.client()
    before = server.processes()
    assert before.keys() == {1, 2}
    sessions = await a_session_of_each(server, client)
    agents = {number: agents_of(pid) for number, pid in before.items()}
    assert all(agents.values())
    os.kill(before[1], signal.SIGKILL)
    await until(lambda: server.processes().get(1) not in (None, before[1]))
    assert server.processes()[2] == before[2]
    await until(lambda: not any(command_line(pid) for pid in agents[1]))
    assert all(command_line(pid) for pid in agents[2])
    # Its session recovers as after a restart: it is listed, can be read, and says what happened.
    await text_of(await server.again(), sessions[1], "ready")
    await text_of(await server.again(), sessions[2], "ready")
    interrupted = await until_interrupted(server, sessions[1])
    assert interrupted["live"] is False
    other = await listed(server, sessions[2])
    assert other["live"] is True


async def until_interrupted(server: WorkerServer, session: str) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            row = await listed(server, session)
            if not row["live"]:
                return row


async def listed(server: WorkerServer, session: str) -> dict[str, Any]:
    request = urllib.request.Request(
        f"{server.base}/api/sessions", headers={"Authorization": f"Bearer {server.token}"}
    )

    def ask() -> Any:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    rows = (await asyncio.to_thread(ask))["sessions"]
    return dict(next(row for row in rows if row["id"] == session))


@pytest.mark.matrix(target="faults", cases=1)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
async def test_N33_no_process_is_left_behind(tmp_path: Path, number: signal.Signals) -> None:
    server = WorkerServer(tmp_path)
    await server.start()
    client = await server.client()
    await a_session_of_each(server, client)
    workers = list(server.processes().values())
    agents = [child for worker in workers for child in agents_of(worker)]
    assert agents
    await server._end(number)
    await until(lambda: not any(map(command_line, [*workers, *agents])))
