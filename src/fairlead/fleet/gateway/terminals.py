"""Terminals of all machines at a gateway: a channel for each client, which passes messages on.

A terminal is called `<node>__<id>` at a gateway. The messages of a client are handed to the machine
in order and once (`TerminalAsk`). Output may be lost on the bus: its offsets and the answers of the
machine show what is missing, and the gateway attaches again at the last byte that arrived.
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import Callable

import msgspec
from msgspec import structs

from fairlead.fleet.bus.bus import Bus, BusError, Message, Subscription
from fairlead.fleet.gateway.intent_routes import terminal_owner
from fairlead.fleet.gateway.node_client import NodeClient
from fairlead.fleet.protocol import subjects
from fairlead.fleet.protocol.envelopes import TerminalAnswer, TerminalAsk
from fairlead.fleet.protocol.names import name_of
from fairlead.server.access.roles import require
from fairlead.server.protocol.messages import Problem
from fairlead.server.protocol.terminal_messages import (
    TerminalAck,
    TerminalAttach,
    TerminalDetach,
    TerminalInput,
    TerminalList,
    TerminalMessage,
    TerminalOutput,
    Terminals,
)
from fairlead.server.refusal import Refusal
from fairlead.server.terminal.channel import ToClient
from fairlead.store.tables.devices import Device

__all__ = ["FleetTerminals"]

ASK_EVERY_S = 1.0
"""How often a machine is asked without messages: it then says how far it sent."""

ASK_CHARS = 32 * 1024
"""Characters of input in one message to a machine; a longer one is divided."""

ASK_MESSAGES = 8

WAITING = 256
"""Messages of one client that wait for a machine; more are refused."""

_decode = msgspec.json.Decoder(TerminalOutput | Terminals).decode
_decode_list = msgspec.json.Decoder(Terminals | None).decode

Owner = Callable[[str], "tuple[str, str] | None"]
"""The machine of a session and its id there, or None if it is not known."""


class FleetTerminals:
    """Opens the channels of a gateway's sockets."""

    def __init__(self, bus: Bus, client: NodeClient, owner: Owner) -> None:
        """`owner` returns the machine of a session."""
        self._bus = bus
        self._client = client
        self._owner = owner
        self._tasks: set[asyncio.Task[None]] = set()

    def open(self, socket: str, device: Device, send: Callable[[ToClient], None]) -> FleetChannel:
        """The channel of a socket (`OpenChannel`)."""

        def link(node: str, session_name: Callable[[str], str]) -> _NodeLink:
            made = _NodeLink(self._bus, self._client, node, device.id, send, session_name)
            task = made.task = asyncio.create_task(made.run())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            return made

        return FleetChannel(device, self._owner, link)

    async def close(self) -> None:
        """End all channels."""
        for task in tuple(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)


class FleetChannel:
    """What one socket of a gateway does with terminals (`Channel`)."""

    def __init__(self, device: Device, owner: Owner, link: Callable[..., _NodeLink]) -> None:
        self._device = device
        self._owner = owner
        self._link = link
        self._links: dict[str, _NodeLink] = {}
        self._listed: tuple[str, str] | None = None
        """Node and name of the session whose terminals the client wants to know."""

    def handle(self, message: TerminalMessage) -> None:
        """Pass a message on; raises a `Refusal`."""
        require(self._device.role, "owner", "A terminal")
        if isinstance(message, TerminalList):
            owner = self._owner(message.session)
            if owner is None:
                raise Refusal("not_found", f"Session {message.session!r:.200} not found.")
            node, session = owner
            if self._listed is not None and self._listed[0] != node:
                self._to(self._listed[0]).add(TerminalList(session=""))
            self._listed = node, message.session
            self._to(node).add(TerminalList(session=session))
        else:
            node, terminal = terminal_owner(message.terminal)
            self._to(node).add(structs.replace(message, terminal=terminal))

    def close(self) -> None:
        """The socket was closed, or the device revoked."""
        for link in self._links.values():
            link.end()
        self._links.clear()

    def _to(self, node: str) -> _NodeLink:
        link = self._links.get(node)
        if link is None:
            link = self._links[node] = self._link(node, lambda session: self._name(node, session))
        return link

    def _name(self, node: str, session: str) -> str:
        """The name at the gateway of the session whose list a machine sent; empty for another."""
        if self._listed is None or self._listed[0] != node:
            return ""
        name = self._listed[1]
        owner = self._owner(name)
        return name if owner is not None and owner[1] == session else ""


class _NodeLink:
    """The channel of one client at one machine."""

    task: asyncio.Task[None]

    def __init__(
        self,
        bus: Bus,
        client: NodeClient,
        node: str,
        device: str,
        send: Callable[[ToClient], None],
        session_name: Callable[[str], str],
    ) -> None:
        self._bus = bus
        self._client = client
        self._node = node
        self._device = device
        self._send = send
        self._session_name = session_name
        self._channel = ""
        self._n = 0
        self._waiting: list[TerminalMessage] = []
        self._woken = asyncio.Event()
        self._ended = False
        self._subscription: Subscription | None = None
        self._listed: TerminalList | None = None
        self._rows: Terminals | None = None
        """The list that the client has."""
        self._received: dict[str, int] = {}
        """Attached terminal -> the offset of the next byte."""

    def add(self, message: TerminalMessage) -> None:
        """Hand a message to the machine soon."""
        if len(self._waiting) >= WAITING:
            raise Refusal("unavailable", "The machine of this terminal does not answer.")
        if isinstance(message, TerminalList):
            self._listed, self._rows = message, None
        elif isinstance(message, TerminalAttach):
            self._received[message.terminal] = message.offset
        elif isinstance(message, TerminalDetach):
            self._received.pop(message.terminal, None)
        self._waiting += _divided(message)
        self._woken.set()

    def end(self) -> None:
        """The client is gone."""
        self._ended = True
        self._woken.set()

    async def run(self) -> None:
        """Pass messages on until the client is gone."""
        try:
            while not self._ended:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(ASK_EVERY_S):
                        await self._woken.wait()
                self._woken.clear()
                await self._step()
            with contextlib.suppress(Refusal):
                await self._client.terminal(self._node, self._ask((), close=True))
        finally:
            await self._unsubscribe()

    async def _step(self) -> None:
        batch: tuple[TerminalMessage, ...] = ()
        try:
            while not self._ended:
                if not self._channel:
                    if not (self._waiting or self._received or self._listed):
                        return
                    await self._begin()
                batch = tuple(self._waiting[:ASK_MESSAGES])
                del self._waiting[: len(batch)]
                answer = await self._client.terminal(self._node, self._ask(batch))
                batch = ()
                self._take(answer)
                if not self._waiting:
                    return
        except Refusal as refusal:
            self._lost(batch, refusal)
        except BusError:
            text = "The gateway has no connection to its machines now."
            self._lost(batch, Refusal("unavailable", text))

    def _ask(self, batch: tuple[TerminalMessage, ...], *, close: bool = False) -> TerminalAsk:
        self._n += 1
        return TerminalAsk(
            channel=self._channel,
            device=self._device,
            n=self._n,
            messages=tuple(msgspec.Raw(msgspec.json.encode(each)) for each in batch),
            close=close,
        )

    async def _begin(self) -> None:
        """A new channel, with what the client follows; its output is heard before it is asked for."""
        await self._unsubscribe()
        channel, self._n = uuid.uuid4().hex, 0
        subject = subjects.terminal(self._node, channel)
        self._subscription = await self._bus.subscribe(subject, self._on_output)
        self._channel = channel
        followed: list[TerminalMessage] = [] if self._listed is None else [self._listed]
        followed += [
            TerminalAttach(terminal=terminal, offset=offset)
            for terminal, offset in self._received.items()
        ]
        if followed:
            self._take(await self._client.terminal(self._node, self._ask(tuple(followed))))

    def _lost(self, batch: tuple[TerminalMessage, ...], refusal: Refusal) -> None:
        """The machine is away, was started again, or refuses: begin again when it answers."""
        self._channel = ""
        if refusal.code == "stale":  # The machine forgot the channel, and did not handle these.
            self._waiting[:0] = batch
            self._woken.set()
            return
        # What was typed meanwhile must not be carried out later.
        lost = [each for each in (*batch, *self._waiting) if not isinstance(each, TerminalAck)]
        self._waiting.clear()
        if lost:
            self._send(Problem(code=refusal.code, message=refusal.message))

    async def _unsubscribe(self) -> None:
        subscription, self._subscription = self._subscription, None
        if subscription is not None:
            with contextlib.suppress(BusError):
                await subscription.close()

    # From the machine

    def _take(self, answer: TerminalAnswer) -> None:
        for code, message in answer.problems:
            self._send(Problem(code=code, message=message))
        rows = _decode_list(answer.terminals)
        if rows is not None:
            self._show(rows)
        for terminal, offset in self._received.items():
            if answer.sent.get(terminal, offset) > offset:
                self._attach_again(terminal)

    def _on_output(self, message: Message) -> None:
        if self._ended:
            return
        try:
            decoded = _decode(message.payload)
        except msgspec.DecodeError:
            return
        if isinstance(decoded, Terminals):
            self._show(decoded)
            return
        expected = self._received.get(decoded.terminal)
        if expected is None:
            return
        known = expected - decoded.offset
        if known > 0:  # Sent twice, because it was attached again.
            if known >= len(decoded.data):
                return
            decoded = structs.replace(decoded, offset=expected, data=decoded.data[known:])
        if decoded.offset - decoded.lost > expected:
            self._attach_again(decoded.terminal)
            return
        self._received[decoded.terminal] = decoded.offset + len(decoded.data)
        name = name_of(self._node, decoded.terminal, "cli")
        self._send(structs.replace(decoded, terminal=name))

    def _show(self, rows: Terminals) -> None:
        if rows == self._rows or self._listed is None or rows.session != self._listed.session:
            return
        session = self._session_name(rows.session)
        if session:
            self._rows = rows
            named = tuple(
                structs.replace(row, id=name_of(self._node, row.id, "cli"))
                for row in rows.terminals
            )
            self._send(Terminals(session=session, terminals=named))

    def _attach_again(self, terminal: str) -> None:
        for waiting in self._waiting:
            if isinstance(waiting, TerminalAttach) and waiting.terminal == terminal:
                return
        self._waiting.append(TerminalAttach(terminal=terminal, offset=self._received[terminal]))
        self._woken.set()


def _divided(message: TerminalMessage) -> list[TerminalMessage]:
    """A message in parts that fit into a message of the bus."""
    if not isinstance(message, TerminalInput) or len(message.data) <= ASK_CHARS:
        return [message]
    text = message.data
    return [
        structs.replace(message, data=text[at : at + ASK_CHARS])
        for at in range(0, len(text), ASK_CHARS)
    ]
