"""The messages of one socket about terminals. Only owners may send them.

`TerminalChannel` handles them for the terminals of this server; the gateway of a fleet has a channel
of its own, which passes them on (`Channel`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeAlias

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
    TerminalRow,
    Terminals,
    TerminalSize,
)
from fairlead.server.refusal import Refusal
from fairlead.store.tables.devices import Device

if TYPE_CHECKING:
    from fairlead.server.terminal.terminals import TerminalRegistry

__all__ = ["NOT_OFFERED", "Channel", "OpenChannel", "TerminalChannel", "ToClient"]

NOT_OFFERED = "This server offers no terminal. Its operator can start it with --terminal."


ToClient: TypeAlias = TerminalOutput | Terminals | Problem


class Channel(Protocol):
    """What one socket does with terminals."""

    def handle(self, message: TerminalMessage) -> None:
        """Carry out a message; raises a `Refusal`."""

    def close(self) -> None:
        """The socket was closed, or the device revoked."""


OpenChannel = Callable[[str, Device, Callable[[ToClient], None]], Channel]
"""Opens the channel of a socket, from its id, its device and what sends to it."""


class TerminalChannel:
    """What one socket follows."""

    def __init__(
        self,
        registry: TerminalRegistry,
        socket: str,
        device: Device,
        send: Callable[[ToClient], None],
    ) -> None:
        self._registry = registry
        self._socket = socket
        self._device = device
        self._send = send
        self._attached: set[str] = set()
        self.listed: str | None = None
        """The session whose terminals are sent."""

    def handle(self, message: TerminalMessage) -> None:
        """Carry out a message; raises a `Refusal`."""
        require(self._device.role, "owner", "A terminal")
        if isinstance(message, TerminalList):
            self.listed = message.session
            self._registry.watch(self._socket, message.session, self._list)
            return
        late = isinstance(message, TerminalAck | TerminalSize | TerminalDetach)
        if late and not self._registry.has(message.terminal):
            return  # The terminal was closed while this message was on its way.
        terminal = self._registry.terminal(message.terminal)
        if isinstance(message, TerminalInput):
            if not terminal.write(message.data):
                raise Refusal(
                    "too_large",
                    "The program in the terminal does not read its input. Nothing was sent.",
                )
        elif isinstance(message, TerminalAck):
            terminal.ack(self._socket, message.offset)
        elif isinstance(message, TerminalSize):
            terminal.resize(message.cols, message.rows)
        elif isinstance(message, TerminalAttach):
            self._attached.add(terminal.id)
            self._registry.joined(terminal, self._device.id)
            terminal.attach(self._socket, message.offset, self._send)
        elif isinstance(message, TerminalDetach):
            self._attached.discard(terminal.id)
            terminal.detach(self._socket)

    def sent(self) -> dict[str, int]:
        """The offset up to which the output of each attached terminal was sent."""
        terminals = [self._registry.terminal(id) for id in self._attached if self._registry.has(id)]
        offsets = {each.id: each.sent_to(self._socket) for each in terminals}
        return {id: offset for id, offset in offsets.items() if offset is not None}

    def close(self) -> None:
        """The socket was closed, or the device revoked."""
        self._registry.unwatch(self._socket)
        for id in filter(self._registry.has, self._attached):
            self._registry.terminal(id).detach(self._socket)
        self._attached.clear()

    def _list(self, session: str, rows: tuple[TerminalRow, ...]) -> None:
        self._send(Terminals(session=session, terminals=rows))
