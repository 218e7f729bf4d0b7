"""Whole messages over one WebSocket: receives bytes, sends JSON text, and closes within a time."""

from __future__ import annotations

import asyncio

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from fairlead.server.protocol.messages import Bye, FromServer

__all__ = ["Encoded", "close_with", "receive", "say_goodbye", "text_of"]

GOODBYE_S = 1.0
"""How long a client that does not read has to receive the close message."""

_encode = msgspec.json.Encoder()


def text_of(message: FromServer) -> str:
    """A message as it is sent."""
    return _encode.encode(message).decode()


class Encoded:
    """A message as JSON, and as the bytes of a WebSocket frame, made once for all clients."""

    __slots__ = ("_payload", "frame")

    def __init__(self, message: FromServer) -> None:
        payload = self._payload = _encode.encode(message)
        size = len(payload)
        if size < 126:
            head = bytes((0x81, size))
        elif size < 65_536:
            head = b"\x81\x7e" + size.to_bytes(2)
        else:
            head = b"\x81\x7f" + size.to_bytes(8)
        self.frame = head + payload
        """One final text frame without a mask (RFC 6455, 5.2), the same for every client."""

    @property
    def text(self) -> str:
        """The JSON."""
        return self._payload.decode()


async def receive(websocket: WebSocket) -> bytes:
    """The next message; raises WebSocketDisconnect at the end."""
    message = await websocket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1005))
    text = message.get("text")
    if text is not None:
        return str(text).encode("utf-8", "surrogatepass")
    return bytes(message.get("bytes") or b"")


async def say_goodbye(websocket: WebSocket, goodbye: Bye, code: int) -> None:
    """Close a socket with a reason, if it is open; never fails and never waits long."""
    await close_with(websocket, text_of(goodbye), code)


async def close_with(websocket: WebSocket, last: str, code: int) -> bool:
    """Send a last message and close; whether the client's system accepted it in time."""
    if websocket.application_state is not WebSocketState.CONNECTED:
        return True
    try:
        async with asyncio.timeout(GOODBYE_S):
            await websocket.send_text(last)
            await websocket.close(code)
    except (RuntimeError, WebSocketDisconnect, TimeoutError):
        return False
    return True
