"""Changes to a rule book: the PermissionUpdate of the protocol, as values, applied purely.

`from_wire` takes whatever a CLI suggests and keeps what it does not know; `to_wire` writes only
what every CLI accepts, because 2.1.38 takes one wrong destination as a denial (TRUTH 1.3).
Neighbours: `book` is what changes, `settings` writes the same change to the CLI's files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from fairlead.errors import OptionError
from fairlead.permissions.book import RuleBook, SourcedDirectory, SourcedMode, SourcedRule
from fairlead.permissions.modes import Mode, parse_mode
from fairlead.permissions.rules import Rule
from fairlead.permissions.scopes import Behaviour, Scope

__all__ = [
    "DirectoryUpdate",
    "ModeUpdate",
    "PermissionUpdate",
    "RuleUpdate",
    "UnknownUpdate",
    "apply_update",
    "from_wire",
    "to_wire",
    "with_destination",
]

_RULE_KINDS = ("addRules", "removeRules", "replaceRules")
_DIRECTORY_KINDS = ("addDirectories", "removeDirectories")


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleUpdate:
    """addRules, removeRules or replaceRules."""

    kind: str
    rules: tuple[Rule, ...]
    behaviour: Behaviour = Behaviour.ALLOW
    destination: Scope = Scope.SESSION

    def __post_init__(self) -> None:
        _expect("type", self.kind, _RULE_KINDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryUpdate:
    """addDirectories or removeDirectories."""

    kind: str
    directories: tuple[str, ...]
    destination: Scope = Scope.SESSION

    def __post_init__(self) -> None:
        _expect("type", self.kind, _DIRECTORY_KINDS)


@dataclass(frozen=True, slots=True)
class ModeUpdate:
    """setMode."""

    mode: Mode
    destination: Scope = Scope.SESSION


@dataclass(frozen=True, slots=True)
class UnknownUpdate:
    """An update of a kind, or with a value, that this version of Fairlead does not know."""

    raw: Mapping[str, Any]


PermissionUpdate = RuleUpdate | DirectoryUpdate | ModeUpdate | UnknownUpdate


def _expect(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise OptionError(name, f"{value!r} is not one of {', '.join(known)}.")


def with_destination(update: PermissionUpdate, destination: Scope) -> PermissionUpdate:
    """The same change, kept somewhere else; an unknown update stays as it is."""
    if isinstance(update, UnknownUpdate):
        return update
    return replace(update, destination=destination)


def from_wire(raw: Mapping[str, Any]) -> PermissionUpdate:
    """Read an update as the CLI writes it. Never fails."""
    kind = raw.get("type")
    try:
        destination = Scope(str(raw.get("destination")))
        if kind in _RULE_KINDS:
            return RuleUpdate(
                kind=str(kind),
                rules=tuple(_rule_from_wire(rule) for rule in raw["rules"]),
                behaviour=Behaviour(raw["behavior"]),
                destination=destination,
            )
        if kind in _DIRECTORY_KINDS:
            return DirectoryUpdate(
                kind=str(kind),
                directories=tuple(_text(path) for path in raw["directories"]),
                destination=destination,
            )
        mode = parse_mode(_text(raw["mode"])) if kind == "setMode" else None
    except (KeyError, TypeError, ValueError):
        return UnknownUpdate(raw)
    return UnknownUpdate(raw) if mode is None else ModeUpdate(mode, destination)


def _rule_from_wire(raw: Mapping[str, Any]) -> Rule:
    content = raw.get("ruleContent")
    return Rule(_text(raw["toolName"]), None if content is None else _text(content))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def to_wire(update: PermissionUpdate) -> dict[str, Any]:
    """Write an update so that every CLI accepts it; OptionError if it cannot be."""
    if isinstance(update, UnknownUpdate):
        return dict(update.raw)
    if not update.destination.is_destination:
        raise OptionError(
            "destination",
            f"{update.destination.value!r} is read-only or no destination.",
            "Use session, cliArg, localSettings, projectSettings or userSettings.",
        )
    if isinstance(update, ModeUpdate):
        return {
            "type": "setMode",
            "mode": update.mode.value,
            "destination": update.destination.value,
        }
    if isinstance(update, DirectoryUpdate):
        return {
            "type": update.kind,
            "directories": list(update.directories),
            "destination": update.destination.value,
        }
    return {
        "type": update.kind,
        "rules": [_rule_to_wire(rule) for rule in update.rules],
        "behavior": update.behaviour.value,
        "destination": update.destination.value,
    }


def _rule_to_wire(rule: Rule) -> dict[str, str]:
    if rule.problem is not None:
        raise OptionError("rule", f"{str(rule)!r} would be ignored: {rule.problem}.")
    if rule.content is None:
        return {"toolName": rule.tool}
    return {"toolName": rule.tool, "ruleContent": rule.content}


def apply_update(
    book: RuleBook, update: PermissionUpdate, files: Mapping[Scope, str] | None = None
) -> RuleBook:
    """The book after the change. `files` says where the scopes that live in files are kept."""
    if isinstance(update, UnknownUpdate):
        return book
    if update.destination.read_only:
        raise OptionError("destination", f"{update.destination.in_words} is read-only.")
    file = (files or {}).get(update.destination)
    if isinstance(update, ModeUpdate):
        kept = tuple(entry for entry in book.modes if entry.scope is not update.destination)
        entry = SourcedMode(mode=update.mode, scope=update.destination, file=file)
        return replace(book, modes=(*kept, entry))
    if isinstance(update, DirectoryUpdate):
        return replace(book, directories=_changed_directories(book, update, file))
    return replace(book, rules=_changed_rules(book, update, file))


def _changed_rules(book: RuleBook, update: RuleUpdate, file: str | None) -> tuple[SourcedRule, ...]:
    def concerned(entry: SourcedRule) -> bool:
        return entry.scope is update.destination and entry.behaviour is update.behaviour

    if update.kind == "removeRules":
        return tuple(
            entry for entry in book.rules if not (concerned(entry) and entry.rule in update.rules)
        )
    kept = book.rules
    if update.kind == "replaceRules":
        kept = tuple(entry for entry in kept if not concerned(entry))
    present = {entry.rule for entry in kept if concerned(entry)}
    added = (rule for rule in dict.fromkeys(update.rules) if rule not in present)
    return kept + tuple(
        SourcedRule(rule=rule, behaviour=update.behaviour, scope=update.destination, file=file)
        for rule in added
    )


def _changed_directories(
    book: RuleBook, update: DirectoryUpdate, file: str | None
) -> tuple[SourcedDirectory, ...]:
    kept = tuple(
        entry
        for entry in book.directories
        if not (entry.scope is update.destination and entry.path in update.directories)
    )
    if update.kind == "removeDirectories":
        return kept
    return kept + tuple(
        SourcedDirectory(path=path, scope=update.destination, file=file)
        for path in dict.fromkeys(update.directories)
    )
