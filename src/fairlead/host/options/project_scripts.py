"""The files of a repository that its trusted commands start: `./scripts/hook.sh`, `node tools/mcp.js`.

A user trusts a hook or an MCP server because of what it runs, so the digest of the trust step
covers the scripts that it names: after a change the user is asked again. Every part of a command
that names a file of the repository counts, regardless of its position, because each shell and
each program takes scripts in its own way. Reads no file; it only checks which of them exist.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

__all__ = ["MOST_SCRIPTS", "script_paths", "strings_in"]

MOST_SCRIPTS = 200
"""Files named by the commands of one project that are read."""
MOST_WORDS = 20_000
"""Words of the commands that are looked up."""

_PROJECT = re.compile(r"[\"']?\$\{?CLAUDE_PROJECT_DIR\}?[\"']?/?")
_BREAKS = re.compile(r"[\s\"'`;&|()<>=,{}]+")
_MODULE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_RUNNERS = {
    "npm": "package.json",
    "npx": "package.json",
    "pnpm": "package.json",
    "yarn": "package.json",
    "bun": "package.json",
    "make": "Makefile",
    "just": "justfile",
}
"""Programs that read what they run from a file with a fixed name."""


def strings_in(value: Any) -> Iterator[str]:
    """Every text inside a JSON value."""
    values = [value]
    while values:
        item = values.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            values.extend(item.values())
        elif isinstance(item, list):
            values.extend(item)


def script_paths(commands: Iterable[str], folders: Sequence[Path]) -> list[Path]:
    """The existing files below these folders that the commands name, each once, in order."""
    roots = [Path(os.path.realpath(folder)) for folder in folders]
    paths: dict[Path, None] = {}
    for number, word in enumerate(_words(commands)):
        if number >= MOST_WORDS or len(paths) >= MOST_SCRIPTS:
            break
        for name in _names(word):
            for root in roots:
                path = Path(os.path.normpath(root / name))
                if _is_below(path, roots) and _is_file(path):
                    paths[path] = None
    return list(paths)


def _words(commands: Iterable[str]) -> Iterator[str]:
    for command in commands:
        text = _PROJECT.sub("./", command)
        yield text.strip()  # A path with a space in it is one argument.
        yield from filter(None, _BREAKS.split(text))


def _names(word: str) -> Iterator[str]:
    if not word or len(word) > 4_096 or "\0" in word:
        return
    yield word
    if word in _RUNNERS:
        yield _RUNNERS[word]
    if _MODULE.fullmatch(word):  # python -m tools.server
        path = word.replace(".", "/")
        yield f"{path}.py"
        yield f"{path}/__main__.py"


def _is_below(path: Path, roots: Sequence[Path]) -> bool:
    return any(path.is_relative_to(root) for root in roots)


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False
