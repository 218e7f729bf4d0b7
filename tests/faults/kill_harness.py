"""A server that is killed and started again, and a client of it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import time
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

from fairlead.server.policy import Policy
from fairlead.store.sqlite import SqliteStore
from tests.faults.checker import Findings, check
from tests.faults.fault_harness import read_log, scripted_agent
from tests.faults.faulty_client import GOOD, FaultyClient
from tests.faults.server_forker import Server, ServerForker
from tests.waiting import until

__all__ = ["GONE_S", "TURN", "KillHarness", "pair", "processes_with", "spoken"]


GONE_S = 30.0
"""How long the processes of a killed server may stay. They end at once; on a machine with more work
than processors each needs seconds to be scheduled."""


TURN = json.dumps(
    [
        {"drip": [120, 0.1]},
        {"ask": {"id": "ASK"}},
        {"drip": [60, 0.05]},
        {"wait": 1},
        {"drip": [60, 0.05]},
    ]
)


class KillHarness:
    """One data folder, its servers one after the other, and a client that outlives them."""

    def __init__(self, folder: Path, seed: int, forker: ServerForker) -> None:
        self.folder = folder
        self.rng = random.Random(seed)
        self.forker = forker
        self.log = folder / "agent.log"
        (folder / "project").mkdir(parents=True)
        self.agent = scripted_agent(folder, self.log, forker.home / ".claude" / "projects")
        self.client: FaultyClient
        self.restart_s: list[float] = []
        self.problems: list[str] = []
        self._stop = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    async def serve(self) -> Server:
        began = time.monotonic()
        server = await self.forker.serve(
            "--port", "0", "--agent", str(self.agent), "--data", str(self.folder / "data"),
            "--root", str(self.folder),
        )  # fmt: skip
        self.restart_s.append(time.monotonic() - began)
        return server

    async def first(self) -> None:
        """Begin a session; from then on a client follows it."""
        server = await self.serve()
        token = await asyncio.to_thread(pair, server)
        self.client = FaultyClient(
            name=self.folder.name, server="", port=0, token=token, session="",
            rng=self.rng, fault_rates=replace(GOOD, repeats=0.5),
        )  # fmt: skip
        self.meet(server)
        n = self.client.want("new_session", cwd=str(self.folder / "project"))
        await self.until(lambda: n in self.client._results)
        self.client.session = self.client._results[n]["result"]["session"]
        await self.hang_up()
        await self.kill(server)

    async def kill_once(self, number: int) -> None:
        """A turn, and the end of the server somewhere in it."""
        server = await self.serve()
        self.meet(server)
        await self.check_ended()
        self.client.prompt(TURN.replace("ASK", f"ask-{self.folder.name}-{number}"))
        if self.rng.random() < 0.5:
            self.client.prompt(f"waits {number}")
        await self.client.say_now(self.client._n)
        frames = self.client._frames
        if self.rng.random() < 0.8:
            wanted = frames + self.rng.randint(1, 25)
            await self.until(lambda: self.client._frames > frames)
            with contextlib.suppress(TimeoutError):  # There may be fewer before the question.
                await self.until(lambda: self.client._frames >= wanted, 1.0)
        await asyncio.sleep(self.rng.uniform(0.0, 0.05))  # Any moment will do; that is the test.
        await self.kill(server)
        await self.hang_up()

    async def check_ended(self) -> None:
        """What a server that was killed left is shown as ended as soon as there is a new one."""
        await self.until(lambda: self.client.first is not None)
        assert self.client.first is not None
        state, lobby = self.client.first
        if state["pending"] or lobby["inbox"]:
            self.problems.append(f"something still waits: {state['pending']}")
        if state["status"]["state"] not in ("disconnected", "ended", "starting"):
            self.problems.append(f"the state is {state['status']['state']}")
        if any(item.get("state") == "held" for item in state["items"]):
            self.problems.append("a prompt still waits")
        (row,) = (row for row in lobby["sessions"] if row["id"] == self.client.session)
        if row["live"]:
            self.problems.append("a session is shown as live")

    async def kill(self, server: Server) -> None:
        server.kill()
        await self.forker.ended(server)
        mine = str(self.folder)
        began = time.monotonic()
        while left := await asyncio.to_thread(processes_with, mine):
            if time.monotonic() - began > GONE_S:
                self.problems.append(f"left behind: {left}")
                return
            await asyncio.sleep(0.02)

    def meet(self, server: Server) -> None:
        self.client.server, self.client.port = f"127.0.0.1:{server.port}", server.port
        self.client.lobby = self.client.first = None
        self._stop = asyncio.Event()
        self._running = asyncio.create_task(self.client.run(self._stop))

    async def hang_up(self) -> None:
        self._stop.set()
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    async def until(self, what: Any, patience_s: float = 60.0) -> None:
        await until(what, patience_s)

    async def last(self) -> Findings:
        """Whether the session still works, and the judgment on everything."""
        server = await self.serve()
        self.meet(server)
        await self.until(lambda: not self.client.waiting)
        final = self.client.prompt("the last words")
        await self.client.say_now(final)
        await self.until(lambda: self.client.state and spoken(self.client.state, "the last words"))
        await self.hang_up()
        server.kill(15)
        await self.forker.ended(server)
        async with SqliteStore(self.folder / "data") as store:
            return await check(
                store, [self.client.session], [self.client], read_log(self.log),
                Policy(roots=(self.folder,)), killed=True,
            )  # fmt: skip


def spoken(state: dict[str, Any], text: str) -> bool:
    """Whether the agent has answered, which it does with the same text."""
    done = state["status"]["state"] == "idle"
    return done and any(item["kind"] == "text" and item["text"] == text for item in state["items"])


def pair(server: Server) -> str:
    asked = json.dumps({"code": server.code, "name": "robot"}).encode()
    request = urllib.request.Request(server.base + "/api/pair", asked, {"Origin": server.base})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return str(json.load(answer)["token"])


def processes_with(text: str) -> list[str]:
    """The processes that have a text in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes()
            if text.encode() in words:
                found.append(words.replace(b"\0", b" ").decode(errors="replace"))
    return found
