"""One CLI's conversation with one `Server`: JSON-RPC messages in, answers out.

Every request gets exactly one answer with its id, even if the tool fails; nothing is raised. The
running calls are the only state: the CLI may repeat the handshake and use an id twice (CLI-802).
The transport is not known here: the client unwraps `mcp_message` requests and wraps the answers.
Each request runs in its own task, so that a `notifications/cancelled` can cancel it while
`handle` still has to answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from fairlead.host.mcp import rpc
from fairlead.host.mcp.results import failed_result, plain, tool_result
from fairlead.host.mcp.tool_context import LOG_LEVELS, ToolContext
from fairlead.host.mcp.tool_parameters import ArgumentsError, Parameters

if TYPE_CHECKING:
    from fairlead.host.mcp.server import Server

__all__ = ["Connection"]

DEFAULT_PROTOCOL_VERSION = "2025-11-25"
"""The version that every measured CLI requests; used if a client names none."""

CLOSE_GRACE_S = 2.0
"""How long `aclose` waits for cancelled tools to clean up."""

COMPLETION_LIMIT = 100
"""MCP allows no more values in one completion."""


@dataclass(slots=True, eq=False)
class _Call:
    """A request that is being worked on."""

    id: Any
    method: str
    params: Mapping[str, Any]
    answer: asyncio.Future[dict[str, Any]]
    task: asyncio.Task[dict[str, Any]] | None = field(default=None)

    def settle(self, answer: dict[str, Any]) -> None:
        if not self.answer.done():
            self.answer.set_result(answer)

    def withdraw(self, code: int, reason: str) -> None:
        """Answer now and cancel the task: a tool may notice that late or never."""
        self.settle(rpc.failure(self.id, code, reason))
        if self.task is not None:
            self.task.cancel()


class Connection:
    """The server's side of one connection."""

    def __init__(self, server: Server, send: rpc.Send | None = None) -> None:
        self._server = server
        self._send = send
        self._calls: set[_Call] = set()
        self._log_level = 0
        self._closed = False

    @property
    def name(self) -> str:
        """Name of the server."""
        return self._server.name

    async def handle(self, message: Any) -> dict[str, Any] | None:
        """The answer to one JSON-RPC message; None where none is due (notification, response)."""
        incoming = rpc.read(message)
        if incoming.kind is rpc.Kind.REQUEST:
            return await self._answer(incoming)
        if incoming.kind is rpc.Kind.INVALID:
            return rpc.failure(incoming.id, rpc.INVALID_REQUEST, incoming.problem)
        if incoming.method == "notifications/cancelled":
            self._cancel(incoming.params)
        return None

    async def aclose(self) -> None:
        """Cancel all running calls and wait briefly for their end; later requests are refused."""
        self._closed = True
        running = list(self._calls)
        for call in running:
            call.withdraw(rpc.CONNECTION_CLOSED, "the server was closed")
        # A tool may itself close the session; it must not wait for its own end.
        this = asyncio.current_task()
        tasks = [call.task for call in running if call.task is not None and call.task is not this]
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSE_GRACE_S)

    async def _answer(self, incoming: rpc.Incoming) -> dict[str, Any]:
        if self._closed:
            return rpc.failure(incoming.id, rpc.CONNECTION_CLOSED, "the server is closed")
        params = {} if incoming.params is None else incoming.params
        if not isinstance(params, dict):
            return rpc.failure(incoming.id, rpc.INVALID_PARAMS, "`params` must be an object")
        loop = asyncio.get_running_loop()
        call = _Call(incoming.id, incoming.method, params, loop.create_future())
        call.task = loop.create_task(self._outcome(call))
        self._calls.add(call)
        call.task.add_done_callback(partial(self._finished, call))
        try:
            return await call.answer
        except asyncio.CancelledError:
            call.task.cancel()
            raise

    async def _outcome(self, call: _Call) -> dict[str, Any]:
        # The one place where an exception becomes an answer.
        handler = _HANDLERS.get(call.method)
        if handler is None:
            text = f"Method not found: {call.method}"
            return rpc.failure(call.id, rpc.METHOD_NOT_FOUND, text)
        try:
            return rpc.answer(call.id, await handler(self, call))
        except rpc.RpcError as error:
            return rpc.failure(call.id, error.code, error.message, error.data)
        except asyncio.CancelledError:
            return rpc.failure(call.id, rpc.REQUEST_CANCELLED, "the call was cancelled")
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a tool may raise anything
            return rpc.failure(call.id, rpc.INTERNAL_ERROR, _describe_error(error))

    def _finished(self, call: _Call, task: asyncio.Task[dict[str, Any]]) -> None:
        self._calls.discard(call)
        if task.cancelled():  # before it began
            call.settle(rpc.failure(call.id, rpc.REQUEST_CANCELLED, "the call was cancelled"))
        elif (error := task.exception()) is not None:
            call.settle(rpc.failure(call.id, rpc.INTERNAL_ERROR, _describe_error(error)))
        else:
            call.settle(task.result())

    def _cancel(self, params: Any) -> None:
        # CLI-808, rec 2.1.38/mcp_sdk_slow: it may name a call that ended long ago.
        cancelled_id = params.get("requestId") if isinstance(params, dict) else None
        for call in [
            call for call in self._calls if cancelled_id is not None and call.id == cancelled_id
        ]:
            call.withdraw(rpc.REQUEST_CANCELLED, "the call was cancelled")

    def _context(self, call: _Call, name: str) -> ToolContext:
        loop = asyncio.get_running_loop()
        meta = call.params.get("_meta")

        def notify(method: str, params: dict[str, Any]) -> None:
            message = rpc.notification(method, plain(params))
            try:
                loop.call_soon_threadsafe(self._send_notification, call, message)
            except RuntimeError:
                pass  # a thread that outlived the event loop

        return ToolContext(
            server=self.name,
            name=name,
            request_id=call.id,
            meta=meta if isinstance(meta, dict) else {},
            notify=notify,
            is_withdrawn=call.answer.done,
        )

    def _send_notification(self, call: _Call, message: dict[str, Any]) -> None:
        if self._send is None or call.answer.done():
            return
        level = message["params"].get("level")
        if level in LOG_LEVELS and LOG_LEVELS.index(level) < self._log_level:
            return
        self._send(message)

    # The methods of MCP

    async def _initialize(self, call: _Call) -> dict[str, Any]:
        version = call.params.get("protocolVersion")
        if not isinstance(version, str):
            version = DEFAULT_PROTOCOL_VERSION
        return {"protocolVersion": version, **self._server.introduction()}

    async def _ping(self, call: _Call) -> dict[str, Any]:
        return {}

    async def _set_log_level(self, call: _Call) -> dict[str, Any]:
        level = _text(call.params, "level")
        if level not in LOG_LEVELS:
            raise rpc.RpcError(rpc.INVALID_PARAMS, f"`level` is not one of {', '.join(LOG_LEVELS)}")
        self._log_level = LOG_LEVELS.index(level)
        return {}

    async def _list_tools(self, call: _Call) -> dict[str, Any]:
        return {"tools": [item.definition() for item in self._server.tools.values()]}

    async def _call_tool(self, call: _Call) -> dict[str, Any]:
        name = _text(call.params, "name")
        tool = self._server.tools.get(name)
        if tool is None:
            raise rpc.RpcError(rpc.INVALID_PARAMS, f"Unknown tool: {name}")
        arguments = _object(call.params, "arguments")
        try:
            value = await tool.run(arguments, self._context(call, name))
        except ArgumentsError as error:
            # As a failed result, not as a protocol error: the model reads it and tries again.
            return failed_result(str(error))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the tool's failure is its result
            return failed_result(_describe_error(error))
        return tool_result(value)

    async def _list_resources(self, call: _Call) -> dict[str, Any]:
        definitions = [item.definition() for item in self._server.resources if not item.is_template]
        return {"resources": definitions}

    async def _list_templates(self, call: _Call) -> dict[str, Any]:
        definitions = [item.definition() for item in self._server.resources if item.is_template]
        return {"resourceTemplates": definitions}

    async def _read_resource(self, call: _Call) -> dict[str, Any]:
        uri = _text(call.params, "uri")
        # A fixed URI takes precedence over a template that matches it too.
        for item in sorted(self._server.resources, key=lambda item: item.is_template):
            if item.match(uri) is not None:
                try:
                    return await item.read(uri, self._context(call, uri))
                except ArgumentsError as error:
                    raise rpc.RpcError(rpc.INVALID_PARAMS, str(error)) from error
        raise rpc.RpcError(rpc.RESOURCE_NOT_FOUND, "Resource not found", {"uri": uri})

    async def _list_prompts(self, call: _Call) -> dict[str, Any]:
        return {"prompts": [item.definition() for item in self._server.prompts.values()]}

    async def _get_prompt(self, call: _Call) -> dict[str, Any]:
        name = _text(call.params, "name")
        prompt = self._server.prompts.get(name)
        if prompt is None:
            raise rpc.RpcError(rpc.INVALID_PARAMS, f"Unknown prompt: {name}")
        arguments = _object(call.params, "arguments")
        try:
            return await prompt.get(arguments, self._context(call, name))
        except ArgumentsError as error:
            raise rpc.RpcError(rpc.INVALID_PARAMS, str(error)) from error

    async def _complete(self, call: _Call) -> dict[str, Any]:
        argument = _object(call.params, "argument")
        name, prefix = _text(argument, "name"), _text(argument, "value")
        parameters = self._parameters_of(_object(call.params, "ref"))
        choices = [item.choices for item in parameters.items if item.name == name]
        if not choices:
            raise rpc.RpcError(rpc.INVALID_PARAMS, f"Unknown argument: {name}")
        matches = [choice for choice in choices[0] if choice.startswith(prefix)]
        values = matches[:COMPLETION_LIMIT]
        more = len(matches) > len(values)
        return {"completion": {"values": values, "total": len(matches), "hasMore": more}}

    def _parameters_of(self, ref: Mapping[str, Any]) -> Parameters:
        if ref.get("type") == "ref/prompt":
            prompt = self._server.prompts.get(_text(ref, "name"))
            if prompt is not None:
                return prompt.parameters
        elif ref.get("type") == "ref/resource":
            uri = _text(ref, "uri")
            for item in self._server.resources:
                if item.uri == uri:
                    return item.parameters
        raise rpc.RpcError(rpc.INVALID_PARAMS, "`ref` names no prompt and no resource template")


_HANDLERS: Mapping[str, Callable[[Connection, _Call], Awaitable[dict[str, Any]]]] = {
    "initialize": Connection._initialize,
    "ping": Connection._ping,
    "logging/setLevel": Connection._set_log_level,
    "tools/list": Connection._list_tools,
    "tools/call": Connection._call_tool,
    "resources/list": Connection._list_resources,
    "resources/templates/list": Connection._list_templates,
    "resources/read": Connection._read_resource,
    "prompts/list": Connection._list_prompts,
    "prompts/get": Connection._get_prompt,
    "completion/complete": Connection._complete,
}


def _text(params: Mapping[str, Any], name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str):
        raise rpc.RpcError(rpc.INVALID_PARAMS, f"`{name}` must be text")
    return value


def _object(params: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = params.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise rpc.RpcError(rpc.INVALID_PARAMS, f"`{name}` must be an object")
    return value


def _describe_error(error: BaseException) -> str:
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
