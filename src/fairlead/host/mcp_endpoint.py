"""What the client needs of an MCP server that lives in this process, whoever wrote it.

The client looks the endpoint up by the `server_name` of an `mcp_message` request, gives the
message to `handle` and wraps what comes back as `mcp_response`. Where `handle` gives None the
client sends `ACKNOWLEDGEMENT`, because the CLI waits for an answer to notifications too
(TRUTH 1.8). `open_endpoint` takes a `Server` of ours or a server of the `mcp` package.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

from fairlead.host.mcp import Server
from fairlead.host.mcp_rpc import Send

__all__ = ["ACKNOWLEDGEMENT", "McpEndpoint", "open_endpoint"]

ACKNOWLEDGEMENT: Mapping[str, Any] = MappingProxyType({"jsonrpc": "2.0", "result": {}, "id": 0})
"""The answer to a message that has none of its own; copy it with dict()."""


@runtime_checkable
class McpEndpoint(Protocol):
    """One MCP server, connected to one CLI."""

    @property
    def name(self) -> str:
        """The server's own name."""

    async def handle(self, message: Any) -> dict[str, Any] | None:
        """The answer to one JSON-RPC message; None where none is due. Never raises."""

    async def aclose(self) -> None:
        """End all that runs; safe to call twice."""


def open_endpoint(server: Any, send: Send | None = None) -> McpEndpoint:
    """An endpoint for one CLI.

    `server` is a `Server`, a server object of the `mcp` package, or anything that already is an
    endpoint. `send` takes the server's own messages (progress, log, list changed) to the CLI.
    """
    if isinstance(server, Server):
        return server.connect(send)
    if isinstance(server, McpEndpoint):
        return server
    from fairlead.host.mcp_bridge import Bridge  # only now: the `mcp` package is slow to import

    return Bridge(server, send)
