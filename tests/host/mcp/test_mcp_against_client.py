"""The `mcp` package's own client drives Fairlead's dispatcher and must accept everything."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import mcp_types as types
import msgspec
import pytest
from mcp import ClientSession, MCPError
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage

from fairlead.host.mcp.prompts import prompt
from fairlead.host.mcp.resources import resource
from fairlead.host.mcp.results import Image
from fairlead.host.mcp.server import Server
from fairlead.host.mcp.tool_context import ToolContext
from fairlead.host.mcp.tools import tool

LIMIT_S = 10.0
PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


@dataclass
class Item:
    name: str
    price: float


@tool("add", "Add two numbers", read_only=True)
async def add(a: float, b: Annotated[float, msgspec.Meta(description="the second")] = 1) -> str:
    return f"{a + b:g}"


@tool("total", "Price of all items")
def total(items: list[Item]) -> dict[str, Any]:
    return {"total": sum(item.price for item in items), "count": len(items)}


@tool("draw", "A picture")
def draw() -> list[Any]:
    return ["here it is", Image(PNG), {"pixels": 1}]


@tool("fail", "Fails")
def fail() -> str:
    raise LookupError("no such thing")


@tool("count", "Counts aloud")
async def count(up_to: int, about: ToolContext) -> str:
    for n in range(up_to):
        about.progress(n + 1, up_to, f"at {n + 1}")
    return "done"


@tool("hang", "Never ends")
async def hang() -> str:
    await asyncio.Event().wait()
    return "never"


@resource("notes://today", mime_type="text/markdown")
def today() -> str:
    return "# Today"


@resource("square://{n}")
def square(n: int) -> dict[str, int]:
    return {"square": n * n}


@resource("logo://app", mime_type="image/png")
def logo() -> bytes:
    return PNG


@prompt("review", "Review a file")
def review(path: str, depth: Literal["quick", "deep"] = "quick") -> list[Any]:
    return [f"Review {path}, {depth}", {"role": "assistant", "content": "Gladly."}]


SERVER = Server(
    "shop",
    tools=[add, total, draw, fail, count, hang],
    resources=[today, square, logo],
    prompts=[review],
    version="2.0",
    instructions="Sell things.",
)


@asynccontextmanager
async def client() -> AsyncIterator[ClientSession]:
    """A client session whose every message goes through `Connection.handle`."""
    async with create_client_server_memory_streams() as (ends, (server_reads, server_writes)):
        outgoing: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        connection = SERVER.connect(outgoing.put_nowait)
        handling: set[asyncio.Task[None]] = set()

        async def handle(message: dict[str, Any]) -> None:
            answer = await connection.handle(message)
            if answer is not None:
                outgoing.put_nowait(answer)

        async def read() -> None:
            async for item in server_reads:
                assert isinstance(item, SessionMessage)
                raw = item.message.model_dump(mode="json", by_alias=True, exclude_unset=True)
                handling.add(asyncio.create_task(handle(raw)))

        async def write() -> None:
            while True:
                raw = await outgoing.get()
                # Through bytes, as on the way to a CLI.
                line = msgspec.json.encode(raw)
                message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                await server_writes.send(SessionMessage(message))

        pumps = [asyncio.create_task(read()), asyncio.create_task(write())]
        try:
            async with ClientSession(*ends, read_timeout_seconds=LIMIT_S) as session:
                yield session
        finally:
            await connection.aclose()
            for pump in [*pumps, *handling]:
                pump.cancel()
            await asyncio.wait([*pumps, *handling], timeout=LIMIT_S)


@asynccontextmanager
async def ready_client() -> AsyncIterator[ClientSession]:
    async with client() as session:
        await session.initialize()
        yield session


async def test_the_client_shakes_hands_and_may_do_so_again() -> None:
    async with client() as session:
        for _ in range(2):
            hello = await session.initialize()
            assert hello.server_info.name == "shop"
            assert hello.server_info.version == "2.0"
            assert hello.instructions == "Sell things."
            assert hello.capabilities.tools is not None
            assert hello.capabilities.resources is not None
            assert hello.capabilities.prompts is not None
        await session.send_ping()


async def test_the_client_lists_the_tools_with_their_schemas() -> None:
    async with ready_client() as session:
        listed = (await session.list_tools()).tools
    assert [each.name for each in listed] == ["add", "total", "draw", "fail", "count", "hang"]
    assert listed[0].input_schema["properties"]["b"] == {
        "type": "number",
        "description": "the second",
        "default": 1,
    }
    assert listed[0].annotations is not None
    assert listed[0].annotations.read_only_hint is True
    assert set(listed[1].input_schema["$defs"]) == {"Item"}
    assert set(listed[4].input_schema["properties"]) == {"up_to"}


async def test_the_schemas_are_valid_and_judge_arguments_as_we_do() -> None:
    import jsonschema  # type: ignore[import-untyped]

    async with ready_client() as session:
        listed = {each.name: each.input_schema for each in (await session.list_tools()).tools}
    for schema in listed.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    items = jsonschema.Draft202012Validator(listed["total"])
    assert items.is_valid({"items": [{"name": "a", "price": 1}]})
    assert not items.is_valid({"items": [{"name": "a"}]})
    assert not items.is_valid({"items": [], "more": 1})


async def test_the_client_gets_text_for_text() -> None:
    async with ready_client() as session:
        result = await session.call_tool("add", {"a": 2})
    assert not result.is_error
    assert result.structured_content is None
    assert [block.model_dump()["text"] for block in result.content] == ["3"]


async def test_the_client_gets_structured_content_for_data() -> None:
    async with ready_client() as session:
        value = {"items": [{"name": "a", "price": 1.5}, {"name": "b", "price": 2}]}
        result = await session.call_tool("total", value)
    assert result.structured_content == {"total": 3.5, "count": 2}
    assert len(result.content) == 1


async def test_the_client_gets_images_between_the_texts() -> None:
    async with ready_client() as session:
        result = await session.call_tool("draw", {})
    assert [block.type for block in result.content] == ["text", "image", "text"]
    picture = result.content[1]
    assert isinstance(picture, types.ImageContent)
    assert (base64.b64decode(picture.data), picture.mime_type) == (PNG, "image/png")
    assert result.structured_content is None


async def test_the_client_sees_failures_as_failed_results() -> None:
    async with ready_client() as session:
        failed = await session.call_tool("fail", {})
        misfit = await session.call_tool("add", {"a": "x"})
    assert failed.is_error
    assert misfit.is_error
    assert isinstance(failed.content[0], types.TextContent)
    assert isinstance(misfit.content[0], types.TextContent)
    assert failed.content[0].text == "LookupError: no such thing"
    assert "a: Expected `float`, got `str`" in misfit.content[0].text


async def test_the_client_sees_protocol_errors_with_their_codes() -> None:
    async with ready_client() as session:
        with pytest.raises(MCPError) as unknown_tool:
            await session.call_tool("steal", {})
        with pytest.raises(MCPError) as unknown_resource:
            await session.read_resource("notes://never")
        with pytest.raises(MCPError) as unknown_method:
            await session.send_request(
                types.SubscribeRequest(params=types.SubscribeRequestParams(uri="notes://today")),
                types.EmptyResult,
            )
    codes = [each.value.error.code for each in (unknown_tool, unknown_resource, unknown_method)]
    assert codes == [-32602, -32002, -32601]


async def test_the_client_hears_of_progress_while_it_waits() -> None:
    received: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        received.append((progress, total, message))

    async with ready_client() as session:
        result = await session.call_tool("count", {"up_to": 2}, progress_callback=hear)
    assert not result.is_error
    assert received == [(1, 2, "at 1"), (2, 2, "at 2")]


async def test_a_client_that_stops_waiting_leaves_a_working_connection() -> None:
    async with ready_client() as session:
        with pytest.raises(MCPError):
            await session.call_tool("hang", {}, read_timeout_seconds=0.05)
        result = await session.call_tool("add", {"a": 1})
    assert not result.is_error


async def test_the_client_reads_resources_fixed_and_by_template() -> None:
    async with ready_client() as session:
        listed = await session.list_resources()
        templates = await session.list_resource_templates()
        note = (await session.read_resource("notes://today")).contents[0]
        squared = (await session.read_resource("square://7")).contents[0]
        picture = (await session.read_resource("logo://app")).contents[0]
    assert [str(each.uri) for each in listed.resources] == ["notes://today", "logo://app"]
    assert [each.uri_template for each in templates.resource_templates] == ["square://{n}"]
    assert isinstance(note, types.TextResourceContents)
    assert (note.text, note.mime_type) == ("# Today", "text/markdown")
    assert isinstance(squared, types.TextResourceContents)
    assert (squared.text, squared.mime_type) == ('{"square":49}', "application/json")
    assert isinstance(picture, types.BlobResourceContents)
    assert base64.b64decode(picture.blob) == PNG


async def test_the_client_gets_prompts_and_completions_of_their_arguments() -> None:
    async with ready_client() as session:
        listed = (await session.list_prompts()).prompts
        got = await session.get_prompt("review", {"path": "a.py", "depth": "deep"})
        completion = await session.complete(
            types.PromptReference(type="ref/prompt", name="review"), {"name": "depth", "value": "q"}
        )
    assert [each.name for each in listed] == ["review"]
    arguments = listed[0].arguments or []
    assert [(each.name, each.required) for each in arguments] == [("path", True), ("depth", False)]
    assert [each.role for each in got.messages] == ["user", "assistant"]
    assert isinstance(got.messages[0].content, types.TextContent)
    assert got.messages[0].content.text == "Review a.py, deep"
    assert completion.completion.values == ["quick"]
