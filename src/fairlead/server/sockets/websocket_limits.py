"""A WebSocket connection with limits below whole messages: on frames, pings and unread pongs.

uvicorn's own protocol parses everything that a read returns, and answers every ping whether the
client reads the answers or not. This one parses bytes in small pieces, and only as far as the
application has processed the messages before. Pings and pongs count against the same allowance as
messages, and a client that leaves too much unread is disconnected. `uvicorn_limits` installs it in
uvicorn; `client_socket` uses the `ConnectionControl` that it puts into the scope.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State

from fairlead.server.limits import Limits
from fairlead.server.protocol.messages import Ack
from fairlead.server.sockets.rate_limit import Allowance
from fairlead.server.sockets.small_frames import FrameBoundary, small_text
from fairlead.server.sockets.uvicorn_parts import WebSocketsSansIOProtocol

__all__ = ["ConnectionControl", "LimitedWebSocket", "control_of"]

PIECE_BYTES = 4 * 1024
"""Bytes parsed at once: some 700 of the smallest frames, about ten milliseconds."""

EXTENSION = "fairlead.control"

OPEN = State.OPEN


ACK = b'{"type":"ack"'
INTENT, INTENT_WITHIN = b'"intent"', 24
"""What an intent contains within its first bytes, whatever the spaces between."""
_decode_ack = msgspec.json.Decoder(Ack)


@dataclass(slots=True)
class ConnectionControl:
    """What the application uses of a connection: its allowance, its backlog, and a way to abort."""

    allowance: Allowance
    abort: Callable[[], None]
    unsent: Callable[[], int]
    """Bytes that were written and that the client's system has not accepted."""
    write: Callable[[bytes], bool]
    """Writes a whole frame if the connection accepts one now; returns False if it does not."""
    on_ack: Callable[[Ack], bool] | None = None
    """Is called with an ack as soon as it is parsed. There is one for each frame, and the queue of
    the application costs more than the ack itself. False if it must be queued like a message."""
    on_intent: Callable[[bytes], bool] | None = None
    """The same for what looks like an intent, undecoded."""


def control_of(scope: Any, rate: float) -> ConnectionControl:
    """The control of a connection; a new one if another server accepted the connection."""
    control = scope.get("extensions", {}).get(EXTENSION)
    if isinstance(control, ConnectionControl):
        return control
    return ConnectionControl(Allowance(rate, time.monotonic()), _ignore, int, _refuse)


class LimitedWebSocket(WebSocketsSansIOProtocol):
    """One WebSocket connection; subclasses set `limits`."""

    limits: Limits

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._unparsed = bytearray()
        self._boundary = FrameBoundary()
        self._allowance = Allowance(self.limits.messages_per_s, time.monotonic())
        self._control: ConnectionControl | None = None

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if not self.close_sent:
            extensions: dict[str, Any] = self.scope["extensions"]
            self._control = extensions[EXTENSION] = ConnectionControl(
                self._allowance,
                self.transport.abort,
                self.transport.get_write_buffer_size,
                self._write_frame,
            )

    def data_received(self, data: bytes) -> None:
        if self._control is not None:  # Before it, the request head arrives.
            if data := self._take_small(data):
                self._boundary.feed(data)
            else:
                return
        self._unparsed += data
        self._parse()

    def _take_small(self, data: bytes) -> bytes:
        """Act on the acks and intents that these bytes begin with; returns the bytes after them.

        One in the middle of a frame, of a message in fragments, or behind bytes that are not parsed
        yet is left to the parser.
        """
        if self._unparsed or not self._boundary.reached or self.conn.current_size is not None:
            return data
        at = 0
        while not self.read_paused and self.conn.state is OPEN:
            frame = small_text(data, at)
            if frame is None:
                break
            payload, end = frame
            if payload.startswith(ACK):
                if not self._handle_ack(payload):
                    super().handle_text(Frame(Opcode.TEXT, payload))
            elif not self._handle_intent(payload):
                break
            at = end
        return data[at:] if at else data

    def connection_lost(self, exc: Exception | None) -> None:
        # Bytes that arrived before the end count; they are at most the result of one read.
        while self._unparsed and not self.close_sent:
            self._parse_piece()
        super().connection_lost(exc)

    async def receive(self) -> Any:
        message = await super().receive()
        self._parse()
        return message

    async def send(self, message: Any) -> None:
        await super().send(message)
        if self.close_sent:
            self._parse()  # The client's own close frame may be among the unparsed bytes.

    def handle_text(self, event: Frame) -> None:
        if not (event.fin and event.data[: len(ACK)] == ACK and self._handle_ack(event.data)):
            super().handle_text(event)

    def _handle_ack(self, data: bytes | bytearray | memoryview) -> bool:
        """Act on an ack at once, unless an earlier message is queued or the ack must be delayed."""
        on_ack = self._control.on_ack if self._control is not None else None
        if on_ack is None or self.read_paused or self.close_sent:
            return False
        try:
            ack = _decode_ack.decode(data)
        except msgspec.DecodeError:
            return False
        return not self._allowance.take(time.monotonic()) and on_ack(ack)

    def _handle_intent(self, payload: bytes) -> bool:
        """Act on an intent at once, unless an earlier message is queued or it must be delayed."""
        on_intent = self._control.on_intent if self._control is not None else None
        if on_intent is None or INTENT not in payload[:INTENT_WITHIN]:
            return False
        if self.read_paused or self.close_sent or not self._allowance.covers(time.monotonic()):
            return False
        return on_intent(payload)

    def _write_frame(self, frame: bytes) -> bool:
        if self.close_sent or self.disconnected or self.conn.state is not OPEN:
            return False
        transport = self.transport
        if not self.writable.is_set() or transport.is_closing():
            return False
        transport.write(frame)
        return True

    def handle_ping(self) -> None:
        if self.transport.is_closing():
            return
        super().handle_ping()
        self._count_control_frame()

    def handle_pong(self, event: Frame) -> None:
        super().handle_pong(event)
        self._count_control_frame()

    def _parse(self) -> None:
        while self._unparsed and not self.read_paused and not self.transport.is_closing():
            self._parse_piece()

    def _parse_piece(self) -> None:
        piece = bytes(self._unparsed[:PIECE_BYTES])
        del self._unparsed[:PIECE_BYTES]
        super().data_received(piece)

    def _count_control_frame(self) -> None:
        """Abort the connection of a client that floods control frames or leaves pongs unread."""
        debt_s = self._allowance.take(time.monotonic())
        unread = self.transport.get_write_buffer_size()
        if debt_s > self.limits.message_debt_s or unread > self.limits.unread_pong_bytes:
            self._unparsed.clear()
            self.transport.abort()


def _refuse(_: bytes) -> bool:
    """Connections of another server are written by the application's queue."""
    return False


def _ignore() -> None:
    """Nothing to abort."""
