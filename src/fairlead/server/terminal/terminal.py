"""One terminal: its shell, the stored part of its output, and the clients that follow it.

The server never waits for a client for long. While every client that follows the terminal is
behind, the shell is not read, so a program that writes a lot is as fast as the fastest client
draws. After `STALL_S` a client that has not read is no longer waited for. If none is left, or no
client follows the terminal, the shell is read and the oldest output is dropped; a client that
missed output learns how much.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from fairlead.server.protocol.terminal_messages import TerminalOutput, TerminalRow
from fairlead.server.terminal.output.scrollback import Scrollback
from fairlead.server.terminal.output.viewer import Viewer
from fairlead.server.terminal.shell import Shell

__all__ = ["SendOutput", "Terminal"]

STALL_S = 2.0
"""How long one client may keep a program waiting."""

GATHER_S = 0.008
"""Output is gathered for this time before it is sent, unless there was none for as long."""

SendOutput = Callable[[TerminalOutput], None]


class Terminal:
    """A shell and its output."""

    def __init__(
        self,
        *,
        id: str,
        number: int,
        session: str,
        device: str,
        scrollback_bytes: int,
        on_exit: Callable[[Terminal], None],
    ) -> None:
        self.id = id
        self.number = number
        self.session = session
        self.device = device
        """The device that opened it."""
        self.closed_by: tuple[str, str] | None = None
        """The device that ended it and why, unless the shell ended by itself."""
        self.code: int | None = None
        self.seen_by = {device}
        """The devices that have attached, for the audit."""
        self._on_exit = on_exit
        self._shell = Shell(self._output, self._exited)
        self._scrollback = Scrollback(scrollback_bytes)
        self._viewers: dict[str, tuple[Viewer, SendOutput]] = {}
        self._loop = asyncio.get_running_loop()
        self._flushed_at = 0.0
        self._flushing: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None

    @property
    def row(self) -> TerminalRow:
        """The terminal as clients see it in the list."""
        return TerminalRow(
            id=self.id, number=self.number, ended=self.code is not None, code=self.code
        )

    def start(
        self, program: str, *, cwd: str, env: Mapping[str, str], cols: int, rows: int
    ) -> None:
        """Start the shell."""
        self._shell.start(program, cwd=cwd, env=env, cols=cols, rows=rows)

    def hang_up(self, device: str, reason: str) -> None:
        """End the shell."""
        if self.code is None and self.closed_by is None:
            self.closed_by = device, reason
        self._shell.hang_up()

    async def ended(self) -> None:
        """Wait until the shell and what it started have ended."""
        await self._shell.ended.wait()

    # Clients

    def attach(self, viewer: str, offset: int, send: SendOutput) -> None:
        """Send the stored output from an offset on, and what follows."""
        self._viewers[viewer] = Viewer(self._scrollback, offset), send
        self._send_to(viewer)
        self._balance()

    def detach(self, viewer: str) -> None:
        """Send no more output to a client."""
        if self._viewers.pop(viewer, None) is not None:
            self._balance()

    def ack(self, viewer: str, offset: int) -> None:
        """A client has drawn everything before an offset."""
        known = self._viewers.get(viewer)
        if known is not None:
            known[0].ack(offset)
            self._send_to(viewer)
            self._balance()

    def sent_to(self, viewer: str) -> int | None:
        """The offset up to which a client was sent; None if it does not follow the terminal."""
        known = self._viewers.get(viewer)
        return None if known is None else known[0].sent

    def write(self, data: str) -> bool:
        """Type something; False if the program does not read what was typed before."""
        return self._shell.write(data.encode("utf-8", "replace"))

    def resize(self, cols: int, rows: int) -> None:
        """Set the size of the window."""
        self._shell.resize(cols, rows)

    # Output

    def _output(self, data: bytes) -> None:
        self._scrollback.add(data)
        if self._flushing is not None or not self._viewers:
            return
        wait_s = self._flushed_at + GATHER_S - self._loop.time()
        if wait_s <= 0:
            self._flush()
        else:
            self._flushing = self._loop.call_later(wait_s, self._flush)

    def _flush(self) -> None:
        self._flushing = None
        self._flushed_at = self._loop.time()
        for viewer in tuple(self._viewers):
            self._send_to(viewer)
        self._balance()

    def _send_to(self, name: str) -> None:
        viewer, send = self._viewers[name]
        while (piece := viewer.next()) is not None:
            send(
                TerminalOutput(
                    terminal=self.id,
                    offset=piece.offset,
                    data=piece.data,
                    replay=piece.replay,
                    lost=piece.lost,
                )
            )

    def _balance(self) -> None:
        """Read the shell, unless every client that is waited for is behind."""
        awaited = [viewer for viewer, _ in self._viewers.values() if not viewer.lagging]
        if awaited and all(viewer.behind for viewer in awaited):
            self._shell.pause()
            if self._stalled is None:
                self._stalled = self._loop.call_later(STALL_S, self._stop_waiting)
            return
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None
        self._shell.resume()

    def _stop_waiting(self) -> None:
        self._stalled = None
        for viewer, _ in self._viewers.values():
            viewer.lagging = viewer.behind
        self._balance()

    def _exited(self, code: int) -> None:
        self.code = code
        if self._stalled is not None:
            self._stalled.cancel()
        self._on_exit(self)
