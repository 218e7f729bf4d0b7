"""The items of tool calls: how they are created, looked up and removed, and how they are named.

Below `pairing` and `pending`, which both may be the first to hear of a call.
"""

from __future__ import annotations

from typing import Any

from fairlead.transcript.state import plain
from fairlead.transcript.state.fold import Fold
from fairlead.transcript.state.model import ToolItem

__all__ = ["forget", "new_call", "readable", "tool_item"]


def readable(name: str, meta: dict[str, Any] | None = None) -> tuple[str, str | None]:
    """A tool's name for people, and the MCP server it belongs to."""
    if not name.startswith("mcp__"):
        return name, None
    server, _, tool = name.removeprefix("mcp__").partition("__")
    shown = plain.text(plain.field_of(meta, "display_name")) or _words(tool)
    owner = plain.text(plain.field_of(meta, "server_display_name")) or _words(server)
    return f"{owner} > {shown}", server


def tool_item(fold: Fold, tool_use_id: str) -> ToolItem | None:
    """The item of a tool call, or None."""
    item_id = fold.memory.tools.get(tool_use_id)
    return None if item_id is None else fold.item(item_id)


def new_call(fold: Fold, tool_use_id: str, name: str, parent: str | None, **fields: Any) -> str:
    """Show a call that was not known; gives the id of its item."""
    item_id = fold.unused(tool_use_id or fold.number("tool"))
    title, server = readable(name)
    if tool_use_id:
        fold.memory.tools[tool_use_id] = item_id
    fold.memory.open_tools[item_id] = None
    fold.show(
        ToolItem(
            id=item_id,
            turn=fold.turn_for(parent),
            parent=parent,
            at=fold.at,
            name=name,
            title=title,
            server=server,
            **fields,
        )
    )
    return item_id


def forget(fold: Fold, item_id: str) -> None:
    """A withdrawn call is not waited for."""
    fold.memory.open_tools.pop(item_id, None)
    for tool_use_id, known in tuple(fold.memory.tools.items()):
        if known == item_id:
            del fold.memory.tools[tool_use_id]


def _words(name: str) -> str:
    """`search_repositories` as a person would write it."""
    spaced = name.replace("_", " ").replace("-", " ").strip()
    return " ".join(word[:1].upper() + word[1:] for word in spaced.split())
