"""NotebookEdit: replace, insert or delete a cell."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from typing import Any

from fairlead.emulator.tools.context import ToolContext
from fairlead.emulator.tools.outcome import Outcome, failed, unusable
from fairlead.emulator.tools.write import UNREAD

__all__ = ["check_notebook_edit", "notebook_edit"]


def check_notebook_edit(
    context: ToolContext, input: Mapping[str, Any], owner: str
) -> Outcome | None:
    """The new version requires that the notebook was read first; both require that the cell exists."""
    path = context.path(input.get("notebook_path"))
    if context.profile.notebook_must_be_read and not context.has_seen(owner, path):
        return unusable(UNREAD)
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError, TypeError):
        return None  # The tool itself reports it.
    named = input.get("cell_id") is not None and input.get("edit_mode") != "insert"
    if named and _index_of(cells, input) is None:
        return unusable(f'Cell with ID "{input.get("cell_id")}" not found in notebook.')
    return None


def notebook_edit(context: ToolContext, input: Mapping[str, Any], owner: str) -> Outcome:
    """Change one cell."""
    path = context.path(input.get("notebook_path"))
    try:
        before = path.read_text(encoding="utf-8")
        notebook = json.loads(before)
        cells: list[dict[str, Any]] = notebook["cells"]
    except FileNotFoundError:
        return failed("Notebook file does not exist.")
    except (ValueError, KeyError, TypeError):
        return failed("Notebook is not valid JSON.")
    mode = str(input.get("edit_mode") or "replace")
    cell_id = input.get("cell_id")
    index = _index_of(cells, input)
    if index is None and mode != "insert":
        return failed(f'Cell with ID "{cell_id}" not found in notebook.')
    old_source = "".join(cells[index].get("source", "")) if index is not None else None
    minor = (notebook.get("nbformat", 4), notebook.get("nbformat_minor", 0))
    # Since format 4.5 a new cell gets an id, which the result tells (CLI-1623).
    new_id = uuid.uuid4().hex[:11] if mode == "insert" and minor >= (4, 5) else None
    kind = _change(cells, index, mode, input, new_id)
    after = json.dumps(notebook, indent=1)
    path.write_text(after, encoding="utf-8")
    context.remember(owner, path)
    result: dict[str, Any] = {"new_source": str(input.get("new_source", ""))}
    if context.profile.notebook_result_has_old_source and old_source is not None:
        result["old_source"] = old_source
    result |= {
        "cell_type": kind,
        "language": "python",
        "edit_mode": mode,
        "cell_id": new_id or cell_id,
        "error": "",
        "notebook_path": str(path),
        "original_file": before,
        "updated_file": after,
    }
    done = {"replace": "Updated", "insert": "Inserted", "delete": "Deleted"}[mode]
    return Outcome(content=f"{done} cell {cell_id}", result=result)


def _index_of(cells: list[dict[str, Any]], input: Mapping[str, Any]) -> int | None:
    wanted = input.get("cell_id")
    return next((i for i, c in enumerate(cells) if c.get("id", f"cell-{i}") == wanted), None)


def _change(
    cells: list[dict[str, Any]],
    index: int | None,
    mode: str,
    input: Mapping[str, Any],
    new_id: str | None,
) -> str:
    source = str(input.get("new_source", ""))
    if mode == "delete" and index is not None:
        return str(cells.pop(index).get("cell_type", "code"))
    if mode == "insert" or index is None:
        kind = str(input.get("cell_type") or "code")
        new: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": source}
        if new_id is not None:
            new["id"] = new_id
        if kind == "code":
            new |= {"execution_count": None, "outputs": []}
        cells.insert(0 if index is None else index + 1, new)
        return kind
    cells[index]["source"] = source
    return str(cells[index].get("cell_type", "code"))
