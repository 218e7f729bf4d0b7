"""Prompts of the host: named texts with arguments, which an MCP client may offer as commands.

    @prompt("review", "Review one file")
    def review(path: str, depth: Literal["quick", "deep"] = "quick") -> str: ...

Arguments arrive as text and are converted by the type hints. A function returns text (one
message of the user), a message {"role", "content"}, an image, or a list of these. `mcp` serves
prompts; the CLIs measured so far (2.1.38, 2.1.325) do not ask a server of the host for any.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fairlead.errors import OptionError
from fairlead.host.mcp.results import tool_result
from fairlead.host.mcp.tool_context import ToolContext
from fairlead.host.mcp.tool_invocation import invoke
from fairlead.host.mcp.tool_parameters import Parameters, read_parameters
from fairlead.host.mcp.tools import description_of, function_name

__all__ = ["Prompt", "prompt"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A function that writes the messages of a prompt."""

    name: str
    description: str
    function: Callable[..., Any]
    parameters: Parameters = field(repr=False)

    def definition(self) -> dict[str, Any]:
        """The prompt as an entry of `prompts/list`."""
        arguments = []
        for item in self.parameters.items:
            entry: dict[str, Any] = {"name": item.name, "required": item.required}
            if item.description:
                entry["description"] = item.description
            arguments.append(entry)
        return {"name": self.name, "description": self.description, "arguments": arguments}

    async def get(self, arguments: Mapping[str, Any], context: ToolContext) -> dict[str, Any]:
        """The result of `prompts/get`; ArgumentsError if an argument does not fit its hint."""
        keywords = self.parameters.convert(f"prompt `{self.name}`", arguments, context)
        value = await invoke(self.function, keywords)
        parts = value if isinstance(value, list | tuple) else [value]
        messages = [message for part in parts for message in _messages(part)]
        return {"description": self.description, "messages": messages}


def prompt(
    name: str | None = None, description: str | None = None
) -> Callable[[Callable[..., Any]], Prompt]:
    """Make a `Prompt` of a function; without a name or description, take the function's own."""
    scope = sys._getframe(1).f_locals

    def decorate(function: Callable[..., Any]) -> Prompt:
        own_name = function_name(function) if name is None else name
        if not isinstance(own_name, str) or not own_name.strip():
            raise OptionError("prompt", "it has no name.", 'Write @prompt("name", "what for").')
        what = f"prompt `{own_name}`"
        return Prompt(
            name=own_name,
            description=description_of(function, description, what),
            function=function,
            parameters=read_parameters(function, what, scope),
        )

    return decorate


def _messages(part: Any) -> list[dict[str, Any]]:
    role, content = "user", part
    if isinstance(part, Mapping) and "role" in part and "content" in part:
        role, content = str(part["role"]), part["content"]
    if role not in ("user", "assistant"):
        raise ValueError(f"a message has the role {role!r}; it must be 'user' or 'assistant'")
    result = tool_result(content)
    if result.get("isError"):
        raise ValueError(result["content"][0]["text"])
    # MCP has one block to a message.
    return [{"role": role, "content": block} for block in result["content"]]
