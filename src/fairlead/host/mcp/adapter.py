"""Makes a server of the `mcp` package (2.x, extra `fairlead[mcp]`) an `McpEndpoint`.

Holds one long-lived session over memory streams; raw messages in, answers out. Each request is
passed on under a new id, because the CLI may use one id twice at a time (CLI-802), and its answer
gets the CLI's id again. `mcp` 2.x does not answer a cancelled request, so that is done here.
Requests of the server to its client are refused, as the CLI would (rec 2.1.325/mcp_elicit).
Nothing of `mcp` is imported before there is a server to bridge.
"""

from __future__ import annotations

import asyncio
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fairlead.errors import OptionError
from fairlead.host.mcp import rpc
from fairlead.host.mcp.results import without_loss

__all__ = ["Bridge"]

CLOSE_GRACE_S = 5.0
"""How long a server may take to leave its lifespan before it is cancelled."""


@dataclass(slots=True, eq=False)
class _Pending:
    """A request that the server has not answered yet."""

    cli_id: Any
    server_id: int
    method: str
    answer: asyncio.Future[dict[str, Any]]

    def settle(self, answer: dict[str, Any]) -> None:
        if not self.answer.done():
            self.answer.set_result(answer)


class Bridge:
    """One session with one `mcp` server object: a lowlevel `Server` or an `MCPServer`."""

    def __init__(self, server: Any, send: rpc.Send | None = None) -> None:
        self._server = _lowlevel(server)
        self._send = send
        self._numbers = itertools.count(1)
        self._pending: dict[int, _Pending] = {}
        self._session: _Session | None = None
        self._closed = False

    @property
    def name(self) -> str:
        """Name of the server."""
        return str(self._server.name)

    async def handle(self, message: Any) -> dict[str, Any] | None:
        """The answer to one JSON-RPC message; None where none is due. Never raises."""
        incoming = rpc.read(message)
        if incoming.kind is rpc.Kind.REQUEST:
            return await self._answer(incoming)
        if incoming.kind is rpc.Kind.INVALID:
            return rpc.failure(incoming.id, rpc.INVALID_REQUEST, incoming.problem)
        if incoming.kind is rpc.Kind.NOTIFICATION and not self._closed:
            self._notify(incoming)
        return None

    async def aclose(self) -> None:
        """End the session; what still runs is answered with an error."""
        self._closed = True
        session, self._session = self._session, None
        self._fail_all("the server was closed")
        if session is not None:
            await session.aclose()

    async def _answer(self, incoming: rpc.Incoming) -> dict[str, Any]:
        if self._closed:
            return rpc.failure(incoming.id, rpc.CONNECTION_CLOSED, "the server is closed")
        number = next(self._numbers)
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        pending = _Pending(incoming.id, number, incoming.method, future)
        self._pending[number] = pending
        try:
            self._write(_copy_of(incoming, number))
            return await pending.answer
        except rpc.RpcError as error:
            return rpc.failure(incoming.id, error.code, error.message)
        except asyncio.CancelledError:
            self._stop(pending)
            raise
        finally:
            del self._pending[number]

    def _notify(self, incoming: rpc.Incoming) -> None:
        if incoming.method != "notifications/cancelled":
            try:
                self._write(_copy_of(incoming, None))
            except rpc.RpcError:
                pass  # nothing waits for an answer
            return
        params = incoming.params
        cancelled_id = params.get("requestId") if isinstance(params, dict) else None
        for pending in list(self._pending.values()):
            if cancelled_id is not None and pending.cli_id == cancelled_id:
                text = "the call was cancelled"
                pending.settle(rpc.failure(pending.cli_id, rpc.REQUEST_CANCELLED, text))
                self._stop(pending)

    def _stop(self, pending: _Pending) -> None:
        if self._session is not None:
            params = {"requestId": pending.server_id}
            try:
                self._session.write(rpc.notification("notifications/cancelled", params))
            except rpc.RpcError:
                pass  # it ended by itself

    def _write(self, message: dict[str, Any]) -> None:
        if self._session is None:
            self._session = _Session(self._server, self._read, self._ended)
        self._session.write(message)

    def _read(self, session: _Session, message: dict[str, Any]) -> None:
        incoming = rpc.read(message)
        if incoming.kind is rpc.Kind.RESPONSE:
            pending = self._pending.get(incoming.id)
            if pending is not None:
                pending.settle({**_without_loss(message, pending.method), "id": pending.cli_id})
        elif incoming.kind is rpc.Kind.REQUEST:
            try:
                session.write(_refused(incoming))
            except rpc.RpcError:
                pass  # it ended right after it asked
        elif self._send is not None and incoming.method != "notifications/cancelled":
            # A cancel would name a request that was refused above, by an id the CLI never saw.
            self._send(message)

    def _ended(self, session: _Session, reason: str) -> None:
        # The next message starts a new session: the CLI can repeat the handshake.
        if self._session is session:
            self._session = None
            self._fail_all(reason)

    def _fail_all(self, reason: str) -> None:
        for pending in self._pending.values():
            pending.settle(rpc.failure(pending.cli_id, rpc.CONNECTION_CLOSED, reason))


class _Session:
    """The task that runs the server, the task that reads from it, and the streams between."""

    def __init__(
        self,
        server: Any,
        on_message: Callable[[_Session, dict[str, Any]], None],
        on_end: Callable[[_Session, str], None],
    ) -> None:
        import anyio

        self._on_message = on_message
        self._on_end = on_end
        self._reason = "the server ended"
        # Unbounded, so that writing never blocks: the CLI sends few requests at a time.
        self._to_server, server_reads = anyio.create_memory_object_stream[Any](math.inf)
        server_writes, self._from_server = anyio.create_memory_object_stream[Any](math.inf)
        loop = asyncio.get_running_loop()
        self._serving = loop.create_task(self._serve(server, server_reads, server_writes))
        self._reading = loop.create_task(self._read_all())

    def write(self, message: dict[str, Any]) -> None:
        """Give one message to the server; RpcError if it is malformed or the server has ended."""
        import anyio
        import mcp_types
        from mcp.shared.message import SessionMessage
        from pydantic import ValidationError

        try:
            parsed = mcp_types.jsonrpc_message_adapter.validate_python(message, by_name=False)
            self._to_server.send_nowait(SessionMessage(parsed))
        except ValidationError as error:
            raise rpc.RpcError(rpc.INVALID_PARAMS, "not a valid MCP message") from error
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise rpc.RpcError(rpc.CONNECTION_CLOSED, self._reason) from error

    async def aclose(self) -> None:
        """Let the server shut down by itself, and cancel it after a timeout."""
        self._to_server.close()
        tasks = {self._serving, self._reading}
        try:
            _, unfinished = await asyncio.wait(tasks, timeout=CLOSE_GRACE_S)
        except asyncio.CancelledError:
            unfinished = tasks
            raise
        finally:
            for task in unfinished:
                task.cancel()
        if unfinished:
            await asyncio.wait(unfinished, timeout=CLOSE_GRACE_S)

    async def _serve(self, server: Any, reads: Any, writes: Any) -> None:
        try:
            await server.run(reads, writes, server.create_initialization_options())
        except Exception as error:  # noqa: BLE001 - a server of another library may raise anything
            self._reason = f"the server failed: {type(error).__name__}: {error}"
        finally:
            # A server that failed before it took over the streams leaves them open.
            reads.close()
            writes.close()

    async def _read_all(self) -> None:
        try:
            async for item in self._from_server:
                dumped = item.message.model_dump(mode="json", by_alias=True, exclude_unset=True)
                self._on_message(self, dumped)
        finally:
            self._from_server.close()
            self._to_server.close()
            self._on_end(self, self._reason)


def _lowlevel(server: Any) -> Any:
    try:
        from mcp.server import Server
        from mcp.server.mcpserver import MCPServer
    except ImportError as error:
        raise OptionError(
            "mcp_servers",
            f"{server!r} is not a fairlead Server, and the package mcp 2.x is not installed.",
            "Give a fairlead Server, or run: pip install 'fairlead[mcp]'.",
        ) from error
    if isinstance(server, MCPServer):
        return server._lowlevel_server  # the package itself has no public way yet
    if isinstance(server, Server):
        return server
    raise OptionError(
        "mcp_servers",
        f"{server!r} is not an MCP server that runs in this process.",
        "Give a fairlead Server, an mcp Server or an MCPServer.",
    )


def _copy_of(incoming: rpc.Incoming, number: int | None) -> dict[str, Any]:
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": incoming.method}
    if number is not None:
        message["id"] = number
    if incoming.params is not None:
        message["params"] = incoming.params
    return message


def _refused(incoming: rpc.Incoming) -> dict[str, Any]:
    if incoming.method == "ping":
        return rpc.answer(incoming.id, {})
    return rpc.failure(incoming.id, rpc.METHOD_NOT_FOUND, f"Method not found: {incoming.method}")


def _without_loss(message: dict[str, Any], method: str) -> dict[str, Any]:
    """The answer, changed only where the CLI would drop a part of it."""
    result = message.get("result")
    if not isinstance(result, dict):
        return message
    if method == "tools/call":
        blocks = result.get("content", ())
        if any(block.get("type") != "text" for block in blocks):
            return {**message, "result": without_loss(result)}
    if method == "tools/list":
        # A client that has seen the output schema insists on the structuredContent that
        # `without_loss` may have to leave out; the model is never shown it.
        tools = [
            {key: value for key, value in tool.items() if key != "outputSchema"}
            for tool in result.get("tools", ())
        ]
        return {**message, "result": {**result, "tools": tools}}
    return message
