"""Tools of the host that the model may call: the `@tool` decorator and the `Tool` it makes.

    @tool("add", "Add two numbers")
    async def add(a: float, b: float) -> str:
        return str(a + b)

A `Tool` is a value: name, description, input schema, hints for the CLI, and the function, which
can still be called as before. A definition that could not work is refused when it is made.
`results` defines what a function may return; `connection` serves tools to the CLI.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, ParamSpec, TypeVar, overload

from fairlead.errors import OptionError
from fairlead.host.mcp.tool_context import ToolContext
from fairlead.host.mcp.tool_invocation import invoke
from fairlead.host.mcp.tool_parameters import Parameters, read_parameters
from fairlead.host.mcp.tool_schema import SchemaParameters, read_schema

__all__ = ["Tool", "ToolContext", "tool"]

P = ParamSpec("P")
R = TypeVar("R")

TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Tool names that the Messages API allows; the full name also contains the server's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Generic[P, R]):
    """A function that the model may call, and its description for the CLI."""

    name: str
    description: str
    function: Callable[P, R]
    parameters: Parameters | SchemaParameters = field(repr=False)
    annotations: Mapping[str, Any] = field(default_factory=dict)
    """MCP tool annotations by their wire names; `readOnlyHint` lets the CLI run calls in parallel."""
    meta: Mapping[str, Any] = field(default_factory=dict)
    """Sent unchanged as `_meta` of the tool. 2.1.325 reads "anthropic/alwaysLoad": true (the
    model has the tool at once and need not search for it) and "anthropic/maxResultSizeChars"."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function itself, as if it were not decorated."""
        return self.function(*args, **kwargs)

    def definition(self) -> dict[str, Any]:
        """The tool as an entry of `tools/list`."""
        entry: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "inputSchema": self.parameters.schema(),
        }
        if self.annotations:
            entry["annotations"] = dict(self.annotations)
        if self.meta:
            entry["_meta"] = dict(self.meta)
        return entry

    async def run(self, arguments: Mapping[str, Any], context: ToolContext) -> Any:
        """Convert the arguments and call the function; ArgumentsError if they do not fit."""
        keywords = self.parameters.convert(f"tool `{self.name}`", arguments, context)
        return await invoke(self.function, keywords)


@overload
def tool(name: Callable[P, R], /) -> Tool[P, R]: ...


@overload
def tool(
    name: str | None = None,
    description: str | None = None,
    *,
    title: str | None = None,
    read_only: bool | None = None,
    destructive: bool | None = None,
    idempotent: bool | None = None,
    open_world: bool | None = None,
    meta: Mapping[str, Any] | None = None,
    schema: Mapping[str, Any] | None = None,
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...


def tool(
    name: Callable[..., Any] | str | None = None,
    description: str | None = None,
    *,
    title: str | None = None,
    read_only: bool | None = None,
    destructive: bool | None = None,
    idempotent: bool | None = None,
    open_world: bool | None = None,
    meta: Mapping[str, Any] | None = None,
    schema: Mapping[str, Any] | None = None,
) -> Any:
    """Make a `Tool` of a function; without a name or description, take the function's own.

    `read_only`, `destructive`, `idempotent` and `open_world` are hints to the CLI and to the
    person who approves the call; they allow nothing by themselves.

    With `schema`, a JSON Schema of an object, the function takes one parameter, which is given
    the arguments of the call as a dict, and a ToolContext if it asks for one. Without it the
    schema is read from the function's type hints.
    """
    scope = sys._getframe(
        1
    ).f_locals  # so that hints written as text can name classes of the caller
    hints = {
        "title": title,
        "readOnlyHint": read_only,
        "destructiveHint": destructive,
        "idempotentHint": idempotent,
        "openWorldHint": open_world,
    }
    annotations = {key: value for key, value in hints.items() if value is not None}

    def decorate(function: Callable[..., Any]) -> Tool[..., Any]:
        own_name = function_name(function) if name is None or callable(name) else name
        _check_name(own_name)
        what = f"tool `{own_name}`"
        return Tool(
            name=own_name,
            description=description_of(function, description, what),
            function=function,
            parameters=(
                read_parameters(function, what, scope)
                if schema is None
                else read_schema(function, schema, what)
            ),
            annotations=annotations,
            meta=dict(meta or {}),
        )

    return decorate(name) if callable(name) else decorate


def function_name(function: Callable[..., Any]) -> str:
    """The name of a function; "" for a lambda or an object without a name."""
    name = str(getattr(function, "__name__", ""))
    return "" if name == "<lambda>" else name


def description_of(function: Callable[..., Any], description: str | None, what: str) -> str:
    """The given description, or the function's docstring, or ""."""
    if not callable(function):
        raise OptionError(what, f"{function!r} is not a function.", "Put it above a `def`.")
    if description is not None:
        if not isinstance(description, str):
            raise OptionError(what, f"the description is {description!r}.", "Give text.")
        return description
    # An object's docstring is that of its class, so only the docstring of a routine is used.
    return inspect.getdoc(function) or "" if inspect.isroutine(function) else ""


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name:
        raise OptionError("tool", "it has no name.", 'Write @tool("name", "what it does").')
    if not TOOL_NAME.fullmatch(name):
        raise OptionError(
            f"tool {name!r}",
            "the name is not valid.",
            "Use 1 to 64 of the letters a-z, A-Z, digits, `_` and `-`.",
        )
