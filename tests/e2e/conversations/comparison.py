"""Compares the lines of two plays of one host script.

Lines are compared as skeletons: order, types, subtypes, keys and the values that distinguish them
(`tests/emulator/skeleton.py`). Two kinds of lines keep their own order, but not their place among the
others, because the CLI writes them when another process or the host's server is ready: messages to
MCP servers, and lines about background tasks. Beyond that, only what varies between two plays of the
real CLI may vary (`explained`). A golden conversation has one play; where its host writes several
lines at once, the answers to interrupts and the reports of queued prompts keep their own order, too.
"""

from __future__ import annotations

import difflib
import itertools
import json
from collections.abc import Sequence
from typing import Any

from tests.emulator.skeleton import skeletons

__all__ = ["arranged", "difference", "equal", "explained", "outline", "signature"]

Data = dict[str, Any]

BACKGROUND = ("task_started", "task_updated", "task_notification", "task_progress",
              "background_tasks_changed")  # fmt: skip


KILLED = {"_exit": -9}


def outline(lines: Sequence[Data]) -> list[Any]:
    """The skeletons of the lines of a play; the text of stderr is left out."""
    shown = [
        {key: value for key, value in line.items() if key != "_stderr"}
        if isinstance(line, dict)
        else line
        for line in lines
    ]
    plain = [line for line in shown if not (isinstance(line, dict) and "_exit" in line)]
    ends = [line for line in shown if isinstance(line, dict) and "_exit" in line]
    if ends != [KILLED]:
        # The process ended by itself; only a program that it had started kept stdout open.
        plain = [line for line in plain if line != {"_timeout": "end"}]
    return [*skeletons(plain), *ends]


def arranged(bones: Sequence[Any], *, races: bool = False) -> list[Any]:
    """The skeletons, with lines of no fixed position moved to the end in their own order.

    `races` if the host writes several lines at once: when the CLI reads the later ones varies.
    """
    return sorted(bones, key=lambda line: _channel(line, races))


def _channel(line: Any, races: bool) -> int:
    if not isinstance(line, dict):
        return 0
    request, response = line.get("request"), line.get("response")
    if isinstance(request, dict) and request.get("subtype") == "mcp_message":
        return 1
    if isinstance(response, dict) and "mcp_response" in response:
        return 1
    if line.get("subtype") in BACKGROUND:
        return 2
    if races and line.get("type") == "control_response":
        return 3 if response is None or set(response) == {"still_queued"} else 0
    return 4 if races and line.get("state") == "queued" else 0


def equal(first: Sequence[Any], second: Sequence[Any], *, races: bool = False) -> bool:
    """Whether two lists of skeletons are the same conversation."""
    return arranged(first, races=races) == arranged(second, races=races)


def explained(plays: Sequence[Sequence[Any]], emulated: Sequence[Any]) -> bool:
    """Whether the emulator differs from the real CLI only where the CLI differs from itself.

    The lines that vary are those in which two plays of the CLI differ: by their place, or because
    only one play has them. Without them the emulator must agree with a play line by line, and it
    must have the same ones as a play, in any order.
    """
    wanted = [[_pretty(line) for line in arranged(play)] for play in plays]
    given = [_pretty(line) for line in arranged(emulated)]
    varying = {line for one, other in itertools.pairwise(wanted) for line in _changed(one, other)}
    if not varying:
        return False
    fixed = [line for line in given if line not in varying]
    return any(
        fixed == [line for line in play if line not in varying] and sorted(given) == sorted(play)
        for play in wanted
    )


def _changed(one: Sequence[str], other: Sequence[str]) -> set[str]:
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    opcodes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    return {line for _, a, b, c, d in opcodes for line in (*one[a:b], *other[c:d])}


def difference(real: Sequence[Any], emulated: Sequence[Any]) -> str:
    """What differs, as a diff: `-` is what the CLI wrote, `+` the emulator."""
    left = [_pretty(line) for line in arranged(real)]
    right = [_pretty(line) for line in arranged(emulated)]
    lines: list[str] = []
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            lines += [f"  {_title(text)}" for text in left[a:b]]
            continue
        if tag == "replace" and b - a == d - c:
            for one, other in zip(left[a:b], right[c:d], strict=True):
                lines += _inner(one, other)
            continue
        lines += [f"- {text}" for text in left[a:b]] + [f"+ {text}" for text in right[c:d]]
    return "\n".join(lines)


def signature(diff: str) -> list[str]:
    """The changed lines of a diff in short: their sign, their kind, and a changed path."""
    lines = []
    for line in diff.splitlines():
        sign, text = line[:1], line[2:]
        if sign in "-+" and text:
            lines.append(f"{sign} {_title(text)}")
        elif sign == "~" or line.startswith("    "):
            lines.append(line.strip())
    return lines


def _inner(left: str, right: str) -> list[str]:
    """Two lines of the same kind: only the parts that differ."""
    if _title(left) != _title(right):
        return [f"- {left}", f"+ {right}"]
    parts = [
        f"    {'-' if number == 0 else '+'} {path}: {value}"
        for number, (own, other) in enumerate(((left, right), (right, left)))
        for path, value in sorted(_flat(json.loads(own)) - _flat(json.loads(other)))
    ]
    return [f"~ {_title(left)}", *parts]


def _flat(value: Any, path: str = "") -> set[tuple[str, str]]:
    if isinstance(value, dict) and value:
        return {leaf for key, part in value.items() for leaf in _flat(part, f"{path}.{key}")}
    if isinstance(value, list) and value:
        return {leaf for n, part in enumerate(value) for leaf in _flat(part, f"{path}[{n}]")}
    return {(path, json.dumps(value))}


def _pretty(line: Any) -> str:
    return json.dumps(line, sort_keys=True)


def _title(text: str) -> str:
    line = json.loads(text)
    if not isinstance(line, dict):
        return text
    request = line.get("request") or {}
    event = line.get("event") or {}
    message = line.get("message") or {}
    content = message.get("content") if isinstance(message, dict) else None
    blocks = (
        [b.get("type") for b in content if isinstance(b, dict)] if isinstance(content, list) else []
    )
    words = [
        line.get("type"),
        line.get("subtype"),
        request.get("subtype"),
        event.get("type"),
        line.get("state"),
        "replay" if line.get("isReplay") else None,
        *blocks,
    ]
    return "/".join(str(word) for word in words if word) or text
