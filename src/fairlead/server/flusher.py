"""Gives every client what is new: one flusher for all sockets.

It sleeps until the hub has something, asks it who is ready, and gives each socket that can take
it one frame; a socket that is still busy with the last is passed by, and gets a merged frame
later. The longer a round takes, the longer it rests, so that a crowd gets fewer and larger frames
and control does not wait for them. What a person waits for goes out first.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping

from fairlead.server.client_socket import ClientSocket
from fairlead.server.frames import text_of
from fairlead.server.hub import Hub
from fairlead.server.limits import Limits
from fairlead.server.messages import Bye, FromServer, Pong

__all__ = ["Flusher"]

SLICE = 32
"""Sockets that are served before everybody else has a turn: about a millisecond."""

REST = 2.0
"""How many times as long as a round took the flusher rests after it."""

TOO_SLOW = 4008


class Flusher:
    """The task that pumps the hub into the sockets."""

    def __init__(self, hub: Hub, sockets: Mapping[str, ClientSocket], limits: Limits) -> None:
        self._hub = hub
        self._sockets = sockets
        self._limits = limits
        self._task: asyncio.Task[None] | None = None
        self._leaving: set[asyncio.Task[None]] = set()
        self._due = asyncio.Event()
        """Set when the hub may have something for somebody who can take it."""
        self._urgent = asyncio.Event()
        """Set when it has something that a person waits for."""
        self._hurried: list[str] = []
        """Sockets that were too busy for it and are not any more."""

    def start(self) -> None:
        """Begin."""
        self._hub.on_ready = self._due.set
        self._hub.on_urgent = self._urgent.set
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """End."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    def take_on(self, socket: ClientSocket) -> None:
        """A new socket, which will tell when it is free again."""
        socket.on_free = self._can_take

    async def _run(self) -> None:
        ping_at = time.monotonic() + self._limits.ping_s
        while True:
            await self._something_due(ping_at)
            began = time.monotonic()
            await self._flush(self._hub.ready(began), began)
            if began >= ping_at:
                ping_at = began + self._limits.ping_s
                self._ping_and_cull(began)
            took = time.monotonic() - began
            await self._rest(max(began + self._limits.flush_s, began + took + REST * took))

    async def _something_due(self, ping_at: float) -> None:
        """Wait until the hub has something, or a client's or everybody's time has come."""
        due = self._hub.next_due()
        until = ping_at if due is None else min(due, ping_at)
        wait_s = until - time.monotonic()
        if wait_s > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._due.wait()
        self._due.clear()

    async def _rest(self, until: float) -> None:
        """Let the others work; only what is urgent goes out meanwhile."""
        while (left := until - time.monotonic()) > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._urgent.wait()
            await self._hurry()

    def _can_take(self, socket: ClientSocket) -> None:
        """A socket that was passed by has written what it had."""
        if socket.hurried:
            socket.hurried = False
            self._hurried.append(socket.id)
            self._urgent.set()
        self._due.set()

    async def _flush(self, names: list[str], now: float) -> None:
        """Give everybody who is named and can take it one frame, a few at a time."""
        for start in range(0, len(names), SLICE):
            await self._hurry()
            self._give(names[start : start + SLICE], now)
            await asyncio.sleep(0)

    async def _hurry(self) -> None:
        """Send what somebody waits for, before all that is only to be seen."""
        while self._urgent.is_set():
            self._urgent.clear()
            names, self._hurried = [*self._hub.urgent(), *self._hurried], []
            for start in range(0, len(names), SLICE):
                self._give(names[start : start + SLICE], time.monotonic(), urgent=True)
                await asyncio.sleep(0)

    def _give(self, names: list[str], now: float, *, urgent: bool = False) -> None:
        # Many get the very same message: it is written as JSON once.
        texts: dict[int, tuple[FromServer, str]] = {}
        for name in names:
            socket = self._sockets.get(name)
            if socket is None:
                continue
            if socket.busy:
                socket.passed_by = True
                socket.hurried |= urgent
                continue
            out = []
            for message in self._hub.drain(name, now):
                kept = texts.get(id(message))
                if kept is None:
                    kept = texts[id(message)] = message, text_of(message)
                out.append(kept[1])
            socket.send_texts(out)

    def _ping_and_cull(self, now: float) -> None:
        for socket in list(self._sockets.values()):
            if not socket.busy:
                socket.send([Pong(time=time.time())])
            elif now - socket.sent_at > self._limits.slow_s:
                # Beside everything else: it takes the goodbye no faster than the rest.
                goodbye = Bye(reason="this socket takes nothing", again=True)
                socket.sent_at = now
                task = asyncio.create_task(socket.let_go(goodbye, TOO_SLOW))
                self._leaving.add(task)
                task.add_done_callback(self._leaving.discard)
