"""The CLI's own files of one session, to be copied to another machine, and put where it finds them.

A CLI looks for a session only below the name of its folder (CLI-705), so the files are put below the
name of the new folder, and the records that name the old folder name the new one. With `removal` the
only module that changes anything in the CLI's folder. Names from another machine are checked, no
link is followed, and an existing file is never replaced by something else than the same session.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from fairlead.store.cli_files.removal import files_of
from fairlead.wire.json_text import NotJson, parse, write

__all__ = ["UnsafeName", "folder_name", "put_file", "session_paths", "with_folder"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}\Z")

MOST_DEPTH = 4


class UnsafeName(ValueError):
    """The name of a file of another machine is not one that the CLI gives to its files."""


def folder_name(cwd: str) -> str:
    """The name of the folder with the sessions of a working folder."""
    return re.sub(r"[^a-zA-Z0-9]", "-", cwd)


def session_paths(projects: Path, cli_session: str) -> list[tuple[str, Path]]:
    """The files of a session: names relative to its project's folder, and where they are.

    Of several projects with the same session, the one whose file changed last.
    """
    candidates = [projects / path for path in files_of(projects, cli_session)]
    candidates = [path for path in candidates if path.is_file() and not path.is_symlink()]
    if not candidates:
        return []
    main = max(candidates, key=lambda path: path.stat().st_mtime_ns)
    files = [(main.name, main)]
    below = main.with_suffix("")
    if below.is_dir() and not below.is_symlink():
        for folder, _, names in os.walk(below):
            for name in sorted(names):
                path = Path(folder, name)
                if path.is_file() and not path.is_symlink():
                    files.append((str(path.relative_to(main.parent)), path))
    return files


def put_file(projects: Path, cwd: str, cli_session: str, name: str, content: bytes) -> Path:
    """Write one of the files of a session below the name of a working folder."""
    parts = name.split("/")
    own = name == f"{cli_session}.jsonl" or parts[0] == cli_session
    if not own or len(parts) > MOST_DEPTH or not all(_NAME.match(part) for part in parts):
        raise UnsafeName(f"{name!r:.200} is not the name of a file of this session")
    folder = projects / folder_name(cwd)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    target = folder
    for part in parts[:-1]:
        target = target / part
        target.mkdir(exist_ok=True, mode=0o700)
        if target.is_symlink():
            raise UnsafeName(f"{str(target)!r:.200} is a link")
    target = target / parts[-1]
    part_file = target.with_name(f"{target.name}.fairlead-part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(part_file, flags, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part_file.replace(target)
    return target


def with_folder(content: bytes, old: str, new: str, cwd: str) -> bytes:
    """The records of a session file, with the new folder where they name the old one.

    `cwd` is the folder in which the session is resumed; a record outside of the old folder gets it.
    """
    lines = content.splitlines(keepends=True)
    return b"".join(_with_folder(line, old.rstrip("/"), new, cwd) for line in lines)


def _with_folder(line: bytes, old: str, new: str, cwd: str) -> bytes:
    if b'"cwd"' not in line:
        return line
    try:
        record: Any = parse(line)
    except (NotJson, UnicodeError):
        return line
    named = record.get("cwd") if isinstance(record, dict) else None
    if not isinstance(named, str):
        return line
    inside = named == old or named.startswith(f"{old}/")
    return write({**record, "cwd": new + named[len(old) :] if inside else cwd}) + b"\n"
