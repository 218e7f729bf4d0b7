"""Resources of MCP servers: the tools by which the model lists and reads them.

They are offered as long as a server that is connected has resources, in the older version only
for servers that it starts itself. Measured on 2.1.38 and 2.1.325; the texts follow the version.
"""

from __future__ import annotations

import json
from bisect import bisect
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from fairlead.emulator.conversation import Conversation
from fairlead.emulator.ending import TurnFigures
from fairlead.emulator.mcp_server import Server
from fairlead.emulator.tool_call import Use
from fairlead.emulator.tools.outcome import Outcome, failed, invalid

if TYPE_CHECKING:
    from fairlead.emulator.engine import Engine

__all__ = ["McpResources"]

LIST, READ, READ_FOLDER = "ListMcpResourcesTool", "ReadMcpResourceTool", "ReadMcpResourceDirTool"
NOTHING = "No resources found. MCP servers may still provide tools even if they have no resources."
GONE = (
    "Resource not found: {} — it may have been deleted or the URI is stale. Re-run {} to refresh."
)
NOT_FOUND = -32002
"""The error of a server that does not have a resource (MCP)."""
FOR_HOSTS = "ui://"
"""Resources that are pages for a host to show, which the newer version hides from the model."""


class McpResources:
    """What the model can do with resources."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def beside(self, tools: Iterable[str], of_servers: Iterable[str]) -> list[str]:
        """All tools in the order of init: those of the CLI, of the servers, and these."""
        own, others = list(tools), list(of_servers)
        if not self._servers():
            return [*own, *others]
        if not self._engine.session.profile.is_modern:
            return [*own, *others, LIST, READ]
        for name in (LIST, READ, READ_FOLDER):
            # The first one stands apart; the others are in the order of the alphabet.
            own.insert(bisect(own, name, lo=min(1, len(own))), name)
        return [*own, *others]

    def _servers(self) -> list[Server]:
        modern = self._engine.session.profile.is_modern
        return [
            server
            for server in self._engine.mcp.connected()
            if server.has_resources and (modern or not server.is_sdk)
        ]

    async def list_all(self, use: Use, talk: Conversation, figures: TurnFigures) -> Outcome:
        """ListMcpResourcesTool."""
        wanted = use.input.get("server")
        if wanted is not None and self._named(wanted) is None:
            return self._unknown(wanted)
        found: list[dict[str, Any]] = []
        for server in self._servers():
            if wanted in (None, server.name):
                found += [{**one, "server": server.name} for one in await self._of(server)]
        return Outcome(content=_json(found) if found else NOTHING, result=found)

    async def _of(self, server: Server) -> list[dict[str, Any]]:
        if server.resources is None:
            response = await self._engine.mcp.request(server.name, "resources/list")
            server.resources = list((response.get("result") or {}).get("resources") or ())
        hidden = FOR_HOSTS if self._engine.session.profile.is_modern else None
        return [
            {"name": one.get("name"), "uri": one.get("uri"), **one}
            for one in server.resources
            if hidden is None or not str(one.get("uri", "")).startswith(hidden)
        ]

    async def read_one(self, use: Use, talk: Conversation, figures: TurnFigures) -> Outcome:
        """ReadMcpResourceTool."""
        for name in ("server", "uri"):
            if not isinstance(use.input.get(name), str):
                return invalid(f"{READ} failed: the required parameter `{name}` is missing")
        server, uri = self._named(use.input["server"]), use.input["uri"]
        if server is None:
            return self._unknown(use.input["server"])
        response = await self._engine.mcp.request(server.name, "resources/read", {"uri": uri})
        if "error" not in response:
            told = {"contents": (response.get("result") or {}).get("contents") or []}
            return Outcome(content=_json(told), result=told)
        error, modern = response["error"], self._engine.session.profile.is_modern
        if modern and error.get("code") == NOT_FOUND:
            text = GONE.format(uri, LIST)
            return Outcome(content=text, result={"contents": [], "error": text})
        text = str(error.get("message", ""))
        return failed(text if modern else f"MCP error {error.get('code')}: {text}")

    def _named(self, name: object) -> Server | None:
        return next((one for one in self._engine.mcp.connected() if one.name == name), None)

    def _unknown(self, name: object) -> Outcome:
        there = ", ".join(server.name for server in self._engine.mcp.connected())
        return failed(f'Server "{name}" not found. Available servers: {there}')


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
