"""A finished transcript as text for a terminal: one block per item, then the outcome."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fairlead.commands.console.screen import describe_call
from fairlead.commands.console.terminal import Style, plain
from fairlead.transcript import Transcript
from fairlead.transcript.state.model import (
    CommandItem,
    Item,
    NoticeItem,
    PromptItem,
    TextItem,
    ThinkingItem,
    ToolItem,
    UnknownItem,
)

__all__ = ["print_transcript"]

STATUSES = {"in_progress": 0, "pending": 1, "completed": 2}
"""The order in which tasks are shown."""

RESULT_LINES = 4


def print_transcript(transcript: Transcript, style: Style | None = None) -> None:
    """Print the whole transcript."""
    style = style or Style()
    session = transcript.session
    details = [session.model, session.version, session.cwd]
    print(style.dim(" · ".join(plain(detail) for detail in details if detail)))
    for item in transcript.items:
        for line in _lines(item, style):
            print(line)
    for request in transcript.pending:
        print(style.ask(f"? waiting: {plain(request.title or request.tool_name)}"))
    for task in sorted(transcript.tasks, key=lambda item: STATUSES.get(item.status, 1)):
        mark = {"completed": "✓", "in_progress": "▸"}.get(task.status, "·")
        print(f"  {mark} {plain(task.subject)}")
    print(style.dim(_ending(transcript)))


def _lines(item: Item, style: Style) -> list[str]:
    indent = "    " if item.parent else ""
    return [indent + line for line in _WRITERS[type(item)](item, style)]


def _prompt(item: PromptItem, style: Style) -> list[str]:
    state = "" if item.state in ("started", "sent") else style.dim(f"  ({item.state})")
    attached = style.dim(f"  [{len(item.images)} images]") if item.images else ""
    return ["", style.accent("› ") + plain(item.text) + attached + state]


def _text(item: TextItem, style: Style) -> list[str]:
    return plain(item.text).split("\n")


def _thinking(item: ThinkingItem, style: Style) -> list[str]:
    seconds = f" for {item.duration_ms / 1000:.1f} s" if item.duration_ms else ""
    return [style.dim(f"  · thought{seconds}")]


def _tool(item: ToolItem, style: Style) -> list[str]:
    mark = {"done": style.good("●"), "running": style.accent("●"), "awaiting": style.ask("●")}
    head = f"{mark.get(item.state, style.bad('●'))} {style.bold(plain(item.title or item.name))} "
    head += plain(describe_call(item.name, item.input))
    if (item.decision or {}).get("edited") and item.name != "AskUserQuestion":
        head += style.dim("  (edited by you before it ran)")
    if item.state != "done":
        head += style.dim(f"  ({item.state})")
    output = [line for line in plain(item.result or "").splitlines() if line.strip()]
    result_lines = [style.dim(f"  ⎿ {line[:160]}") for line in output[:RESULT_LINES]]
    more = len(output) - RESULT_LINES
    return [head, *result_lines, *([style.dim(f"    … {more} more")] if more > 0 else [])]


def _command(item: CommandItem, style: Style) -> list[str]:
    color = style.bad if item.failed else style.dim
    return [color(f"  {line}") for line in plain(item.text).splitlines()]


def _notice(item: NoticeItem, style: Style) -> list[str]:
    return [style.dim(f"  · {plain(item.notice)}: {plain(item.text)}")]


def _unknown(item: UnknownItem, style: Style) -> list[str]:
    return [
        style.dim(f"  · a message of an unknown kind: {plain(item.type)} {plain(item.problem)}")
    ]


_WRITERS: dict[type, Callable[[Any, Style], list[str]]] = {
    PromptItem: _prompt,
    TextItem: _text,
    ThinkingItem: _thinking,
    ToolItem: _tool,
    CommandItem: _command,
    NoticeItem: _notice,
    UnknownItem: _unknown,
}


def _ending(transcript: Transcript) -> str:
    turns = transcript.turns
    outcomes = ", ".join(turn.outcome or "running" for turn in turns) or "no turn"
    cost, seconds = transcript.ledger.cost_usd, transcript.ledger.duration_ms / 1000
    count = f"{len(turns)} turn{'s' * (len(turns) != 1)} ({outcomes})"
    return f"\n{transcript.status} · {count} · {seconds:.1f} s · ${cost:.4f}"
