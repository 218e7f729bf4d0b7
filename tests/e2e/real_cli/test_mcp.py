"""MCP servers: in-process servers, servers that the CLI starts, and how they are managed
(CLI-800)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from fairlead import (
    Accept,
    ControlError,
    Deny,
    ElicitationRequest,
    Image,
    Server,
    Session,
    ToolContext,
    resource,
    tool,
)
from fairlead.host.options.groups import McpOptions, ToolRules
from fairlead.model_api.replies import use
from fairlead.testing.real_cli import RealCli
from fairlead.wire.control import ControlRequest, McpMessage
from fairlead.wire.system import Init
from fairlead.wire.updates import AddRules, RuleValue
from tests.e2e.real_cli.cli_harness import PNG, TURN_S, CliHarness, ScriptedDecisions, one_of, play
from tests.e2e.real_cli.recording_observer import RecordingObserver
from tests.e2e.real_cli.stdio_server import small_server


def allowed(*servers: str) -> ToolRules:
    return ToolRules(allowed=[f"mcp__{server}" for server in servers])


async def result_of(harness: CliHarness, session: Session, name: str, /, **input: Any) -> Any:
    """Let the model use a tool; what it is given back."""
    await harness.use(session, name, **input)
    (result,) = harness.model.requests[-1].tool_results
    return result


async def test_an_in_process_tool_is_called_with_its_arguments_and_ids(
    harness: CliHarness,
) -> None:
    """CLI-804: handshake, tools/call with _meta, answers by value; a rule has no content."""
    contexts: list[ToolContext] = []

    @tool("add", "Add two numbers")
    async def add(a: float, b: float, context: ToolContext) -> str:
        contexts.append(context)
        context.progress(1, 2)
        context.log("info", "half way")
        return str(a + b)

    decisions = ScriptedDecisions()
    async with harness.session(tools=[add], on_permission=decisions) as session:
        sum_of = await result_of(harness, session, "mcp__fairlead__add", a=2, b=3)
        wrong = await result_of(harness, session, "mcp__fairlead__add", a="two", b=3)
    assert (sum_of.text, sum_of.is_error) == ("5.0", False)
    assert wrong.is_error
    assert contexts[0].tool_use_id == sum_of.tool_use_id == decisions.asked[0].tool_use_id
    rule = RuleValue("mcp__fairlead__add")
    suggestion = AddRules(rules=(rule,), behavior="allow", destination="localSettings")
    assert decisions.asked[0].suggestions == (suggestion,)
    assert str(rule) == "mcp__fairlead__add"


async def test_results_of_every_kind_reach_the_model(harness: CliHarness) -> None:
    """CLI-800: isError, structured content, images; also a server of the `mcp` package."""
    from mcp.server.mcpserver import MCPServer

    @tool("broken")
    async def broken() -> str:
        raise ValueError("it is out of paper")

    @tool("facts")
    async def facts() -> dict[str, int]:
        return {"answer": 42}

    @tool("picture")
    async def picture() -> Image:
        return Image(PNG, "image/png")

    theirs = MCPServer("theirs")

    @theirs.tool()
    def greet(name: str) -> str:
        return f"Hello {name}"

    servers = {"ours": Server("ours", tools=[broken, facts, picture]), "theirs": theirs}
    async with harness.session(mcp_servers=servers, rules=allowed(*servers)) as session:
        failed = await result_of(harness, session, "mcp__ours__broken")
        structured = await result_of(harness, session, "mcp__ours__facts")
        image = await result_of(harness, session, "mcp__ours__picture")
        greeting = await result_of(harness, session, "mcp__theirs__greet", name="Ada")
    assert failed.is_error
    assert "it is out of paper" in failed.text
    assert json.loads(structured.text) == {"answer": 42}
    sources = [block["source"] for block in image.content if block["type"] == "image"]
    assert [(source["media_type"], bool(source["data"])) for source in sources] == [
        ("image/png", True)
    ]
    assert "Hello Ada" in greeting.text


async def test_an_interrupt_cancels_a_slow_call(harness: CliHarness) -> None:
    """CLI-808: interrupt while a tools/call is pending; the tool is cancelled."""
    began, withdrawn = asyncio.Event(), asyncio.Event()

    @tool("slow")
    async def slow() -> str:
        began.set()
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            withdrawn.set()
        return "never"

    harness.model.push(use("mcp__fairlead__slow"))
    async with harness.session(tools=[slow], rules=allowed("fairlead")) as session:
        turn = await session.send("go")
        async with asyncio.timeout(TURN_S):
            await began.wait()
            await session.interrupt()
            assert (await turn).subtype == "error_during_execution"
            await withdrawn.wait()
        assert session.pending == {}
        assert (await result_of(harness, session, "mcp__fairlead__slow", odd=1)).is_error


async def test_an_in_process_server_can_send_requests_to_the_cli(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-800: mcp_message host to CLI; the answer is a message without a method."""

    @tool("hello")
    async def hello() -> str:
        return "hello"

    session = harness.session(tools=[hello], rules=allowed("fairlead"))
    observer = RecordingObserver.of(session)

    def messages_of_the_client() -> list[Any]:
        requests = [line.request for line in observer.all_of(ControlRequest)]
        return [one.message for one in requests if isinstance(one, McpMessage)]

    def listings() -> int:
        return [one.get("method") for one in messages_of_the_client()].count("tools/list")

    async with session:
        await play(session)
        await session.mcp_message("fairlead", {"jsonrpc": "2.0", "id": 99, "method": "ping"})
        await observer.until(lambda: messages_of_the_client()[-1].get("id") == 99)
        pong = messages_of_the_client()[-1]
        before = listings()
        changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
        await session.mcp_message("fairlead", changed)
        if cli.key >= (2, 1, 325):
            await observer.until(lambda: listings() > before)
        assert (await result_of(harness, session, "mcp__fairlead__hello")).text == "hello"
    assert ("method" in pong, pong["result"]) == (False, {})


@pytest.mark.only(since="2.1.325")
async def test_the_model_lists_and_reads_resources(harness: CliHarness) -> None:
    """CLI-800: resources of a server in this program; 2.1.38 does not ask for them."""

    @resource("note://one", name="one")
    async def note() -> str:
        return "buy herring"

    notes = {"notes": Server("notes", resources=[note])}
    async with harness.session(mcp_servers=notes, on_permission=ScriptedDecisions()) as session:
        listed = await result_of(harness, session, "ListMcpResourcesTool")
        read = await result_of(
            harness, session, "ReadMcpResourceTool", server="notes", uri="note://one"
        )
    assert "note://one" in listed.text
    assert "buy herring" in read.text


async def test_a_server_started_by_the_cli_can_ask_the_user(
    harness: CliHarness, cli: RealCli, tmp_path: Path
) -> None:
    """CLI-1200: elicitation of a server outside this program; 2.1.38 cannot."""
    asked: list[ElicitationRequest] = []

    async def answer(request: ElicitationRequest) -> Accept:
        asked.append(request)
        return Accept({"name": "Ada"})

    log = tmp_path / "log"
    async with harness.session(
        mcp_servers={"small": small_server(log)}, rules=allowed("small"), on_elicitation=answer
    ) as session:
        echo = await result_of(harness, session, "mcp__small__echo", text="hey")
        answered = json.loads((await result_of(harness, session, "mcp__small__ask")).text)
    assert echo.text == "hey"
    if cli.key >= (2, 1, 120):
        assert answered == {"result": {"action": "accept", "content": {"name": "Ada"}}}
        (request,) = asked
        assert (request.server, request.message) == ("small", "Who are you?")
        assert request.mode == "form"
        assert request.schema is not None
        assert request.schema["required"] == ["name"]
    else:
        assert answered["error"]["message"] == "Method not found"
        assert asked == []


@pytest.mark.only(since="2.1.325")
async def test_an_elicitation_without_a_handler_is_declined(
    harness: CliHarness, tmp_path: Path
) -> None:
    """CLI-1200: elicitation; nothing hangs."""
    servers = {"small": small_server(tmp_path / "log")}
    async with harness.session(mcp_servers=servers, rules=allowed("small")) as session:
        answered = json.loads((await result_of(harness, session, "mcp__small__ask")).text)
    assert answered == {"result": {"action": "decline"}}


async def statuses(session: Session) -> dict[str, str]:
    return {str(server["name"]): str(server["status"]) for server in await session.mcp_status()}


async def test_servers_are_enabled_disabled_reconnected_added_and_removed(
    harness: CliHarness, cli: RealCli, tmp_path: Path
) -> None:
    """CLI-806: mcp_status (each once), toggle, reconnect, set_servers; the in-process tools
    stay."""

    @tool("hello")
    async def hello() -> str:
        return "still here"

    fixed = {"fixed": small_server(tmp_path / "fixed")}
    async with harness.session(
        tools=[hello], mcp_servers=fixed, rules=allowed("fixed", "added", "fairlead")
    ) as session:
        await play(session)
        assert await statuses(session) == {"fixed": "connected", "fairlead": "connected"}
        await session.mcp_toggle("fixed", enabled=False)
        assert (await statuses(session))["fixed"] == "disabled"
        await session.mcp_toggle("fixed", enabled=True)
        await session.mcp_reconnect("fixed")
        assert (await statuses(session))["fixed"] == "connected"
        changed = await session.mcp_set_servers({"added": small_server(tmp_path / "added")})
        assert (changed["added"], changed["errors"]) == (["added"], {})
        assert (await result_of(harness, session, "mcp__added__echo", text="hey")).text == "hey"
        assert (await result_of(harness, session, "mcp__fairlead__hello")).text == "still here"
        names = [server["name"] for server in await session.mcp_status()]
        assert sorted(names) == ["added", "fairlead", "fixed"]
        if cli.key >= (2, 1, 120):
            await session.mcp_reconnect("added")
        else:
            with pytest.raises(ControlError, match="Server not found"):
                await session.mcp_reconnect("added")
        assert "added" in (await session.mcp_set_servers({}))["removed"]
        assert "added" not in await statuses(session)
        assert (await result_of(harness, session, "mcp__fairlead__hello")).text == "still here"


async def test_project_servers_are_connected_without_approval_unless_strict(
    harness: CliHarness, tmp_path: Path
) -> None:
    """CLI-809: .mcp.json of the project."""
    config = {"mcpServers": {"theirs": small_server(tmp_path / "theirs")}}
    (harness.project / ".mcp.json").write_text(json.dumps(config))
    decisions = ScriptedDecisions(Deny("no"))
    async with harness.session(on_permission=decisions) as session:
        init = one_of(Init, await play(session))
        assert [server.name for server in init.mcp_servers or ()] == ["theirs"]
    assert decisions.asked == []
    async with harness.session(mcp=McpOptions(strict=True)) as session:
        init = one_of(Init, await play(session))
        assert init.mcp_servers == ()
