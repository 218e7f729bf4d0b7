"""Lists what a repository's own files would make the CLI run, before the CLI starts there.

A CLI runs the hooks of a project's settings and starts the servers of its `.mcp.json` as soon as
a session begins, without asking. This module reads the files that can do so, in the folder and in
those above it, and lists their commands, so that a user can be asked first. Everything that cannot
be read or parsed is listed as well, because the CLI may be able to parse it. The digest covers the
bytes of all these files and of the scripts in the repository that they name (`project_scripts`),
so that any change gives another digest. Reads at most `FILE_BYTES` of a file.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from fairlead.errors import ProjectProgramsRefused
from fairlead.host.options.project_scripts import script_paths, strings_in

__all__ = ["ProjectCommand", "ProjectCommands", "find_project_commands", "refuse_project_commands"]

FILE_BYTES = 256 * 1024
SCRIPTS_BYTES = 4 * 1024 * 1024
"""Bytes of all scripts together; the rest counts by size and time."""
MARKDOWN_FILES = 1_000
MOST_COMMANDS = 200
SHOWN = 2_000
"""Characters of a command that are listed; the digest covers all of them."""

SETTINGS = (".claude/settings.json", ".claude/settings.local.json")
SERVERS = ".mcp.json"
MARKDOWN = (".claude/agents", ".claude/skills", ".claude/commands")
RUNS = re.compile(rb"(?m)^[ \t]*(hooks|mcpServers|statusLine)[ \t]*:|!`")
"""In a Markdown file: a front matter that starts programs, or a command that is run in place."""

HARMLESS = frozenset(
    ("$schema", "model", "language", "outputStyle", "theme", "includeCoAuthoredBy", "attribution",
     "cleanupPeriodDays", "spinnerTipsEnabled", "alwaysThinkingEnabled", "effortLevel",
     "disableAllHooks", "respectGitignore", "plansDirectory", "disabledMcpjsonServers")
)  # fmt: skip
"""Settings that start nothing and allow nothing; all others are listed, known or not."""


class ProjectCommand(Struct, frozen=True, kw_only=True):
    """One command or setting in a file that the CLI would run or apply."""

    file: str
    """The file, as a full path."""
    what: str
    """Which part of it, such as `hooks.SessionStart` or `server evil`."""
    command: str
    """Its content, unchanged; only the beginning if it is long."""


class ProjectCommands(Struct, frozen=True, kw_only=True):
    """All commands of one folder."""

    folder: str
    digest: str
    commands: tuple[ProjectCommand, ...]


def find_project_commands(
    folder: str | Path, home: str | Path = "", config: str | Path = ""
) -> ProjectCommands | None:
    """The commands that run if a session starts in this folder; None if there are none.

    `home` is the CLI's home folder and `config` its CLAUDE_CONFIG_DIR (default: `home/.claude`).
    The settings in `config` are the user's own; a `.claude` folder anywhere else is a project's.
    """
    # The CLI works in the real folder, and the folders above it are those above the real one.
    cwd = Path(os.path.realpath(folder))
    user_config = Path(os.path.realpath(config or Path(home or Path.home()) / ".claude"))
    digest = hashlib.sha256()
    commands: list[ProjectCommand] = []
    texts: list[str] = []
    folders: list[Path] = [cwd]
    for parent in (cwd, *cwd.parents):
        for path in _files(parent, is_own=parent / ".claude" == user_config):
            content = _read(path)
            file_commands = [] if content is None else list(_commands(path, content))
            if file_commands and content is not None:
                _add(digest, path, content)
                commands += file_commands
                texts += _texts(path, content)
                folders.append(parent)
    if not commands:
        return None
    bytes_left = SCRIPTS_BYTES
    for script in script_paths(texts, list(dict.fromkeys(folders))):
        content = _script_content(script) if bytes_left > 0 else _state(script)
        bytes_left -= len(content)
        _add(digest, script, content)
        commands.append(_command(script, "script", content.decode(errors="replace")))
    return ProjectCommands(
        folder=str(folder), digest=digest.hexdigest(), commands=tuple(_bounded(commands, cwd))
    )


def _add(digest: hashlib._Hash, path: Path, content: bytes) -> None:
    digest.update(f"{path}\0{os.path.realpath(path)}\0{len(content)}\0".encode(errors="replace"))
    digest.update(content)


def _script_content(path: Path) -> bytes:
    """The content of a script that is part of the digest; of package.json only its scripts."""
    content = _read(path) or b""
    if path.name != "package.json":
        return content
    try:
        package = json.loads(content)
    except (ValueError, RecursionError):
        return content
    return _text(package.get("scripts", {}) if isinstance(package, dict) else package).encode(
        errors="replace"
    )


def _state(path: Path) -> bytes:
    """The size, time and inode of a file whose content is not read."""
    try:
        state = os.stat(path)
    except OSError as problem:
        return f"cannot be read: {problem.strerror}".encode()
    return f"{state.st_size}\0{state.st_mtime_ns}\0{state.st_ino}".encode()


def _texts(path: Path, content: bytes) -> list[str]:
    """The commands in a file. Rules and variables name files too, but start nothing."""
    if path.suffix != ".md" and len(content) <= FILE_BYTES:
        try:
            data = json.loads(content)
        except (ValueError, RecursionError):
            data = None
        if isinstance(data, dict):
            passive = () if path.name == SERVERS else ("permissions", "env", *HARMLESS)
            return list(strings_in({k: v for k, v in data.items() if k not in passive}))
    return content[:FILE_BYTES].decode(errors="replace").splitlines()


def refuse_project_commands(
    folders: Iterable[str | Path], home: str | Path = "", config: str | Path = ""
) -> None:
    """Raise `ProjectProgramsRefused` if the files of one of these folders would run a program."""
    for folder in folders:
        project = find_project_commands(folder, home, config)
        if project is not None:
            programs = tuple(
                (command.file, command.what, command.command) for command in project.commands
            )
            raise ProjectProgramsRefused(project.folder, programs)


def _bounded(commands: list[ProjectCommand], folder: Path) -> list[ProjectCommand]:
    """The commands, and if there are too many of them, a first entry that says so."""
    count = len(commands)
    if count <= MOST_COMMANDS:
        return commands
    note = f"{count:,} entries; the first {MOST_COMMANDS} are listed. Read the files themselves"
    return [_command(folder, "more than can be listed", note), *commands[:MOST_COMMANDS]]


def _files(folder: Path, *, is_own: bool) -> Iterator[Path]:
    if not is_own:
        yield from (folder / name for name in SETTINGS)
        for name in MARKDOWN:
            yield from _markdown(folder / name)
    yield folder / SERVERS


def _markdown(folder: Path) -> Iterator[Path]:
    seen = 0
    for top, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".md"):
                seen += 1
                if seen > MARKDOWN_FILES:
                    yield folder  # Listed itself, because not all of its files are read.
                    return
                yield Path(top, name)


def _read(path: Path) -> bytes | None:
    """The beginning of a file; None if there is none, a message if it cannot be read."""
    try:
        # A link is followed, as the CLI does. O_NONBLOCK: opening a pipe must not block.
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        return f"cannot be opened: {problem.strerror}".encode()
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return b"is not a plain file, or contains too many files to read them all"
        with os.fdopen(os.dup(file), "rb") as opened:
            content = opened.read(FILE_BYTES + 1)
        if len(content) > FILE_BYTES:
            # The rest is not read, but a change in it must change the digest.
            state = os.fstat(file)
            content += f"\0{state.st_size}\0{state.st_mtime_ns}\0{state.st_ino}".encode()
        return content
    except OSError as problem:
        return f"cannot be read: {problem.strerror}".encode()
    finally:
        os.close(file)


def _commands(path: Path, content: bytes) -> Iterator[ProjectCommand]:
    if path.suffix == ".md":
        for match in RUNS.finditer(content):
            line = content[match.start() :].split(b"\n", 6)[:6]
            yield _command(path, "front matter or text", b"\n".join(line).decode(errors="replace"))
        return
    if len(content) > FILE_BYTES:
        yield _command(path, "the file", f"is longer than {FILE_BYTES:,} bytes")
        return
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        yield _command(path, "the file", content.decode(errors="replace"))
        return
    if not isinstance(data, dict):
        yield _command(path, "the file", content.decode(errors="replace"))
    elif path.name == SERVERS:
        yield from _servers(path, data)
    else:
        for name, value in data.items():
            if name not in HARMLESS and value not in ({}, [], None, False):
                yield from _setting(path, name, value)


def _servers(path: Path, data: dict[str, Any]) -> Iterator[ProjectCommand]:
    servers = data.get("mcpServers", data)
    if not isinstance(servers, dict):
        yield _command(path, "the file", _text(servers))
        return
    for name, server in servers.items():
        yield _command(path, f"server {name}", _text(server))


def _setting(path: Path, name: str, value: Any) -> Iterator[ProjectCommand]:
    if name in ("hooks", "env", "permissions") and isinstance(value, dict):
        for part, inner in value.items():
            if (name, part) in (("permissions", "deny"), ("permissions", "ask")):
                continue  # These only restrict.
            if inner not in ({}, [], None):
                yield _command(path, f"{name}.{part}", _text(inner))
        return
    yield _command(path, name, _text(value))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _command(path: Path, what: str, text: str) -> ProjectCommand:
    shown = text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(text):,} characters)"
    return ProjectCommand(
        file=str(path).encode(errors="replace").decode(),
        what=what.encode(errors="replace").decode()[:200],
        command=shown.encode(errors="replace").decode(),
    )
