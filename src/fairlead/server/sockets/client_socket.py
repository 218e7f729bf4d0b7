"""One connected client of /ws or /bridge, with every limit of a connection.

The server never waits for a client: messages are queued, and the messages of a client that does not
read are delayed. Each message counts against the allowance, and the device is checked again before
the message is processed. Neighbors: `connections` holds all sockets, `flusher` decides what they
get, `sockets` and `bridge` process their messages.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Sequence

from starlette.websockets import WebSocket, WebSocketDisconnect

from fairlead.server.limits import Limits
from fairlead.server.protocol.messages import Ack, Bye, FromServer, Pong
from fairlead.server.sockets.flag import Flag
from fairlead.server.sockets.frames import Encoded, close_with, receive, text_of
from fairlead.server.sockets.rate_limit import Allowance
from fairlead.server.sockets.websocket_limits import control_of
from fairlead.store.tables.devices import Device

__all__ = ["ClientSocket"]


class ClientSocket:
    """The socket of an authenticated client."""

    def __init__(self, websocket: WebSocket, device: Device, client: str, limits: Limits) -> None:
        self.id = uuid.uuid4().hex
        self.websocket = websocket
        self.device = device
        self.client = client
        self.intents = 0
        """The number of its intents that are being carried out."""
        self.progress_at = time.monotonic()
        """When something was last written, or was first queued."""
        self.skipped = False
        """Whether a frame was ready while the socket was busy with the last."""
        self.skipped_urgent = False
        """Whether that frame was urgent."""
        self.on_free: Callable[[ClientSocket], None] = _ignore
        """Called when the queue is written, after the socket was skipped."""
        self.on_unread: Callable[[ClientSocket], None] = _ignore
        """Called when more is queued while something is unread already."""
        self.over = Flag()
        """Set when the socket is to be closed, whether the client reads or not."""
        self.ended = Flag()
        """Set when the last message was sent, or could not be."""
        self.stopped = Flag()
        """Set when nothing more is read or written, because the client is gone or the socket is over."""
        self.problem: BaseException | None = None
        """Why writing failed."""
        self.share: Allowance | None = None
        """The allowance of all sockets of the device together; owners have no such limit."""
        self.unread = 0
        """Characters in the queue."""
        self._limits = limits
        self._control = control_of(websocket.scope, limits.messages_per_s)
        self._unsent = 0
        self._queue: list[str] = []
        self._writing = False
        self._waits_for_message = False
        """Whether every message that has arrived is processed."""
        self._writer: asyncio.Task[None] | None = None
        """Writes the queue; there is none while it is empty, which is nearly always."""
        self._room = Flag(is_set=True)

    async def receive(self) -> bytes:
        """The next message, delayed if needed; raises `WebSocketDisconnect` at the end."""
        await self._room.wait()  # Delays a client that sends requests and does not read.
        self._waits_for_message = True
        raw = await receive(self.websocket)
        self._waits_for_message = False
        # Messages above the allowance are delayed, not dropped.
        wait_s = self._control.allowance.take(time.monotonic())
        if wait_s := max(wait_s, self.charge(1.0)):
            await asyncio.sleep(wait_s)
        if self.over.is_set:
            raise WebSocketDisconnect(1008)
        return raw

    def charge(self, cost: float) -> float:
        """Charge the device's allowance; returns the delay of its next message in seconds."""
        return 0.0 if self.share is None else self.share.take(time.monotonic(), cost)

    @property
    def may_ask(self) -> bool:
        """Whether a message that arrives now can be processed: the client has read what it was sent, is
        within its share, and none of its messages is being processed."""
        if not self._waits_for_message or self.over.is_set or not self._room.is_set:
            return False
        return self.share is None or self.share.covers(time.monotonic())

    @property
    def busy(self) -> bool:
        """Whether something is still queued or being written."""
        return self._writing or bool(self._queue)

    @property
    def unread_bytes(self) -> int:
        """What the server holds in memory because the client does not read it."""
        return self.unread + self._control.unsent()

    def stuck_s(self, now: float) -> float:
        """For how long the client has read nothing of its queue."""
        unsent = self._control.unsent()
        if unsent < self._unsent or not (unsent or self.busy):
            self.progress_at = now
        self._unsent = unsent
        return now - self.progress_at

    def messages(
        self, messages: Sequence[FromServer], encoded: Callable[[FromServer], Encoded]
    ) -> None:
        """Send messages of the hub; `encoded` encodes one, once for all clients that get it."""
        if len(messages) == 1:  # The usual case.
            self._send_message(encoded(messages[0]))
        else:
            self.send_messages([encoded(message) for message in messages])

    def _send_message(self, message: Encoded) -> None:
        control = self._control
        unsent = control.unsent()
        if unsent or self._writing or self._queue or not control.write(message.frame):
            self.send_messages([message])
        else:
            self.progress_at = time.monotonic()

    def send(self, messages: Sequence[FromServer]) -> None:
        """Send responses in order: large ones are charged to the device."""
        encoded = [Encoded(message) for message in messages]
        size = sum(len(message.frame) for message in encoded)
        self.charge(size // self._limits.answer_unit_bytes)
        self.send_messages(encoded)

    def send_messages(self, messages: list[Encoded]) -> None:
        """Send messages in order: write at once what the connection accepts, queue the rest."""
        if not messages:
            return
        written = 0
        if not self.busy:
            unsent = self._control.unsent()
            # One write for all: each is a system call, and costs more than to join the frames.
            frames = [message.frame for message in messages]
            if self._control.write(frames[0] if len(frames) == 1 else b"".join(frames)):
                written = len(messages)
                self.progress_at = time.monotonic()
                if unsent:
                    self.on_unread(self)
        if written < len(messages):
            self.send_texts([message.text for message in messages[written:]])

    def answer(self, texts: list[str]) -> None:
        """Queue responses that are encoded already: large ones are charged to the device."""
        self.charge(sum(map(len, texts)) // self._limits.answer_unit_bytes)
        self.send_texts(texts)

    def send_texts(self, texts: list[str]) -> None:
        """Queue messages that are encoded already."""
        if not texts:
            return
        if not self.busy:
            self.progress_at = time.monotonic()
        before = self.unread_bytes
        self._queue += texts
        self.unread += sum(map(len, texts))
        if self.unread > self._limits.send_buffer_bytes:
            self._room.clear()
        if self._writer is None and not self.stopped.is_set:
            self._writer = asyncio.create_task(self._write())
            self._writer.add_done_callback(self._written)
        if before:
            self.on_unread(self)

    def on_ack(self, handle: Callable[[Ack], bool]) -> None:
        """Call `handle` with each ack as soon as it arrives; if it returns False, queue the ack."""
        self._control.on_ack = handle

    def on_intent(self, handle: Callable[[bytes], bool]) -> None:
        """Call `handle` with each intent as soon as it arrives; if it returns False, queue it."""
        self._control.on_intent = handle

    def send_pong(self) -> None:
        """Tell the client that the server is alive, while nothing else is sent."""
        self.send([Pong(time=time.time())])

    def stop(self) -> None:
        """Read and write no more."""
        self.stopped.set()
        if self._writer is not None:
            self._writer.cancel()

    async def _write(self) -> None:
        """Write the queue; a slow network delays only this task."""
        while self._queue:
            texts, self._queue = self._queue, []
            self._writing = True
            texts.reverse()
            while texts:
                # Keep no reference: a snapshot is long, and the next frame may be much later.
                text = texts.pop()
                await self.websocket.send_text(text)
                self.unread -= len(text)
                del text
                self.progress_at = time.monotonic()
                if self.unread <= self._limits.send_buffer_bytes:
                    self._room.set()
            self._writing = False
            if self.skipped:
                self.skipped = False
                self.on_free(self)
        self._writer = None  # Here, because the callback below comes a moment later.

    def _written(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled():
            self.problem = task.exception()
        if task.cancelled() or self.problem is not None:
            self.stopped.set()

    def goodbye(self, reason: str, *, again: bool) -> str:
        """The last message, as text."""
        return text_of(Bye(reason=reason, again=again))

    async def close(self, reason: str, code: int, *, again: bool) -> None:
        """Close the socket: no more messages are processed, even if the client reads nothing."""
        self.over.set()
        self.stopped.set()
        try:
            sent = await close_with(self.websocket, self.goodbye(reason, again=again), code)
        finally:
            self.ended.set()
        if not sent:
            self._control.abort()


def _ignore(_: ClientSocket) -> None:
    """The callback before `connections` has added the socket."""
