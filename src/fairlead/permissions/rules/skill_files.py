"""Whether a skill only adds text to the conversation, according to its own file.

The CLI starts such a skill without a question. A skill that grants tools, runs hooks or contains
shell commands asks (measured on 2.1.325). Reads files, like `settings`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

__all__ = ["is_plain_skill", "skill_commands"]

_PLAIN_KEYS = frozenset(("name", "description", "context", "argument-hint", "version", "license"))
_COMMANDS = re.compile(r"!`([^`\n]+)`|^```!\n(.*?)^```", re.MULTILINE | re.DOTALL)
_HIDDEN = re.compile(
    r"\A---[ \t]*\n(?:(?!---).*\n)*?disable-model-invocation:[ \t]*true[ \t]*$", re.MULTILINE
)
_MOST = 200_000
"""Bytes of a skill's file that are read; a larger one is not plain."""


def is_plain_skill(name: str, folders: Iterable[str], config: str | None) -> bool | None:
    """Whether each file of a skill or command of this name is plain; None if there is none.

    A file that only the user may start does not count if there is another one (CLI-1612).
    """
    texts = _texts(name, folders, config)
    if not texts:
        return None
    open_to_model = [text for text in texts if text is None or not _HIDDEN.search(text)]
    return all(text is not None and _is_plain(text) for text in open_to_model or texts)


def skill_commands(name: str, folders: Iterable[str], config: str | None) -> tuple[str, ...]:
    """The shell commands in the files of a skill, which the CLI runs when it starts the skill."""
    return tuple(
        (short or block).strip()
        for text in _texts(name, folders, config)
        for short, block in _COMMANDS.findall(text or "")
    )


def _texts(name: str, folders: Iterable[str], config: str | None) -> list[str | None]:
    name = name.strip().removeprefix("/")
    if not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        return []
    return [_read(path) for path in _files(name, folders, config) if path.is_file()]


def _files(name: str, folders: Iterable[str], config: str | None) -> Iterator[Path]:
    roots = [Path(folder) / ".claude" for folder in folders]
    for root in roots if config is None else [*roots, Path(config)]:
        yield root / "skills" / name / "SKILL.md"
        yield root / "commands" / f"{name}.md"


def _read(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST + 1)
        return None if len(data) > _MOST else data.decode()
    except (OSError, UnicodeDecodeError):
        return None


def _is_plain(text: str) -> bool:
    if "!`" in text or "```!" in text:
        return False
    parts = re.split(r"^---[ \t]*$", text, maxsplit=2, flags=re.MULTILINE)
    if len(parts) == 1:
        return True  # without front matter it grants nothing (CLI-1606)
    if len(parts) != 3 or parts[0].strip():
        return False
    keys = re.findall(r"^([^\s#:][^:\n]*):", parts[1], flags=re.MULTILINE)
    return all(key.strip("\"'") in _PLAIN_KEYS for key in keys)
