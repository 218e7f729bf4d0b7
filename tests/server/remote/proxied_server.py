"""A server behind a real proxy, and requests to it through that proxy."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import websockets
from websockets.frames import Frame, Opcode

from fairlead.host.options.options import Options
from fairlead.server.limits import Limits
from fairlead.server.policy import Policy
from fairlead.server.service import Address, open_service
from tests.launching import python_launcher
from tests.server.conftest import AGENT, QUICK, Served
from tests.server.raw_requests import status_of
from tests.server.remote.real_proxies import RealProxy, real_proxy
from tests.server.tls_proxy import NAME, trusting

__all__ = ["Answer", "CountingConnection", "ProxiedServer", "proxied_server"]

TRUSTED = "127.0.0.1"
"""The recipes' proxies connect from here."""


class CountingConnection(websockets.ClientConnection):
    """A WebSocket that counts the pings of the server."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._pings: asyncio.Queue[None] = asyncio.Queue()

    def process_event(self, event: Any) -> None:
        if isinstance(event, Frame) and event.opcode is Opcode.PING:
            self._pings.put_nowait(None)
        super().process_event(event)

    async def hear_pings(self, count: int) -> None:
        """Wait for this many pings."""
        async with asyncio.timeout(60):
            for _ in range(count):
                await self._pings.get()


@dataclass(frozen=True, slots=True)
class Answer:
    """A response; `text` is all of it."""

    status: int
    text: str

    @property
    def body(self) -> str:
        head, _, body = self.text.partition("\r\n\r\n")
        return _unchunked(body) if "transfer-encoding: chunked" in head.lower() else body

    def header(self, name: str) -> str:
        lines = self.text.partition("\r\n\r\n")[0].split("\r\n")
        found = [
            line.partition(":")[2].strip() for line in lines if line.lower().startswith(f"{name}:")
        ]
        return found[0] if found else ""


@dataclass(frozen=True, slots=True)
class ProxiedServer:
    """A running server with its proxy."""

    served: Served
    proxy: RealProxy

    @property
    def host(self) -> str:
        return f"Host: {NAME}:{self.proxy.port}"

    @property
    def origin(self) -> str:
        return f"Origin: {self.proxy.origin}"

    async def ask(
        self, path: str, *headers: str, method: str = "GET", body: Any = None, raw: bytes = b""
    ) -> Answer:
        """One request through the proxy, to a path of the whole site."""
        data = raw if body is None else json.dumps(body).encode()
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", self.proxy.port, ssl=trusting(), server_hostname=NAME
        )
        lines = [f"{method} {path} HTTP/1.1", *headers, f"Content-Length: {len(data)}"]
        writer.write("\r\n".join([*lines, "Connection: close", "", ""]).encode() + data)
        async with asyncio.timeout(60):
            text = (await reader.read()).decode("latin-1")
        writer.transport.abort()
        return Answer(status_of(text), text)

    async def app(self, path: str, *headers: str, **request: Any) -> Answer:
        """One request to a path of the app, with the right Host and Origin."""
        whole = self.proxy.path + path
        return await self.ask(whole, self.host, self.origin, *headers, **request)

    async def socket(self, path: str, origin: str | None, **headers: str) -> CountingConnection:
        """A WebSocket at a path of the app."""
        connection = await websockets.connect(
            f"wss://{NAME}:{self.proxy.port}{self.proxy.path}{path}",
            ssl=trusting(),
            host="127.0.0.1",
            port=self.proxy.port,
            origin=origin,  # type: ignore[arg-type]
            additional_headers=headers,
            ping_interval=None,
            create_connection=CountingConnection,
        )
        assert isinstance(connection, CountingConnection)
        return connection


@asynccontextmanager
async def proxied_server(
    kind: str,
    path: str,
    folder: Path,
    *,
    limits: Limits | None = None,
    extra: str = "",
    without: tuple[str, ...] = (),
    trusted: tuple[str, ...] = (TRUSTED,),
) -> AsyncIterator[ProxiedServer]:
    """A server with the scripted agent behind a proxy with the recipe of its kind.

    `without` are parts of the recipe that are left out.
    """
    project = folder / "project"
    project.mkdir()
    launcher = python_launcher(folder / "claude-scripted", AGENT, folder / "agent.log")
    async with (
        real_proxy(kind, path, folder, extra=extra, without=without) as proxy,
        open_service(
            data=folder / "data",
            options=Options(agent=launcher, graces=QUICK),
            agent="scripted",
            policy=Policy(roots=(folder,)),
            limits=limits,
            address=Address(public_url=proxy.public_url, trusted_proxies=trusted),
        ) as service,
    ):
        running = asyncio.create_task(service.run())
        await proxy.start(service.port)
        yield ProxiedServer(Served(service, project), proxy)
        service.stop()
        await asyncio.wait_for(running, 60)


def _unchunked(body: str) -> str:
    whole = ""
    while body:
        size, _, rest = body.partition("\r\n")
        length = int(size, 16)
        whole, body = whole + rest[:length], rest[length + 2 :]
        if length == 0:
            break
    return whole
