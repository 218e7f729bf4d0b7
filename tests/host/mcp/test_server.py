"""Fairlead's MCP dispatcher: what it answers, message by message, and that it always answers."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.errors import OptionError
from fairlead.host.mcp.endpoint import open_endpoint
from fairlead.host.mcp.prompts import prompt
from fairlead.host.mcp.resources import resource
from fairlead.host.mcp.results import Image
from fairlead.host.mcp.server import Server, check_server_name
from fairlead.host.mcp.tool_context import ToolContext
from fairlead.host.mcp.tools import tool
from tests.host.mcp_asking import LIMIT_S, ask, connected, request
from tests.launching import run_python


@tool("add", "adds")
def add(a: float, b: float) -> str:
    return f"{a + b:g}"


@tool("fail", "fails")
async def fail(how: str) -> str:
    if how == "exit":
        raise SystemExit(3)
    if how == "cancel":
        raise asyncio.CancelledError
    raise ValueError(how)


@resource("config://app", description="Settings")
def config() -> dict[str, int]:
    return {"n": 1}


@resource("logo://{size}", mime_type="image/png")
def logo(size: int) -> bytes:
    return b"\x89PNG" + bytes(size)


@resource("file:///{+path}")
async def file(path: str, about: ToolContext) -> str:
    return f"{path} asked as {about.name}"


@prompt("review", "Review one file")
def review(path: str, depth: Literal["quick", "deep"] = "quick") -> str:
    return f"Review {path} ({depth})"


@prompt("talk")
async def talk() -> list[Any]:
    """A longer talk."""
    return ["one", {"role": "assistant", "content": "two"}, Image(b"GIF8")]


@prompt("broken")
def broken() -> Any:
    return {"role": "system", "content": "no"}


def offer() -> Server:
    return Server(
        "calc",
        tools=[add, fail],
        resources=[logo, config, file],
        prompts=[review, talk, broken],
        version="1",
        instructions="Count with it.",
    )


RESULTS = [
    pytest.param(
        "initialize",
        {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x"}},
        {
            "protocolVersion": "2025-11-25",
            "capabilities": {
                "logging": {},
                "tools": {},
                "resources": {},
                "prompts": {},
                "completions": {},
            },
            "serverInfo": {"name": "calc", "version": "1"},
            "instructions": "Count with it.",
        },
        id="initialize",
    ),
    pytest.param("ping", None, {}, id="ping"),
    pytest.param("logging/setLevel", {"level": "warning"}, {}, id="setLevel"),
    pytest.param(
        "tools/call",
        {"name": "add", "arguments": {"a": 1, "b": 2}},
        {"content": [{"type": "text", "text": "3"}]},
        id="call",
    ),
    pytest.param(
        "tools/call",
        {"name": "add", "arguments": {"a": 1}},
        {
            "content": [
                {
                    "type": "text",
                    "text": "Wrong arguments for tool `add`:\n- b: missing, but required",
                }
            ],
            "isError": True,
        },
        id="wrong arguments reach the model as a failed result",
    ),
    pytest.param(
        "tools/call",
        {"name": "fail", "arguments": {"how": "no luck"}},
        {"content": [{"type": "text", "text": "ValueError: no luck"}], "isError": True},
        id="an exception is a failed result",
    ),
    pytest.param(
        "tools/call",
        {"name": "fail", "arguments": {"how": "exit"}},
        {"content": [{"type": "text", "text": "SystemExit: 3"}], "isError": True},
        id="a tool cannot end the program",
    ),
    pytest.param(
        "resources/list",
        None,
        {
            "resources": [
                {
                    "uri": "config://app",
                    "name": "config",
                    "description": "Settings",
                }
            ]
        },
        id="resources",
    ),
    pytest.param(
        "resources/templates/list",
        {},
        {
            "resourceTemplates": [
                {"uriTemplate": "logo://{size}", "name": "logo", "mimeType": "image/png"},
                {"uriTemplate": "file:///{+path}", "name": "file"},
            ]
        },
        id="templates",
    ),
    pytest.param(
        "resources/read",
        {"uri": "config://app"},
        {"contents": [{"uri": "config://app", "mimeType": "application/json", "text": '{"n":1}'}]},
        id="read data",
    ),
    pytest.param(
        "resources/read",
        {"uri": "logo://2"},
        {"contents": [{"uri": "logo://2", "mimeType": "image/png", "blob": "iVBORwAA"}]},
        id="read bytes",
    ),
    pytest.param(
        "resources/read",
        {"uri": "file:///a/b%20c"},
        {
            "contents": [
                {
                    "uri": "file:///a/b%20c",
                    "mimeType": "text/plain",
                    "text": "a/b c asked as file:///a/b%20c",
                }
            ]
        },
        id="read text by a template",
    ),
    pytest.param(
        "prompts/list",
        None,
        {
            "prompts": [
                {
                    "name": "review",
                    "description": "Review one file",
                    "arguments": [
                        {"name": "path", "required": True},
                        {"name": "depth", "required": False},
                    ],
                },
                {"name": "talk", "description": "A longer talk.", "arguments": []},
                {"name": "broken", "description": "", "arguments": []},
            ]
        },
        id="prompts",
    ),
    pytest.param(
        "prompts/get",
        {"name": "review", "arguments": {"path": "a.py", "depth": "deep"}},
        {
            "description": "Review one file",
            "messages": [
                {"role": "user", "content": {"type": "text", "text": "Review a.py (deep)"}}
            ],
        },
        id="prompt",
    ),
    pytest.param(
        "prompts/get",
        {"name": "talk"},
        {
            "description": "A longer talk.",
            "messages": [
                {"role": "user", "content": {"type": "text", "text": "one"}},
                {"role": "assistant", "content": {"type": "text", "text": "two"}},
                {
                    "role": "user",
                    "content": {"type": "image", "data": "R0lGOA==", "mimeType": "image/gif"},
                },
            ],
        },
        id="prompt of several messages",
    ),
    pytest.param(
        "completion/complete",
        {
            "ref": {"type": "ref/prompt", "name": "review"},
            "argument": {"name": "depth", "value": "d"},
        },
        {"completion": {"values": ["deep"], "total": 1, "hasMore": False}},
        id="completion of a Literal",
    ),
    pytest.param(
        "completion/complete",
        {
            "ref": {"type": "ref/resource", "uri": "logo://{size}"},
            "argument": {"name": "size", "value": ""},
        },
        {"completion": {"values": [], "total": 0, "hasMore": False}},
        id="nothing to complete",
    ),
]


@pytest.mark.parametrize(("method", "params", "result"), RESULTS)
async def test_a_request_is_answered_with_its_result(
    method: str, params: Any, result: dict[str, Any]
) -> None:
    answer = await ask(offer().connect(), request(method, params))
    assert answer == {"jsonrpc": "2.0", "id": 7, "result": result}


ERRORS = [
    pytest.param(request("tools/fly"), -32601, "Method not found: tools/fly", id="method"),
    pytest.param(request("notifications/initialized"), -32601, "not found", id="no notification"),
    pytest.param(request("\ud800"), -32601, "Method not found: \\ud800", id="surrogate"),
    pytest.param(request("ping", [1]), -32602, "`params` must be an object", id="params"),
    pytest.param(request("tools/call"), -32602, "`name` must be text", id="no tool name"),
    pytest.param(request("tools/call", {"name": "sub"}), -32602, "Unknown tool: sub", id="tool"),
    pytest.param(
        request("tools/call", {"name": "add", "arguments": [1]}),
        -32602,
        "`arguments` must be an object",
        id="arguments",
    ),
    pytest.param(
        request("resources/read", {"uri": "none://"}), -32002, "Resource not found", id="uri"
    ),
    pytest.param(
        request("resources/read", {"uri": "logo://big"}),
        -32602,
        "size: Expected `int`, got `str`",
        id="field of a template",
    ),
    pytest.param(
        request("resources/read", {"uri": "logo://-1"}), -32603, "ValueError: ", id="resource fails"
    ),
    pytest.param(request("prompts/get", {"name": "x"}), -32602, "Unknown prompt: x", id="prompt"),
    pytest.param(
        request("prompts/get", {"name": "review"}), -32602, "path: missing", id="prompt argument"
    ),
    pytest.param(
        request("prompts/get", {"name": "broken"}), -32603, "the role 'system'", id="prompt fails"
    ),
    pytest.param(
        request("logging/setLevel", {"level": "loud"}), -32602, "is not one of debug", id="level"
    ),
    pytest.param(
        request("completion/complete", {"argument": {"name": "a", "value": ""}}),
        -32602,
        "names no prompt",
        id="completion of nothing",
    ),
    pytest.param(
        request(
            "completion/complete",
            {
                "ref": {"type": "ref/prompt", "name": "review"},
                "argument": {"name": "a", "value": ""},
            },
        ),
        -32602,
        "Unknown argument: a",
        id="completion of an unknown argument",
    ),
    pytest.param({"jsonrpc": "2.0", "id": 7}, -32600, "`method` is missing", id="no method"),
    pytest.param({"id": 7, "method": 5}, -32600, "`method` is missing", id="method is no text"),
    pytest.param(
        request("tools/call", {"name": "fail", "arguments": {"how": "cancel"}}),
        -32800,
        "the call was cancelled",
        id="a tool that cancels itself",
    ),
]


@pytest.mark.parametrize(("message", "code", "text"), ERRORS)
async def test_a_request_that_cannot_be_served_is_answered_with_an_error(
    message: Any, code: int, text: str
) -> None:
    answer = await ask(offer().connect(), message)
    assert (answer["id"], answer["error"]["code"]) == (7, code)
    assert text in answer["error"]["message"]
    assert msgspec.json.encode(answer)


UNANSWERED = [
    pytest.param({"jsonrpc": "2.0", "method": "notifications/initialized"}, id="notification"),
    pytest.param({"method": "notifications/x", "id": None}, id="notification with an empty id"),
    pytest.param({"method": "notifications/cancelled"}, id="cancel of nothing"),
    pytest.param(
        {"method": "notifications/cancelled", "params": {"requestId": 99}}, id="cancel of unknown"
    ),
    pytest.param({"jsonrpc": "2.0", "id": "e1", "result": {}}, id="response"),
    pytest.param(
        {"jsonrpc": "2.0", "id": "e1", "error": {"code": -32601, "message": "Method not found"}},
        id="error response",
    ),
]


@pytest.mark.parametrize("message", UNANSWERED)
async def test_what_needs_no_answer_gets_none(message: Any) -> None:
    assert await asyncio.wait_for(offer().connect().handle(message), LIMIT_S) is None


@pytest.mark.parametrize("message", [None, 1, "text", [], [request("ping")], {}])
async def test_what_is_no_message_is_refused_without_an_id(message: Any) -> None:
    answer = await ask(offer().connect(), message)
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)


async def test_tools_list_gives_every_tool_as_the_recorded_cli_accepts_it() -> None:
    answer = await ask(offer().connect(), request("tools/list"))
    first, second = answer["result"]["tools"]
    assert first == {
        "name": "add",
        "description": "adds",
        "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
            "required": ["a", "b"],
            "additionalProperties": False,
        },
    }
    assert second["name"] == "fail"


async def test_a_server_without_tools_does_not_claim_any() -> None:
    answer = await ask(Server("bare").connect(), request("initialize", {}))
    assert answer["result"]["capabilities"] == {"logging": {}}
    assert answer["result"]["protocolVersion"] == "2025-11-25"
    assert (await ask(Server("bare").connect(), request("tools/list")))["result"] == {"tools": []}


async def test_the_handshake_may_run_twice_and_use_its_ids_twice() -> None:
    async with connected(offer()) as (connection, _):
        hello = request("initialize", {"protocolVersion": "2024-11-05"}, 0)
        answers = await asyncio.gather(*(ask(connection, hello) for _ in range(2)))
        lists = await asyncio.gather(
            *(ask(connection, request("tools/list", None, 1)) for _ in range(2))
        )
    assert answers[0] == answers[1]
    assert answers[0]["result"]["protocolVersion"] == "2024-11-05"
    assert lists[0] == lists[1]


# definitions that cannot work


def plain_function() -> str:
    return ""


REFUSED = [
    pytest.param(lambda: Server(""), "Use 1 to 64 of the letters", id="no name"),
    pytest.param(lambda: Server("a__b"), "no double `__`", id="double underscore"),
    pytest.param(lambda: Server("a b"), "Use 1 to 64 of the letters", id="space"),
    pytest.param(lambda: check_server_name(None), "Use 1 to 64", id="None"),
    pytest.param(lambda: Server("a", [add, add]), "'add' is defined twice. Rename", id="two tools"),
    pytest.param(
        lambda: Server("a", [plain_function]),  # type: ignore[list-item]
        "Put @tool(...) above the function",
        id="no tool",
    ),
    pytest.param(
        lambda: Server("a", add),  # type: ignore[arg-type]
        "Write tools=[...]",
        id="a tool alone",
    ),
    pytest.param(
        lambda: Server("a", resources=[config, config]), "is defined twice", id="resources"
    ),
    pytest.param(lambda: Server("a", prompts=[talk, talk]), "is defined twice", id="prompts"),
    pytest.param(
        lambda: Server("s" * 64, [tool("t" * 64, "")(plain_function)]),
        "128 is the limit",
        id="full name",
    ),
    pytest.param(lambda: resource("no uri"), "Begin with a scheme", id="uri"),
    pytest.param(lambda: resource(None), "Begin with a scheme", id="no uri"),  # type: ignore[arg-type]
    pytest.param(lambda: resource("a:{b c}"), "Use each field once", id="field"),
    pytest.param(lambda: resource("a:{b}/{b}"), "Use each field once", id="field twice"),
    pytest.param(
        lambda: resource("a:{b}")(plain_function), "no parameter takes {b}", id="no parameter"
    ),
    pytest.param(
        lambda: resource("a:b")(lambda_with_parameter()), "Write {n} into the URI", id="no field"
    ),
    pytest.param(lambda: prompt("")(plain_function), "it has no name", id="prompt"),
    pytest.param(lambda: prompt()(lambda: ""), "it has no name", id="lambda"),
    pytest.param(lambda: open_endpoint(object()), "is not an MCP server", id="no server"),
]


def lambda_with_parameter() -> Any:
    def takes(n: int) -> str:
        return ""

    return takes


@pytest.mark.parametrize(("make", "advice"), REFUSED)
def test_a_definition_that_cannot_work_is_refused_with_advice(make: Any, advice: str) -> None:
    with pytest.raises(OptionError) as caught:
        make()
    assert advice in str(caught.value)


def test_a_resource_without_a_name_is_called_by_its_uri() -> None:
    assert resource("notes://today")(lambda: "").name == "notes://today"


def test_nothing_heavy_is_imported_before_a_foreign_server_is_bridged() -> None:
    program = (
        "import sys, fairlead.host.mcp.endpoint as m, fairlead.host.mcp.adapter;"
        "from fairlead.host.mcp.server import Server;"
        "m.open_endpoint(Server('calc'));"
        "print(sorted({'mcp', 'mcp_types', 'pydantic', 'anyio'} & set(sys.modules)))"
    )
    assert run_python(program) == ("[]\n", "")


# laws

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
METHODS = [
    "initialize",
    "ping",
    "logging/setLevel",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "notifications/cancelled",
    "notifications/initialized",
    "server/discover",
]
words = st.sampled_from(["add", "fail", "review", "config://app", "logo://3", "ref/prompt"])
likely_params = st.fixed_dictionaries(
    {},
    optional={
        "name": words | json_values,
        "uri": words | json_values,
        "arguments": st.dictionaries(st.sampled_from(["a", "b", "how", "path"]), json_values)
        | json_values,
        "_meta": json_values,
        "requestId": json_values,
        "level": st.sampled_from(["info", "loud"]) | json_values,
        "ref": st.fixed_dictionaries({"type": words, "name": words}) | json_values,
        "argument": st.fixed_dictionaries({"name": words, "value": st.text()}) | json_values,
        "protocolVersion": json_values,
    },
)
likely_messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | json_values,
        "id": json_values,
        "method": st.sampled_from(METHODS) | json_values,
        "params": likely_params | json_values,
        "result": json_values,
        "error": json_values,
    },
)


@given(st.lists(json_values | likely_messages, max_size=3))
def test_any_value_is_taken_and_every_request_gets_one_answer_with_its_id(
    messages: list[Any],
) -> None:
    async def talk_it_over() -> None:
        async with connected(offer()) as (connection, _):
            for message in messages:
                answer = await asyncio.wait_for(connection.handle(message), LIMIT_S)
                assert answer is None or msgspec.json.decode(msgspec.json.encode(answer)) == answer
                if isinstance(message, dict) and "id" in message and "method" in message:
                    assert answer is not None or message["id"] is None
                    if answer is not None:
                        assert answer["id"] == message["id"]
                        assert ("result" in answer) != ("error" in answer)

    asyncio.run(talk_it_over())
