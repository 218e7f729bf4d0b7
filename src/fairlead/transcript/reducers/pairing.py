"""Tool calls and their results, paired by tool_use id, whatever the order they come in.

A call is known from its streamed start, its finished block, a permission request or, if all
else was missed, from its result. It ends once: done, failed, denied or interrupted. What is
still open when its turn ends is interrupted, unless it runs in the background.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fairlead.transcript.reducers import background, files, pending, tasks
from fairlead.transcript.state import plain
from fairlead.transcript.state.calls import forget, new_call, readable, tool_item
from fairlead.transcript.state.content import split
from fairlead.transcript.state.fold import Fold
from fairlead.transcript.state.model import FINAL_TOOL_STATES, ToolItem
from fairlead.wire.blocks import ServerToolUseBlock, ToolResultBlock, ToolUseBlock
from fairlead.wire.events import PermissionDenial, ToolProgress, ToolUseSummary, User
from fairlead.wire.system import PermissionDenied

__all__ = [
    "close_tools",
    "draft",
    "drop_draft",
    "finish_api_tool",
    "mark_denials",
    "on_permission_denied",
    "on_tool_progress",
    "on_tool_use_summary",
    "take_call",
    "take_result",
    "withdraw",
]

SHARED_CHARACTERS = 200
"""A text of this length is worth the search for the same text in the structured result."""


def draft(
    fold: Fold, start: ToolUseBlock | ServerToolUseBlock, parent: str | None, message_id: str
) -> str | None:
    """A tool call begins to be written; None if it is known already."""
    if start.id in fold.memory.tools:
        return None
    by = "api" if isinstance(start, ServerToolUseBlock) else "cli"
    return new_call(fold, start.id, start.name, parent, by=by, message=message_id or None)


def drop_draft(fold: Fold, item_id: str) -> None:
    """Its block was never finished; it stays only if something else spoke of it."""
    item = fold.item(item_id)
    if item is not None and not item.complete and not _is_real(fold, item):
        forget(fold, item_id)
        fold.remove("items", item_id)


def withdraw(fold: Fold, item_id: str) -> None:
    """The line that made this call no longer counts, and neither does what was asked about it."""
    pending.supersede(fold, item_id)
    forget(fold, item_id)


def take_call(
    fold: Fold,
    block: ToolUseBlock | ServerToolUseBlock,
    parent: str | None,
    message_id: str,
    meta: dict[str, Any] | None,
) -> str:
    """A finished tool_use block; gives the id of its item."""
    by = "api" if isinstance(block, ServerToolUseBlock) else "cli"
    item_id = fold.memory.tools.get(block.id)
    if item_id is None:
        item_id = new_call(fold, block.id, block.name, parent, by=by, message=message_id or None)
    item = fold.document.bare("items", item_id)
    title, server = readable(block.name, meta)
    call: dict[str, Any] = {
        "name": block.name,
        "title": title,
        "server": server,
        "parent": parent,
        "turn": fold.turn_for(parent),
        "by": by,
        "message": message_id or None,
    }
    request: dict[str, Any] = {}
    if not item.complete:
        edited = "asked" in (item.decision or {})
        ran = item.input if edited else block.input
        request = {"input": ran, "input_text": "", "complete": True, "at": fold.at}
    start: dict[str, Any] = {}
    if item.state == "awaiting" and not fold.memory.open_pending.get(item_id):
        start = {"state": "running", "started": fold.at}
    fold.set_in_steps("items", item_id, call, request, start)
    return item_id


def take_result(fold: Fold, block: ToolResultBlock, message: User) -> str:
    """The result of a tool call. Only the first result of a call is used."""
    parent = fold.parent_of(message.parent_tool_use_id)
    item = tool_item(fold, block.tool_use_id)
    if item is None:
        item_id = new_call(fold, block.tool_use_id, "", parent, complete=True)
        item = fold.item(item_id)
        assert item is not None
    if item.result is not None:
        return item.id
    meta = _meta(message.tool_result_meta, block.tool_use_id)
    text, images, _ = split(block.content)
    structured = message.tool_use_result
    if isinstance(structured, dict):
        _share(structured, text)
    pending.supersede(fold, item.id)
    state = _end_state(fold, item, block, meta, structured)
    _end(
        fold,
        item,
        state,
        decision=_decision(item, meta, structured),
        result=text,
        images=images,
        structured=structured,
        input_text="",
        complete=True,
    )
    ended: ToolItem = fold.document.bare("items", item.id)
    background.take_tool_result(fold, ended)
    if state == "done":
        files.take_tool_result(fold, ended)
        tasks.take_tool_result(fold, ended)
    return item.id


def finish_api_tool(fold: Fold, tool_use_id: str, content: Any) -> str | None:
    """The result of a tool that the API itself ran comes as a block of the model's message."""
    item = tool_item(fold, tool_use_id)
    if item is None:
        item_id = new_call(fold, tool_use_id, "", None, complete=True, by="api")
        item = fold.item(item_id)
        assert item is not None
    failed = plain.text(plain.mapping(content).get("type")).endswith("_error")
    _end(fold, item, "failed" if failed else "done", structured=content, result="")
    return item.id


def close_tools(fold: Fold, everything: bool = False) -> None:
    """A turn ended: what is open was interrupted, but for what runs in the background."""
    for item_id in tuple(fold.memory.open_tools):
        item = fold.item(item_id)
        if everything or not _in_background(fold, item):
            pending.supersede(fold, item_id)
            state = item.state if item.state in FINAL_TOOL_STATES else "interrupted"
            _end(fold, item, state, input_text="", complete=True)


def mark_denials(fold: Fold, denials: Iterable[PermissionDenial]) -> None:
    """Old CLIs tell only in the result which of the failed calls were denied (CLI-307)."""
    for denial in denials:
        item = tool_item(fold, denial.tool_use_id)
        if item is not None and item.state == "failed":
            fold.set("items", item.id, state="denied")


def on_permission_denied(fold: Fold, message: PermissionDenied) -> None:
    """A call was denied without asking anyone; its result is still to come."""
    item = tool_item(fold, message.tool_use_id)
    if item is None:
        return
    reason = message.decision_reason or message.decision_reason_type
    known = {**(item.decision or {}), "behavior": "deny", "source": "config", "reason": reason}
    fold.set("items", item.id, decision=known)
    if item.state not in FINAL_TOOL_STATES:
        fold.set("items", item.id, state="denied")


def on_tool_progress(fold: Fold, message: ToolProgress) -> None:
    """A tool is still running."""
    item = tool_item(fold, message.tool_use_id)
    if item is not None and item.state not in FINAL_TOOL_STATES:
        fold.set("items", item.id, elapsed=message.elapsed_time_seconds)


def on_tool_use_summary(fold: Fold, message: ToolUseSummary) -> None:
    """A few words for a group of calls; they go to the last of them."""
    known = [tool_id for tool_id in message.preceding_tool_use_ids if tool_id in fold.memory.tools]
    if known:
        fold.set("items", fold.memory.tools[known[-1]], summary=message.summary)


def _share(structured: dict[str, Any], text: str) -> None:
    """Keep a long text once: the CLI writes most results twice, for the model and for hosts."""
    size = len(text)
    if size >= SHARED_CHARACTERS:
        for name, value in structured.items():
            if type(value) is str and len(value) == size and value == text:
                structured[name] = text


def _end(fold: Fold, item: ToolItem, state: str, **fields: Any) -> None:
    at = fold.at
    fold.memory.open_tools.pop(item.id, None)
    elapsed = at - (item.at if item.started is None else item.started)
    elapsed = round(elapsed, 3) if elapsed > 0.0 else 0.0
    fold.set("items", item.id, **fields, state=state, ended=at, elapsed=elapsed)


def _end_state(
    fold: Fold, item: ToolItem, block: ToolResultBlock, meta: dict[str, Any], structured: Any
) -> str:
    if item.state == "denied":
        return "denied"
    if not block.is_error:
        cut = isinstance(structured, dict) and structured.get("interrupted") is True
        return "interrupted" if cut else "done"
    if fold.memory.interrupting or _was_interrupted(meta):
        return "interrupted"
    verdict = plain.mapping(meta.get("permission_decision")).get("decision")
    return "denied" if verdict == "reject" else "failed"


def _was_interrupted(meta: dict[str, Any]) -> bool:
    """2.1.325 marks a call that an interrupt stopped as rejected, but with no decision."""
    return meta.get("non_execution_kind") == "user-rejected" and not meta.get("permission_decision")


def _decision(item: ToolItem, meta: dict[str, Any], structured: Any) -> dict[str, Any] | None:
    """The CLI's own word on who decided completes what the host knows.

    `userModified` says that a user changed an edit before it ran, perhaps in another program.
    """
    known = item.decision or {}
    if isinstance(structured, dict) and structured.get("userModified") is True:
        known = {**known, "edited": True}
    verdict = plain.mapping(meta.get("permission_decision"))
    if not verdict:
        return known or item.decision
    return {
        **known,
        "behavior": "deny" if verdict.get("decision") == "reject" else "allow",
        "source": verdict.get("source"),
        "reason": plain.field_of(known, "reason") or verdict.get("reason_type"),
    }


def _meta(value: Any, tool_use_id: str) -> dict[str, Any]:
    if isinstance(value, list):
        for row in value:
            if isinstance(row, dict) and row.get("id") == tool_use_id:
                return row
    return {}


def _is_real(fold: Fold, item: ToolItem) -> bool:
    return bool(item.decision or item.result is not None or fold.memory.open_pending.get(item.id))


def _in_background(fold: Fold, item: ToolItem | None) -> bool:
    """Whether a call, or the subagent it belongs to, continues after its turn."""
    seen: set[str] = set()
    while item is not None and item.id not in seen:
        if item.background is not None and background.runs(fold, item.background):
            return True
        seen.add(item.id)
        above = fold.item(item.parent) if item.parent is not None else None
        item = above if isinstance(above, ToolItem) else None
    return False
