"""Settings and commands of the user and the project, read from their files.

Which files count is said by --setting-sources; --settings adds one more. Rules are kept with the
place they came from (TRUTH 1.3).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fairlead.emulator.flags import Arguments
from fairlead.emulator.session import Place
from fairlead.permissions.book import RuleBook
from fairlead.permissions.scopes import Scope
from fairlead.permissions.settings import SettingsFiles, load_settings

__all__ = ["custom_commands", "read_book", "read_settings", "settings_files"]

_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


def settings_files(place: Place) -> SettingsFiles:
    """The files that the emulator reads and writes; never those of the machine's owner."""
    folder = f"{place.cwd}/.claude"
    return SettingsFiles(
        paths={
            Scope.USER: f"{place.config}/settings.json",
            Scope.PROJECT: f"{folder}/settings.json",
            Scope.LOCAL: f"{folder}/settings.local.json",
        }
    )


def _in_force(arguments: Arguments, place: Place) -> SettingsFiles:
    files = settings_files(place)
    given = arguments.one("--setting-sources")
    if not arguments.has("--setting-sources"):
        return files
    names = (given or "").split(",")
    words = {Scope.USER: "user", Scope.PROJECT: "project", Scope.LOCAL: "local"}
    chosen = {scope: path for scope, path in files.paths.items() if words[scope] in names}
    return SettingsFiles(paths=chosen)


def _load(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def read_settings(arguments: Arguments, place: Place) -> dict[str, Any]:
    """All settings as one; what comes later wins."""
    merged: dict[str, Any] = {}
    for path in _in_force(arguments, place).paths.values():
        merged |= _load(Path(path))
    return merged | _flag_settings(arguments, place)


def _flag_settings(arguments: Arguments, place: Place) -> dict[str, Any]:
    given = arguments.one("--settings")
    if given is None:
        return {}
    if given.lstrip().startswith("{"):
        try:
            data = json.loads(given)
        except ValueError:
            return {}
        return data if isinstance(data, dict) else {}
    return _load(Path(place.cwd, given))


def read_book(arguments: Arguments, place: Place) -> RuleBook:
    """The rules of all files and flags."""
    book = RuleBook.of(
        allow=arguments.listed("--allowedTools"),
        deny=arguments.listed("--disallowedTools"),
        directories=[str(Path(place.cwd, d)) for d in arguments.many("--add-dir")],
        scope=Scope.CLI_ARG,
    )
    book = replace(book, modes=())
    return book.joined(load_settings(_in_force(arguments, place))).joined(
        _flag_book(_flag_settings(arguments, place))
    )


def _flag_book(settings: Mapping[str, Any]) -> RuleBook:
    permissions = settings.get("permissions")
    permissions = permissions if isinstance(permissions, dict) else {}

    def texts(name: str) -> list[str]:
        found = permissions.get(name)
        return [str(text) for text in found] if isinstance(found, list) else []

    book = RuleBook.of(
        allow=texts("allow"),
        ask=texts("ask"),
        deny=texts("deny"),
        directories=texts("additionalDirectories"),
        scope=Scope.FLAG,
    )
    return replace(book, modes=())


def custom_commands(place: Place) -> dict[str, str]:
    """Commands and skills of the user and the project: name -> prompt."""
    found: dict[str, str] = {}
    for base in (Path(place.config), Path(place.cwd, ".claude")):
        for path in sorted((base / "commands").rglob("*.md")):
            found[path.stem] = _prompt(path)
        for path in sorted((base / "skills").glob("*/SKILL.md")):
            found[path.parent.name] = _prompt(path)
    return found


def _prompt(path: Path) -> str:
    return _FRONT_MATTER.sub("", path.read_text(encoding="utf-8")).strip()
