"""`@tool`: what the model learns about a function, and how its arguments arrive."""

from __future__ import annotations

import asyncio
import datetime
import functools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, Optional, TypedDict

import msgspec
import pytest

from fairlead.errors import OptionError
from fairlead.host.mcp.tool_context import ToolContext
from fairlead.host.mcp.tool_parameters import ArgumentsError
from fairlead.host.mcp.tools import Tool, tool
from tests.launching import run_python


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: int
    y: int = 0


class Line(msgspec.Struct):
    points: list[Point]
    label: str | None = None


class Row(TypedDict, total=False):
    key: str
    count: int


def echo(hint: Any) -> Tool[..., Any]:
    """A tool with one required parameter of the given hint, which returns what it got."""

    def give_back(value: Any) -> Any:
        return value

    give_back.__annotations__["value"] = hint
    return tool("echo", "gives back")(give_back)


def context(**changes: Any) -> ToolContext:
    value: dict[str, Any] = {
        "server": "calc",
        "name": "echo",
        "request_id": 1,
        "meta": {},
        "notify": lambda method, params: None,
        "is_withdrawn": lambda: False,
    }
    return ToolContext(**{**value, **changes})


async def run(made: Tool[..., Any], arguments: dict[str, Any]) -> Any:
    return await asyncio.wait_for(made.run(arguments, context()), 5)


# definitions


def test_the_example_of_the_readme_becomes_a_full_definition() -> None:
    @tool("add", "Add two numbers")
    async def add(a: float, b: float) -> str:
        return str(a + b)

    assert add.definition() == {
        "name": "add",
        "description": "Add two numbers",
        "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
            "required": ["a", "b"],
            "additionalProperties": False,
        },
    }


async def test_a_decorated_function_can_still_be_called() -> None:
    @tool("add", "Add two numbers")
    async def add(a: float, b: float) -> str:
        return str(a + b)

    @tool("twice", "Twice")
    def twice(n: int) -> int:
        return 2 * n

    assert await add(1, 2) == "3"
    assert twice(4) == 8


def test_name_and_description_come_from_the_function_when_none_are_given() -> None:
    @tool
    def greet(who: str) -> str:
        """Say hello.

        To one person.
        """
        return who

    @tool()
    def bye() -> str:
        return ""

    assert (greet.name, greet.description) == ("greet", "Say hello.\n\nTo one person.")
    assert (bye.name, bye.description) == ("bye", "")


def test_annotations_and_meta_are_sent_by_their_wire_names() -> None:
    @tool("look", "Look", title="Look at it", read_only=True, open_world=False, meta={"a/b": 1})
    def look() -> str:
        return ""

    entry = look.definition()
    assert entry["annotations"] == {
        "title": "Look at it",
        "readOnlyHint": True,
        "openWorldHint": False,
    }
    assert entry["_meta"] == {"a/b": 1}


def test_defaults_make_a_parameter_optional_and_are_in_the_schema() -> None:
    @tool("find", "Find")
    def find(
        text: str,
        limit: int = 10,
        colour: Colour = Colour.RED,
        tags: list[str] = ["new"],  # noqa: B006 - the default is what is tested
        where: Path = Path("src"),
        since: str = None,  # type: ignore[assignment]  # noqa: RUF013 - common, so it must work
    ) -> str:
        return text

    schema = find.definition()["inputSchema"]
    assert schema["required"] == ["text"]
    assert schema["properties"]["limit"] == {"type": "integer", "default": 10}
    assert schema["properties"]["colour"]["default"] == "red"
    assert schema["properties"]["tags"]["default"] == ["new"]
    assert schema["properties"]["where"] == {"type": "string", "default": "src"}
    assert schema["properties"]["since"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}


def test_descriptions_of_parameters_come_from_annotated() -> None:
    @tool("find", "Find")
    def find(
        text: Annotated[str, msgspec.Meta(description="what to look for", min_length=1)],
        limit: Annotated[int | None, "how many at most"] = None,
    ) -> str:
        return text

    properties = find.definition()["inputSchema"]["properties"]
    assert properties["text"] == {
        "type": "string",
        "description": "what to look for",
        "minLength": 1,
    }
    assert properties["limit"]["description"] == "how many at most"


def test_classes_are_described_once_under_defs() -> None:
    @tool("draw", "Draw")
    def draw(line: Line, also: list[Line], rows: list[Row]) -> str:
        return ""

    schema = draw.definition()["inputSchema"]
    assert schema["properties"]["line"] == {"$ref": "#/$defs/Line"}
    assert set(schema["$defs"]) == {"Line", "Point", "Row"}


def test_a_class_of_the_enclosing_function_is_found_though_hints_are_text() -> None:
    @dataclass
    class Local:
        n: int

    @tool("use", "Use")
    def use(local: Local) -> str:
        return ""

    assert set(use.definition()["inputSchema"]["$defs"]) == {"Local"}


def test_a_context_parameter_is_not_shown_to_the_model() -> None:
    @tool("where", "Where")
    def where(position: str, about: ToolContext | None) -> str:
        return ""

    assert set(where.definition()["inputSchema"]["properties"]) == {"position"}


# arguments

ARRIVES = [
    pytest.param(str, "a", "a", id="str"),
    pytest.param(int, 3, 3, id="int"),
    pytest.param(float, 3, 3.0, id="float from a whole number"),
    pytest.param(bool, True, True, id="bool"),
    pytest.param(list[int], [1, 2], [1, 2], id="list"),
    pytest.param(tuple[int, str], [1, "a"], (1, "a"), id="tuple"),
    pytest.param(set[str], ["a"], {"a"}, id="set"),
    pytest.param(dict[str, int], {"a": 1}, {"a": 1}, id="dict"),
    pytest.param(dict[int, str], {"1": "a"}, {1: "a"}, id="dict with numbers as keys"),
    pytest.param(Optional[int], None, None, id="Optional"),  # noqa: UP045 - both spellings
    pytest.param(int | None, 3, 3, id="or None"),
    pytest.param(int | str, "3", "3", id="a union keeps text that looks like a number"),
    pytest.param(Literal["a", "b"], "b", "b", id="Literal"),
    pytest.param(Colour, "blue", Colour.BLUE, id="Enum"),
    pytest.param(Point, {"x": 1}, Point(1, 0), id="dataclass"),
    pytest.param(Row, {"key": "a", "count": 2}, {"key": "a", "count": 2}, id="TypedDict"),
    pytest.param(Line, {"points": [{"x": 1, "y": 2}]}, Line([Point(1, 2)]), id="Struct"),
    pytest.param(Path, "a/b", Path("a/b"), id="Path"),
    pytest.param(datetime.date, "2026-01-02", datetime.date(2026, 1, 2), id="date"),
    pytest.param(bytes, "aGk=", b"hi", id="bytes"),
    pytest.param(Any, {"a": [None]}, {"a": [None]}, id="Any"),
    pytest.param(Annotated[int, msgspec.Meta(ge=1)], 1, 1, id="Annotated"),
    pytest.param(int, "3", 3, id="a number written as text"),
    pytest.param(bool, "true", True, id="a bool written as text"),
    pytest.param(list[int], "[1, 2]", [1, 2], id="a list written as text"),
    pytest.param(Point, '{"x": 1}', Point(1), id="an object written as text"),
]


@pytest.mark.parametrize(("hint", "value", "expected"), ARRIVES)
async def test_an_argument_arrives_as_its_hint_says(hint: Any, value: Any, expected: Any) -> None:
    arrived = await run(echo(hint), {"value": value})
    assert arrived == expected
    assert type(arrived) is type(expected)


MISFITS = [
    pytest.param(int, "three", "value: Expected `int`, got `str`", id="wrong type"),
    pytest.param(str, 3, "value: Expected `str`, got `int`", id="a number is no text"),
    pytest.param(
        Colour, "green", "value: Invalid enum value 'green'; allowed: blue, red", id="Enum"
    ),
    pytest.param(Literal["a", "b"], "c", "allowed: a, b", id="Literal"),
    pytest.param(Line, {"points": [{"x": "?"}]}, "value.points[0].x: Expected", id="deep inside"),
    pytest.param(Annotated[int, msgspec.Meta(ge=1)], 0, "value: Expected `int` >= 1", id="limit"),
    pytest.param(Path, 3, "value: Expected `str`, got `int`", id="Path"),
    pytest.param(list[int], "[1,", "value: Expected `array`, got `str`", id="broken text"),
    pytest.param(
        Literal["a"], "\ud800", "value: The text contains half a character", id="surrogate"
    ),
]


@pytest.mark.parametrize(("hint", "value", "text"), MISFITS)
async def test_an_argument_that_does_not_fit_is_explained(hint: Any, value: Any, text: str) -> None:
    with pytest.raises(ArgumentsError) as caught:
        await run(echo(hint), {"value": value})
    assert text in str(caught.value)
    assert str(caught.value).encode()


async def test_all_errors_of_a_call_are_reported_together() -> None:
    @tool("add", "Add")
    def add(a: float, b: float) -> str:
        return ""

    with pytest.raises(ArgumentsError) as caught:
        await run(add, {"a": "one", "c": 3})
    assert str(caught.value).splitlines() == [
        "Wrong arguments for tool `add`:",
        "- a: Expected `float`, got `str`",
        "- b: missing, but required",
        "- c: unknown argument, tool `add` takes only a, b",
    ]


async def test_a_tool_without_parameters_says_so_when_it_is_given_some() -> None:
    @tool("now", "Now")
    def now() -> str:
        return ""

    with pytest.raises(ArgumentsError, match="tool `now` takes no arguments"):
        await run(now, {"a": 1})


async def test_an_absent_argument_is_left_to_the_functions_default() -> None:
    unique = object()

    @tool("give", "Give")
    def give(value: Any = unique) -> Any:
        return value

    assert await run(give, {}) is unique
    assert "default" not in give.definition()["inputSchema"]["properties"]["value"]
    assert await run(give, {"value": None}) is None


# running


async def test_a_plain_function_runs_in_a_thread_and_an_async_one_in_the_loop() -> None:
    @tool("plain", "Plain")
    def plain() -> Any:
        return threading.current_thread()

    @tool("quick", "Quick")
    async def quick() -> Any:
        return threading.current_thread()

    assert await run(plain, {}) is not threading.current_thread()
    assert await run(quick, {}) is threading.current_thread()


async def test_methods_partials_and_callable_objects_can_be_tools() -> None:
    class Shop:
        def __init__(self, stock: int) -> None:
            self.stock = stock

        async def left(self, taken: int) -> int:
            return self.stock - taken

        async def __call__(self, taken: int) -> int:
            return await self.left(taken)

    def scaled(factor: int, n: int) -> int:
        return factor * n

    shop = Shop(10)
    partial: Callable[..., int] = functools.partial(scaled, 3)
    assert await run(tool("left", "Left")(shop.left), {"taken": 4}) == 6
    assert await run(tool("call", "Call")(shop), {"taken": 3}) == 7
    assert await run(tool("scaled", "Scaled")(partial), {"n": 5}) == 15


async def test_a_plain_function_that_returns_a_coroutine_is_awaited() -> None:
    async def later() -> str:
        return "done"

    def starts_it() -> Any:
        return later()

    assert await run(tool("later", "Later")(starts_it), {}) == "done"


async def test_whatever_a_plain_function_raises_comes_out_of_its_thread() -> None:
    @tool("stop", "Stop")
    def stop(how: str) -> str:
        raise StopIteration(how) if how == "iteration" else KeyError(how)

    with pytest.raises(KeyError, match="key"):
        await run(stop, {"how": "key"})
    with pytest.raises(RuntimeError, match="StopIteration: iteration"):
        await run(stop, {"how": "iteration"})


BLOCKED_FOR_EVER = """
import asyncio, threading
from fairlead.host.mcp.tool_invocation import invoke

async def main():
    running = threading.Event()
    def block():
        running.set()
        threading.Event().wait()
    call = asyncio.create_task(invoke(block, {}))
    await asyncio.to_thread(running.wait, 30)
    call.cancel()

asyncio.run(main())
print("ended")
"""


def test_a_plain_function_that_never_returns_does_not_keep_the_program_alive() -> None:
    assert run_python(BLOCKED_FOR_EVER) == ("ended\n", "")


# the context


def test_the_context_tells_the_tool_use_id_only_where_it_is_one() -> None:
    assert context(meta={"claudecode/toolUseId": "toolu_1"}).tool_use_id == "toolu_1"
    assert context(meta={"claudecode/toolUseId": 7}).tool_use_id is None
    assert context().tool_use_id is None


def test_progress_is_sent_under_the_token_of_the_call() -> None:
    sent: list[tuple[str, dict[str, Any]]] = []

    def notify(method: str, params: dict[str, Any]) -> None:
        sent.append((method, params))

    request = context(meta={"progressToken": 2}, notify=notify)
    request.progress(1)
    request.progress(2, 3, "half way")
    context(notify=notify).progress(1)
    assert sent == [
        ("notifications/progress", {"progressToken": 2, "progress": 1}),
        (
            "notifications/progress",
            {"progressToken": 2, "progress": 2, "total": 3, "message": "half way"},
        ),
    ]


def test_a_log_level_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="use one of debug, info"):
        context().log("loud", "hello")


# definitions that cannot work


class Opaque:
    pass


def with_star(*words: str) -> str:
    return ""


def with_double_star(**words: str) -> str:
    return ""


def without_hint(a) -> str:  # type: ignore[no-untyped-def]
    return ""


def positional_only(a: int, /) -> str:
    return ""


def opaque(a: Opaque) -> str:
    return ""


def unclear(a: Point | Line | Colour | Opaque) -> str:
    return ""


def two_contexts(a: ToolContext, b: ToolContext) -> str:
    return ""


def unknown_name(a: Missing) -> str:  # type: ignore[name-defined]  # noqa: F821
    return ""


def fine() -> str:
    return ""


class Holder:
    def method(self, a: int) -> str:
        return ""


REFUSED = [
    pytest.param("", fine, "it has no name", id="no name"),
    pytest.param(None, lambda: "", "it has no name", id="a lambda has none"),
    pytest.param(5, fine, "it has no name", id="a number is none"),
    pytest.param("two words", fine, "Use 1 to 64 of the letters", id="space in the name"),
    pytest.param("x" * 65, fine, "Use 1 to 64 of the letters", id="long name"),
    pytest.param("t", with_star, "Give every argument a name", id="star"),
    pytest.param("t", with_double_star, "Give every argument a name", id="double star"),
    pytest.param("t", without_hint, "`a` has no type hint. Write for example", id="no hint"),
    pytest.param("t", positional_only, "Remove the `/`", id="positional only"),
    pytest.param("t", opaque, "Use str, int, float", id="unsupported hint"),
    pytest.param("t", unclear, "Use str, int, float", id="union that cannot be told apart"),
    pytest.param("t", two_contexts, "Keep one", id="two contexts"),
    pytest.param("t", unknown_name, "Define or import the type", id="unknown type"),
    pytest.param("t", Holder.method, "Decorate the bound method", id="unbound method"),
    pytest.param("t", "text", "is not a function", id="no function"),
    pytest.param("t", dict, "Wrap it in a function", id="no signature"),
]


@pytest.mark.parametrize(("name", "function", "advice"), REFUSED)
def test_a_definition_that_cannot_work_is_refused_with_advice(
    name: Any, function: Any, advice: str
) -> None:
    with pytest.raises(OptionError) as caught:
        tool(name, "does it")(function)
    assert advice in str(caught.value)


def test_a_description_that_is_no_text_is_refused() -> None:
    with pytest.raises(OptionError, match="Give text"):
        tool("t", 5)(fine)  # type: ignore[call-overload]
