"""Another program on the server's port while the server is down: it collects all that it can get.

    async with take_port(port) as impostor:
        ...
    assert impostor.heard == []

Every page and script that it serves sets `window.squatted`, and every socket is accepted.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

__all__ = ["PortImpostor", "take_port"]

SCRIPT = "window.squatted = true;"

PAGE = f"<!doctype html><title>Fairlead</title><script>{SCRIPT}</script><p>squatted</p>"

WORKER = """
self.oninstall = () => self.skipWaiting();
self.onactivate = (event) => event.waitUntil(self.clients.claim());
self.onfetch = (event) => {
  if (event.request.url.endsWith("/whose")) event.respondWith(new Response("squatter"));
  if (event.request.mode === "navigate")
    event.respondWith(new Response("<!doctype html><script>window.squatted = true</script>", { headers: { "content-type": "text/html" } }));
};
"""

WELCOME: dict[str, Any] = {
    "type": "welcome", "protocol": 1, "epoch": "e", "device": "d", "role": "owner", "version": "0",
    "agent": "x", "last_intent": 0, "time": 0,
}  # fmt: skip

CHALLENGE = {"type": "challenge", "nonce": "n" * 43, "proof": "0" * 64}


@dataclass
class PortImpostor:
    """What it received, and what it answers."""

    heard: list[str] = field(default_factory=list)
    """Every message on a socket."""
    asked: list[tuple[str, str]] = field(default_factory=list)
    """Every path with all headers."""
    says: tuple[dict[str, Any], ...] = ()
    """What it answers to the first message of a socket."""
    spoke: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a socket received something and answered."""

    def answer(self, _: ServerConnection, request: Request) -> Response | None:
        self.asked.append((request.path, str(request.headers)))
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return None
        if request.headers.get("Service-Worker") == "script":
            return respond(WORKER, "text/javascript", "no-store")
        if request.path.startswith("/assets/"):
            return respond(SCRIPT, "text/javascript", "public, max-age=31536000, immutable")
        return respond(PAGE, "text/html", "no-store")

    async def talk(self, connection: ServerConnection) -> None:
        try:
            async for message in connection:
                self.heard.append(str(message))
                for one in self.says:
                    await connection.send(json.dumps(one))
                self.spoke.set()
        except ConnectionClosed:
            return


def respond(text: str, kind: str, keep: str) -> Response:
    body = text.encode()
    headers = Headers(
        {"Content-Type": kind, "Cache-Control": keep, "Content-Length": str(len(body)),
         "Service-Worker-Allowed": "/", "Cross-Origin-Embedder-Policy": "require-corp",
         "Cross-Origin-Resource-Policy": "same-origin", "Connection": "close"}
    )  # fmt: skip
    return Response(200, "OK", headers, body)


@asynccontextmanager
async def take_port(port: int, *says: dict[str, Any]) -> AsyncIterator[PortImpostor]:
    """Listen where the server did."""
    impostor = PortImpostor(says=says)
    async with serve(
        impostor.talk, "127.0.0.1", port, process_request=impostor.answer, max_size=None
    ):
        yield impostor
