"""MCP servers of the session: those inside the host, by mcp_message, and stdio programs.

Connects them when the version does, offers their tools as `mcp__server__tool`, calls them, and
answers what the host's servers ask of the CLI (TRUTH 1.8). The programs themselves are started
outside; here only JSON-RPC is spoken.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fairlead.emulator.effects import CallServer, Connect, Disconnect
from fairlead.emulator.host_line import Asked
from fairlead.emulator.mcp_server import PROTOCOL, Connection, Server
from fairlead.emulator.strands import Interrupted, Strand
from fairlead.emulator.tools.outcome import Outcome, failed

if TYPE_CHECKING:
    from fairlead.emulator.engine import Engine
    from fairlead.emulator.tool_call import Use

__all__ = ["McpClient"]

DEFAULT_TIMEOUT_S = 30.0


class McpClient:
    """All servers of the session."""

    def __init__(self, engine: Engine, servers: Mapping[str, Server]) -> None:
        self._engine = engine
        self.servers: dict[str, Server] = dict(servers)
        self.problems: list[dict[str, Any]] = []
        self._calls: dict[str, tuple[Server, int, Asked]] = {}
        """Tool use id -> the call that is under way."""
        self._has_prompted = False

    # Connecting

    def host_is_ready(self, names: Any) -> None:
        """`initialize` came: servers of the flags connect, and those it names."""
        for name in names if isinstance(names, list) else ():
            config = {"type": "sdk", "name": str(name)}
            self.servers.setdefault(str(name), Server(name=str(name), config=config, is_late=True))
        for server in self.servers.values():
            late = server.is_late and not self._engine.session.profile.is_modern
            if server.is_sdk and not server.work and not late:
                self._start(server)

    async def ready(self) -> None:
        """The first prompt came: connect what is left, and wait for all."""
        twice = self._engine.session.profile.handshakes_mcp_twice
        first, self._has_prompted = not self._has_prompted, True
        for server in self.servers.values():
            if not server.is_enabled:
                continue
            if not server.work:
                self._start(server)
            # A server that has refused is not asked again (measured on 2.1.38).
            hopeful = server.is_sdk and not server.is_late and server.status != "failed"
            if twice and first and hopeful:
                self._start(server)
        for server in self.servers.values():
            if server.work:
                await _over(server.work[-1])

    def _start(self, server: Server) -> None:
        number = len(server.work) + 1
        work = self._shake_hands(server, number) if server.is_sdk else self._connect(server)
        server.work.append(self._engine.loom.spawn(work))

    async def _shake_hands(self, server: Server, number: int) -> None:
        """initialize, initialized, tools/list; a host that says nothing is given up on.

        Where the version does it twice, both run side by side with the same ids, and only what
        comes of the second counts (measured on 2.1.38).
        """
        server.next_id = 0
        clock = self._engine.loom.spawn(self._give_up(server))
        info = self._client_info()
        params = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": info}
        opened: Mapping[str, Any] = {}
        listed: Mapping[str, Any] = {}
        try:
            opened = await self._ask(server, "initialize", params, id=0)
            if "result" in opened:
                await self._tell(server, "notifications/initialized")
                listed = await self._ask(server, "tools/list", None, id=1)
        except Interrupted:
            opened = {}
        finally:
            clock.stop()
        if number != len(server.work):
            return
        server.next_id = 2
        server.take(Connection.of(opened, listed))

    async def _give_up(self, server: Server) -> None:
        limit = self._engine.session.place.environment.get("MCP_TIMEOUT")
        try:
            await self._engine.sleep(float(limit) / 1000 if limit else DEFAULT_TIMEOUT_S)
        except Interrupted:
            return
        for strand in server.work:
            strand.stop()

    def _client_info(self) -> dict[str, Any]:
        profile = self._engine.session.profile
        info = {"name": "claude-code"}
        if profile.is_modern:
            info |= {
                "title": "Claude Code",
                "description": "An emulation by Fairlead",
                "websiteUrl": "https://claude.com/claude-code",
            }
        return {**info, "version": profile.version}

    async def _connect(self, server: Server) -> None:
        opened: Connection = await self._engine.perform(
            lambda n: Connect(n, server.name, server.config)
        )
        server.take(opened)

    async def _ask(self, server: Server, method: str, params: Any, *, id: int) -> Mapping[str, Any]:
        message: dict[str, Any] = {"method": method}
        if params is not None:
            message["params"] = params
        message |= {"jsonrpc": "2.0", "id": id}
        asked = self._engine.host.ask("mcp_message", server_name=server.name, message=message)
        answer = await asked.answer
        return _response(answer.body, answer.error)

    async def _tell(self, server: Server, method: str) -> None:
        message = {"method": method, "jsonrpc": "2.0"}
        asked = self._engine.host.ask("mcp_message", server_name=server.name, message=message)
        await asked.answer

    # Tools

    def connected(self) -> list[Server]:
        """The servers that can be spoken to."""
        return [s for s in self.servers.values() if s.status == "connected" and s.is_enabled]

    def tool_names(self) -> list[str]:
        return [
            f"mcp__{server.name}__{tool.get('name')}"
            for server in self.connected()
            for tool in server.tools
        ]

    def find(self, name: str) -> tuple[Server, str] | None:
        """The server and the tool of a full name."""
        for server in self.servers.values():
            prefix = f"mcp__{server.name}__"
            if name in self.tool_names() and name.startswith(prefix):
                return server, name.removeprefix(prefix)
        return None

    async def call(self, use: Use) -> Outcome:
        """Call a tool of a server."""
        found = self.find(use.name)
        if found is None:
            return failed(f"No such tool available: {use.name}")
        server, tool = found
        number = server.take_id()
        meta = {"claudecode/toolUseId": use.id, "progressToken": number}
        params = {"name": tool, "arguments": dict(use.input), "_meta": meta}
        if server.is_sdk:
            response = await self._call_host(server, use.id, number, params)
        else:
            response = await self._engine.perform(
                lambda n: CallServer(number=n, name=server.name, method="tools/call", params=params)
            )
        return self._told(response)

    async def _call_host(
        self, server: Server, tool_use_id: str, number: int, params: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        message = {"method": "tools/call", "params": params, "jsonrpc": "2.0", "id": number}
        asked = self._engine.host.ask("mcp_message", server_name=server.name, message=message)
        self._calls[tool_use_id] = (server, number, asked)
        try:
            answer = await asked.answer
        finally:
            self._calls.pop(tool_use_id, None)
        return _response(answer.body, answer.error)

    def _told(self, response: Mapping[str, Any]) -> Outcome:
        modern = self._engine.session.profile.is_modern
        if "error" in response:
            error = response["error"]
            text = str(error.get("message", ""))
            return failed(text if modern else f"MCP error {error.get('code')}: {text}")
        result = response.get("result") or {}
        content = [dict(block) for block in result.get("content") or ()]
        text = "\n".join(str(b.get("text", "")) for b in content if b.get("type") == "text")
        if result.get("isError"):
            return failed(text)
        shown = [_shown(block) for block in content]
        structured = result.get("structuredContent")
        if structured is None:
            return Outcome(content=shown, result=shown)
        twin = {"content": shown, "structuredContent": structured}
        images = [block for block in shown if block.get("type") == "image"] if modern else []
        words = {"type": "text", "text": json.dumps(structured)}
        return Outcome(content=[*images, words] if images else words["text"], result=twin)

    def cancel_calls(self) -> None:
        """Tell the host's servers that nobody waits any more; comes before the interrupt's answer."""
        modern = self._engine.session.profile.is_modern
        reason = "AbortError: remote-cancel" if modern else "AbortError: This operation was aborted"
        for server, number, asked in list(self._calls.values()):
            self._engine.host.forget(asked)
            message = {
                "jsonrpc": "2.0",
                "method": "notifications/cancelled",
                "params": {"requestId": number, "reason": reason},
            }
            self._engine.host.ask("mcp_message", server_name=server.name, message=message)

    # Said on the wire

    def listed(self) -> list[dict[str, Any]]:
        """For init."""
        modern = self._engine.session.profile.is_modern
        return [
            {"name": s.name, "status": s.status if s.is_enabled else "disabled"}
            | ({"source": s.source} if modern else {})
            for s in self.servers.values()
        ]

    def status(self) -> list[dict[str, Any]]:
        """For mcp_status."""
        modern = self._engine.session.profile.is_modern
        told = []
        for server in self.servers.values():
            status = server.status if server.is_enabled else "disabled"
            entry: dict[str, Any] = {"name": server.name, "status": status}
            if modern or not server.is_sdk:
                entry["serverInfo"] = dict(server.info)
            if not server.is_sdk and (modern or server.scope == "dynamic"):
                entry["config"] = dict(server.config)
            if modern:
                entry["transport"] = server.config.get("type", "stdio")
            entry["scope"] = server.scope
            if modern:
                entry["source"] = server.source
            tools: list[dict[str, Any]] = [
                {"name": t.get("name"), "annotations": {}} for t in server.tools
            ]
            told.append({**entry, "tools": tools})
        return told

    def use_meta(self, block: Mapping[str, Any]) -> dict[str, Any]:
        """tool_use_meta of an assistant line."""
        name = str(block["name"])
        if not name.startswith("mcp__"):
            return {}
        tool = name.split("__")[-1]
        meta = {"id": block["id"], "display_name": _title(tool)}
        found = self.find(name)
        if found is not None:
            server = found[0]
            meta |= {"server_display_name": server.info.get("name", server.name), "tool_name": tool}
        return {"tool_use_meta": [meta]}

    def request_meta(self, name: str) -> dict[str, Any]:
        """display_name and mcp_server of can_use_tool."""
        found = self.find(name)
        if found is None:
            return {"display_name": name}
        server, tool = found
        return {
            "mcp_server": {"name": server.name, "source": server.source},
            "display_name": _title(tool),
        }

    # Asked by the host

    async def hear(self, server_name: str, message: Mapping[str, Any]) -> bool:
        """A message of a server in the host; True if the tools should be listed again."""
        server = self.servers.get(server_name)
        if server is None or not server.is_sdk:
            return False
        if "id" in message and "method" in message:
            refusal = {
                "jsonrpc": "2.0",
                "id": message["id"],
                "error": {"code": -32601, "message": "Method not found"},
            }
            asked = self._engine.host.ask("mcp_message", server_name=server_name, message=refusal)
            await asked.answer
            return False
        changed = message.get("method") == "notifications/tools/list_changed"
        return changed and self._engine.session.profile.is_modern

    async def request(
        self, name: str, method: str, params: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any]:
        """Any request to a server; an error where there is no such server."""
        server = self.servers.get(name)
        if server is None:
            return {"error": {"code": -32600, "message": f"Server not found: {name}"}}
        if server.is_sdk:
            given = None if params is None else dict(params)
            return await self._ask(server, method, given, id=server.take_id())
        response: Mapping[str, Any] = await self._engine.perform(
            lambda n: CallServer(number=n, name=name, method=method, params=params or {})
        )
        return response

    async def list_again(self, server_name: str) -> None:
        server = self.servers[server_name]
        listed = await self._ask(server, "tools/list", None, id=server.take_id())
        server.tools = list((listed.get("result") or {}).get("tools") or ())

    async def set_servers(self, configs: Mapping[str, Any]) -> dict[str, Any]:
        """Replace the servers that were set before."""
        dynamic = [name for name, server in self.servers.items() if server.scope == "dynamic"]
        removed = [name for name in dynamic if name not in configs]
        added = [name for name in configs if name not in self.servers]
        for name in removed:
            if not self.servers.pop(name).is_sdk:
                self._engine.do(Disconnect(name))
        errors: dict[str, str] = {}
        for name in added:
            config = configs[name]
            server = Server(name=name, config=config if isinstance(config, dict) else {})
            self.servers[name] = server
            self._start(server)
            await _over(server.work[0])
            if server.status == "failed":
                errors[name] = "could not connect"
        return {"added": added, "removed": removed, "errors": errors}

    async def reconnect(self, name: str) -> bool:
        """Connect once more; False if there is no such server."""
        server = self.servers.get(name)
        if server is None:
            return False
        server.work = []
        self._start(server)
        await _over(server.work[0])
        return True

    def toggle(self, name: str, enabled: bool) -> bool:
        server = self.servers.get(name)
        if server is None:
            return False
        server.is_enabled = enabled
        return True


async def _over(strand: Strand[None]) -> None:
    """Wait for the end of a strand, however it ends."""
    try:
        await strand.done
    except Interrupted:
        if not strand.done.is_settled:
            raise


def _response(body: Mapping[str, Any] | None, error: str | None) -> Mapping[str, Any]:
    if body is None:
        return {"error": {"code": -32000, "message": error or "no answer"}}
    response = body.get("mcp_response")
    return response if isinstance(response, dict) else {"result": {}}


def _shown(block: Mapping[str, Any]) -> dict[str, Any]:
    if block.get("type") == "image" and "data" in block:
        source = {"type": "base64", "data": block["data"], "media_type": block.get("mimeType")}
        return {"type": "image", "source": source}
    return dict(block)


def _title(name: str) -> str:
    words = name.replace("_", " ").replace("-", " ")
    return words[:1].upper() + words[1:]
