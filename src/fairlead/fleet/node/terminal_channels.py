"""Terminals of a node for the clients of gateways: each has a channel, as a socket of the node has.

Whether there are terminals at all is decided by `--terminal` of the node. Questions of a channel are
numbered, so that a repeated one types nothing twice. What is sent to the client may be lost on the
bus: each answer says how far was sent, and the gateway attaches again if it got less.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque

import msgspec

from fairlead.fleet.bus.bus import Bus, BusError
from fairlead.fleet.node.known_devices import KnownDevices
from fairlead.fleet.protocol import subjects
from fairlead.fleet.protocol.envelopes import Answer, TerminalAnswer, TerminalAsk, decode, encode
from fairlead.server.access.roles import require
from fairlead.server.protocol.terminal_messages import TerminalMessage, Terminals
from fairlead.server.refusal import Refusal
from fairlead.server.terminal.channel import NOT_OFFERED, TerminalChannel, ToClient
from fairlead.server.terminal.terminals import TerminalRegistry
from fairlead.store.tables.devices import Device

__all__ = ["TerminalChannels"]

EXPIRES_S = 15.0
"""How long a channel lasts without a question."""

MOST = 64
"""Channels at the same time."""

ENDED = "The connection to this terminal was lost."

_decode = msgspec.json.Decoder(TerminalMessage).decode


class TerminalChannels:
    """The channels of one node."""

    def __init__(
        self, bus: Bus, node: str, terminals: TerminalRegistry | None, devices: KnownDevices
    ) -> None:
        self._bus = bus
        self._node = node
        self._terminals = terminals
        self._devices = devices
        self._channels: dict[str, _Served] = {}
        devices.on_revoked.append(self.revoked)

    async def answer(self, payload: bytes) -> bytes:
        """Answer a `TerminalAsk`."""
        ask = decode(payload, TerminalAsk)
        device = await self._devices.find(ask.device)
        require(device.role, "owner", "A terminal")
        if self._terminals is None:
            raise Refusal("unavailable", NOT_OFFERED)
        self._expire()
        if ask.close:
            self._end(ask.channel)
            return encode(Answer(), msgspec.json.encode(TerminalAnswer()))
        served = self._served(ask, device, self._terminals)
        return encode(Answer(), msgspec.json.encode(served.take(ask)))

    def revoked(self, device: str) -> None:
        """End what a revoked device has: its channels, and the shells that it opened."""
        for name, served in tuple(self._channels.items()):
            if served.device == device:
                self._end(name)
        if self._terminals is not None:
            self._terminals.revoked(device)

    def close(self) -> None:
        """End all channels."""
        for name in tuple(self._channels):
            self._end(name)

    def _served(self, ask: TerminalAsk, device: Device, terminals: TerminalRegistry) -> _Served:
        served = self._channels.get(ask.channel)
        if served is not None and served.device == device.id:
            return served
        if served is not None or ask.n != 1:
            raise Refusal("stale", ENDED)
        if len(self._channels) >= MOST:
            raise Refusal("too_many", f"{MOST} clients use terminals of this machine already.")
        subject = subjects.terminal(self._node, ask.channel)
        served = self._channels[ask.channel] = _Served(
            self._bus, subject, ask.channel, device, terminals
        )
        return served

    def _expire(self) -> None:
        old = time.monotonic() - EXPIRES_S
        for name, served in tuple(self._channels.items()):
            if served.asked < old:
                self._end(name)

    def _end(self, name: str) -> None:
        served = self._channels.pop(name, None)
        if served is not None:
            served.close()


class _Served:
    """One channel."""

    def __init__(
        self, bus: Bus, subject: str, name: str, device: Device, terminals: TerminalRegistry
    ) -> None:
        self.device = device.id
        self.asked = time.monotonic()
        self._bus = bus
        self._subject = subject
        self._terminals = terminals
        self._channel = TerminalChannel(terminals, f"bus:{name}", device, self._send)
        self._n = 0
        self._problems: tuple[tuple[str, str], ...] = ()
        """Of the last question, in case that it is repeated."""
        self._unsent: deque[bytes] = deque()
        self._sending: asyncio.Task[None] | None = None

    def take(self, ask: TerminalAsk) -> TerminalAnswer:
        """Handle the messages of a question, unless it was asked before."""
        self.asked = time.monotonic()
        if ask.n > self._n:
            self._n = ask.n
            self._problems = tuple(filter(None, map(self._handle, ask.messages)))
        listed = self._channel.listed
        rows = None if listed is None else self._rows(listed)
        # What waits to be sent is not sent yet: the gateway would attach again for nothing.
        sent = {} if self._unsent else self._channel.sent()
        return TerminalAnswer(
            problems=self._problems, sent=sent, terminals=msgspec.Raw(msgspec.json.encode(rows))
        )

    def close(self) -> None:
        self._channel.close()
        self._unsent.clear()

    def _rows(self, session: str) -> Terminals:
        return Terminals(session=session, terminals=self._terminals.rows(session))

    def _handle(self, raw: msgspec.Raw) -> tuple[str, str] | None:
        try:
            self._channel.handle(_decode(raw))
        except msgspec.DecodeError as problem:
            return "bad_message", str(problem)
        except Refusal as refusal:
            return refusal.code, refusal.message
        return None

    def _send(self, message: ToClient) -> None:
        self._unsent.append(msgspec.json.encode(message))
        if self._sending is None:
            self._sending = asyncio.create_task(self._publish())

    async def _publish(self) -> None:
        try:
            while self._unsent:
                message = self._unsent[0]
                with contextlib.suppress(BusError):  # The gateway notices what is missing.
                    await self._bus.publish(self._subject, message)
                if self._unsent:
                    self._unsent.popleft()
        finally:
            self._sending = None
