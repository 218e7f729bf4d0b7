"""All rules, modes and directories that apply, as one frozen value with the source of each.

The order of its entries has no meaning: every method gives the same answer for every order.
Neighbors: `settings` fills it from files, `updates` changes it, `policy` reads it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from fairlead.permissions.model.modes import Mode
from fairlead.permissions.model.scopes import Behavior, Scope
from fairlead.permissions.rules.rule import Rule

__all__ = ["RuleBook", "SourcedDirectory", "SourcedMode", "SourcedRule"]

_MODE_ORDER = (
    Scope.SESSION,
    Scope.CLI_ARG,
    Scope.COMMAND,
    Scope.POLICY,
    Scope.FLAG,
    Scope.LOCAL,
    Scope.PROJECT,
    Scope.USER,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcedRule:
    """A rule, its behavior, and where it was read from."""

    rule: Rule
    behavior: Behavior
    scope: Scope
    file: str | None = None

    @property
    def whole_tool(self) -> bool:
        """Whether it covers every use of its tool.

        In a deny or ask rule, a single star means the whole tool. In an allow rule, 2.1.325 reads
        it as a pattern below the working directory, which is narrower.
        """
        if self.behavior is not Behavior.ALLOW and self.rule.content in ("*", "**"):
            return True
        return self.rule.whole_tool

    @property
    def root(self) -> str | None:
        """The directory that a pattern with one leading slash starts from.

        Project and local files: the project; the user's file: ~/.claude; another file: its own
        directory. None if the rule came from no file: then it is the working directory.
        """
        if self.file is None:
            return None
        folder = posixpath.dirname(self.file)
        if self.scope in (Scope.PROJECT, Scope.LOCAL):
            return posixpath.dirname(folder)
        return folder

    def __str__(self) -> str:
        place = self.file if self.file is not None else self.scope.in_words
        return f"{self.behavior.value} rule {self.rule} ({place})"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcedDirectory:
    """An additional working directory and its source."""

    path: str
    scope: Scope
    file: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcedMode:
    """A mode and the scope that sets it."""

    mode: Mode
    scope: Scope
    file: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleBook:
    """Everything the policy decides by, apart from the call itself."""

    rules: tuple[SourcedRule, ...] = ()
    directories: tuple[SourcedDirectory, ...] = ()
    modes: tuple[SourcedMode, ...] = ()
    bypass_disabled: bool = False
    """Whether a settings file has `disableBypassPermissionsMode: disable`, in any scope (CLI-1513)."""

    @classmethod
    def of(
        cls,
        *,
        allow: Iterable[str] = (),
        ask: Iterable[str] = (),
        deny: Iterable[str] = (),
        mode: Mode = Mode.DEFAULT,
        directories: Iterable[str] = (),
        scope: Scope = Scope.SESSION,
        file: str | None = None,
    ) -> RuleBook:
        """A book from plain text rules, all of one scope."""
        texts = ((Behavior.DENY, deny), (Behavior.ASK, ask), (Behavior.ALLOW, allow))
        return cls(
            rules=tuple(
                SourcedRule(rule=Rule.parse(text), behavior=behavior, scope=scope, file=file)
                for behavior, group in texts
                for text in group
            ),
            directories=tuple(
                SourcedDirectory(path=path, scope=scope, file=file) for path in directories
            ),
            modes=(SourcedMode(mode=mode, scope=scope, file=file),),
        )

    @property
    def mode(self) -> Mode:
        """The mode that applies: that of the highest scope, or default."""
        mode = min(
            self.modes,
            key=lambda entry: _MODE_ORDER.index(entry.scope),
            default=SourcedMode(mode=Mode.DEFAULT, scope=Scope.USER),
        ).mode
        return Mode.DEFAULT if mode is Mode.BYPASS and self.bypass_disabled else mode

    def with_mode(self, mode: Mode) -> RuleBook:
        """The same book with the session in another mode."""
        others = tuple(entry for entry in self.modes if entry.scope is not Scope.SESSION)
        return replace(self, modes=(*others, SourcedMode(mode=mode, scope=Scope.SESSION)))

    def joined(self, other: RuleBook) -> RuleBook:
        """Both books as one."""
        return RuleBook(
            rules=self.rules + other.rules,
            directories=self.directories + other.directories,
            modes=self.modes + other.modes,
            bypass_disabled=self.bypass_disabled or other.bypass_disabled,
        )

    def of_behavior(self, behavior: Behavior) -> Iterator[SourcedRule]:
        """The rules with this behavior, without those that the CLI ignores."""
        for entry in self.rules:
            if entry.behavior is behavior and entry.rule.problem is None:
                yield entry

    def ignored(self) -> tuple[SourcedRule, ...]:
        """The rules that match nothing because they are malformed."""
        return tuple(entry for entry in self.rules if entry.rule.problem is not None)
