"""Resources of MCP servers: the tools by which the model lists and reads them.

They are offered as long as a server that is connected has resources, in the older version only
for servers that it starts itself. Measured on 2.1.38 and 2.1.325; the texts follow the version.
"""

from __future__ import annotations

import json
from bisect import bisect
from collections.abc import Iterable, Mapping
from typing import Any

from fairlead.emulator.mcp.client import McpClient
from fairlead.emulator.mcp.server import Server
from fairlead.emulator.state.session import Session
from fairlead.emulator.tools.outcome import Outcome, failed, invalid

__all__ = ["McpResources"]

LIST, READ, READ_FOLDER = "ListMcpResourcesTool", "ReadMcpResourceTool", "ReadMcpResourceDirTool"
NOTHING = "No resources found. MCP servers may still provide tools even if they have no resources."
GONE = (
    "Resource not found: {} — it may have been deleted or the URI is stale. Re-run {} to refresh."
)
NOT_FOUND = -32002
"""The error of a server that does not have a resource (MCP)."""
FOR_HOSTS = "ui://"
"""The URI scheme of pages for a host, which the newer version hides from the model."""


class McpResources:
    """What the model can do with resources."""

    def __init__(self, session: Session, mcp: McpClient) -> None:
        self._session = session
        self._mcp = mcp

    def with_resource_tools(self, tools: Iterable[str], of_servers: Iterable[str]) -> list[str]:
        """All tools in the order of init: those of the CLI, of the servers, and these."""
        tools_of_cli, server_tools = list(tools), list(of_servers)
        if not self._servers():
            return [*tools_of_cli, *server_tools]
        if not self._session.profile.sorts_resource_tools:
            return [*tools_of_cli, *server_tools, LIST, READ]
        for name in (LIST, READ, READ_FOLDER):
            # The first one stays first; the others are sorted.
            tools_of_cli.insert(bisect(tools_of_cli, name, lo=min(1, len(tools_of_cli))), name)
        return [*tools_of_cli, *server_tools]

    def _servers(self) -> list[Server]:
        profile = self._session.profile
        return [
            server
            for server in self._mcp.connected()
            if server.has_resources and (profile.sdk_servers_offer_resources or not server.is_sdk)
        ]

    async def list_all(self, input: Mapping[str, Any]) -> Outcome:
        """ListMcpResourcesTool."""
        name = input.get("server")
        if name is not None and self._named(name) is None:
            return self._unknown(name)
        resources: list[dict[str, Any]] = []
        for server in self._servers():
            if name in (None, server.name):
                resources += [{**item, "server": server.name} for item in await self._of(server)]
        return Outcome(content=_json(resources) if resources else NOTHING, result=resources)

    async def _of(self, server: Server) -> list[dict[str, Any]]:
        if server.resources is None:
            response = await self._mcp.request(server.name, "resources/list")
            server.resources = list((response.get("result") or {}).get("resources") or ())
        hidden = FOR_HOSTS if self._session.profile.hides_resources_for_hosts else None
        return [
            {"name": item.get("name"), "uri": item.get("uri"), **item}
            for item in server.resources
            if hidden is None or not str(item.get("uri", "")).startswith(hidden)
        ]

    async def read(self, input: Mapping[str, Any]) -> Outcome:
        """ReadMcpResourceTool."""
        for name in ("server", "uri"):
            if not isinstance(input.get(name), str):
                return invalid(f"{READ} failed: the required parameter `{name}` is missing")
        server, uri = self._named(input["server"]), input["uri"]
        if server is None:
            return self._unknown(input["server"])
        response = await self._mcp.request(server.name, "resources/read", {"uri": uri})
        if "error" not in response:
            report = {"contents": (response.get("result") or {}).get("contents") or []}
            return Outcome(content=_json(report), result=report)
        error, profile = response["error"], self._session.profile
        if profile.explains_missing_resource and error.get("code") == NOT_FOUND:
            text = GONE.format(uri, LIST)
            return Outcome(content=text, result={"contents": [], "error": text})
        text = str(error.get("message", ""))
        return failed(
            text if profile.hides_mcp_error_codes else f"MCP error {error.get('code')}: {text}"
        )

    def _named(self, name: object) -> Server | None:
        return next((item for item in self._mcp.connected() if item.name == name), None)

    def _unknown(self, name: object) -> Outcome:
        names = ", ".join(server.name for server in self._mcp.connected())
        return failed(f'Server "{name}" not found. Available servers: {names}')


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
