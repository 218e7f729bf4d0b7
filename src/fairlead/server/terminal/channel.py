"""The messages of one socket about terminals. Only owners may send them."""

from __future__ import annotations

from collections.abc import Callable

from fairlead.server.access.roles import require
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
from fairlead.server.terminal.terminals import TerminalRegistry
from fairlead.store.tables.devices import Device

__all__ = ["NOT_OFFERED", "TerminalChannel"]

NOT_OFFERED = "This server offers no terminal. Its operator can start it with --terminal."


class TerminalChannel:
    """What one socket follows."""

    def __init__(
        self,
        registry: TerminalRegistry,
        socket: str,
        device: Device,
        send: Callable[[TerminalOutput | Terminals], None],
    ) -> None:
        self._registry = registry
        self._socket = socket
        self._device = device
        self._send = send
        self._attached: set[str] = set()

    def handle(self, message: TerminalMessage) -> None:
        """Carry out a message; raises a `Refusal`."""
        require(self._device.role, "owner", "A terminal")
        if isinstance(message, TerminalList):
            self._registry.watch(self._socket, message.session, self._list)
            return
        late = isinstance(message, TerminalAck | TerminalSize | TerminalDetach)
        if late and not self._registry.has(message.terminal):
            return  # The terminal was closed while this message was on its way.
        terminal = self._registry.terminal(message.terminal)
        if isinstance(message, TerminalInput):
            if not terminal.write(message.data):
                raise Refusal(
                    "too_large", "The program in the terminal does not read. Nothing was typed."
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

    def close(self) -> None:
        """The socket was closed, or the device revoked."""
        self._registry.unwatch(self._socket)
        for id in filter(self._registry.has, self._attached):
            self._registry.terminal(id).detach(self._socket)
        self._attached.clear()

    def _list(self, session: str, rows: tuple[TerminalRow, ...]) -> None:
        self._send(Terminals(session=session, terminals=rows))
