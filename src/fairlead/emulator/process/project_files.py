"""Settings, commands, skills and agents of the user and the project, read from their files.

--setting-sources selects the files; --settings adds one more. Rules keep their source; other
settings are merged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from fairlead.emulator.state.flags import Arguments, BadFlags
from fairlead.emulator.state.profile import Profile
from fairlead.emulator.state.session import Workspace
from fairlead.emulator.state.settings import merged
from fairlead.permissions.model.scopes import Scope
from fairlead.permissions.rules.book import RuleBook
from fairlead.permissions.rules.settings import SettingsFiles, load_settings

__all__ = ["Customs", "customs", "read_book", "read_settings", "settings_files", "sources"]

SOURCES = {"user": Scope.USER, "project": Scope.PROJECT, "local": Scope.LOCAL}

_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)


def settings_files(workspace: Workspace) -> SettingsFiles:
    """The files that the emulator reads and writes, below its own home and project."""
    folder = f"{workspace.cwd}/.claude"
    return SettingsFiles(
        paths={
            Scope.USER: f"{workspace.config}/settings.json",
            Scope.PROJECT: f"{folder}/settings.json",
            Scope.LOCAL: f"{folder}/settings.local.json",
        }
    )


def _in_force(arguments: Arguments, workspace: Workspace) -> SettingsFiles:
    selected = [SOURCES[name] for name in sources(arguments)]
    paths = settings_files(workspace).paths
    return SettingsFiles(paths={scope: path for scope, path in paths.items() if scope in selected})


def sources(arguments: Arguments) -> tuple[str, ...]:
    """The selected sources of settings; raises `BadFlags` for an unknown source."""
    if not arguments.has("--setting-sources"):
        return tuple(SOURCES)
    names = [name.strip() for name in (arguments.one("--setting-sources") or "").split(",")]
    for name in names:
        if name and name not in SOURCES:
            raise BadFlags(
                f"Error processing --setting-sources: Invalid setting source: {name}. "
                f"Valid options are: {', '.join(SOURCES)}"
            )
    return tuple(name for name in SOURCES if name in names)


def _load(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def read_settings(arguments: Arguments, workspace: Workspace) -> dict[str, Any]:
    """All settings, merged: later values win, and lists are joined."""
    settings: dict[str, Any] = {}
    for path in _in_force(arguments, workspace).paths.values():
        settings = merged(settings, _load(Path(path)))
    return {**merged(settings, _flag_settings(arguments, workspace))}


def _flag_settings(arguments: Arguments, workspace: Workspace) -> dict[str, Any]:
    value = arguments.one("--settings")
    if value is None:
        return {}
    if value.lstrip().startswith("{"):
        try:
            data = json.loads(value)
        except ValueError:
            return {}
        return data if isinstance(data, dict) else {}
    return _load(Path(workspace.cwd, value))


def read_book(arguments: Arguments, workspace: Workspace) -> RuleBook:
    """The rules of all files and flags."""
    book = RuleBook.of(
        allow=arguments.listed("--allowedTools"),
        deny=arguments.listed("--disallowedTools"),
        directories=[str(Path(workspace.cwd, d)) for d in arguments.many("--add-dir")],
        scope=Scope.CLI_ARG,
    )
    book = replace(book, modes=())
    return book.joined(load_settings(_in_force(arguments, workspace))).joined(
        _flag_book(_flag_settings(arguments, workspace))
    )


def _flag_book(settings: Mapping[str, Any]) -> RuleBook:
    permissions = settings.get("permissions")
    permissions = permissions if isinstance(permissions, dict) else {}

    def texts(name: str) -> list[str]:
        matches = permissions.get(name)
        return [str(text) for text in matches] if isinstance(matches, list) else []

    book = RuleBook.of(
        allow=texts("allow"),
        ask=texts("ask"),
        deny=texts("deny"),
        directories=texts("additionalDirectories"),
        scope=Scope.FLAG,
    )
    return replace(book, modes=())


class Customs(Struct, frozen=True, kw_only=True):
    """What the user and the project add to the CLI."""

    commands: dict[str, str] = field(default_factory=dict)
    """Name of a skill or a command -> its prompt."""
    skills: tuple[str, ...] = ()
    hidden: frozenset[str] = frozenset()
    """Names of skills and commands that only the user starts."""
    granted: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Name of a skill or a command -> the tools that it allows (`allowed-tools`)."""
    about: dict[str, str] = field(default_factory=dict)
    """Name of a skill or a command -> its description."""
    agents: dict[str, dict[str, Any]] = field(default_factory=dict)


def customs(arguments: Arguments, workspace: Workspace, profile: Profile) -> Customs:
    """Commands, skills and agents of the selected sources (measured)."""
    folders = {"user": Path(workspace.config), "project": Path(workspace.cwd, ".claude")}
    used = [(name, base) for name, base in folders.items() if name in sources(arguments)]
    skills = [
        (path.parent.name, path, name)
        for name, base in used
        for path in sorted((base / "skills").glob("*/SKILL.md"))
    ]
    if profile.lists_project_first:
        used.reverse()  # 2.1.325 lists the project first, except for skills
    commands = [
        (":".join(path.relative_to(base / "commands").with_suffix("").parts), path, name)
        for name, base in used
        for path in sorted((base / "commands").rglob("*.md"))
    ]
    matches = [(command, *_document(path), name) for command, path, name in (*skills, *commands)]
    agents = [
        _document(path) for _, base in used for path in sorted((base / "agents").glob("*.md"))
    ]
    first = _first(matches)
    return Customs(
        commands={word: prompt for word, (_, prompt) in first.items()},
        skills=tuple(word for word, _, _ in skills),
        hidden=frozenset(word for word, head, _, _ in matches if _is_hidden(head))
        - frozenset(word for word, head, _, _ in matches if not _is_hidden(head)),
        granted={word: _listed(head.get("allowed-tools", "")) for word, (head, _) in first.items()},
        about={
            command: f"{head.get('description') or _first_line(prompt)} ({name})"
            for command, head, prompt, name in matches
        },
        agents={head["name"]: dict(head) for head, _ in agents if head.get("name")},
    )


def _is_hidden(head: Mapping[str, str]) -> bool:
    return head.get("disable-model-invocation") == "true"


def _first(
    matches: Iterable[tuple[str, dict[str, str], str, str]],
) -> dict[str, tuple[dict[str, str], str]]:
    """Name -> the fields and the prompt of the file that counts.

    A skill precedes a command of its name, and what the model may start precedes what only the user
    starts (CLI-1612).
    """
    chosen: dict[str, tuple[dict[str, str], str]] = {}
    for word, head, prompt, _ in sorted(matches, key=lambda match: _is_hidden(match[1])):
        chosen.setdefault(word, (head, prompt))
    return chosen


def _listed(text: str) -> tuple[str, ...]:
    """A list in front matter: with commas outside of parentheses, or in brackets."""
    parts = re.findall(r"(?:[^,(]|\([^)]*\))+", text.strip().removeprefix("[").removesuffix("]"))
    return tuple(part.strip().strip("\"'") for part in parts if part.strip())


def _document(path: Path) -> tuple[dict[str, str], str]:
    """The fields at the top of a Markdown file, and the rest."""
    text = path.read_text(encoding="utf-8", errors="replace")
    matches = _FRONT_MATTER.match(text)
    pairs = (line.partition(":") for line in (matches[1].splitlines() if matches else ()))
    head = {key.strip(): value.strip() for key, colon, value in pairs if colon}
    return head, (text[matches.end() :] if matches else text).strip()


def _first_line(text: str) -> str:
    return next((line.strip("# ") for line in text.splitlines() if line.strip()), "")
