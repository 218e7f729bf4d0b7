"""Sends changes to every client: one flusher for all sockets.

It sleeps until the hub has changes, gets the ready clients from the hub, and gives one frame to
each socket that is not busy. The first change after a quiet moment is sent at once. A busy socket
is skipped and gets a merged frame later. The longer a round takes, the longer the flusher pauses
after it: while the event loop is behind, clients get fewer and larger frames, and control messages
are not delayed. Requests that wait for a person are sent first.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping

from fairlead.server.hub.hub import Hub
from fairlead.server.limits import Limits
from fairlead.server.protocol.messages import FromServer
from fairlead.server.sockets.client_socket import ClientSocket
from fairlead.server.sockets.frames import Encoded

__all__ = ["TOO_SLOW", "Flusher"]

SLICE = 32
"""Sockets that are served before other tasks may run: about a millisecond."""

PAUSE = 2.0
"""The pause after a round, as a multiple of the time that the round took."""

CACHED_BYTES = 256 * 1024
"""Frames that are kept, so that a message is encoded once for all its clients."""

TOO_SLOW = 4008


class _Signal:
    """An event for one task that waits for it at most some time.

    The flusher waits twice in each round, and nearly always for as long as it may. The timeout of an
    `asyncio.Event` cancels the task, and the exception costs more than the rest of a small round.
    """

    __slots__ = ("_waiting", "is_set")

    def __init__(self) -> None:
        self.is_set = False
        self._waiting: asyncio.Future[None] | None = None

    def set(self) -> None:
        """Let the task go on."""
        self.is_set = True
        if self._waiting is not None:
            _wake(self._waiting)

    def clear(self) -> None:
        """Let the next `wait` wait."""
        self.is_set = False

    async def wait(self, most_s: float) -> None:
        """Return when it is set, or after this time."""
        if self.is_set or most_s <= 0:
            return
        loop = asyncio.get_running_loop()
        waiting = self._waiting = loop.create_future()
        timer = loop.call_later(most_s, _wake, waiting)
        try:
            await waiting
        finally:
            timer.cancel()
            self._waiting = None


def _wake(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)


class Flusher:
    """The task that sends the hub's messages to the sockets."""

    def __init__(
        self,
        hub: Hub,
        sockets: Mapping[str, ClientSocket],
        limits: Limits,
        too_slow: Callable[[ClientSocket], None],
    ) -> None:
        self._hub = hub
        self._sockets = sockets
        self._limits = limits
        self._too_slow = too_slow
        self._task: asyncio.Task[None] | None = None
        self._due = _Signal()
        """Set when the hub may have messages for a client that can receive them."""
        self._urgent = _Signal()
        """Set when the hub has a request that waits for a person."""
        self._freed_urgent: list[str] = []
        """Sockets that were busy when an urgent frame was ready, and are free now."""
        self._messages: dict[int, tuple[FromServer, Encoded]] = {}
        """The last messages by their `id`, as bytes."""
        self._messages_bytes = 0

    def start(self) -> None:
        """Start the task."""
        self._hub.on_ready = self._due.set
        self._hub.on_urgent = self._urgent.set
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Stop the task."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    def watch(self, socket: ClientSocket) -> None:
        """Have a new socket call back when it is free again."""
        socket.on_free = self._on_free

    async def _run(self) -> None:
        ping_at = time.monotonic() + self._limits.ping_s
        rested_at = 0.0
        while True:
            # In this order, so that the end of a pause alone wakes nobody.
            await self._wait_until_due(ping_at)
            await self._pause(rested_at)
            self._due.clear()
            started = time.monotonic()
            await self._flush(self._hub.ready(started), started)
            if started >= ping_at:
                ping_at = started + self._limits.ping_s
                self._ping_and_cull(started)
            took = time.monotonic() - started
            rested_at = max(started + self._limits.flush_s, started + took + PAUSE * took)

    async def _wait_until_due(self, ping_at: float) -> None:
        """Wait until the hub has changes, a throttled client is due, or it is time for pings."""
        due = self._hub.next_due()
        until = ping_at if due is None else min(due, ping_at)
        await self._due.wait(until - time.monotonic())

    async def _pause(self, until: float) -> None:
        """Let other tasks run until then; only urgent messages are sent in the meantime."""
        while (left := until - time.monotonic()) > 0:
            await self._urgent.wait(left)
            await self._send_urgent()

    def _on_free(self, socket: ClientSocket) -> None:
        """A socket that was skipped has written its queue."""
        if socket.skipped_urgent:
            socket.skipped_urgent = False
            self._freed_urgent.append(socket.id)
            self._urgent.set()
        self._due.set()

    async def _flush(self, names: list[str], now: float) -> None:
        """Give one frame to each named socket that is not busy, a few sockets at a time."""
        for start in range(0, len(names), SLICE):
            await self._send_urgent()
            self._send(names[start : start + SLICE], now)
            await asyncio.sleep(0)

    async def _send_urgent(self) -> None:
        """Send open requests before everything else."""
        while self._urgent.is_set:
            self._urgent.clear()
            names, self._freed_urgent = [*self._hub.urgent(), *self._freed_urgent], []
            for start in range(0, len(names), SLICE):
                self._send(names[start : start + SLICE], time.monotonic(), urgent=True)
                await asyncio.sleep(0)

    def _send(self, names: list[str], now: float, *, urgent: bool = False) -> None:
        drain, sockets, encoded = self._hub.drain, self._sockets, self._encoded
        for name in names:
            socket = sockets.get(name)
            if socket is None:
                continue
            if socket.busy:
                socket.skipped = True
                socket.skipped_urgent |= urgent
                continue
            drained = drain(name, now)
            if drained:
                socket.messages(drained, encoded)

    def _encoded(self, message: FromServer) -> Encoded:
        """A message as bytes: many clients get the same one, also in several rounds."""
        known = self._messages.get(id(message))
        if known is not None:
            return known[1]
        made = Encoded(message)
        if self._messages_bytes > CACHED_BYTES:
            self._messages.clear()
            self._messages_bytes = 0
        if len(made.frame) < CACHED_BYTES:
            self._messages[id(message)] = message, made
            self._messages_bytes += len(made.frame)
        return made

    def _ping_and_cull(self, now: float) -> None:
        for socket in list(self._sockets.values()):
            if socket.stuck_s(now) > self._limits.slow_s:
                self._too_slow(socket)
            elif not socket.busy:
                socket.send_pong()
