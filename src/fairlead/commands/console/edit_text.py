"""A change of a file as a colored diff, for the user who must approve it.

Nothing of the input is left out: a replacement is shown with all of its lines, and fields that
the diff does not show are listed below it.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairlead.commands.console.terminal import Style, plain

__all__ = ["edit_lines"]

MOST_BYTES = 1_000_000
"""A larger file is shown with its new content, without a diff."""

CONTEXT = 3


def edit_lines(
    tool: str, tool_input: Mapping[str, Any], style: Style, folder: str = "."
) -> list[str] | None:
    """The lines to show for a call that changes a file; None for any other call."""
    if tool == "Edit" and _texts(tool_input, "file_path", "old_string", "new_string"):
        lines = _header(tool_input, style)
        lines += _replacement(tool_input["old_string"], tool_input["new_string"], style)
        return lines + _rest(tool_input, {"file_path", "old_string", "new_string"})
    if tool == "MultiEdit" and _texts(tool_input, "file_path") and _edits(tool_input.get("edits")):
        lines = _header(tool_input, style)
        for number, edit in enumerate(tool_input["edits"], 1):
            lines.append(style.dim(f"edit {number} of {len(tool_input['edits'])}"))
            lines += _replacement(edit["old_string"], edit["new_string"], style)
            lines += _rest(edit, {"old_string", "new_string"})
        return lines + _rest(tool_input, {"file_path", "edits"})
    if tool == "Write" and _texts(tool_input, "file_path", "content"):
        lines = _header(tool_input, style)
        lines += _new_content(Path(folder, tool_input["file_path"]), tool_input["content"], style)
        return lines + _rest(tool_input, {"file_path", "content"})
    return None


def _texts(tool_input: Mapping[str, Any], *names: str) -> bool:
    return all(isinstance(tool_input.get(name), str) for name in names)


def _edits(edits: Any) -> bool:
    return isinstance(edits, list) and all(
        isinstance(edit, dict) and _texts(edit, "old_string", "new_string") for edit in edits
    )


def _header(tool_input: Mapping[str, Any], style: Style) -> list[str]:
    return [style.bold(plain(tool_input["file_path"]).replace("\n", "‹0A›"))]


def _replacement(old: str, new: str, style: Style) -> list[str]:
    before, after = _lines(old, new), _lines(new, old)
    # The line numbers of the hunk would count from the start of the replaced text.
    return _diff(before, after, len(before) + len(after), style)[1:] or [style.dim("no change")]


def _new_content(path: Path, content: str, style: Style) -> list[str]:
    before = _read_text(path)
    if before is None:
        return _diff([], _lines(content, "\n"), CONTEXT, style) or [style.dim("an empty file")]
    lines = _diff(_lines(before, content), _lines(content, before), CONTEXT, style)
    return lines or [style.dim("the file already has this content")]


def _read_text(path: Path) -> str | None:
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            return None
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return None


def _diff(before: list[str], after: list[str], context: int, style: Style) -> list[str]:
    lines = list(difflib.unified_diff(before, after, n=context, lineterm=""))
    return [_colored(line, style) for line in lines[2:]]


def _colored(line: str, style: Style) -> str:
    shown = plain(line)
    if line.startswith("+"):
        return style.good(shown)
    if line.startswith("-"):
        return style.bad(shown)
    return style.dim(shown) if line.startswith("@@") else shown


def _lines(text: str, other: str) -> list[str]:
    """The lines, split at line feeds only: other line separators are made visible."""
    lines = text.split("\n")
    if lines[-1] == "":
        return lines[:-1]
    if other.endswith("\n"):  # Otherwise the two would look the same.
        lines[-1] += "  (no line feed at the end)"
    return lines


def _rest(tool_input: Mapping[str, Any], shown: set[str]) -> list[str]:
    """The fields that the diff does not show, such as `replace_all`, unless they are false."""
    rest = {name: value for name, value in tool_input.items() if name not in shown and value}
    return plain(json.dumps(rest, ensure_ascii=False)).split("\n") if rest else []
