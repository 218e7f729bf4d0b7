"""A transcript as Markdown for people, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import msgspec

from fairlead.transcript.snapshot import Snapshot
from fairlead.transcript.state.model import (
    CommandItem,
    NoticeItem,
    PromptItem,
    TextItem,
    ThinkingItem,
    ToolItem,
    UnknownItem,
)

__all__ = ["json_parts", "markdown_parts"]


def markdown_parts(snapshot: Snapshot) -> Iterator[bytes]:
    """The whole conversation as Markdown, part by part."""
    session = snapshot.session
    yield f"# {session.title or 'A session with Claude Code'}".encode("utf-8", "replace")
    facts = {"Folder": session.cwd, "Model": session.model, "CLI": session.version}
    header = "\n".join(f"- {name}: `{value}`" for name, value in facts.items() if value)
    items = (_WRITERS[type(item)](item) for item in snapshot.items)
    ledger = snapshot.ledger
    cost = f"---\n\nCost: ${ledger.cost_usd:.4f}, time: {ledger.duration_ms / 1000:.1f} s"
    for part in chain([header], items, [cost]):
        if part:
            yield f"\n\n{part}".encode("utf-8", "replace")
    yield b"\n"


def json_parts(snapshot: Snapshot) -> Iterator[bytes]:
    """The snapshot as JSON, row by row: the same text as if it were encoded at once."""
    opening = b"{"
    for name in snapshot.__struct_fields__:
        value = getattr(snapshot, name)
        yield opening + msgspec.json.encode(name) + b":"
        opening = b","
        if not isinstance(value, tuple):
            yield msgspec.json.encode(value)
            continue
        for number, row in enumerate(value):
            yield (b"," if number else b"[") + msgspec.json.encode(row)
        yield b"]" if value else b"[]"
    yield b"}"


def _fenced(text: str, language: str = "") -> str:
    """A code block whose fence is longer than any run of backticks in it."""
    longest = max(
        (len(run) for run in text.replace("\n", " ").split() if set(run) == {"`"}), default=0
    )
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _prompt(item: PromptItem) -> str:
    quoted = "\n".join(f"> {line}" for line in item.text.splitlines())
    return f"**{'Subagent' if item.parent else 'You'}**\n\n{quoted}"


def _text(item: TextItem) -> str:
    return item.text


def _thinking(item: ThinkingItem) -> str:
    return (
        f"<details><summary>Thinking</summary>\n\n{_fenced(item.text)}\n\n</details>"
        if item.text
        else ""
    )


def _tool(item: ToolItem) -> str:
    tool_input = item.input if isinstance(item.input, dict) else {}
    command = tool_input.get("command")
    shown = (
        _fenced(command, "sh")
        if isinstance(command, str)
        else _fenced(json.dumps(item.input, indent=2, ensure_ascii=False), "json")
    )
    result = f"\n\n{_fenced(item.result)}" if item.result else ""
    edited = (
        ", edited before it ran"
        if (item.decision or {}).get("edited") and item.name != "AskUserQuestion"
        else ""
    )
    return f"**{item.title or item.name}** ({item.state}{edited})\n\n{shown}{result}"


def _command(item: CommandItem) -> str:
    return f"`/{item.command}`\n\n{_fenced(item.text)}"


def _notice(item: NoticeItem) -> str:
    return f"*{item.notice}: {item.text}*"


def _unknown(item: UnknownItem) -> str:
    return f"*Unknown message type: {item.type}*"


_WRITERS: dict[type, Callable[[Any], str]] = {
    PromptItem: _prompt,
    TextItem: _text,
    ThinkingItem: _thinking,
    ToolItem: _tool,
    CommandItem: _command,
    NoticeItem: _notice,
    UnknownItem: _unknown,
}
