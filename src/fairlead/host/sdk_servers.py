"""The MCP servers of this process that a session offers to its CLI.

The options list them: `tools` become one server, and `mcp_servers` may contain more, each a
`Server` of Fairlead or an object of the `mcp` package. Configurations of servers outside this
process are plain mappings; `options/flags` passes them to the CLI by flag.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from fairlead.errors import OptionError
from fairlead.host.mcp.endpoint import McpEndpoint, open_endpoint
from fairlead.host.options.options import Options

__all__ = ["OWN_SERVER", "in_process", "open_all"]

OWN_SERVER = "fairlead"
"""Name of the server that holds `Options.tools`; the model sees `mcp__fairlead__<tool>`."""


def in_process(options: Options) -> dict[str, Any]:
    """The servers to run in this process, by name."""
    servers = {
        name: server
        for name, server in options.mcp_servers.items()
        if not isinstance(server, Mapping)
    }
    if options.tools:
        if OWN_SERVER in options.mcp_servers:
            raise OptionError(
                "mcp_servers",
                f"the name {OWN_SERVER!r} is taken by `tools`.",
                "Give your server another name.",
            )
        from fairlead.host.mcp.server import Server

        servers[OWN_SERVER] = Server(OWN_SERVER, tools=options.tools)
    return servers


def open_all(
    servers: Mapping[str, Any], send: Callable[[str, dict[str, Any]], None]
) -> dict[str, McpEndpoint]:
    """An endpoint for each server; `send` takes a server's own messages to the CLI."""
    return {name: open_endpoint(server, partial(send, name)) for name, server in servers.items()}
