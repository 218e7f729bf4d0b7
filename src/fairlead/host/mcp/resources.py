"""Resources of the host: text or bytes under a URI, which the CLI may list and read.

    @resource("config://app", mime_type="application/json")
    def config() -> dict[str, str]: ...

    @resource("user://{name}")   # a template: {x} is a parameter, {+x} one that may contain slashes
    async def user(name: str) -> str: ...

A function returns text, bytes, or data that is sent as JSON. Refuses a definition that could
not work when it is made. `mcp` serves resources; 2.1.325 lets the model list and read them,
2.1.38 does not ask a server of the host for any.
"""

from __future__ import annotations

import base64
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from fairlead.errors import OptionError
from fairlead.host.mcp.results import json_text, text_block
from fairlead.host.mcp.tool_context import ToolContext
from fairlead.host.mcp.tool_invocation import invoke
from fairlead.host.mcp.tool_parameters import Parameters, read_parameters
from fairlead.host.mcp.tools import description_of, function_name

__all__ = ["Resource", "resource"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_FIELD = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """Something to read at a URI, or at every URI that matches a template."""

    uri: str
    name: str
    description: str
    mime_type: str | None
    function: Callable[..., Any]
    parameters: Parameters = field(repr=False)
    pattern: re.Pattern[str] = field(repr=False)

    @property
    def is_template(self) -> bool:
        """Whether the URI has fields to fill in."""
        return bool(_FIELD.search(self.uri))

    def definition(self) -> dict[str, Any]:
        """The resource as an entry of `resources/list` or `resources/templates/list`."""
        entry: dict[str, Any] = {
            "uriTemplate" if self.is_template else "uri": self.uri,
            "name": self.name,
        }
        if self.description:
            entry["description"] = self.description
        if self.mime_type:
            entry["mimeType"] = self.mime_type
        return entry

    def match(self, uri: str) -> dict[str, str] | None:
        """The fields of a matching URI, or None."""
        match = self.pattern.fullmatch(uri)
        if match is None:
            return None
        return {name: unquote(value) for name, value in match.groupdict().items()}

    async def read(self, uri: str, context: ToolContext) -> dict[str, Any]:
        """The result of `resources/read`; ArgumentsError if a field does not fit its hint."""
        keywords = self.parameters.convert(f"resource `{self.uri}`", self.match(uri) or {}, context)
        return {"contents": [self._contents(uri, await invoke(self.function, keywords))]}

    def _contents(self, uri: str, value: Any) -> dict[str, Any]:
        if isinstance(value, bytes | bytearray):
            blob = base64.b64encode(bytes(value)).decode("ascii")
            mime_type = self.mime_type or "application/octet-stream"
            return {"uri": uri, "mimeType": mime_type, "blob": blob}
        if isinstance(value, str):
            text, mime_type = value, self.mime_type or "text/plain"
        else:
            text, mime_type = json_text(value), self.mime_type or "application/json"
        return {"uri": uri, "mimeType": mime_type, "text": text_block(text)["text"]}


def resource(
    uri: str,
    name: str | None = None,
    description: str | None = None,
    *,
    mime_type: str | None = None,
) -> Callable[[Callable[..., Any]], Resource]:
    """Make a `Resource` of a function; `{x}` in the URI makes it a template."""
    scope = sys._getframe(1).f_locals
    what = f"resource {uri!r}"
    if not isinstance(uri, str) or not _SCHEME.match(uri):
        raise OptionError(what, "is not a URI.", 'Begin with a scheme, as in "notes://today".')
    pattern = _pattern(uri, what)

    def decorate(function: Callable[..., Any]) -> Resource:
        text = description_of(function, description, what)
        parameters = read_parameters(function, what, scope)
        _check_fields(parameters, set(pattern.groupindex), what)
        return Resource(
            uri=uri,
            name=name or function_name(function) or uri,
            description=text,
            mime_type=mime_type,
            function=function,
            parameters=parameters,
            pattern=pattern,
        )

    return decorate


def _pattern(uri: str, what: str) -> re.Pattern[str]:
    parts: list[str] = []
    seen: set[str] = set()
    end = 0
    for match in _FIELD.finditer(uri):
        # RFC 6570: {+x} takes slashes too.
        name, value_pattern = (
            match[1].removeprefix("+"),
            ".+" if match[1].startswith("+") else "[^/]+",
        )
        if not name.isidentifier() or name in seen:
            raise OptionError(
                what,
                f"the field {match[0]} is not valid.",
                "Use each field once, and the name of a parameter between the braces.",
            )
        seen.add(name)
        parts += [re.escape(uri[end : match.start()]), f"(?P<{name}>{value_pattern})"]
        end = match.end()
    return re.compile("".join([*parts, re.escape(uri[end:])]))


def _check_fields(parameters: Parameters, fields: set[str], what: str) -> None:
    known = {item.name for item in parameters.items}
    for name in sorted(fields - known):
        raise OptionError(what, f"no parameter takes {{{name}}}.", "Add one of that name.")
    for item in parameters.items:
        if item.required and item.name not in fields:
            raise OptionError(
                what,
                f"nothing in the URI fills parameter `{item.name}`.",
                f"Write {{{item.name}}} into the URI, or give the parameter a default.",
            )
