"""Files that tools changed, with the lines they added and removed.

Counted from the structured result of a file tool. A subagent's lines carry none (CLI-1001),
so there the input is used. What Bash does to files is unknown.
"""

from __future__ import annotations

from typing import Any

from fairlead.transcript.state import plain
from fairlead.transcript.state.fold import Fold
from fairlead.transcript.state.model import File, ToolItem

__all__ = ["take_tool_result"]

_FILE_TOOLS = ("Edit", "MultiEdit", "NotebookEdit", "Write")


def take_tool_result(fold: Fold, item: ToolItem) -> None:
    """What a file tool that has succeeded changed."""
    if item.name not in _FILE_TOOLS:
        return
    result, request = plain.mapping(item.structured), plain.mapping(item.input)
    path = plain.text(
        plain.field_of(result, "filePath", "notebook_path")
        or plain.field_of(request, "file_path", "notebook_path")
    )
    if not path:
        return
    added, removed = _lines(item.name, result, request)
    created = result.get("type") == "create"
    if fold.get("files", path) is None:
        fold.add("files", File(id=path, created=created))
    file = fold.get("files", path)
    fold.set(
        "files",
        path,
        added=file.added + added,
        removed=file.removed + removed,
        edits=file.edits + 1,
    )
    ledger = fold.ledger
    fold.put(
        "ledger",
        lines_added=ledger.lines_added + added,
        lines_removed=ledger.lines_removed + removed,
        files_changed=len(fold.document.order["files"]),
    )


def _lines(name: str, reported: dict[str, Any], tool_input: dict[str, Any]) -> tuple[int, int]:
    hunks = plain.rows(reported.get("structuredPatch"))
    if hunks:
        lines = [line for hunk in hunks for line in plain.strings(hunk.get("lines"))]
        return _starting(lines, "+"), _starting(lines, "-")
    if name == "Write":
        if reported.get("type") == "update":
            return 0, 0
        return _count(
            plain.text(plain.field_of(reported, "content") or tool_input.get("content"))
        ), 0
    if name == "NotebookEdit":
        new, old = (
            reported.get("new_source") or tool_input.get("new_source"),
            reported.get("old_source"),
        )
        return _count(plain.text(new)), _count(plain.text(old))
    if reported:
        return 0, 0
    edits = plain.rows(tool_input.get("edits")) or [tool_input]
    added = sum(_count(plain.text(edit.get("new_string"))) for edit in edits)
    return added, sum(_count(plain.text(edit.get("old_string"))) for edit in edits)


def _starting(lines: list[str], sign: str) -> int:
    return sum(1 for line in lines if line.startswith(sign))


def _count(text: str) -> int:
    return len(text.splitlines())
