"""Assertions on the lines of a CLI; a failure message lists what the lines contain.

They work on parsed lines; `lines_of` parses text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

__all__ = ["assert_asked_for", "assert_ended_well", "assert_said", "assert_used", "lines_of"]

Line = Mapping[str, Any]


def lines_of(text: str | Iterable[str]) -> list[dict[str, Any]]:
    """The JSON objects among lines of text."""
    rows = text.splitlines() if isinstance(text, str) else text
    objects = []
    for row in rows:
        try:
            value = json.loads(row)
        except ValueError:
            continue
        if isinstance(value, dict):
            objects.append(value)
    return objects


def _blocks(lines: Iterable[Line], kind: str) -> Iterator[Mapping[str, Any]]:
    for line in lines:
        if line.get("type") != "assistant":
            continue
        for block in line.get("message", {}).get("content", ()):
            if block.get("type") == kind:
                yield block


def assert_said(lines: Iterable[Line], words: str) -> str:
    """The model wrote these words; returns the whole text that contains them."""
    texts = [str(block.get("text", "")) for block in _blocks(lines, "text")]
    for text in texts:
        if words in text:
            return text
    raise AssertionError(f"the model did not write {words!r}; it wrote: {texts!r}")


def assert_used(lines: Iterable[Line], tool: str, **wanted: Any) -> Mapping[str, Any]:
    """A tool was used with at least this input; returns the whole input."""
    uses = [(str(b.get("name")), b.get("input") or {}) for b in _blocks(lines, "tool_use")]
    for name, used_input in uses:
        if name == tool and all(used_input.get(key) == value for key, value in wanted.items()):
            tool_input: Mapping[str, Any] = used_input
            return tool_input
    raise AssertionError(f"{tool} was not used with {wanted!r}; used were: {uses!r}")


def assert_asked_for(lines: Iterable[Line], tool: str) -> Mapping[str, Any]:
    """The host was asked whether a tool may run; returns the request."""
    requests = [
        line["request"]
        for line in lines
        if line.get("type") == "control_request"
        and line.get("request", {}).get("subtype") == "can_use_tool"
    ]
    for request in requests:
        if request.get("tool_name") == tool:
            matching: Mapping[str, Any] = request
            return matching
    names = [request.get("tool_name") for request in requests]
    raise AssertionError(f"no permission was requested for {tool}; requested were: {names!r}")


def assert_ended_well(lines: Iterable[Line]) -> Line:
    """The last turn ended with success and without an error; returns its result."""
    results = [line for line in lines if line.get("type") == "result"]
    if not results:
        raise AssertionError("there is no result: the turn did not end")
    last = results[-1]
    if last.get("subtype") != "success" or last.get("is_error"):
        raise AssertionError(f"the turn failed: {json.dumps(dict(last))[:500]}")
    return last
