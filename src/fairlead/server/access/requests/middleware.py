"""The outermost layer of the application: every request passes it before any other code.

It refuses requests that are not addressed to this server or come from a page of another origin
(`request_checks`), limits the size of a body, and adds the security headers to every response. It
cannot be turned off.
"""

from __future__ import annotations

from typing import Any

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fairlead.server.access.requests.headers import SECURITY_HEADERS
from fairlead.server.access.requests.peer import behind_proxy
from fairlead.server.access.requests.proxies import TrustedProxies
from fairlead.server.access.requests.public_url import PublicUrl, below_path
from fairlead.server.access.requests.request_checks import Refusal, check_host, check_origin
from fairlead.server.access.requests.request_oddities import check_request
from fairlead.server.limits import Limits

__all__ = ["RequestFilter"]


class RequestFilter:
    """ASGI middleware around the application."""

    def __init__(
        self,
        app: ASGIApp,
        authorities: frozenset[str],
        limits: Limits,
        proxies: TrustedProxies | None = None,
        public: PublicUrl | None = None,
    ) -> None:
        self._proxies = proxies or TrustedProxies()
        self._public = public
        self._app = app
        self._authorities = authorities
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        scope = behind_proxy(scope, self._proxies)
        refusal = self._refusal(scope)
        sender = _with_headers(send) if scope["type"] == "http" else send
        if refusal is None and _lacks_slash(scope, self._base_path(scope)):
            await RedirectResponse(f"{scope['path']}/", 308)(scope, receive, sender)
            return
        if refusal is None:
            scope, refusal = self._routed(scope)
        if refusal is None:
            await self._app(scope, receive, sender)
        elif scope["type"] == "http":
            status, text = refusal
            # Nothing more is read from this connection: the next bytes may be part of an attack.
            answer = PlainTextResponse(text + "\n", status, {"connection": "close"})
            await answer(scope, receive, sender)
        else:
            await _refuse_upgrade(scope, send, refusal)

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers = Headers(scope=scope)
        upgrade = scope["type"] == "websocket"
        hosts = headers.getlist("host")
        wrong_host = check_host(hosts, self._authorities)
        if wrong_host is not None:
            return wrong_host
        # h11 limits a head only while it is incomplete; a head that arrives in one piece passes.
        if sum(len(n) + len(v) + 4 for n, v in headers.raw) > self._limits.header_bytes:
            return 431, "The request headers are too large."
        ambiguous = check_request(scope, self._limits.target_bytes)
        if ambiguous is not None:
            return ambiguous
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit() or int(length) > self._limits.upload_bytes:
            return 413, "The request body is too large."
        return check_origin(
            headers.getlist("origin"),
            host=hosts[0],
            secure=self._is_secure(scope, hosts[0]),
            method="GET" if upgrade else scope["method"],
            upgrade=upgrade,
            has_bearer=headers.get("authorization", "").startswith("Bearer "),
        )

    def _base_path(self, scope: Scope) -> str:
        """The path in front of every route of this request's Host; empty at the root."""
        if self._public is None or not self._public.is_addressed(Headers(scope=scope)["host"]):
            return ""
        return self._public.path

    def _routed(self, scope: Scope) -> tuple[Scope, Refusal | None]:
        """The request as the routes see it, or why it is refused (R19)."""
        base = self._base_path(scope)
        below = below_path(scope, base)
        if below is not None:
            return below, None
        return scope, (
            404,
            f"This server is below {base}/. Configure the proxy to pass the path on unchanged.",
        )

    def _is_secure(self, scope: Scope, host: str) -> bool:
        """Whether the client uses TLS, which determines the scheme that its Origin must have."""
        if self._public is not None and self._public.is_addressed(host):
            return self._public.secure
        return scope.get("scheme") in ("https", "wss")


def _lacks_slash(scope: Scope, base: str) -> bool:
    """Whether a page is requested at the base path itself, below which all its files are."""
    return bool(base) and scope["type"] == "http" and scope["path"] == base


async def _refuse_upgrade(scope: Scope, send: Send, refusal: Refusal) -> None:
    """Respond before the upgrade, so that the socket is never opened."""
    status, text = refusal
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008, "reason": text})  # A 403.
        return
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"connection", b"close"),
        *SECURITY_HEADERS,
    ]
    await send({"type": "websocket.http.response.start", "status": status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": f"{text}\n".encode()})


def _with_headers(send: Send) -> Send:
    async def sender(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers: list[Any] = list(message.get("headers", []))
            names = {name.lower() for name, _ in headers}
            headers += [(name, value) for name, value in SECURITY_HEADERS if name not in names]
            message = {**message, "headers": headers}
        await send(message)

    return sender
