"""What a test may ask of the lines that a CLI said; each says in its message what was there.

Works on plain objects (parsed lines) and on anything with a `raw` mapping, so that the messages of
an SDK can be given after `lines_of`.
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
    found = []
    for row in rows:
        try:
            value = json.loads(row)
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def _blocks(lines: Iterable[Line], kind: str) -> Iterator[Mapping[str, Any]]:
    for line in lines:
        if line.get("type") != "assistant":
            continue
        for block in line.get("message", {}).get("content", ()):
            if block.get("type") == kind:
                yield block


def assert_said(lines: Iterable[Line], words: str) -> str:
    """The model said these words; gives the whole text they stand in."""
    texts = [str(block.get("text", "")) for block in _blocks(lines, "text")]
    for text in texts:
        if words in text:
            return text
    raise AssertionError(f"nobody said {words!r}; the model said: {texts!r}")


def assert_used(lines: Iterable[Line], tool: str, **wanted: Any) -> Mapping[str, Any]:
    """A tool was used with at least this input; gives the whole input."""
    uses = [(str(b.get("name")), b.get("input") or {}) for b in _blocks(lines, "tool_use")]
    for name, given in uses:
        if name == tool and all(given.get(key) == value for key, value in wanted.items()):
            found: Mapping[str, Any] = given
            return found
    raise AssertionError(f"{tool} was not used with {wanted!r}; used were: {uses!r}")


def assert_asked_for(lines: Iterable[Line], tool: str) -> Mapping[str, Any]:
    """The host was asked whether a tool may run; gives the request."""
    asked = [
        line["request"]
        for line in lines
        if line.get("type") == "control_request"
        and line.get("request", {}).get("subtype") == "can_use_tool"
    ]
    for request in asked:
        if request.get("tool_name") == tool:
            found: Mapping[str, Any] = request
            return found
    names = [request.get("tool_name") for request in asked]
    raise AssertionError(f"nobody was asked about {tool}; asked about were: {names!r}")


def assert_ended_well(lines: Iterable[Line]) -> Line:
    """The last turn has a result that is a success and no error; gives it."""
    results = [line for line in lines if line.get("type") == "result"]
    if not results:
        raise AssertionError("there is no result: the turn did not end")
    last = results[-1]
    if last.get("subtype") != "success" or last.get("is_error"):
        raise AssertionError(f"the turn ended badly: {json.dumps(dict(last))[:500]}")
    return last
