"""The CLI's own settings files: read into a rule book, changed one update at a time.

The only file of this folder that touches the disk, with `audit_log`. A file is written whole and
atomically; keys it does not know, their order and the indentation stay. A file that is not valid
JSON is a SettingsError and is never overwritten; policy and flag settings are never written.
"""

from __future__ import annotations

import errno
import json
import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairlead.errors import OptionError, SettingsError
from fairlead.permissions.model.families import CURRENT, Family
from fairlead.permissions.model.modes import parse_mode
from fairlead.permissions.model.scopes import Behavior, Scope
from fairlead.permissions.rules.book import RuleBook, SourcedDirectory, SourcedMode, SourcedRule
from fairlead.permissions.rules.paths import PathContext
from fairlead.permissions.rules.rule import Rule
from fairlead.permissions.rules.skill_files import is_plain_skill, skill_commands
from fairlead.permissions.rules.updates import (
    DirectoryUpdate,
    RuleUpdate,
    behavior_of,
    mode_of,
    rules_of,
    scope_of,
)
from fairlead.wire.updates import (
    PermissionUpdate,
    RemoveDirectories,
    RemoveRules,
    ReplaceRules,
    SetMode,
    UnknownUpdate,
)

__all__ = ["SettingsFiles", "load_settings", "place_of", "read_settings", "write_update"]

_BEHAVIORS = (Behavior.DENY, Behavior.ASK, Behavior.ALLOW)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsFiles:
    """Where each scope is kept; a scope that is not named is not read."""

    paths: Mapping[Scope, str]

    @classmethod
    def standard(
        cls, cwd: str, home: str, flag: str | None = None, *, config: str | None = None
    ) -> SettingsFiles:
        """The places the CLI itself reads, and the file given with `--settings`, if any.

        `config` is the folder of the user's settings, if it is not `~/.claude`.
        """
        policy = "/etc/claude-code/managed-settings.json"
        if sys.platform == "darwin":
            policy = "/Library/Application Support/ClaudeCode/managed-settings.json"
        paths = {
            Scope.USER: os.path.join(config or os.path.join(home, ".claude"), "settings.json"),
            Scope.PROJECT: os.path.join(cwd, ".claude", "settings.json"),
            Scope.LOCAL: os.path.join(cwd, ".claude", "settings.local.json"),
            Scope.POLICY: policy,
        }
        if flag is not None:
            paths[Scope.FLAG] = os.path.abspath(flag)
        return cls(paths=paths)


def place_of(
    cwd: str,
    home: str,
    family: Family = CURRENT,
    *,
    config: str | None = None,
    trusted: bool = True,
    classifier: bool = False,
) -> PathContext:
    """A PathContext that asks the real file system about symlinks and directories."""
    return PathContext(
        cwd=os.path.abspath(cwd),
        home=os.path.abspath(os.path.expanduser(home)),
        config=config,
        family=family,
        trusted=trusted,
        classifier=classifier,
        resolve=os.path.realpath,
        is_directory=os.path.isdir,
        exists=os.path.lexists,
        is_loop=_is_loop,
        is_link=_is_link,
        is_plain_skill=lambda name: is_plain_skill(name, (cwd, home), config),
        skill_commands=lambda name: skill_commands(name, (cwd, home), config),
    )


def _is_loop(path: str) -> bool:
    try:
        os.stat(path)
    except OSError as error:
        return error.errno == errno.ELOOP
    except ValueError:  # A null byte.
        return False
    return False


def _is_link(path: str) -> bool:
    try:
        return os.path.islink(path)
    except ValueError:  # A null byte.
        return False


def load_settings(files: SettingsFiles) -> RuleBook:
    """Everything the files say about permissions. A missing file says nothing."""
    book = RuleBook()
    for scope, path in files.paths.items():
        book = book.joined(_book_of(read_settings(path), scope, path))
    return book


def read_settings(path: str) -> dict[str, Any]:
    """One settings file as it stands; empty if there is none, SettingsError if it is broken."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(path, f"cannot be read: {error}.") from error
    return _parse(text, path)


def _parse(text: str, path: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        value = json.loads(text, object_pairs_hook=_without_duplicates)
    except (ValueError, RecursionError) as error:
        hint = (
            " The CLI reads no comments either." if re.search(r"^[ \t]*//|/\*", text, re.M) else ""
        )
        raise SettingsError(path, f"is not valid JSON: {error}.{hint}") from error
    if not isinstance(value, dict):
        raise SettingsError(path, "does not hold a JSON object.")
    return value


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        # Writing it back would drop one of the two.
        raise ValueError("a key occurs twice in the same object")
    return values


def _permissions(settings: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    permissions = settings.get("permissions", {})
    if not isinstance(permissions, dict):
        raise SettingsError(path, "`permissions` is not an object.")
    return permissions


def _texts(values: object, name: str, path: str) -> Iterable[str]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise SettingsError(path, f"`permissions.{name}` is not a list of texts.")
    return values


def _book_of(settings: Mapping[str, Any], scope: Scope, path: str) -> RuleBook:
    permissions = _permissions(settings, path)
    rules = tuple(
        SourcedRule(rule=Rule.parse(text), behavior=behavior, scope=scope, file=path)
        for behavior in _BEHAVIORS
        for text in _texts(permissions.get(behavior.value, []), behavior.value, path)
    )
    name = "additionalDirectories"
    directories = tuple(
        SourcedDirectory(path=directory, scope=scope, file=path)
        for directory in _texts(permissions.get(name, []), name, path)
    )
    mode = parse_mode(str(permissions.get("defaultMode", "")))
    modes = () if mode is None else (SourcedMode(mode=mode, scope=scope, file=path),)
    disabled = permissions.get("disableBypassPermissionsMode") == "disable"
    return RuleBook(rules=rules, directories=directories, modes=modes, bypass_disabled=disabled)


def write_update(files: SettingsFiles, update: PermissionUpdate) -> str | None:
    """Make one change in the file of its destination, and give the file's path.

    None if nothing is kept in a file: a change for the session, or one of an unknown kind.
    """
    if isinstance(update, UnknownUpdate):
        return None
    scope = scope_of(update)
    if scope.in_memory:
        return None
    path = files.paths.get(scope)
    if scope.read_only or path is None:
        raise OptionError("destination", f"{scope.in_words} cannot be written.")
    settings = read_settings(path)
    permissions = dict(_permissions(settings, path))
    if isinstance(update, SetMode):
        permissions["defaultMode"] = mode_of(update).value
    elif isinstance(update, DirectoryUpdate):
        name, named = "additionalDirectories", list(update.directories)
        present = list(_texts(permissions.get(name, []), name, path))
        permissions[name] = _merged(present, named, update)
    else:
        name, named = behavior_of(update).value, [str(rule) for rule in rules_of(update)]
        _refuse_broken(update, path)
        present = list(_texts(permissions.get(name, []), name, path))
        permissions[name] = _merged(present, named, update)
    if settings.get("permissions") != permissions:
        _write(path, {**settings, "permissions": permissions})
    return path


def _refuse_broken(update: RuleUpdate, path: str) -> None:
    if isinstance(update, RemoveRules):
        return
    for rule in rules_of(update):
        if rule.problem_in_old is not None:
            # 2.1.38 ignores the whole file because of one rule that it cannot read (measured).
            reason = f"would be ignored because of the rule {rule}: {rule.problem_in_old}."
            raise SettingsError(path, reason)


def _merged(
    present: list[str], named: list[str], update: RuleUpdate | DirectoryUpdate
) -> list[str]:
    if isinstance(update, RemoveRules | RemoveDirectories):
        return [text for text in present if text not in named]
    if isinstance(update, ReplaceRules):
        present = []
    return present + [text for text in dict.fromkeys(named) if text not in present]


def _write(path: str, settings: Mapping[str, Any]) -> None:
    # Through a symlink the file behind it is meant; replacing would cut the link.
    target = Path(os.path.realpath(path))
    old = target.read_text(encoding="utf-8") if target.exists() else ""
    text = json.dumps(settings, indent=_indentation(old), ensure_ascii=False) + "\n"
    if old.startswith("\ufeff"):
        text = "\ufeff" + text
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
    import tempfile  # Only here: it loads 15 modules, and most processes never write settings.

    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".settings-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise SettingsError(path, f"cannot be written: {error}.") from error


def _indentation(text: str) -> int | str:
    match = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    if match is None:
        return 2
    return match.group(1) if "\t" in match.group(1) else len(match.group(1))
