"""The arguments of a tool whose JSON Schema was written by hand: passed on as one dict."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fairlead.errors import OptionError
from fairlead.host.mcp.tool_context import ToolContext, is_context_hint
from fairlead.host.mcp.tool_parameters import ArgumentsError

__all__ = ["SchemaParameters", "read_schema"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaParameters:
    """A schema, and the names of the parameters that take the arguments and the context."""

    json_schema: Mapping[str, Any]
    arguments_name: str
    context_name: str | None

    def schema(self) -> dict[str, Any]:
        """The schema as it was given."""
        return dict(self.json_schema)

    def convert(
        self, what: str, arguments: Mapping[str, Any], context: ToolContext
    ) -> dict[str, Any]:
        """Keyword arguments for the function: all arguments of the call as one dict.

        Only what the schema requires is checked here; the function checks the rest.
        """
        required = self.json_schema.get("required")
        missing = [name for name in required or () if name not in arguments]
        if missing:
            raise ArgumentsError(f"Wrong arguments for {what}: missing {', '.join(missing)}")
        keywords: dict[str, Any] = {self.arguments_name: dict(arguments)}
        if self.context_name is not None:
            keywords[self.context_name] = context
        return keywords


def read_schema(
    function: Callable[..., Any], schema: Mapping[str, Any], what: str
) -> SchemaParameters:
    """Check a schema and the function that goes with it."""
    if not isinstance(schema, Mapping) or schema.get("type", "object") != "object":
        raise OptionError(
            what, "the schema is not that of an object.", 'Give {"type": "object", …}.'
        )
    try:
        json_schema = json.loads(json.dumps(dict(schema), allow_nan=False))
    except (TypeError, ValueError) as problem:
        raise OptionError(what, f"the schema is not JSON: {problem}.") from None
    context_name: str | None = None
    names: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        hint = parameter.annotation
        if is_context_hint(hint) or (isinstance(hint, str) and "ToolContext" in hint):
            context_name = parameter.name
        elif parameter.default is inspect.Parameter.empty:
            names.append(parameter.name)
    if len(names) != 1:
        raise OptionError(
            what,
            f"with a schema the function takes one parameter, not {len(names)}.",
            "It gets all arguments as a dict: `def name(arguments: dict) -> …`.",
        )
    return SchemaParameters(
        json_schema={"type": "object", **json_schema},
        arguments_name=names[0],
        context_name=context_name,
    )
