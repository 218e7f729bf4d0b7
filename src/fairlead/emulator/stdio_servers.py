"""Stdio MCP servers: started, spoken to in JSON-RPC lines, stopped."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from fairlead.emulator.mcp_server import PROTOCOL, Connection
from fairlead.emulator.session import Place

__all__ = ["StdioServers"]

START_S = 30.0
"""How long a server may take to say hello."""
STOP_S = 2.0
LINE_LIMIT = 64 * 1024 * 1024


class _Server:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._ids = 0
        self._open: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._reading = asyncio.ensure_future(self._read())

    async def _read(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if isinstance(message, dict) and "method" not in message:
                waiting = self._open.pop(message.get("id"), None)  # type: ignore[arg-type]
                if waiting is not None and not waiting.done():
                    waiting.set_result(message)
        for waiting in self._open.values():
            if not waiting.done():
                waiting.set_result({"error": {"code": -32000, "message": "Connection closed"}})

    async def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        number, self._ids = self._ids, self._ids + 1
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._open[number] = answer
        self.say({"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)})
        return await answer

    def say(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")

    def kill(self) -> None:
        if self._process.returncode is None:
            self._process.kill()

    async def close(self) -> None:
        self.kill()
        try:
            async with asyncio.timeout(STOP_S):
                await self._process.wait()
        except TimeoutError:
            pass
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)


class StdioServers:
    """The servers that run as programs."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._servers: dict[str, _Server] = {}

    async def connect(self, name: str, config: Mapping[str, Any]) -> Connection:
        """Start a server and learn its tools."""
        try:
            process = await asyncio.create_subprocess_exec(
                str(config.get("command", "")),
                *[str(word) for word in config.get("args") or ()],
                cwd=self._place.cwd,
                env={**self._place.environment, **(config.get("env") or {})},
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                limit=LINE_LIMIT,
            )
        except OSError as problem:
            return Connection(problem=str(problem))
        server = _Server(process)
        self._servers[name] = server
        try:
            async with asyncio.timeout(START_S):
                return await _hello(server)
        except TimeoutError:
            return Connection(problem="the server did not answer in time")

    async def call(self, name: str, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """One request to a server."""
        return await self._servers[name].ask(method, params)

    def disconnect(self, name: str) -> None:
        server = self._servers.get(name)
        if server is not None:
            server.kill()

    async def close(self) -> None:
        """Stop them all."""
        for server in self._servers.values():
            await server.close()


async def _hello(server: _Server) -> Connection:
    client = {"name": "fairlead-emulator", "version": "1"}
    params = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client}
    opened = await server.ask("initialize", params)
    server.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
    listed = await server.ask("tools/list", {})
    return Connection.of(opened, listed)
