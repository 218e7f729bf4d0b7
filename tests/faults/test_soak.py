"""A viewer that misbehaves in every way while an owner works; and single floods, for memory.

The short form runs everywhere. FAIRLEAD_SOAK_S makes it longer and asserts the owner's times too,
which says something only on a machine that does nothing else:

    FAIRLEAD_SOAK_S=120 pytest -s tests/faults/test_soak.py
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import statistics
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.faults.server_process import ROOT, ServerProcess
from tests.server.conftest import Client
from tests.server.endpoints import ENDPOINTS, asking, enter
from tests.server.raw_requests import frame

SECONDS = float(os.environ.get("FAIRLEAD_SOAK_S", "3"))
LONG = "FAIRLEAD_SOAK_S" in os.environ
MIB = 1024 * 1024
GROWTH = 256 * MIB
"""What one viewer may cost: 32 MiB of unread output, as much again on its way, and the rest of
its sockets, searches and exports."""

P99_S = 0.25

pytestmark = pytest.mark.timeout(max(300, 3 * SECONDS))


class Owner:
    """An owner who works: prompts, answers, settings, and a new tab now and then."""

    def __init__(self, server: ServerProcess, client: Client, session: str) -> None:
        self.server = server
        self.client = client
        self.session = session
        self.times: list[float] = []
        self.turns = 0

    async def work(self, until: float) -> None:
        rounds = 0
        while time.monotonic() < until:
            rounds += 1
            await self.control("pin", session=self.session, pinned=bool(rounds % 2))
            if rounds % 20 == 0:
                await self.turn()
            if rounds % 50 == 0:
                await self.come_again()
            await asyncio.sleep(0.01)  # A person's pace, far above it.

    async def control(self, kind: str, **fields: Any) -> None:
        began = time.monotonic()
        result = await self.client.intend(kind, **fields)
        self.times.append(time.monotonic() - began)
        assert result["ok"], result

    async def turn(self) -> None:
        """A prompt whose one request is allowed."""
        request = f"ask-{self.turns}"
        steps = [{"ask": {"id": request, "tool": "Bash", "input": {"command": "make"}}}]
        words = json.dumps([*steps, {"wait": 1}, {"say": f"turn {self.turns} is over"}])
        await self.control("send", session=self.session, text=words, uuid=str(uuid.uuid4()))
        row = await self.client.pending(self.session)
        common = {"request_id": row["id"], "input_sha256": row["input_sha256"]}
        await self.control("decide", session=self.session, decision="allow", **common)
        while f"turn {self.turns} is over" not in json.dumps(await self.client.hear()):
            pass
        self.turns += 1

    async def come_again(self) -> None:
        began = time.monotonic()
        tab = await self.server.client()
        assert (await tab.hear("welcome"))["role"] == "owner"
        self.times.append(time.monotonic() - began)
        await tab.socket.close()


async def long_session(client: Client) -> str:
    session = await client.new_session([{"pile": [600, 4_000]}])
    await client.ending(session)
    return session


async def watch_memory(server: ServerProcess, most: list[int]) -> None:
    while True:
        most[0] = max(most[0], server.resident)
        await asyncio.sleep(0.05)


@pytest.mark.matrix(target="faults", cases=0)
async def test_R14_a_viewer_that_misbehaves_in_every_way_costs_an_owner_at_work_little(
    tmp_path: Path,
) -> None:
    async with ServerProcess(tmp_path) as server:
        client = await server.client()
        session = await long_session(client)
        owner = Owner(server, client, session)
        await owner.turn()  # So that all of it was used once before memory is measured.
        before, most = server.resident, [0]
        watching = asyncio.create_task(watch_memory(server, most))
        arguments = [str(server.port), server.tokens["viewer"], session, client.id, str(SECONDS)]
        attack = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.faults.misbehaving", *arguments,
            stdout=asyncio.subprocess.PIPE, cwd=ROOT,
            env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
        )  # fmt: skip
        began = time.monotonic()
        owner.times.clear()
        await owner.work(began + SECONDS)
        said, _ = await asyncio.wait_for(attack.communicate(), 60)
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        assert attack.returncode == 0
        done = json.loads(said)
    times = sorted(owner.times)
    p99 = times[int(len(times) * 0.99)]
    print(  # noqa: T201
        f"\nowner: {len(times)} actions, {owner.turns} turns, median "
        f"{statistics.median(times) * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms, most "
        f"{times[-1] * 1000:.0f} ms; memory {before / MIB:.0f} MiB, at most "
        f"{most[0] / MIB:.0f} MiB; the viewer did {done}"
    )
    assert len(done) >= 9
    assert all(done.values())
    assert owner.turns >= 1
    assert most[0] - before < GROWTH
    if LONG:
        assert p99 < P99_S


@pytest.mark.matrix(target="faults", cases=0)
@pytest.mark.parametrize("path", ENDPOINTS)
async def test_R14_a_ping_flood_whose_answers_are_not_read_costs_no_memory(
    tmp_path: Path, path: str
) -> None:
    pings = frame(b"x" * 125, first=0x89) * 500
    async with ServerProcess(tmp_path) as server:
        owner = await server.client()
        await owner.hear("welcome")
        before, most, sent = server.resident, 0, 0
        until = time.monotonic() + min(SECONDS, 20)
        while time.monotonic() < until:
            flood = await enter(server.port, server.tokens["viewer"], path, buffer=4_096)
            flood.pause()
            for _ in range(100):
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(flood.send(pings), 1)
                sent += len(pings)
                most = max(most, server.resident)
            flood.close()
        print(f"\n{sent / MIB:.0f} MiB of pings: at most {(most - before) / MIB:.1f} MiB more")  # noqa: T201
        assert most - before < 24 * MIB
        assert (await owner.intend("new_session", cwd=str(server.project)))["ok"]


@pytest.mark.matrix(target="faults", cases=1)
@pytest.mark.parametrize("path", ENDPOINTS)
async def test_R14_unread_answers_of_one_device_cost_bounded_memory(
    tmp_path: Path, path: str
) -> None:
    async with ServerProcess(tmp_path) as server:
        owner = await server.client()
        session = await long_session(owner)
        before, most = server.resident, [0]
        watching = asyncio.create_task(watch_memory(server, most))
        lazy = []
        for _ in range(32):
            one = await enter(server.port, server.tokens["viewer"], path, buffer=4_096)
            one.pause()
            lazy.append(one)
            for _ in range(10):
                await one.text(asking(path, session))
        for _ in range(20):
            assert (await owner.intend("pin", session=session, pinned=True))["ok"]
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        print(f"\nunread: {(most[0] - before) / MIB:.1f} MiB more")  # noqa: T201
        assert most[0] - before < GROWTH
        for entry in lazy:
            entry.close()
