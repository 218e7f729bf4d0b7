"""A whole server on a real port with the scripted agent: `served`, and clients for it."""

from __future__ import annotations

import asyncio
import json
import os
import urllib.error
import urllib.request
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self

import pytest
import websockets

from fairlead.host.options.options import Options
from fairlead.host.process.process import Graces
from fairlead.server.limits import Limits
from fairlead.server.policy import Policy
from fairlead.server.service import Service, open_service
from tests.launching import python_launcher

AGENT = Path(__file__).with_name("agent.py")
VERSION = "2.1.325"
"""What the scripted agent reports."""

QUICK = Graces(after_eof=0.5, after_term=0.5, after_kill=5.0)


class Served:
    """A running server, and what a test asks of it."""

    def __init__(self, service: Service, project: Path) -> None:
        self.service = service
        self.base = service.base_url
        self.project = project
        self._sockets: list[Any] = []

    def opened(self, socket: Any) -> None:
        """A client of the test has connected."""
        self._sockets.append(socket)

    async def close_sockets(self) -> None:
        """Close the clients. The server is gone, but a client may not have noticed that yet, and the
        garbage collector would complain about its socket in a later test."""
        for socket in self._sockets:
            async with asyncio.timeout(30):
                await socket.close()

    async def http(
        self, path: str, *, method: str = "GET", body: Any = None, **headers: str
    ) -> tuple[int, bytes, dict[str, str]]:
        """One request: status, body, headers."""
        data = (
            None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        )
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.base + path, data, names, method=method)

        def ask() -> tuple[int, bytes, dict[str, str]]:
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return answer.status, answer.read(), dict(answer.headers)
            except urllib.error.HTTPError as refusal:
                with refusal:
                    return refusal.code, refusal.read(), dict(refusal.headers)

        return await asyncio.to_thread(ask)

    async def token(self, role: str = "owner") -> str:
        """A token for a new device."""
        return (await self.service.devices.make_device("a test", role)).token

    async def client(self, role: str = "owner", **hello: Any) -> Client:
        """A connected client that has sent its hello."""
        client = Client(self, await self.token(role))
        await client.connect(**hello)
        return client


class Client:
    """A WebSocket client that records what it receives."""

    def __init__(self, served: Served, token: str) -> None:
        self.served = served
        self.token = token
        self.id = str(uuid.uuid4())
        self.n = 0
        self.socket: Any = None

    async def connect(self, path: str = "/ws", **hello: Any) -> Self:
        url = self.served.base.replace("http", "ws") + path
        self.socket = await websockets.connect(url)
        if isinstance(self.served, Served):  # Others have an address only.
            self.served.opened(self.socket)
        if path == "/ws":
            await self.say(type="hello", protocol=1, token=self.token, client=self.id, **hello)
        return self

    async def say(self, **message: Any) -> None:
        await self.socket.send(json.dumps(message))

    async def hear(self, kind: str | None = None, **wanted: Any) -> dict[str, Any]:
        """The next message of a kind with these fields; others are passed by."""
        async with asyncio.timeout(60):
            while True:
                message: dict[str, Any] = json.loads(await self.socket.recv())
                fits = kind is None or message["type"] == kind
                if fits and all(message.get(name) == value for name, value in wanted.items()):
                    return message
                assert message["type"] != "bye", message

    async def intend(self, kind: str, *, n: int | None = None, **fields: Any) -> dict[str, Any]:
        """Send an intent and wait for its result."""
        if n is None:
            self.n += 1
            n = self.n
        await self.say(type="intent", n=n, intent={"kind": kind, **fields})
        return await self.hear("intent_result", n=n)

    async def new_session(self, prompt: Any = None) -> str:
        words = prompt if prompt is None or isinstance(prompt, str) else json.dumps(prompt)
        result = await self.intend("new_session", cwd=str(self.served.project), prompt=words)
        assert result["ok"], result
        return str(result["result"]["session"])

    async def pending(self, session: str) -> dict[str, Any]:
        """Follow a session until something waits for an answer."""
        await self.say(type="open", document=session)
        while True:
            message = await self.hear(document=session)
            rows = message.get("state", {}).get("pending", [])
            for change in message.get("changes", ()):
                if change["op"] == "add" and change["to"] == "pending":
                    rows = [*rows, change["row"]]
            if rows:
                return dict(rows[0])

    async def ending(self, session: str) -> dict[str, Any]:
        """Follow a session until its turn has an outcome."""
        await self.say(type="open", document=session)
        while True:
            message = await self.hear(document=session)
            for turn in message.get("state", {}).get("turns", ()):
                if turn["outcome"]:
                    return dict(turn)
            for change in message.get("changes", ()):
                if change["to"] == "turns" and change.get("fields", {}).get("outcome"):
                    return dict(change["fields"])


@asynccontextmanager
async def serving(folder: Path, limits: Limits, **more: Any) -> AsyncIterator[Served]:
    """A server below a folder, with these limits; what an earlier one left there is used.

    `more` are further arguments of `open_service`. With FAIRLEAD_TEST_WORKERS in the environment, its
    sessions run in as many workers.
    """
    if count := int(os.environ.get("FAIRLEAD_TEST_WORKERS", "0")):
        from tests.fleet.workers.workers_harness import with_workers

        async with with_workers(folder, count, limits, **more) as made:
            yield made
        return
    project = folder / "project"
    project.mkdir(exist_ok=True)
    launcher = python_launcher(folder / "claude-scripted", AGENT, folder / "agent.log")
    async with open_service(
        data=folder / "data",
        # With its version, the server starts no process to ask for it.
        options=Options(agent=launcher, graces=QUICK, version=VERSION),
        agent="scripted",
        limits=limits,
        policy=Policy(roots=(folder,)),
        **more,
    ) as service:
        running = asyncio.create_task(service.run())
        served = Served(service, project)
        yield served
        service.stop()
        await asyncio.wait_for(running, 30)
        await served.close_sockets()


PATIENT = Limits(hello_s=30.0, analysis_s=30.0)
"""Deadlines that a client and a server in one overloaded process still meet."""


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with serving(tmp_path, PATIENT) as made:
        yield made
