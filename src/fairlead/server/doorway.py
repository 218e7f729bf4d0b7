"""The outermost layer of the application: every request passes here before anything else sees it.

Refuses what is not addressed to us or comes from a foreign page (`gatekeeper`), limits the size
of a body, and puts the security headers on every response. There is no switch to turn it off.
"""

from __future__ import annotations

from typing import Any

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fairlead.server.gatekeeper import Refusal, check_host, check_origin
from fairlead.server.headers import SECURITY_HEADERS
from fairlead.server.limits import Limits

__all__ = ["Doorway"]


class Doorway:
    """An ASGI application around another."""

    def __init__(self, app: ASGIApp, authorities: frozenset[str], limits: Limits) -> None:
        self._app = app
        self._authorities = authorities
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        sender = _with_headers(send) if scope["type"] == "http" else send
        if refusal is None:
            await self._app(scope, receive, sender)
        elif scope["type"] == "http":
            status, text = refusal
            await PlainTextResponse(text + "\n", status)(scope, receive, sender)
        else:
            await _refuse_upgrade(scope, send, refusal)

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers = Headers(scope=scope)
        upgrade = scope["type"] == "websocket"
        hosts = headers.getlist("host")
        wrong_host = check_host(hosts, self._authorities)
        if wrong_host is not None:
            return wrong_host
        # h11 limits a head only while it is incomplete; one that comes in one piece passes it.
        if sum(len(n) + len(v) + 4 for n, v in headers.raw) > self._limits.header_bytes:
            return 431, "these headers are too large"
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit() or int(length) > self._limits.upload_bytes:
            return 413, "that is too large"
        return check_origin(
            headers.getlist("origin"),
            host=hosts[0],
            secure=scope.get("scheme") in ("https", "wss"),
            method="GET" if upgrade else scope["method"],
            upgrade=upgrade,
            has_bearer=headers.get("authorization", "").startswith("Bearer "),
        )


async def _refuse_upgrade(scope: Scope, send: Send, refusal: Refusal) -> None:
    """Answer before the upgrade: the socket is never opened."""
    status, text = refusal
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008, "reason": text})  # A 403.
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *SECURITY_HEADERS]
    await send({"type": "websocket.http.response.start", "status": status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": f"{text}\n".encode()})


def _with_headers(send: Send) -> Send:
    async def sender(message: Message) -> None:
        if message["type"] == "http.response.start":
            mine: list[Any] = list(message.get("headers", []))
            names = {name.lower() for name, _ in mine}
            mine += [(name, value) for name, value in SECURITY_HEADERS if name not in names]
            message = {**message, "headers": mine}
        await send(message)

    return sender
