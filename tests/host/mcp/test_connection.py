"""Calls that run on a connection: side by side, withdrawn, closed under, and reporting."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import Any

import pytest

from fairlead.host.mcp.connection import Connection
from fairlead.host.mcp.endpoint import McpEndpoint
from fairlead.host.mcp.server import Server
from fairlead.host.mcp.tool_context import ToolContext
from fairlead.host.mcp.tools import tool
from tests.host.mcp_asking import LIMIT_S, ask, connected, request


class Gate:
    """A tool that waits until it is let go, so that a test can act while it runs."""

    def __init__(self) -> None:
        self.running = asyncio.Event()
        self.may_end = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.stubborn = False

    def server(self) -> Server:
        @tool("wait", "waits")
        async def wait(about: ToolContext) -> str:
            self.running.set()
            try:
                await self.may_end.wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                if not self.stubborn:
                    raise
                await self.may_end.wait()
            return f"cancelled={about.cancelled}"

        return Server("gate", [wait])

    async def call(self, connection: Connection, request_id: Any) -> asyncio.Task[dict[str, Any]]:
        self.running.clear()
        call = request("tools/call", {"name": "wait"}, request_id)
        task = asyncio.create_task(ask(connection, call))
        await asyncio.wait_for(self.running.wait(), LIMIT_S)
        return task


def cancel(request_id: Any) -> dict[str, Any]:
    return {"method": "notifications/cancelled", "params": {"requestId": request_id}}


async def test_other_requests_are_answered_while_a_tool_runs() -> None:
    gate = Gate()
    async with connected(gate.server()) as (connection, _):
        waiting = await gate.call(connection, 1)
        assert (await ask(connection, request("ping")))["result"] == {}
        gate.may_end.set()
        answer = await waiting
    assert answer["result"]["content"][0]["text"] == "cancelled=False"


@pytest.mark.parametrize("stubborn", [False, True])
async def test_a_cancelled_call_is_stopped_and_answered_at_once(stubborn: bool) -> None:
    gate = Gate()
    gate.stubborn = stubborn
    async with connected(gate.server()) as (connection, _):
        waiting = await gate.call(connection, 2)
        assert await connection.handle(cancel(3)) is None
        assert not waiting.done()
        assert await connection.handle(cancel(2)) is None
        answer = await asyncio.wait_for(waiting, LIMIT_S)
        await asyncio.wait_for(gate.cancelled.wait(), LIMIT_S)
        gate.may_end.set()
    assert (answer["id"], answer["error"]["code"]) == (2, -32800)


async def test_one_cli_cannot_cancel_the_call_of_another() -> None:
    gate = Gate()
    server = gate.server()
    async with connected(server) as (first, _), connected(server) as (other, _):
        waiting = await gate.call(first, 2)
        await other.handle(cancel(2))
        gate.may_end.set()
        answer = await asyncio.wait_for(waiting, LIMIT_S)
    assert "result" in answer


async def test_a_plain_function_learns_that_its_call_was_withdrawn() -> None:
    running, go_on = threading.Event(), threading.Event()
    seen: asyncio.Queue[bool] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    @tool("work", "works")
    def work(about: ToolContext) -> str:
        running.set()
        go_on.wait(LIMIT_S)
        about.progress(1)
        loop.call_soon_threadsafe(seen.put_nowait, about.cancelled)
        return "too late"

    async with connected(Server("plain", [work])) as (connection, sent):
        call = request("tools/call", {"name": "work", "_meta": {"progressToken": 1}})
        waiting = asyncio.create_task(ask(connection, call))
        assert await asyncio.to_thread(running.wait, LIMIT_S)
        await connection.handle(cancel(7))
        answer = await asyncio.wait_for(waiting, LIMIT_S)
        go_on.set()
        assert await asyncio.wait_for(seen.get(), LIMIT_S) is True
    assert answer["error"]["code"] == -32800
    assert sent == []


async def test_when_the_caller_gives_up_the_tool_is_stopped() -> None:
    gate = Gate()
    async with connected(gate.server()) as (connection, _):
        waiting = await gate.call(connection, 1)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await asyncio.wait_for(gate.cancelled.wait(), LIMIT_S)


async def test_closing_answers_what_runs_and_refuses_what_comes_later() -> None:
    gate = Gate()
    connection = gate.server().connect()
    waiting = await gate.call(connection, 1)
    await asyncio.wait_for(connection.aclose(), LIMIT_S)
    answer = await asyncio.wait_for(waiting, LIMIT_S)
    assert (answer["id"], answer["error"]["code"]) == (1, -32000)
    assert gate.cancelled.is_set()
    assert (await ask(connection, request("ping")))["error"]["code"] == -32000
    await connection.aclose()


async def test_a_tool_may_close_the_connection_it_is_called_on() -> None:
    @tool("leave", "leaves")
    async def leave() -> str:
        await connection.aclose()
        return "gone"

    connection = Server("door", [leave]).connect()
    answer = await ask(connection, request("tools/call", {"name": "leave"}))
    assert answer["error"]["code"] == -32000


async def test_a_server_can_be_handled_directly_and_used_again_after_its_close() -> None:
    server = Gate().server()
    assert isinstance(server, McpEndpoint)
    for _ in range(2):
        assert (await ask(server, request("ping")))["result"] == {}
        await server.aclose()
    await server.aclose()


# the context


async def test_a_tool_gets_the_clis_metadata_of_the_call() -> None:
    who: contextvars.ContextVar[str] = contextvars.ContextVar("who", default="nobody")

    @tool("about", "tells")
    def about(n: int, call: ToolContext) -> dict[str, Any]:
        return {
            "ids": [call.tool_use_id, call.request_id, n],
            "names": [call.server, call.name, who.get()],
        }

    who.set("the caller")
    params = {
        "name": "about",
        "arguments": {"n": 5},
        "_meta": {"claudecode/toolUseId": "toolu_0002", "progressToken": 2},
    }
    answer = await ask(Server("calc", [about]).connect(), request("tools/call", params, 2))
    assert answer["result"]["structuredContent"] == {
        "ids": ["toolu_0002", 2, 5],
        "names": ["calc", "about", "the caller"],
    }


@tool("steps", "reports")
def steps_in_a_thread(about: ToolContext) -> str:
    about.progress(1, 2)
    about.log("warning", {"left": 1})
    about.log("debug", "detail")
    return "done"


@tool("steps", "reports")
async def steps_in_the_loop(about: ToolContext) -> str:
    return steps_in_a_thread(about)


@pytest.mark.parametrize("reporting", [steps_in_a_thread, steps_in_the_loop])
async def test_progress_and_log_messages_are_sent_before_the_answer(reporting: Any) -> None:
    async with connected(Server("calc", [reporting])) as (connection, sent):
        await ask(connection, request("logging/setLevel", {"level": "info"}))
        params = {"name": "steps", "_meta": {"progressToken": "t"}}
        answer = await ask(connection, request("tools/call", params))
        seen = list(sent)
    assert answer["result"]["content"][0]["text"] == "done"
    assert seen == [
        {
            "jsonrpc": "2.0",
            "method": "notifications/progress",
            "params": {"progressToken": "t", "progress": 1, "total": 2},
        },
        {
            "jsonrpc": "2.0",
            "method": "notifications/message",
            "params": {"level": "warning", "logger": "steps", "data": {"left": 1}},
        },
    ]


async def test_a_log_message_that_cannot_be_written_fails_the_tool_and_not_the_connection() -> None:
    @tool("log", "logs")
    async def log(about: ToolContext) -> str:
        about.log("info", object())
        return "done"

    async with connected(Server("calc", [log])) as (connection, sent):
        answer = await ask(connection, request("tools/call", {"name": "log"}))
        assert answer["result"]["isError"] is True
        assert (await ask(connection, request("ping")))["result"] == {}
    assert sent == []
