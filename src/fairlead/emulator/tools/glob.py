"""Glob: files by a pattern, the newest first."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairlead.emulator.tools.context import ToolContext
from fairlead.emulator.tools.outcome import Outcome

__all__ = ["glob"]

MOST = 100
"""Names in one answer."""


def glob(context: ToolContext, input: Mapping[str, Any], owner: str) -> Outcome:
    """The files below a folder that match."""
    started = time.monotonic()
    folder = context.path(input.get("path") or context.cwd)
    pattern = str(input.get("pattern", "*"))
    files = sorted((p for p in folder.glob(pattern) if p.is_file()), key=_age)
    names = [
        context.relative(p) if context.profile.glob_paths_are_relative else str(p)
        for p in files[:MOST]
    ]
    result: dict[str, Any] = {
        "filenames": names,
        "durationMs": round((time.monotonic() - started) * 1000),
        "numFiles": len(names),
        "truncated": len(files) > MOST,
    }
    if context.profile.search_counts_totals:
        result |= {"totalMatches": len(files), "countIsComplete": True}
    return Outcome(content="\n".join(names) or "No files found", result=result)


def _age(path: Path) -> tuple[float, str]:
    return -path.stat().st_mtime, str(path)
