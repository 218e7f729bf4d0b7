"""A server of in-process MCP tools, resources and prompts under one name.

    server = Server("calc", tools=[add, divide], resources=[config], prompts=[review])

A `Server` is an immutable definition without state of a peer; `connect` makes one `Connection`
per CLI, so that one server may serve several sessions at once. For a single peer `handle` and
`aclose` do the same on a connection of the server's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TypeVar

from fairlead.errors import OptionError
from fairlead.host.mcp.connection import Connection
from fairlead.host.mcp.prompts import Prompt
from fairlead.host.mcp.resources import Resource
from fairlead.host.mcp.rpc import Send
from fairlead.host.mcp.tools import Tool

__all__ = ["Server", "check_server_name"]

Item = TypeVar("Item", Tool[..., Any], Resource, Prompt)

SERVER_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Characters that the CLI does not change when it builds the full name of a tool."""

FULL_NAME_LIMIT = 128
"""The Messages API refuses every turn with a longer tool name."""


class Server:
    """Tools, resources and prompts offered to the CLI under one name."""

    def __init__(
        self,
        name: str,
        tools: Iterable[Tool[..., Any]] = (),
        resources: Iterable[Resource] = (),
        prompts: Iterable[Prompt] = (),
        version: str = "1.0.0",
        *,
        instructions: str | None = None,
    ) -> None:
        check_server_name(name)
        self.name = name
        self.version = version
        self.instructions = instructions
        self.tools = {item.name: item for item in _all_of(Tool, "tools", tools, "@tool(...)")}
        self.resources = _all_of(Resource, "resources", resources, "@resource(uri)")
        self.prompts = {
            item.name: item for item in _all_of(Prompt, "prompts", prompts, "@prompt(...)")
        }
        for tool_name in self.tools:
            _check_full_name(name, tool_name)
        self._own_connection: Connection | None = None

    def __repr__(self) -> str:
        return f"Server({self.name!r}, tools={list(self.tools)})"

    def connect(self, send: Send | None = None) -> Connection:
        """A connection for one CLI; `send` carries progress and log messages to it."""
        return Connection(self, send)

    async def handle(self, message: Any) -> dict[str, Any] | None:
        """Answer one message, for a single peer; see `Connection.handle`."""
        if self._own_connection is None:
            self._own_connection = self.connect()
        return await self._own_connection.handle(message)

    async def aclose(self) -> None:
        """End what runs on the server's own connection; it may be used again."""
        connection, self._own_connection = self._own_connection, None
        if connection is not None:
            await connection.aclose()

    def introduction(self) -> dict[str, Any]:
        """The answer to `initialize` without the protocol version, which the client chooses."""
        capabilities: dict[str, Any] = {"logging": {}}
        if self.tools:
            capabilities["tools"] = {}
        if self.resources:
            capabilities["resources"] = {}
        if self.prompts:
            capabilities["prompts"] = {}
        if self.prompts or any(item.is_template for item in self.resources):
            capabilities["completions"] = {}
        introduction: dict[str, Any] = {
            "capabilities": capabilities,
            "serverInfo": {"name": self.name, "version": self.version},
        }
        if self.instructions:
            introduction["instructions"] = self.instructions
        return introduction


def check_server_name(name: object) -> None:
    """OptionError if the CLI could not use the name of a server unchanged."""
    if not isinstance(name, str) or not SERVER_NAME.fullmatch(name) or "__" in name:
        # rec 2.1.38/mcp_sdk_noname: without a name the CLI ends with exit code 0 and no message.
        raise OptionError(
            "mcp server",
            f"the name {name!r} is not valid.",
            "Use 1 to 64 of the letters a-z, A-Z, digits, `_` and `-`, and no double `__`.",
        )


def _all_of(kind: type[Item], what: str, items: Iterable[Item], decorator: str) -> tuple[Item, ...]:
    if isinstance(items, kind | str) or not isinstance(items, Iterable):
        raise OptionError(what, f"{items!r} is not a list.", f"Write {what}=[...].")
    entries = tuple(items)
    names: set[str] = set()
    for item in entries:
        if not isinstance(item, kind):
            raise OptionError(
                what, f"{item!r} is not a {kind.__name__}.", f"Put {decorator} above the function."
            )
        key = item.uri if isinstance(item, Resource) else item.name
        if key in names:
            raise OptionError(what, f"{key!r} is defined twice.", "Rename one of the two.")
        names.add(key)
    return entries


def _check_full_name(server_name: str, tool_name: str) -> None:
    full_name = f"mcp__{server_name}__{tool_name}"
    if len(full_name) > FULL_NAME_LIMIT:
        raise OptionError(
            "tools",
            f"the model would know a tool as {full_name!r}, {len(full_name)} characters long.",
            f"Shorten the name of the server or of the tool: {FULL_NAME_LIMIT} is the limit.",
        )
