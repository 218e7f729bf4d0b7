"""A transcript as Markdown that a person can keep, mail or print."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from fairlead.transcript import Transcript
from fairlead.transcript.model import (
    CommandItem,
    NoticeItem,
    PromptItem,
    TextItem,
    ThinkingItem,
    ToolItem,
    UnknownItem,
)

__all__ = ["as_markdown"]


def as_markdown(transcript: Transcript) -> str:
    """The whole conversation."""
    session = transcript.session
    parts = [f"# {session.title or 'A session with Claude Code'}"]
    facts = {"Folder": session.cwd, "Model": session.model, "CLI": session.version}
    parts.append("\n".join(f"- {name}: `{value}`" for name, value in facts.items() if value))
    parts += [_WRITERS[type(item)](item) for item in transcript.items]
    parts.append(f"---\n\nCost: ${transcript.ledger.cost_usd:.4f}")
    return "\n\n".join(part for part in parts if part) + "\n"


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
    given = item.input if isinstance(item.input, dict) else {}
    command = given.get("command")
    shown = (
        _fenced(command, "sh")
        if isinstance(command, str)
        else _fenced(json.dumps(item.input, indent=2, ensure_ascii=False), "json")
    )
    result = f"\n\n{_fenced(item.result)}" if item.result else ""
    return f"**{item.title or item.name}** ({item.state})\n\n{shown}{result}"


def _command(item: CommandItem) -> str:
    return f"`/{item.command}`\n\n{_fenced(item.text)}"


def _notice(item: NoticeItem) -> str:
    return f"*{item.notice}: {item.text}*"


def _unknown(item: UnknownItem) -> str:
    return f"*a message of an unknown kind: {item.type}*"


_WRITERS: dict[type, Callable[[Any], str]] = {
    PromptItem: _prompt,
    TextItem: _text,
    ThinkingItem: _thinking,
    ToolItem: _tool,
    CommandItem: _command,
    NoticeItem: _notice,
    UnknownItem: _unknown,
}
