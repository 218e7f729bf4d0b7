"""Stdio MCP servers: starts them, exchanges JSON-RPC lines, stops them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from fairlead.emulator.mcp.server import PROTOCOL, Connection
from fairlead.emulator.state.session import Workspace

__all__ = ["StdioServers"]

START_S = 30.0
"""Timeout of the handshake."""
STOP_S = 2.0
LINE_LIMIT = 64 * 1024 * 1024
CLOSED: dict[str, Any] = {"error": {"code": -32000, "message": "Connection closed"}}
"""The answer to a request whose server ended before it answered."""


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
                waiting.set_result(CLOSED)

    async def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        if self._reading.done():
            return CLOSED
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

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._servers: dict[str, _Server] = {}

    async def connect(self, name: str, config: Mapping[str, Any]) -> Connection:
        """Start a server and list its tools."""
        try:
            process = await asyncio.create_subprocess_exec(
                str(config.get("command", "")),
                *[str(argument) for argument in config.get("args") or ()],
                cwd=self._workspace.cwd,
                env={**self._workspace.environment, **(config.get("env") or {})},
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                limit=LINE_LIMIT,
            )
        except OSError as problem:
            return Connection(problem=_spawn_error(problem, self._workspace))
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


def _spawn_error(problem: OSError, workspace: Workspace) -> str:
    """The error about a program that cannot be started, as each version words it."""
    if not isinstance(problem, FileNotFoundError):
        return str(problem)
    if workspace.environment.get("FAIRLEAD_EMULATE") == "2.1.38":
        return f"spawn {problem.filename} ENOENT"
    return f"ENOENT: no such file or directory, posix_spawn '{problem.filename}'"


async def _hello(server: _Server) -> Connection:
    client = {"name": "fairlead-emulator", "version": "1"}
    params = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client}
    opened = await server.ask("initialize", params)
    if "result" not in opened:
        return Connection.of(opened, {})
    server.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
    listed = await server.ask("tools/list", {})
    return Connection.of(opened, listed)
