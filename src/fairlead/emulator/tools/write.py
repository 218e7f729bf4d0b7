"""Write: a whole file, new or in place of the old."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairlead.emulator.tools.context import ToolContext
from fairlead.emulator.tools.outcome import Outcome, failed, unusable
from fairlead.emulator.tools.patch import changed_lines, structured_patch

__all__ = ["UNREAD", "check_write", "write"]

UNREAD = "File has not been read yet. Read it first before writing to it."


def check_write(context: ToolContext, input: Mapping[str, Any], owner: str) -> Outcome | None:
    """The old version requires that an existing file was read first (CLI-1003)."""
    path = context.path(input.get("file_path"))
    if (
        not context.profile.edits_unread_files
        and path.exists()
        and not context.has_seen(owner, path)
    ):
        return unusable(UNREAD)
    return None


def write(context: ToolContext, input: Mapping[str, Any], owner: str) -> Outcome:
    """Write the content and return the change."""
    if "file_path" not in input:
        return failed("Path must be a string, received undefined")
    path, content = context.path(input["file_path"]), str(input.get("content", ""))
    old = path.read_text(encoding="utf-8") if path.exists() else None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    context.remember(owner, path)
    hunks = [] if old is None else structured_patch(old, content)
    result: dict[str, Any] = {
        "type": "create" if old is None else "update",
        "filePath": str(path),
        "content": content,
        "structuredPatch": hunks,
        "originalFile": old,
    }
    if context.profile.write_result_has_user_modified:
        result["userModified"] = False
    added, removed = changed_lines(hunks) if hunks else (len(content.splitlines()), 0)
    return Outcome(
        content=_message(context, str(path), content, old),
        result=result,
        lines_added=added,
        lines_removed=removed,
    )


def _message(context: ToolContext, path: str, content: str, old: str | None) -> str:
    if context.profile.brief_file_texts:
        known = " (file state is current in your context — no need to Read it back)"
        verb = "File created successfully at:" if old is None else "The file"
        tail = "" if old is None else " has been updated successfully."
        return f"{verb} {path}{tail}{known}"
    if old is None:
        return f"File created successfully at: {path}"
    lines = content.split("\n")
    snippet = "\n".join(f"{number:6d}→{line}" for number, line in enumerate(lines, 1))
    return (
        f"The file {path} has been updated. Here's the result of running `cat -n` "
        f"on a snippet of the edited file:\n{snippet}"
    )
