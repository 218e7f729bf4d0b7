"""One connected client: what waits to be written to it, and a task that writes it.

Nobody waits for a client: messages are queued, and whoever asks without reading is made to wait
itself (`has_room`). Neighbours: `flusher` decides what it gets, `sockets` what it may want.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Sequence

from starlette.websockets import WebSocket

from fairlead.server.frames import say_goodbye, text_of
from fairlead.server.messages import Bye, FromServer
from fairlead.store.devices import Device

__all__ = ["ClientSocket"]


class ClientSocket:
    """A socket whose client has said who it is."""

    def __init__(self, websocket: WebSocket, device: Device, client: str, most: int) -> None:
        self.id = uuid.uuid4().hex
        self.websocket = websocket
        self.device = device
        self.client = client
        self.intents = 0
        """How many of its intents are being carried out."""
        self.sent_at = time.monotonic()
        self.passed_by = False
        """Whether it was ready for a frame while it was busy with the last."""
        self.hurried = False
        """Whether that frame was urgent."""
        self.on_free: Callable[[ClientSocket], None] = _nothing
        """Called when it has written all it had, after it was passed by."""
        self.over = asyncio.Event()
        """Set when it is to go, whether it reads or not."""
        self._waiting: list[str] = []
        self._writing = False
        self._wake = asyncio.Event()
        self._letters = 0
        self._most = most
        self._room = asyncio.Event()
        self._room.set()

    async def has_room(self) -> None:
        """Wait while too much waits to be written: who asks and does not read waits too."""
        await self._room.wait()

    @property
    def busy(self) -> bool:
        """Whether something still waits to be written."""
        return self._writing or bool(self._waiting)

    def send(self, messages: Sequence[FromServer]) -> None:
        """Queue messages; the writer takes them in order."""
        self.send_texts([text_of(message) for message in messages])

    def send_texts(self, texts: list[str]) -> None:
        """Queue messages that are written as JSON already."""
        if texts:
            self._waiting += texts
            self._letters += sum(map(len, texts))
            if self._letters > self._most:
                self._room.clear()
            self._wake.set()

    async def write_forever(self) -> None:
        """Write what is queued; a slow network holds up nobody but this task."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            texts, self._waiting = self._waiting, []
            self._writing = True
            texts.reverse()
            while texts:
                # Nothing is held on to: a snapshot is long, and the next frame may be far away.
                self._letters -= len(texts[-1])
                await self.websocket.send_text(texts.pop())
                if self._letters <= self._most:
                    self._room.set()
            self._writing = False
            self.sent_at = time.monotonic()
            if self.passed_by:
                self.passed_by = False
                self.on_free(self)

    async def let_go(self, goodbye: Bye, code: int) -> None:
        """Say goodbye, and end whether that is heard or not."""
        await say_goodbye(self.websocket, goodbye, code)
        self.over.set()


def _nothing(_: ClientSocket) -> None:
    """Before a flusher has taken it on."""
