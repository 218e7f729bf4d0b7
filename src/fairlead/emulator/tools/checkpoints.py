"""The content of files before each prompt changed them, so that it can be restored.

Recorded only if the environment enables it, as in the CLI (CLI-711). A checkpoint is named by
the uuid of the prompt whose turn made the changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairlead.emulator.tools.patch import changed_lines, structured_patch

__all__ = ["Checkpoints"]


class Checkpoints:
    """The files of a session, before and after."""

    def __init__(self) -> None:
        self._before: dict[str, dict[Path, str | None]] = {}

    def keep(self, prompt: str, path: Path) -> None:
        """Record a file before its first change since a prompt."""
        files = self._before.setdefault(prompt, {})
        if path not in files:
            files[path] = _text(path)

    def rewind(self, prompts: Sequence[str], *, dry_run: bool) -> dict[str, Any]:
        """Restore the files to their content before the first of these prompts, or report the changes.

        Every prompt has a checkpoint, also one that changed no file (CLI-1655).
        """
        if not prompts:
            return {"canRewind": False, "error": "No file checkpoint found for this message."}
        wanted: dict[Path, str | None] = {}
        for prompt in reversed(prompts):
            wanted |= self._before.get(prompt, {})
        if not dry_run:
            for path, text in wanted.items():
                _restore(path, text)
            return {"canRewind": True}
        added = removed = 0
        changed = [path for path, text in wanted.items() if _text(path) != text]
        for path in changed:
            more, less = changed_lines(structured_patch(_text(path) or "", wanted[path] or ""))
            added, removed = added + more, removed + less
        return {
            "canRewind": True,
            "filesChanged": [str(path) for path in changed],
            "insertions": added,
            "deletions": removed,
        }


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _restore(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink(missing_ok=True)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
