"""Grep: lines, files or counts that match a regular expression."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fairlead.emulator.tools.context import ToolContext
from fairlead.emulator.tools.outcome import Outcome, failed

__all__ = ["grep"]

SKIPPED = {".git", "node_modules", ".venv", "__pycache__"}

Hits = dict[Path, list[tuple[int, str]]]


def grep(context: ToolContext, input: Mapping[str, Any], owner: str) -> Outcome:
    """Search below a folder, or in one file."""
    flags = re.IGNORECASE if input.get("-i") else 0
    try:
        pattern = re.compile(str(input.get("pattern", "")), flags)
    except re.error as problem:
        return failed(f"regex parse error: {problem}")
    hits = _search(context, pattern, input)
    mode = str(input.get("output_mode") or "files_with_matches")
    if mode == "content":
        return _lines(context, hits, numbered=bool(input.get("-n", True)))
    if mode == "count":
        return _counts(context, hits)
    return _files(context, hits)


def _search(context: ToolContext, pattern: re.Pattern[str], input: Mapping[str, Any]) -> Hits:
    start = context.path(input.get("path") or context.cwd)
    hits: Hits = {}
    for path in _candidates(start, str(input.get("glob") or "*")):
        try:
            text = path.read_text(encoding="utf-8")
        except (UnicodeDecodeError, OSError):
            continue
        lines_of_file = [
            (n, line) for n, line in enumerate(text.splitlines(), 1) if pattern.search(line)
        ]
        if lines_of_file:
            hits[path] = lines_of_file
    return hits


def _candidates(start: Path, name: str) -> Iterator[Path]:
    if start.is_file():
        yield start
        return
    files = [p for p in start.rglob(name) if p.is_file() and not SKIPPED & set(p.parts)]
    yield from sorted(files, key=lambda p: (-p.stat().st_mtime, str(p)))


def _files(context: ToolContext, hits: Hits) -> Outcome:
    names = [context.relative(path) for path in hits]
    result: dict[str, Any] = {
        "mode": "files_with_matches",
        "filenames": names,
        "numFiles": len(names),
    }
    if context.profile.search_counts_totals:
        result["totalFiles"] = len(names)
    text = f"Found {len(names)} file{'s' * (len(names) != 1)}\n" + "\n".join(names)
    return Outcome(content=text if names else "No files found", result=result)


def _lines(context: ToolContext, hits: Hits, *, numbered: bool) -> Outcome:
    lines = [
        f"{context.relative(path)}:{number}:{line}"
        if numbered
        else f"{context.relative(path)}:{line}"
        for path, lines_of_file in hits.items()
        for number, line in lines_of_file
    ]
    content = "\n".join(lines)
    result: dict[str, Any] = {
        "mode": "content",
        "numFiles": 0,
        "filenames": [],
        "content": content,
        "numLines": len(lines),
    }
    if context.profile.search_counts_totals:
        result["totalLines"] = len(lines)
    return Outcome(content=content or "No matches found", result=result)


def _counts(context: ToolContext, hits: Hits) -> Outcome:
    content = "\n".join(
        f"{context.relative(path)}:{len(lines_of_file)}" for path, lines_of_file in hits.items()
    )
    total = sum(map(len, hits.values()))
    result = {
        "mode": "count",
        "numFiles": len(hits),
        "filenames": [],
        "content": content,
        "numMatches": total,
    }
    summary = f"\n\nFound {total} total occurrences across {len(hits)} files."
    return Outcome(content=content + summary if hits else "No matches found", result=result)
