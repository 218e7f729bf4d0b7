"""One viewer that misbehaves in every way at once, as a separate program.

    python -m tests.faults.misbehaving PORT TOKEN SESSION CLIENT SECONDS

CLIENT is the client id of another device. Prints how often it did what, as one line of JSON. Errors
of its own connections are what it is after, so they are passed by.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import sys
from collections import Counter
from collections.abc import Awaitable, Callable

from tests.server.endpoints import ENDPOINTS, asking, enter
from tests.server.raw_requests import RawSocket, ask, frame

PINGS = frame(b"x" * 100, first=0x89) * 200
PASSED_BY = (OSError, TimeoutError, asyncio.IncompleteReadError, AssertionError, ExceptionGroup)
UNREAD = 60
"""Sockets and answers that it leaves unread at the same time: more than a device may have."""


class Viewer:
    """What it does; each method is one round of one kind of misbehavior."""

    def __init__(self, port: int, token: str, session: str, client: str) -> None:
        self.port = port
        self.token = token
        self.session = session
        self.client = client
        self.done: Counter[str] = Counter()
        self._unread: list[RawSocket] = []
        self._held: list[asyncio.StreamWriter] = []
        self._paths = itertools.cycle(ENDPOINTS)
        self._count = itertools.count()

    async def run(self, seconds: float) -> None:
        """Everything at once, for so long."""
        kinds = (
            self.ping, self.leave_unread, self.search, self.search, self.search, self.export,
            self.count_badly, self.draft, self.reconnect, self.break_frames, self.say_much,
        )  # fmt: skip
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
                for kind in kinds:
                    group.create_task(self._forever(kind))

    async def _forever(self, kind: Callable[[], Awaitable[None]]) -> None:
        while True:
            with contextlib.suppress(*PASSED_BY):
                await kind()
            self.done[kind.__name__] += 1
            await asyncio.sleep(0.001)  # A program that only fails fast must not starve itself.

    async def _enter(self, *, buffer: int | None = None, client: str = "") -> tuple[str, RawSocket]:
        path = next(self._paths)
        return path, await enter(self.port, self.token, path, buffer=buffer, client=client)

    async def ping(self) -> None:
        """Pings without end, whose answers it does not read."""
        _, socket = await self._enter(buffer=4_096)
        socket.pause()
        for _ in range(50):
            await socket.send(PINGS)
        socket.close()

    async def leave_unread(self) -> None:
        """Sockets that ask for the whole session and read nothing."""
        path, socket = await self._enter(buffer=4_096)
        socket.pause()
        for _ in range(10):
            await socket.text(asking(path, self.session))
        self._unread.append(socket)
        if len(self._unread) > UNREAD:
            self._unread.pop(0).close()

    async def search(self) -> None:
        """Searches of many terms."""
        words = "+OR+".join(f"word{next(self._count)}" for _ in range(300))
        await ask(self.port, self._get(f"/api/search?q={words}"))

    async def export(self) -> None:
        """An export of which it reads one line."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        head = self._get(f"/api/sessions/{self.session}/export?form=json")
        writer.write(head.replace("\n", "\r\n").encode() + b"\r\n\r\n")
        async with asyncio.timeout(60):
            await reader.readline()
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        self._held.append(writer)
        if len(self._held) > UNREAD:
            self._held.pop(0).transport.abort()

    async def count_badly(self) -> None:
        """Intents with invalid numbers or numbers far ahead, under another device's client id."""
        socket = await enter(self.port, self.token, client=self.client)
        for n in (0, -1, 1, 2, 50, 5_000, 2**52, 2**53, 2**63, 10**30):
            for intent in (
                {"kind": "refresh", "session": self.session},
                {"kind": "rename", "session": self.session, "title": "mine"},
            ):
                await socket.text(json.dumps({"type": "intent", "n": n, "intent": intent}))
        await socket.hear()
        socket.close()

    async def draft(self) -> None:
        """Drafts that it may not keep."""
        socket = await enter(self.port, self.token)
        for n in range(1, 21):
            intent = {"kind": "keep_draft", "session": self.session, "text": "run this " * 5_000}
            await socket.text(json.dumps({"type": "intent", "n": n, "intent": intent}))
        await socket.hear()
        socket.close()

    async def reconnect(self) -> None:
        """Comes and goes."""
        _, socket = await self._enter()
        socket.close()

    async def break_frames(self) -> None:
        """Frames that are none, deep values, messages that never end."""
        _, socket = await self._enter()
        await socket.text("[" * 100_000)
        await socket.send(frame(b"x", first=0x01) + frame(b"y", first=0x00) * 2_000)
        await socket.closing()

    async def say_much(self) -> None:
        """More messages than its share, all at once."""
        path, socket = await self._enter()
        await socket.send(frame(asking(path, self.session).encode()) * 500)
        await socket.hear()
        socket.close()

    def _get(self, path: str) -> str:
        host = f"Host: 127.0.0.1:{self.port}"
        return f"GET {path} HTTP/1.1\n{host}\nAuthorization: Bearer {self.token}"


def main(port: str, token: str, session: str, client: str, seconds: str) -> None:
    viewer = Viewer(int(port), token, session, client)
    asyncio.run(viewer.run(float(seconds)))
    sys.stdout.write(json.dumps(dict(viewer.done)) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
