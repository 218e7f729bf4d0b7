"""The interface of an MCP server in this process, Fairlead's own or another library's.

The client finds the endpoint by the `server_name` of an `mcp_message` request, passes the
message to `handle` and wraps the result as `mcp_response`. If `handle` returns None, the client
sends `ACKNOWLEDGMENT`, because the CLI waits for an answer to notifications too (CLI-807).
`open_endpoint` takes a `Server` of Fairlead or a server of the `mcp` package.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from fairlead.host.mcp.rpc import Send

__all__ = ["ACKNOWLEDGMENT", "McpEndpoint", "open_endpoint"]

ACKNOWLEDGMENT: Mapping[str, Any] = MappingProxyType({"jsonrpc": "2.0", "result": {}, "id": 0})
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
        """Cancel all running calls; safe to call twice."""


def open_endpoint(server: Any, send: Send | None = None) -> McpEndpoint:
    """An endpoint for one CLI.

    `server` is a `Server`, a server object of the `mcp` package, or anything that already is an
    endpoint. `send` takes the server's own messages (progress, log, list changed) to the CLI.
    """
    # Only now: most sessions offer no server, and what makes one takes a tenth of the import time.
    from fairlead.host.mcp.server import Server

    if isinstance(server, Server):
        return server.connect(send)
    if isinstance(server, McpEndpoint):
        return server
    from fairlead.host.mcp.adapter import Bridge  # only now: the `mcp` package is slow to import

    return Bridge(server, send)
