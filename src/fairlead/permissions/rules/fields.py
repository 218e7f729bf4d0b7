"""Deny and ask rules that name a field of the input: `Bash(run_in_background:true)`.

2.1.325 compares the value of that field with the text after the colon, in which a star matches any
characters. Allow rules of this form mean nothing.
"""

from __future__ import annotations

from fairlead.permissions.rules.decisions import ToolCall
from fairlead.permissions.rules.wildcards import star_match

__all__ = ["field_matches"]

_OWN_FIELDS = {"Bash": "command", "Monitor": "command", "WebFetch": "domain"}
"""Fields that the rules of a tool are about anyway, in a form of their own."""


def field_matches(content: str, call: ToolCall) -> bool:
    """Whether the content names a field of this input and its value."""
    name, colon, expected = content.partition(":")
    name, expected = name.strip(), expected.strip()
    if not colon or not name or not expected or name == _OWN_FIELDS.get(call.tool):
        return False
    value = call.input.get(name)
    if value is None or isinstance(value, list | dict):
        return False
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return star_match(expected.split("*"), text.strip())
