"""The rules, directories and modes of a book that a version of the CLI applies, and why not others.

Malformed rules match nothing; one of them makes 2.1.38 ignore its whole settings file. Newer
versions ignore what the project's own files grant until the workspace is trusted, and never
accept bypassPermissions from them. Rules that deny or ask are kept in every case: an
error in a settings file must not make the policy more permissive. Pure.
"""

from __future__ import annotations

from dataclasses import replace

from fairlead.permissions.model.modes import Mode
from fairlead.permissions.model.scopes import Behavior, Scope
from fairlead.permissions.rules.book import RuleBook, SourcedRule
from fairlead.permissions.rules.paths import PathContext

__all__ = ["in_force"]

_Source = tuple[Scope, str | None]
_OWN = (Scope.PROJECT, Scope.LOCAL)
"""The scopes whose files lie in the project itself."""


def in_force(book: RuleBook, place: PathContext) -> tuple[RuleBook, list[str]]:
    """The book as this version applies it, and a note on everything it ignores."""
    notes = [f"the {entry} is ignored: {entry.rule.problem}" for entry in book.ignored()]
    book, dropped = _without_broken_files(book, place)
    book, untrusted = _without_untrusted(book, place)
    book, modes = _without_bypass(book, place)
    if book.bypass_disabled:
        modes.append("a settings file disables the mode bypassPermissions")
    return book, notes + dropped + untrusted + modes


def _without_broken_files(book: RuleBook, place: PathContext) -> tuple[RuleBook, list[str]]:
    if not place.family.malformed_drops_file:
        return book, []
    broken = {
        _source(entry): entry
        for entry in book.rules
        if entry.rule.problem_in_old is not None and not entry.scope.in_memory
    }
    notes = [
        f"{place.family.name} ignores {file or scope.in_words}, because of the rule {entry.rule}: "
        f"{entry.rule.problem_in_old}"
        for (scope, file), entry in broken.items()
    ]
    return (
        replace(
            book,
            rules=tuple(
                entry
                for entry in book.rules
                if entry.behavior is not Behavior.ALLOW or _source(entry) not in broken
            ),
            directories=tuple(
                entry for entry in book.directories if (entry.scope, entry.file) not in broken
            ),
            modes=tuple(
                entry
                for entry in book.modes
                if (entry.scope, entry.file) not in broken
                or entry.mode in (Mode.DONT_ASK, Mode.PLAN)
            ),
        ),
        notes,
    )


def _source(entry: SourcedRule) -> _Source:
    return entry.scope, entry.file


def _without_untrusted(book: RuleBook, place: PathContext) -> tuple[RuleBook, list[str]]:
    if place.trusted or not place.family.project_needs_trust:
        return book, []
    ignored = tuple(
        entry
        for entry in book.rules
        if entry.scope is Scope.PROJECT and entry.behavior is Behavior.ALLOW
    )
    folders = tuple(entry for entry in book.directories if entry.scope in _OWN)
    notes = [f"the {entry} is ignored until the workspace is trusted" for entry in ignored]
    notes += [
        f"the directory {entry.path} of {entry.scope.in_words} is ignored until the workspace is trusted"
        for entry in folders
    ]
    return (
        replace(
            book,
            rules=tuple(entry for entry in book.rules if entry not in ignored),
            directories=tuple(entry for entry in book.directories if entry not in folders),
        ),
        notes,
    )


def _without_bypass(book: RuleBook, place: PathContext) -> tuple[RuleBook, list[str]]:
    if place.family.project_may_bypass:
        return book, []
    ignored = tuple(
        entry for entry in book.modes if entry.scope in _OWN and entry.mode is Mode.BYPASS
    )
    notes = [f"bypassPermissions in {entry.file} is ignored" for entry in ignored]
    return replace(book, modes=tuple(entry for entry in book.modes if entry not in ignored)), notes
