"""All connected clients of /ws and /bridge: their limits, and serving each until it disconnects.

Both endpoints share one set of limits: connections for each device and in total, of which some are
reserved for owners; a deadline for clients that do not read; and a revocation that closes every
socket of a device at once. `sockets` and `bridge` process the messages.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol

from starlette.websockets import WebSocketDisconnect

from fairlead.server.access.roles import may
from fairlead.server.hub.hub import Hub
from fairlead.server.limits import Limits
from fairlead.server.protocol.messages import GOING_AWAY, TOO_MANY, UNAUTHENTICATED, Ack
from fairlead.server.sockets.client_socket import ClientSocket
from fairlead.server.sockets.flusher import TOO_SLOW, Flusher
from fairlead.server.sockets.rate_limit import Allowance
from fairlead.store.tables.devices import Device

__all__ = ["DeviceRegistry", "Presence", "SocketConnections"]


SHARES_CACHED = 1_000
"""Devices whose share is in memory; there are far fewer."""

REVOKED = "this device was revoked"


class DeviceRegistry(Protocol):
    """Tells which devices may act; checked for each message."""

    def is_allowed(self, device: Device) -> bool:
        """Whether a device may still do what its role allows."""


class Presence(Protocol):
    """Gets notified when devices connect and disconnect."""

    hub: Hub

    def arrived(self, device: Device, socket: str) -> None:
        """A device connected."""

    def left(self, device: Device, socket: str) -> None:
        """One connection of a device closed."""


class SocketConnections:
    """All sockets of one server."""

    def __init__(self, presence: Presence, devices: DeviceRegistry, limits: Limits) -> None:
        self._presence = presence
        self._devices = devices
        self._limits = limits
        self._sockets: dict[str, ClientSocket] = {}
        self._by_device: dict[str, dict[str, ClientSocket]] = {}
        self._shares: dict[str, Allowance] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._flusher = Flusher(presence.hub, self._sockets, limits, self._too_slow)

    @property
    def count(self) -> int:
        """The number of connected clients."""
        return len(self._sockets)

    # Start and end of the server

    def start(self) -> None:
        """Begin to send changes to clients."""
        self._flusher.start()

    async def stop(self) -> None:
        """Tell all clients that the server is stopping, and close their sockets."""
        for socket in tuple(self._sockets.values()):
            self._close(socket, "the server is stopping", GOING_AWAY, again=True)
        if self._closing:
            await asyncio.wait(self._closing)
        await self._flusher.stop()

    def disconnect(self, device: str) -> None:
        """Close every socket of a revoked device: none of its messages is processed any more."""
        for socket in tuple(self._by_device.get(device, {}).values()):
            self._close(socket, REVOKED, UNAUTHENTICATED, again=False)

    # One socket

    async def serve(
        self,
        socket: ClientSocket,
        begin: Callable[[], Awaitable[None]],
        handle: Callable[[bytes], Awaitable[None]],
        ack: Callable[[Ack], None] | None = None,
        intent: Callable[[bytes], bool] | None = None,
    ) -> None:
        """Serve a client: `begin` once, then `handle` for each message, until either side ends it.

        `ack` is called for each ack; without it, acks are messages like others. `intent` is called
        for each intent that can be carried out at once; if it returns False, `handle` gets it.
        """
        refused = self._refusal(socket.device)
        if refused is not None:
            reason, code = refused
            await socket.close(reason, code, again=code == TOO_MANY)
            return
        self._add(socket)
        reading = asyncio.create_task(self._read_forever(socket, begin, handle, ack, intent))
        reading.add_done_callback(lambda _: socket.stop())
        try:
            await socket.stopped.wait()
            socket.stop()
            if reading.done():
                _report(None if reading.cancelled() else reading.exception())
            _report(socket.problem)
            reading.cancel()
            if socket.over.is_set:
                await socket.ended.wait()
        finally:
            reading.cancel()
            socket.stop()
            self._remove(socket)

    async def _read_forever(
        self,
        socket: ClientSocket,
        begin: Callable[[], Awaitable[None]],
        handle: Callable[[bytes], Awaitable[None]],
        ack: Callable[[Ack], None] | None,
        intent: Callable[[bytes], bool] | None,
    ) -> None:
        if wait_s := socket.charge(self._limits.socket_cost):
            await asyncio.sleep(wait_s)
        await begin()
        if ack is not None:
            socket.on_ack(partial(self._ack, socket, ack))
        if intent is not None:
            socket.on_intent(partial(self._intent, socket, intent))
        with contextlib.suppress(WebSocketDisconnect):
            while True:
                raw = await socket.receive()
                if not self._devices.is_allowed(socket.device):
                    self._close(socket, REVOKED, UNAUTHENTICATED, again=False)
                    return
                await handle(raw)

    def _ack(self, socket: ClientSocket, ack: Callable[[Ack], None], message: Ack) -> bool:
        """Act on an ack at once; False if it must be delayed, or the device was revoked."""
        allowed = not socket.over.is_set and self._devices.is_allowed(socket.device)
        if not allowed or socket.charge(1.0):
            return False
        ack(message)
        return True

    def _intent(self, socket: ClientSocket, intent: Callable[[bytes], bool], raw: bytes) -> bool:
        """Carry out an intent at once; False if it must be delayed, or the device was revoked."""
        return self._devices.is_allowed(socket.device) and socket.may_ask and intent(raw)

    def _refusal(self, device: Device) -> tuple[str, int] | None:
        """Why a device may not connect, and the code to close with."""
        limits = self._limits
        if not self._devices.is_allowed(device):  # It was revoked during the handshake.
            return REVOKED, UNAUTHENTICATED
        if len(self._by_device.get(device.id, ())) >= limits.sockets_per_device:
            reason = (
                f"This device has {limits.sockets_per_device} open connections. Close one first."
            )
            return reason, TOO_MANY
        reserved = 0 if may(device.role, "owner") else limits.sockets_for_owners
        if self.count >= limits.sockets - reserved:
            return "too many connections", TOO_MANY
        return None

    def _add(self, socket: ClientSocket) -> None:
        socket.on_unread = self._check_unread
        socket.share = self._share_of(socket.device)
        self._flusher.watch(socket)
        self._sockets[socket.id] = socket
        self._by_device.setdefault(socket.device.id, {})[socket.id] = socket
        self._presence.arrived(socket.device, socket.id)

    def _share_of(self, device: Device) -> Allowance | None:
        """Cached after its sockets closed, so that reconnecting does not reset it."""
        if may(device.role, "owner"):
            return None
        share = self._shares.get(device.id)
        if share is None:
            while len(self._shares) >= SHARES_CACHED:
                del self._shares[next(iter(self._shares))]
            rate = self._limits.device_messages_per_s
            share = self._shares[device.id] = Allowance(rate, time.monotonic())
        return share

    def _remove(self, socket: ClientSocket) -> None:
        self._sockets.pop(socket.id, None)
        sockets = self._by_device.get(socket.device.id, {})
        sockets.pop(socket.id, None)
        if not sockets:
            self._by_device.pop(socket.device.id, None)
        self._presence.hub.drop(socket.id)
        self._presence.left(socket.device, socket.id)

    def _check_unread(self, socket: ClientSocket) -> None:
        """Close the fullest socket of a device that leaves too much unread on all its sockets."""
        sockets = [
            each for each in self._by_device[socket.device.id].values() if not each.over.is_set
        ]
        if sum(each.unread_bytes for each in sockets) > self._limits.unread_bytes_per_device:
            self._too_slow(max(sockets, key=lambda each: each.unread_bytes))

    def _too_slow(self, socket: ClientSocket) -> None:
        self._close(socket, "this client stopped reading", TOO_SLOW, again=True)

    def _close(self, socket: ClientSocket, reason: str, code: int, *, again: bool) -> None:
        """Close a socket in a task, because a client that does not read delays the last message."""
        if socket.over.is_set:
            return
        socket.over.set()
        socket.stopped.set()
        task = asyncio.create_task(socket.close(reason, code, again=again))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


def _report(problem: BaseException | None) -> None:
    """Raise an error of the server, so that it is logged; a disconnected client is not an error."""
    if problem is not None and not isinstance(problem, (WebSocketDisconnect, RuntimeError)):
        raise problem
