"""A PermissionUpdate of the protocol, applied to a rule book.

The values are those of `wire.updates`. `read_update` takes whatever a CLI suggests; an update
whose scope, behavior or mode this version does not know is an `UnknownUpdate` and changes nothing.
Neighbors: `book` is what changes, `settings` writes the same change to the CLI's files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from msgspec import structs

from fairlead.errors import OptionError
from fairlead.permissions.model.modes import Mode, parse_mode
from fairlead.permissions.model.scopes import Behavior, Scope
from fairlead.permissions.rules.book import RuleBook, SourcedDirectory, SourcedMode, SourcedRule
from fairlead.permissions.rules.rule import Rule
from fairlead.wire.updates import (
    BEHAVIORS,
    AddDirectories,
    AddRules,
    PermissionUpdate,
    RemoveDirectories,
    RemoveRules,
    ReplaceRules,
    RuleValue,
    SetMode,
    UnknownUpdate,
    read,
)

__all__ = [
    "DirectoryUpdate",
    "RuleUpdate",
    "apply_update",
    "behavior_of",
    "mode_of",
    "problem_of",
    "read_update",
    "rule_values",
    "rules_of",
    "scope_of",
]

RuleUpdate: TypeAlias = AddRules | ReplaceRules | RemoveRules
DirectoryUpdate: TypeAlias = AddDirectories | RemoveDirectories

_SCOPES = frozenset(scope.value for scope in Scope)


def read_update(plain: Any) -> PermissionUpdate:
    """Read an update as the CLI writes it, with its mode spelled as `Mode` spells it."""
    update = read(plain)
    if isinstance(update, UnknownUpdate):
        return update
    if update.destination not in _SCOPES:
        return UnknownUpdate(plain["type"], plain, "unknown destination")
    if isinstance(update, SetMode):
        mode = parse_mode(update.mode)
        if mode is None:
            return UnknownUpdate(plain["type"], plain, "unknown mode")
        return structs.replace(update, mode=mode.value)
    if isinstance(update, RuleUpdate) and update.behavior not in BEHAVIORS:
        return UnknownUpdate(plain["type"], plain, "unknown behavior")
    return update


def rule_values(rules: Iterable[Rule]) -> tuple[RuleValue, ...]:
    """Rules as an update carries them."""
    return tuple(RuleValue(rule.tool, rule.content) for rule in rules)


def rules_of(update: RuleUpdate) -> tuple[Rule, ...]:
    """The rules that an update carries."""
    return tuple(Rule(value.tool_name, value.rule_content) for value in update.rules)


def scope_of(update: RuleUpdate | DirectoryUpdate | SetMode) -> Scope:
    """Where the update is to be kept; OptionError if no version of the CLI knows the place."""
    if update.destination not in _SCOPES:
        raise OptionError("destination", f"{update.destination!r} is not a scope of the CLI.")
    return Scope(update.destination)


def behavior_of(update: RuleUpdate) -> Behavior:
    """What the rules of the update do; OptionError if no version of the CLI knows it."""
    if update.behavior not in BEHAVIORS:
        raise OptionError("behavior", f"{update.behavior!r} is not one of {', '.join(BEHAVIORS)}.")
    return Behavior(update.behavior)


def mode_of(update: SetMode) -> Mode:
    """The mode that the update sets; OptionError if it is none."""
    mode = parse_mode(update.mode)
    if mode is None:
        raise OptionError("mode", f"{update.mode!r} is not a permission mode.")
    return mode


def problem_of(update: PermissionUpdate) -> str | None:
    """Why a CLI would refuse or ignore this update; None if it would take it."""
    if isinstance(update, UnknownUpdate):
        return f"the type {update.type_name!r} is unknown"
    if not scope_of(update).is_destination:
        return f"{update.destination!r} is read-only or no destination"
    for rule in rules_of(update) if isinstance(update, RuleUpdate) else ():
        if rule.problem_in_old is not None:
            return f"{str(rule)!r} would be ignored: {rule.problem_in_old}"
    return None


def apply_update(
    book: RuleBook, update: PermissionUpdate, files: Mapping[Scope, str] | None = None
) -> RuleBook:
    """The book after the change. `files` says where the scopes that live in files are kept."""
    if isinstance(update, UnknownUpdate):
        return book
    scope = scope_of(update)
    if scope.read_only:
        raise OptionError("destination", f"{scope.in_words} is read-only.")
    file = (files or {}).get(scope)
    if isinstance(update, SetMode):
        remaining = tuple(entry for entry in book.modes if entry.scope is not scope)
        entry = SourcedMode(mode=mode_of(update), scope=scope, file=file)
        return replace(book, modes=(*remaining, entry))
    if isinstance(update, DirectoryUpdate):
        return replace(book, directories=_changed_directories(book, update, scope, file))
    return replace(book, rules=_changed_rules(book, update, scope, file))


def _changed_rules(
    book: RuleBook, update: RuleUpdate, scope: Scope, file: str | None
) -> tuple[SourcedRule, ...]:
    named = dict.fromkeys(rules_of(update))
    behavior = behavior_of(update)

    def concerned(entry: SourcedRule) -> bool:
        return entry.scope is scope and entry.behavior is behavior

    if isinstance(update, RemoveRules):
        return tuple(
            entry for entry in book.rules if not (concerned(entry) and entry.rule in named)
        )
    remaining = book.rules
    if isinstance(update, ReplaceRules):
        remaining = tuple(entry for entry in remaining if not concerned(entry))
    present = {entry.rule for entry in remaining if concerned(entry)}
    return remaining + tuple(
        SourcedRule(rule=rule, behavior=behavior, scope=scope, file=file)
        for rule in named
        if rule not in present
    )


def _changed_directories(
    book: RuleBook, update: DirectoryUpdate, scope: Scope, file: str | None
) -> tuple[SourcedDirectory, ...]:
    remaining = tuple(
        entry
        for entry in book.directories
        if not (entry.scope is scope and entry.path in update.directories)
    )
    if isinstance(update, RemoveDirectories):
        return remaining
    return remaining + tuple(
        SourcedDirectory(path=path, scope=scope, file=file)
        for path in dict.fromkeys(update.directories)
    )
