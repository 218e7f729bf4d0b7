"""Servers of the `mcp` package behind Fairlead's endpoint: the high-level one and the lowlevel
one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
import pytest
from mcp import MCPError
from mcp.server import Server as LowlevelServer
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from fairlead.errors import OptionError
from fairlead.host.mcp.adapter import Bridge
from fairlead.host.mcp.endpoint import McpEndpoint, open_endpoint
from tests.host.mcp_asking import LIMIT_S, ask, request

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "claude-code", "version": "2.1.38"},
}


def call(name: str, request_id: Any = 7, **arguments: Any) -> dict[str, Any]:
    meta = {"claudecode/toolUseId": "toolu_0002", "progressToken": request_id}
    params = {"name": name, "arguments": arguments, "_meta": meta}
    return request("tools/call", params, request_id)


async def shake_hands(endpoint: McpEndpoint) -> dict[str, Any]:
    answer = await ask(endpoint, request("initialize", HELLO, 0))
    assert await endpoint.handle({"jsonrpc": "2.0", "method": "notifications/initialized"}) is None
    return answer


@asynccontextmanager
async def bridged(server: Any) -> AsyncIterator[tuple[McpEndpoint, list[dict[str, Any]]]]:
    sent: list[dict[str, Any]] = []
    endpoint = open_endpoint(server, sent.append)
    await shake_hands(endpoint)
    yield endpoint, sent
    await asyncio.wait_for(endpoint.aclose(), LIMIT_S)


class Shop:
    """An MCPServer and the events by which a test follows what runs in it."""

    def __init__(self) -> None:
        self.running = asyncio.Event()
        self.stopped = asyncio.Event()
        self.server = MCPServer("shop", instructions="Sell things.")
        self.server.tool()(self.add)
        self.server.tool()(self.fail)
        self.server.tool()(self.hang)
        self.server.tool()(self.report)
        self.server.tool()(self.ask_back)
        self.server.tool(structured_output=False)(self.picture)
        self.server.tool()(self.both)
        self.server.resource("notes://today", name="today")(lambda: "# Today")
        self.server.resource("square://{n}", name="square")(lambda n: str(int(n) ** 2))
        self.server.prompt("review")(self.review)

    def add(self, a: int, b: int) -> dict[str, int]:
        """Add."""
        return {"sum": a + b}

    def fail(self) -> str:
        """Fail."""
        raise ToolError("no such thing")

    async def hang(self) -> str:
        """Hang."""
        self.running.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.stopped.set()
        return "never"

    async def report(self, ctx: Context[Any, Any]) -> str:
        """Report progress."""
        await ctx.report_progress(1, 2, "half way")
        return "done"

    async def ask_back(self, ctx: Context[Any, Any]) -> str:
        """Ask the client something."""
        session = ctx.request_context.session
        await session.send_request(types.PingRequest(), types.EmptyResult)
        try:
            await session.send_request(types.ListRootsRequest(), types.ListRootsResult)
        except MCPError as error:
            return f"refused: {error}"
        return "answered"

    def picture(self) -> list[Any]:
        """A picture."""
        return ["here", Image(data=PNG, format="png")]

    def both(self) -> types.CallToolResult:
        """A picture and data."""
        picture = types.ImageContent(type="image", data="AAAA", mime_type="image/png")
        return types.CallToolResult(content=[picture], structured_content={"n": 1})

    def review(self, path: str) -> str:
        """Review."""
        return f"Review {path}"


@pytest.fixture
def shop() -> Shop:
    return Shop()


async def test_an_mcp_server_introduces_itself_through_the_bridge(shop: Shop) -> None:
    endpoint = open_endpoint(shop.server)
    assert isinstance(endpoint, Bridge)
    assert endpoint.name == "shop"
    for _ in range(2):  # CLI-802: the handshake may run twice
        answer = await shake_hands(endpoint)
        assert answer["id"] == 0
        assert answer["result"]["protocolVersion"] == "2025-11-25"
        assert answer["result"]["serverInfo"]["name"] == "shop"
        assert answer["result"]["instructions"] == "Sell things."
    await asyncio.wait_for(endpoint.aclose(), LIMIT_S)


async def test_tools_are_listed_without_the_output_schema_and_called(shop: Shop) -> None:
    async with bridged(shop.server) as (endpoint, _):
        tools = (await ask(endpoint, request("tools/list")))["result"]["tools"]
        answer = await ask(endpoint, call("add", 3, a=1, b=2))
    assert {"name", "inputSchema"} <= set(tools[0])
    assert all("outputSchema" not in tool for tool in tools)
    assert answer["id"] == 3
    assert answer["result"]["structuredContent"] == {"sum": 3}
    assert answer["result"]["content"][0]["type"] == "text"


async def test_resources_and_prompts_come_through(shop: Shop) -> None:
    async with bridged(shop.server) as (endpoint, _):
        listed = await ask(endpoint, request("resources/list"))
        templates = await ask(endpoint, request("resources/templates/list"))
        note = await ask(endpoint, request("resources/read", {"uri": "notes://today"}))
        squared = await ask(endpoint, request("resources/read", {"uri": "square://7"}))
        prompts = await ask(endpoint, request("prompts/list"))
        review = await ask(
            endpoint, request("prompts/get", {"name": "review", "arguments": {"path": "a"}})
        )
    assert [each["uri"] for each in listed["result"]["resources"]] == ["notes://today"]
    assert templates["result"]["resourceTemplates"][0]["uriTemplate"] == "square://{n}"
    assert note["result"]["contents"][0]["text"] == "# Today"
    assert squared["result"]["contents"][0]["text"] == "49"
    assert [each["name"] for each in prompts["result"]["prompts"]] == ["review"]
    assert review["result"]["messages"][0]["content"]["text"] == "Review a"


async def test_failures_and_protocol_errors_come_through(shop: Shop) -> None:
    async with bridged(shop.server) as (endpoint, _):
        failed = await ask(endpoint, call("fail"))
        unknown = await ask(endpoint, request("tools/fly"))
        listed_badly = await ask(endpoint, request("ping", [1]))
    assert failed["result"]["isError"] is True
    assert "no such thing" in failed["result"]["content"][0]["text"]
    assert (unknown["id"], unknown["error"]["code"]) == (7, -32601)
    assert (listed_badly["id"], listed_badly["error"]["code"]) == (7, -32602)


async def test_images_are_not_lost_next_to_structured_content(shop: Shop) -> None:
    async with bridged(shop.server) as (endpoint, _):
        picture = (await ask(endpoint, call("picture")))["result"]
        both = (await ask(endpoint, call("both")))["result"]
    assert [block["type"] for block in picture["content"]] == ["text", "image"]
    assert "structuredContent" not in picture
    assert [block["type"] for block in both["content"]] == ["image", "text"]
    assert both["content"][1]["text"] == '{"n":1}'
    assert "structuredContent" not in both


async def test_two_requests_with_one_id_each_get_their_own_answer(shop: Shop) -> None:
    async with bridged(shop.server) as (endpoint, _):
        answers = await asyncio.gather(
            ask(endpoint, call("add", 1, a=1, b=1)), ask(endpoint, call("add", 1, a=2, b=2))
        )
    assert [each["id"] for each in answers] == [1, 1]
    assert [each["result"]["structuredContent"]["sum"] for each in answers] == [2, 4]


async def test_progress_is_sent_on_under_the_token_of_the_call(shop: Shop) -> None:
    async with bridged(shop.server) as (endpoint, sent):
        await ask(endpoint, call("report", 5))
        seen = list(sent)
    assert [each["method"] for each in seen] == ["notifications/progress"]
    assert seen[0]["params"] == {
        "progressToken": 5,
        "progress": 1,
        "total": 2,
        "message": "half way",
    }


async def test_a_request_of_the_server_to_its_client_is_refused(shop: Shop) -> None:
    async with bridged(shop.server) as (endpoint, sent):
        answer = await ask(endpoint, call("ask_back"))
    assert "refused: Method not found: roots/list" in answer["result"]["content"][0]["text"]
    assert sent == []


async def test_a_cancelled_call_is_stopped_and_answered(shop: Shop) -> None:
    async with bridged(shop.server) as (endpoint, _):
        waiting = asyncio.create_task(ask(endpoint, call("hang", 2)))
        await asyncio.wait_for(shop.running.wait(), LIMIT_S)
        for request_id in (99, 2):  # one of them is unknown
            cancel = {"method": "notifications/cancelled", "params": {"requestId": request_id}}
            assert await endpoint.handle(cancel) is None
        answer = await asyncio.wait_for(waiting, LIMIT_S)
        await asyncio.wait_for(shop.stopped.wait(), LIMIT_S)
        assert "result" in await ask(endpoint, request("ping"))
    assert (answer["id"], answer["error"]["code"]) == (2, -32800)


async def test_when_the_caller_gives_up_the_tool_is_stopped(shop: Shop) -> None:
    async with bridged(shop.server) as (endpoint, _):
        waiting = asyncio.create_task(endpoint.handle(call("hang", 2)))
        await asyncio.wait_for(shop.running.wait(), LIMIT_S)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await asyncio.wait_for(shop.stopped.wait(), LIMIT_S)


async def test_closing_answers_what_runs_and_refuses_what_comes_later(shop: Shop) -> None:
    endpoint = open_endpoint(shop.server)
    await shake_hands(endpoint)
    waiting = asyncio.create_task(ask(endpoint, call("hang", 2)))
    await asyncio.wait_for(shop.running.wait(), LIMIT_S)
    await asyncio.wait_for(endpoint.aclose(), LIMIT_S)
    answer = await asyncio.wait_for(waiting, LIMIT_S)
    assert (answer["id"], answer["error"]["code"]) == (2, -32000)
    assert shop.stopped.is_set()
    assert (await ask(endpoint, request("ping")))["error"]["code"] == -32000
    assert await endpoint.handle({"method": "notifications/initialized"}) is None
    await endpoint.aclose()


async def test_a_bridge_that_was_never_used_closes_at_once(shop: Shop) -> None:
    await asyncio.wait_for(open_endpoint(shop.server).aclose(), LIMIT_S)


async def test_one_server_may_be_bridged_twice(shop: Shop) -> None:
    async with bridged(shop.server) as (first, _), bridged(shop.server) as (other, _):
        waiting = asyncio.create_task(ask(first, call("hang", 2)))
        await asyncio.wait_for(shop.running.wait(), LIMIT_S)
        await other.handle({"method": "notifications/cancelled", "params": {"requestId": 2}})
        assert "result" in await ask(other, call("add", 2, a=1, b=1))
        assert not waiting.done()
        waiting.cancel()


@pytest.mark.parametrize("message", [None, 1, "text", [], {}, {"id": 1}])
async def test_what_is_no_message_is_refused(shop: Shop, message: Any) -> None:
    answer = await ask(open_endpoint(shop.server), message)
    assert answer["error"]["code"] == -32600


async def test_a_response_is_taken_silently(shop: Shop) -> None:
    async with bridged(shop.server) as (endpoint, _):
        assert await endpoint.handle({"jsonrpc": "2.0", "id": "e1", "result": {}}) is None


# the lowlevel server


async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
    schema = {"type": "object", "properties": {"a": {"type": "number"}}}
    return types.ListToolsResult(tools=[types.Tool(name="echo", input_schema=schema)])


async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    text = f"{params.name} {params.arguments} {(params.meta or {}).get('claudecode/toolUseId')}"
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


async def test_a_lowlevel_server_is_served_just_the_same() -> None:
    server: LowlevelServer[Any] = LowlevelServer(
        "low", version="3", on_list_tools=list_tools, on_call_tool=call_tool
    )
    async with bridged(server) as (endpoint, _):
        assert endpoint.name == "low"
        tools = await ask(endpoint, request("tools/list", None, "text id"))
        answer = await ask(endpoint, call("echo", "c1", a=1))
    assert tools["id"] == "text id"
    assert [each["name"] for each in tools["result"]["tools"]] == ["echo"]
    assert answer["id"] == "c1"
    assert answer["result"]["content"][0]["text"] == "echo {'a': 1} toolu_0002"


async def test_the_lifespan_of_a_server_is_entered_and_left() -> None:
    seen: list[str] = []

    @asynccontextmanager
    async def lifespan(server: Any) -> AsyncIterator[None]:
        seen.append("in")
        yield
        seen.append("out")

    server: LowlevelServer[Any] = LowlevelServer("low", lifespan=lifespan, on_list_tools=list_tools)
    async with bridged(server):
        assert seen == ["in"]
    assert seen == ["in", "out"]


async def test_a_server_that_cannot_start_says_why_and_may_be_tried_again() -> None:
    attempts: list[int] = []

    @asynccontextmanager
    async def lifespan(server: Any) -> AsyncIterator[None]:
        attempts.append(1)
        if len(attempts) == 1:
            raise RuntimeError("no database")
        yield

    server: LowlevelServer[Any] = LowlevelServer("low", lifespan=lifespan, on_list_tools=list_tools)
    endpoint = open_endpoint(server)
    answer = await ask(endpoint, request("initialize", HELLO))
    assert answer["error"]["code"] == -32000
    assert "RuntimeError: no database" in answer["error"]["message"]
    assert "result" in await ask(endpoint, request("initialize", HELLO))
    await asyncio.wait_for(endpoint.aclose(), LIMIT_S)


@pytest.mark.parametrize("server", [object(), "calc", None, LowlevelServer])
def test_what_is_no_server_is_refused_with_advice(server: Any) -> None:
    with pytest.raises(OptionError, match="Give a fairlead Server, an mcp Server or an MCPServer"):
        open_endpoint(server)
