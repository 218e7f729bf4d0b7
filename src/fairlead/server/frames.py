"""Whole messages over one WebSocket: as bytes in, as JSON text out, and a bounded goodbye."""

from __future__ import annotations

import asyncio
import contextlib

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from fairlead.server.messages import Bye, FromServer

__all__ = ["receive", "say_goodbye", "text_of"]

GOODBYE_S = 1.0
"""How long somebody who does not read may take to hear that it is over."""

_encode = msgspec.json.Encoder()


def text_of(message: FromServer) -> str:
    """A message as it is sent."""
    return _encode.encode(message).decode()


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
    """Close a socket with a reason, if it is open; never fails, never waits long."""
    if websocket.application_state is not WebSocketState.CONNECTED:
        return
    with contextlib.suppress(RuntimeError, WebSocketDisconnect, TimeoutError):
        async with asyncio.timeout(GOODBYE_S):
            await websocket.send_text(text_of(goodbye))
            await websocket.close(code)
