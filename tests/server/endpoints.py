"""The two sockets of the server, entered by hand: what holds for one must hold for the other."""

from __future__ import annotations

import json
import uuid

from tests.server.raw_requests import RawSocket

__all__ = ["ENDPOINTS", "asking", "enter", "prompting"]

ENDPOINTS = ("/ws", "/bridge")


async def enter(
    port: int, token: str, path: str = "/ws", *, client: str = "", buffer: int | None = None
) -> RawSocket:
    """A raw socket whose client the server knows; `buffer` as in `RawSocket.open`."""
    raw = await RawSocket.open(port, path, f"Authorization: Bearer {token}", buffer=buffer)
    if path == "/ws":
        hello = {"type": "hello", "protocol": 1, "token": token}
        await raw.text(json.dumps({**hello, "client": client or str(uuid.uuid4())}))
        await raw.hear()
    return raw


def prompting(path: str, session: str, words: str, n: int = 1) -> str:
    """The message that sends a prompt."""
    if path == "/bridge":
        return json.dumps({"type": "input", "sessionId": session, "text": words})
    intent = {"kind": "send", "session": session, "text": words, "uuid": str(uuid.uuid4())}
    return json.dumps({"type": "intent", "n": n, "intent": intent})


def asking(path: str, session: str) -> str:
    """A small message whose answer is the whole session."""
    if path == "/bridge":
        return json.dumps({"type": "get_history", "sessionId": session})
    return json.dumps({"type": "open", "document": session})
