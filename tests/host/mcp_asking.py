"""The MCP client's side of a connection, message by message."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fairlead.host.mcp.connection import Connection
from fairlead.host.mcp.endpoint import McpEndpoint
from fairlead.host.mcp.server import Server

__all__ = ["LIMIT_S", "ask", "connected", "request"]

LIMIT_S = 10.0
"""How long any answer may take, on a machine with much else to do."""


def request(method: str, params: Any = None, request_id: Any = 7) -> dict[str, Any]:
    """A request."""
    message = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return message if params is None else {**message, "params": params}


async def ask(endpoint: McpEndpoint, message: Any) -> dict[str, Any]:
    """Send a message, and wait for the answer that it must have."""
    answer = await asyncio.wait_for(endpoint.handle(message), LIMIT_S)
    assert answer is not None
    return answer


@asynccontextmanager
async def connected(server: Server) -> AsyncIterator[tuple[Connection, list[dict[str, Any]]]]:
    """A connection to a server, and what the server sends of itself."""
    sent: list[dict[str, Any]] = []
    connection = server.connect(sent.append)
    yield connection, sent
    await asyncio.wait_for(connection.aclose(), LIMIT_S)
