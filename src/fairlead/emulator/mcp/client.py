"""MCP servers of the session: those inside the host, by mcp_message, and stdio programs.

Connects them when the version does, offers their tools as `mcp__server__tool`, calls them, and
answers requests of the host's servers (CLI-800). The program starts the stdio servers; this module
only exchanges JSON-RPC messages.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fairlead.emulator.mcp.server import PROTOCOL, Connection, Server
from fairlead.emulator.state.effects import CallServer, Connect, Disconnect
from fairlead.emulator.state.ports import Ask, Effects, OpenRequest
from fairlead.emulator.state.scheduler import Interrupted, Job
from fairlead.emulator.state.session import Session
from fairlead.emulator.tools.outcome import Outcome, failed

__all__ = ["McpClient"]

DEFAULT_TIMEOUT_S = 30.0
PATIENCE_S = 3.0
"""How long a second handshake waits for the answer to the first."""


class McpClient:
    """All servers of the session."""

    def __init__(
        self, session: Session, effects: Effects, ask: Ask, servers: Mapping[str, Server]
    ) -> None:
        self._session = session
        self._effects = effects
        self._host = ask
        self.servers: dict[str, Server] = dict(servers)
        self.problems: list[dict[str, Any]] = []
        self.unused_servers: frozenset[str] = frozenset()
        """Servers of the project that a setting or flag leaves out."""
        self._calls: dict[str, tuple[Server, int, OpenRequest]] = {}
        """Tool use id -> the open call."""
        self._has_prompted = False

    # Connecting

    def host_is_ready(self, names: Any) -> None:
        """Handle `initialize`: connect the servers of the flags and those that it names."""
        for name in names if isinstance(names, list) else ():
            config = {"type": "sdk", "name": str(name)}
            self.servers.setdefault(str(name), Server(name=str(name), config=config, is_late=True))
        for server in self.servers.values():
            late = server.is_late and not self._session.profile.connects_named_servers_early
            if server.is_sdk and not server.work and not late:
                self._start(server)

    @property
    def is_connecting(self) -> bool:
        """Whether a server of the host has not finished its first handshake."""
        return any(s.is_sdk and s.work and s.status == "pending" for s in self.servers.values())

    async def ready(self) -> None:
        """Handle a prompt: connect the remaining servers and wait for all."""
        twice = self._session.profile.handshakes_mcp_twice
        first, self._has_prompted = not self._has_prompted, True
        for server in self.servers.values():
            if not server.is_enabled:
                continue
            had_handshake = bool(server.work)
            if not had_handshake:
                self._start(server)
            # A server that failed is not tried again (measured on 2.1.38).
            may_connect = server.is_sdk and not server.is_late and server.status != "failed"
            may_connect = may_connect and not server.was_added
            if twice and first and may_connect:
                self._start(server, waits=had_handshake)
        await self.wait_for_all()
        # A server that did not answer at all is not tried again (measured).
        failed = any(s.is_sdk and s.code is not None for s in self.servers.values())
        if failed and self._session.profile.repeats_all_handshakes:
            for server in self.servers.values():
                if server.is_sdk and server.is_enabled:
                    self._start(server)
            await self.wait_for_all()

    async def wait_for_all(self) -> None:
        """Wait for the handshakes that have begun."""
        for server in self.servers.values():
            if server.work:
                await _over(server.work[-1])

    def _start(self, server: Server, *, waits: bool = False) -> None:
        number = len(server.work) + 1
        if server.is_sdk:
            work = self._handshake(server, number, waits=waits)
        else:
            work = self._connect(server)
        server.work.append(self._effects.spawn(work))

    async def _handshake(self, server: Server, number: int, *, waits: bool) -> None:
        """initialize, initialized, tools/list; with a timeout for a host that does not answer.

        Where the version does it twice, both run in parallel with the same ids, and only the
        outcome of the second counts (measured on 2.1.38).
        """
        server.next_id = 0
        clock = self._effects.spawn(self._give_up(server))
        info = self._client_info()
        params = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": info}
        opened: Mapping[str, Any] = {}
        listed: Mapping[str, Any] = {}
        try:
            opened = await self._handshake_request(server, "initialize", params, id=0, waits=waits)
            if "result" in opened:
                await self._notify(server, "notifications/initialized")
                listed = await self._handshake_request(
                    server, "tools/list", None, id=1, waits=waits
                )
        except Interrupted:
            opened = {}
        finally:
            clock.stop()
        if number != len(server.work):
            return
        server.next_id = 2
        server.take(Connection.of(opened, listed))

    async def _handshake_request(
        self, server: Server, method: str, params: Any, *, id: int, waits: bool
    ) -> Mapping[str, Any]:
        """A request of a handshake.

        A host refuses an id that it is still working on. After `initialize` the real 2.1.38 is
        slow enough that a host has answered the first request when it sends the second; here that
        is a rule. To a host that did not initialize it sends both at once (measured).
        """
        earlier = server.handshake_requests.get(id) if waits else None
        if earlier is not None and not earlier.answer.is_settled:
            await self._effects.first_of(earlier.answer, min(PATIENCE_S, self._limit_s / 2))
        return await self._ask(server, method, params, id=id, is_handshake=True)

    @property
    def _limit_s(self) -> float:
        limit = self._session.workspace.environment.get("MCP_TIMEOUT")
        return float(limit) / 1000 if limit else DEFAULT_TIMEOUT_S

    async def _give_up(self, server: Server) -> None:
        try:
            await self._effects.sleep(self._limit_s)
        except Interrupted:
            return
        for job in server.work:
            job.stop()

    def _client_info(self) -> dict[str, Any]:
        profile = self._session.profile
        info = {"name": "claude-code"}
        if profile.sends_client_details:
            info |= {
                "title": "Claude Code",
                "description": "An emulation by Fairlead",
                "websiteUrl": "https://claude.com/claude-code",
            }
        return {**info, "version": profile.version}

    async def _connect(self, server: Server) -> None:
        opened: Connection = await self._effects.perform(
            lambda n: Connect(n, server.name, server.config)
        )
        if server.scope == "dynamic" and self._session.profile.hides_dynamic_programs:
            opened = opened.without_program(str(server.config.get("command", "")))
        server.take(opened)

    async def _ask(
        self, server: Server, method: str, params: Any, *, id: int, is_handshake: bool = False
    ) -> Mapping[str, Any]:
        message: dict[str, Any] = {"method": method}
        if params is not None:
            message["params"] = params
        message |= {"jsonrpc": "2.0", "id": id}
        open_request = self._host.ask("mcp_message", server_name=server.name, message=message)
        if is_handshake:
            server.handshake_requests[id] = open_request
        answer = await open_request.answer
        return _response(answer.body, answer.error)

    async def _notify(self, server: Server, method: str) -> None:
        message = {"method": method, "jsonrpc": "2.0"}
        open_request = self._host.ask("mcp_message", server_name=server.name, message=message)
        await open_request.answer

    # Tools

    def connected(self) -> list[Server]:
        """The servers that are connected and enabled."""
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

    async def call(self, tool_use_id: str, name: str, arguments: Mapping[str, Any]) -> Outcome:
        """Call a tool of a server."""
        matches = self.find(name)
        if matches is None:
            return failed(f"No such tool available: {name}")
        server, tool = matches
        number = server.take_id()
        meta = {"claudecode/toolUseId": tool_use_id, "progressToken": number}
        params = {"name": tool, "arguments": dict(arguments), "_meta": meta}
        if server.is_sdk:
            response = await self._call_host(server, tool_use_id, number, params)
        else:
            response = await self._effects.perform(
                lambda n: CallServer(number=n, name=server.name, method="tools/call", params=params)
            )
        return self._outcome(name, response)

    async def _call_host(
        self, server: Server, tool_use_id: str, number: int, params: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        message = {"method": "tools/call", "params": params, "jsonrpc": "2.0", "id": number}
        open_request = self._host.ask("mcp_message", server_name=server.name, message=message)
        self._calls[tool_use_id] = (server, number, open_request)
        try:
            answer = await open_request.answer
        finally:
            self._calls.pop(tool_use_id, None)
        return _response(answer.body, answer.error)

    def _outcome(self, name: str, response: Mapping[str, Any]) -> Outcome:
        profile = self._session.profile
        if "error" in response:
            error = response["error"]
            text = str(error.get("message", ""))
            return failed(
                text if profile.hides_mcp_error_codes else f"MCP error {error.get('code')}: {text}"
            )
        result = response.get("result") or {}
        content = [dict(block) for block in result.get("content") or ()]
        text = "\n".join(str(b.get("text", "")) for b in content if b.get("type") == "text")
        if result.get("isError"):
            return failed(text)
        structured = result.get("structuredContent")
        if structured is None:
            server = name.split("__")[1]
            shown = [part for block in content for part in self._shown(server, block)]
            empty = f"({name} completed with no output)"
            says = not shown and profile.reports_empty_mcp_output
            links = [_link(block) for block in content if block.get("type") == "resource_link"]
            report: Any = shown
            if links and profile.lists_resource_links:
                report = {"content": shown, "resourceLinks": links}
            return Outcome(content=empty if says else shown, result=report)
        return self._structured(content, structured)

    def _structured(self, content: list[dict[str, Any]], structured: Any) -> Outcome:
        """Structured content replaces the texts; 2.1.325 keeps the images (CLI-805)."""
        text = json.dumps(structured, ensure_ascii=False, separators=(",", ":"))
        images = [
            part
            for block in content
            if block.get("type") == "image" and self._session.profile.keeps_images_with_structure
            for part in self._shown("", block)
        ]
        report: Any = [*images, {"type": "text", "text": text}] if images else text
        return Outcome(content=report, result={"content": report, "structuredContent": structured})

    def _shown(self, server: str, block: Mapping[str, Any]) -> list[dict[str, Any]]:
        """A block of a result as the model gets it."""
        match block.get("type"):
            case "image" if "data" in block:
                source = {
                    "type": "base64",
                    "data": block["data"],
                    "media_type": block.get("mimeType"),
                }
                image = {"type": "image", "source": source}
                if not self._session.profile.names_saved_images:
                    return [image]
                return [image, {"type": "text", "text": "[Image: source: tool-results/blob.png]"}]
            case "resource":
                return [_resource_text(server, block)]
            case "resource_link":
                text = f"[Resource link: {block.get('name')}] {block.get('uri')}"
                about = block.get("description")
                return [{"type": "text", "text": f"{text} ({about})" if about else text}]
            case _:
                return [dict(block)]

    def cancel_calls(self) -> None:
        """Cancel the open calls of the host's servers; precedes the answer to the interrupt."""
        profile = self._session.profile
        reason = (
            "AbortError: remote-cancel"
            if profile.names_remote_cancel
            else "AbortError: This operation was aborted"
        )
        for server, number, open_request in list(self._calls.values()):
            self._host.forget(open_request)
            message = {
                "jsonrpc": "2.0",
                "method": "notifications/cancelled",
                "params": {"requestId": number, "reason": reason},
            }
            self._host.ask("mcp_message", server_name=server.name, message=message)

    # Fields of messages

    def listed(self) -> list[dict[str, Any]]:
        """For init."""
        profile = self._session.profile
        return [
            {
                "name": s.name,
                "status": "disabled"
                if not s.is_enabled and profile.lists_disabled_servers
                else s.status,
            }
            | ({"source": s.source} if profile.lists_server_source else {})
            for s in self.servers.values()
        ]

    def status(self) -> list[dict[str, Any]]:
        """For mcp_status."""
        profile = self._session.profile
        report = []
        for server in self.servers.values():
            if server.is_late and server.status == "pending":
                continue  # named by `initialize`, and not there before it is connected
            status = server.status if server.is_enabled else "disabled"
            entry: dict[str, Any] = {"name": server.name, "status": status}
            is_connected = status == "connected"
            if is_connected and (profile.details_mcp_status or not server.is_sdk):
                entry["serverInfo"] = dict(server.info)
            is_nameless = status == "failed" and server.is_sdk
            if status == "failed" and not is_nameless:
                entry["error"] = server.error(with_code=not profile.hides_mcp_error_codes)
            shows_config = profile.details_mcp_status or (
                server.was_set and is_connected and not server.was_added
            )
            if not server.is_sdk and shows_config:
                entry["config"] = dict(server.config)
            if profile.details_mcp_status:
                entry["transport"] = server.config.get("type", "stdio")
            # A server of the host that failed is not known by its configuration (CLI-1605).
            entry["scope"] = "user" if is_nameless else server.scope
            if profile.details_mcp_status:
                entry["source"] = server.source
            tools: list[dict[str, Any]] = [
                {"name": t.get("name"), "annotations": {}} for t in server.tools
            ]
            entry |= {"tools": tools} if is_connected else {}
            repeats = server.was_added and not server.is_sdk
            report += [entry] * (2 if repeats and profile.lists_added_servers_twice else 1)
        return report

    def use_meta(self, block: Mapping[str, Any]) -> dict[str, Any]:
        """tool_use_meta of an assistant line."""
        name = str(block["name"])
        if not name.startswith("mcp__"):
            return {}
        tool = name.split("__")[-1]
        meta = {"id": block["id"], "display_name": _title(tool)}
        matches = self.find(name)
        if matches is not None:
            server = matches[0]
            meta |= {"server_display_name": server.info.get("name", server.name), "tool_name": tool}
        return {"tool_use_meta": [meta]}

    def request_meta(self, name: str) -> dict[str, Any]:
        """display_name and mcp_server of can_use_tool."""
        matches = self.find(name)
        if matches is None:
            return {"display_name": name}
        server, tool = matches
        return {
            "mcp_server": {"name": server.name, "source": server.source},
            "display_name": _title(tool),
        }

    # Requests of the host

    async def receive(self, server_name: str, message: Mapping[str, Any]) -> bool:
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
            open_request = self._host.ask("mcp_message", server_name=server_name, message=refusal)
            await open_request.answer
            return False
        changed = message.get("method") == "notifications/tools/list_changed"
        return changed and self._session.profile.lists_tools_again

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
        response: Mapping[str, Any] = await self._effects.perform(
            lambda n: CallServer(number=n, name=name, method=method, params=params or {})
        )
        return response

    async def list_again(self, server_name: str) -> None:
        server = self.servers[server_name]
        listed = await self._ask(server, "tools/list", None, id=server.take_id())
        server.tools = list((listed.get("result") or {}).get("tools") or ())

    async def set_servers(self, configs: Mapping[str, Any]) -> dict[str, Any]:
        """Replace the servers that were set before."""
        # Servers of the command line stay (CLI-1618).
        before = [
            name for name, server in self.servers.items() if server.was_added or server.is_late
        ]
        removed = [name for name in before if name not in configs]
        added = [name for name in configs if name not in self.servers]
        for name in removed:
            if not self.servers.pop(name).is_sdk:
                self._effects.do(Disconnect(name))
        errors: dict[str, str] = {}
        for name in added:
            config = configs[name]
            config = config if isinstance(config, dict) else {}
            server = Server(name=name, config=config, was_set=True, was_added=True)
            self.servers[name] = server
            self._start(server)
            await _over(server.work[0])
            if server.status == "failed":
                errors[name] = "could not connect"
        return {"added": added, "removed": removed, "errors": errors}

    async def reconnect(self, name: str) -> bool:
        """Connect again; False if there is no such server."""
        server = self._manageable(name)
        if server is None:
            return self._is_accepted(name)
        server.is_enabled = True
        await self._start_again(server)
        return True

    async def _start_again(self, server: Server) -> None:
        server.work = []
        self._start(server)
        await _over(server.work[0])

    def _manageable(self, name: str) -> Server | None:
        """A server that can be reconnected, enabled and disabled.

        To the old version these are the servers of a configuration, not those that the host named
        in `initialize` or added (CLI-806).
        """
        server = self.servers.get(name)
        if server is None or not self._session.profile.manages_configured_servers_only:
            return server
        return None if server.is_late or server.was_added else server

    def _is_accepted(self, name: str) -> bool:
        """Whether the old version answers with success although it does nothing (CLI-1637)."""
        accepts = self._session.profile.manages_configured_servers_only
        return accepts and name in self.unused_servers

    async def toggle(self, name: str, enabled: bool) -> bool:
        """Enable or disable a server; False if there is no such server."""
        server = self._manageable(name)
        if server is None:
            return self._is_accepted(name)
        connects = enabled and not server.is_enabled
        server.is_enabled = enabled
        if server.is_sdk:
            self.servers[name] = self.servers.pop(name)  # listed last from now on (CLI-1638)
        if connects:
            await self._start_again(server)
        return True


async def _over(job: Job[None]) -> None:
    """Wait for the end of a job, even if it is interrupted."""
    try:
        await job.done
    except Interrupted:
        if not job.done.is_settled:
            raise


def _response(body: Mapping[str, Any] | None, error: str | None) -> Mapping[str, Any]:
    if body is None:
        return {"error": {"code": -32000, "message": error or "no answer"}}
    response = body.get("mcp_response")
    return response if isinstance(response, dict) else {"result": {}}


def _resource_text(server: str, block: Mapping[str, Any]) -> dict[str, Any]:
    """A resource inside a result, as text (measured)."""
    resource = block.get("resource") or {}
    text = f"[Resource from {server} at {resource.get('uri')}] {resource.get('text', '')}"
    return {"type": "text", "text": text}


def _title(name: str) -> str:
    text = name.replace("_", " ").replace("-", " ")
    return text[:1].upper() + text[1:]


def _link(block: Mapping[str, Any]) -> dict[str, Any]:
    """A link to a resource without the type of its block."""
    return {key: value for key, value in block.items() if key != "type"}
