"""Edit: replace a string in a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairlead.emulator.tools.context import ToolContext
from fairlead.emulator.tools.outcome import Outcome, failed, unusable
from fairlead.emulator.tools.patch import changed_lines, structured_patch
from fairlead.emulator.tools.write import UNREAD

__all__ = ["check_edit", "edit"]


def check_edit(context: ToolContext, input: Mapping[str, Any], owner: str) -> Outcome | None:
    """Whether the string occurs exactly once."""
    path = context.path(input.get("file_path"))
    old, new = str(input.get("old_string", "")), str(input.get("new_string", ""))
    if old == new:
        return unusable("No changes to make: old_string and new_string are exactly the same.")
    if not path.exists():
        return None if old == "" else unusable("File does not exist.")
    if not context.profile.edits_unread_files and not context.has_seen(owner, path):
        return unusable(UNREAD)
    count = path.read_text(encoding="utf-8").count(old) if old else 0
    if count == 0:
        return unusable(f"String to replace not found in file.\nString: {old}")
    if count > 1 and not input.get("replace_all"):
        return unusable(
            f"Found {count} matches of the string to replace, but replace_all is false. "
            f"Give more of its surroundings, or set replace_all.\nString: {old}"
        )
    return None


def edit(context: ToolContext, input: Mapping[str, Any], owner: str) -> Outcome:
    """Change the file and return the result."""
    if "file_path" not in input:
        return failed("Path must be a string, received undefined")
    path = context.path(input["file_path"])
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    old, new = str(input.get("old_string", "")), str(input.get("new_string", ""))
    everywhere = bool(input.get("replace_all"))
    if old and old not in before:
        return failed(f"String to replace not found in file.\nString: {old}")
    after = before.replace(old, new, -1 if everywhere else 1) if old else new + before
    was_seen, knew_all = context.has_seen(owner, path), context.knows_all(owner, path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(after, encoding="utf-8")
    hunks = structured_patch(before, after)
    result: dict[str, Any] = {
        "filePath": str(path),
        "oldString": old,
        "newString": new,
        "originalFile": before,
        "structuredPatch": hunks,
        "userModified": False,
        "replaceAll": everywhere,
    }
    if context.profile.marks_unseen_content and not knew_all:
        result["contentNotInModelContext"] = True
    if not context.profile.marks_unseen_content or was_seen:
        context.remember(owner, path, part=not knew_all)
    added, removed = changed_lines(hunks)
    return Outcome(
        content=_message(context, str(path), old, new, everywhere),
        result=result,
        lines_added=added,
        lines_removed=removed,
    )


def _message(context: ToolContext, path: str, old: str, new: str, everywhere: bool) -> str:
    if not everywhere:
        return f"The file {path} has been updated successfully."
    if context.profile.brief_file_texts:
        return f"The file {path} has been updated. All occurrences were successfully replaced."
    return (
        f"The file {path} has been updated. "
        f"All occurrences of '{old}' were successfully replaced with '{new}'."
    )
