"""Every citation resolves inside the repository.

An id of the form `CLI-204` names an entry of docs/cli-behaviour.md. Each entry is defined once,
and each recording that an entry names exists below tests/recordings.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "cli-behaviour.md"
ENTRY = re.compile(r"^(?:\| (CLI-\d+) \|.*\||(CLI-\d+)[.:].*)$", re.MULTILINE)
RECORDED = re.compile(r"^\| (CLI-\d+) \|.*\| ([^|]*) \|$", re.MULTILINE)
CITED = re.compile(r"\bCLI-\d+\b")
FOLDERS = ("src", "web/src", "web/tests", "tests", "bench", "docs")
SUFFIXES = {".py", ".ts", ".svelte", ".md"}


def texts() -> list[tuple[str, str]]:
    """The name and text of every file that may cite something, except this one."""
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))]
    return [
        (path.relative_to(ROOT).as_posix(), path.read_text(errors="replace"))
        for path in paths
        if path.suffix in SUFFIXES and path.is_file() and path != Path(__file__)
        if "node_modules" not in path.parts and "out" not in path.parts
    ]


def entries() -> list[str]:
    return [match[1] or match[2] for match in ENTRY.finditer(PAGE.read_text())]


def test_an_entry_is_defined_once() -> None:
    ids = entries()
    assert len(ids) > 100
    assert [entry for entry, count in Counter(ids).items() if count > 1] == []


def test_each_citation_of_an_entry_resolves() -> None:
    known = set(entries())
    unknown = [
        f"{name}: {cited}"
        for name, text in texts()
        for cited in CITED.findall(text)
        if cited not in known
    ]
    assert unknown == []


def test_each_recording_that_an_entry_names_exists() -> None:
    recordings = {path.stem for path in (ROOT / "tests" / "recordings").glob("*/*.ndjson")}
    table = PAGE.read_text().split("## When it changed")[0]
    missing = [
        f"{match[1]}: {name}"
        for match in RECORDED.finditer(table)
        for name in re.findall(r"`(\w+)`", match[2])
        if name not in recordings
    ]
    assert missing == []


FOREIGN = re.compile(r"\bTRUTH\b|\bseed 00\d|\b[Tt]raps? \d|\b(?:stack|design|style|house)\.md\b")


def test_no_document_outside_the_repository_is_cited() -> None:
    cited = [f"{name}: {match[0]}" for name, text in texts() for match in FOREIGN.finditer(text)]
    assert cited == []
