"""One terminal as a client sees it: all bytes in order, acknowledged as a browser does."""

from __future__ import annotations

import base64
from typing import Any

from tests.server.conftest import Client

__all__ = ["Screen", "open_terminal"]

ACK_BYTES = 64 * 1024
"""As the web app acknowledges: often enough, and far from the allowance of messages."""


class Screen:
    """Follows one terminal over a client's socket."""

    def __init__(self, client: Client, terminal: str, *, acks: bool = True) -> None:
        self.client = client
        self.terminal = terminal
        self.text = ""
        self.replayed = ""
        self.lost = 0
        self.end: int | None = None
        self._acks = acks
        self._acked = 0

    async def attach(self, offset: int = 0) -> Screen:
        await self.client.say(type="terminal_attach", terminal=self.terminal, offset=offset)
        return self

    async def take(self) -> dict[str, Any]:
        """Apply the next piece of output."""
        piece = await self.client.hear("terminal_output", terminal=self.terminal)
        data = base64.b64decode(piece["data"])
        if self.end is not None:
            assert piece["offset"] == self.end + piece["lost"]
        self.end = piece["offset"] + len(data)
        self.lost += piece["lost"]
        self.text += data.decode(errors="replace")
        self.replayed += data.decode(errors="replace") if piece["replay"] else ""
        if self._acks and self.end - self._acked >= ACK_BYTES:
            self._acked = self.end
            await self.client.say(type="terminal_ack", terminal=self.terminal, offset=self.end)
        return piece

    async def until(self, words: str) -> str:
        """Read until this text appears; returns everything so far."""
        while words not in self.text:
            await self.take()
        return self.text

    async def type(self, data: str) -> None:
        await self.client.say(type="terminal_input", terminal=self.terminal, data=data)

    async def run(self, command: str, words: str) -> str:
        """Type a command and wait for text that only its output has."""
        await self.type(f"{command}\n")
        return await self.until(words)


async def open_terminal(client: Client, session: str, **more: Any) -> Screen:
    """Open a terminal and follow it."""
    result = await client.intend("open_terminal", session=session, **more)
    assert result["ok"], result
    return await Screen(client, result["result"]["terminal"]).attach()
