"""Whether one file may be read or written, by rules, directories and protected names.

The file tools and the files that a command names are checked in the same way. Neighbors: `policy`
and `bash_policy` call this, `paths` matches the patterns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fairlead.permissions.model.modes import Mode
from fairlead.permissions.model.scopes import Behavior
from fairlead.permissions.rules.book import RuleBook, SourcedRule
from fairlead.permissions.rules.decisions import Decision, Reason
from fairlead.permissions.rules.paths import (
    PathContext,
    covering_rule,
    is_ambiguous,
    is_inside,
    spellings,
)
from fairlead.permissions.rules.protected_names import is_protected, unknown_dot_name

__all__ = [
    "FileQuestion",
    "forbidding_rule",
    "read_decision",
    "refused_link",
    "unreadable_path",
    "write_decision",
]

_READ_TOOLS = ("Read",)
_WRITE_TOOLS = ("Edit",)
_WRITE_NAMES = ("Edit", "Write", "NotebookEdit", "MultiEdit")
"""The CLI applies only `Edit(path)` and ignores `Write(path)` (measured). Deny and ask rules with
the other names still apply here, because their authors expect it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileQuestion:
    """A file that a call wants to access, in each of its spellings."""

    path: str
    spellings: tuple[str, ...]
    book: RuleBook
    place: PathContext
    by_command: bool = False
    """Commands are checked for each spelling, file tools for all at once (measured)."""

    @classmethod
    def of(
        cls,
        path: str,
        book: RuleBook,
        place: PathContext,
        *,
        cwd: str | None = None,
        by_command: bool = False,
    ) -> FileQuestion:
        """The question about a path as a tool or a command spells it."""
        paths = spellings(path, place, cwd)
        if path != path.strip() and not by_command:
            # The CLI removes blanks and newlines around the path of a file tool (CLI-349).
            paths = tuple(dict.fromkeys((*paths, *spellings(path.strip(), place, cwd))))
        return cls(path=path, spellings=paths, book=book, place=place, by_command=by_command)

    @property
    def inside(self) -> bool:
        """Whether every spelling is in a working directory."""
        return all(is_inside(path, self.place, self.book) for path in self.spellings)

    @property
    def leads_outside(self) -> bool:
        """Whether it is named in a working directory, and a link leads out of it (CLI-1732)."""
        inside = [is_inside(path, self.place, self.book) for path in self.spellings]
        return any(inside) and not all(inside)

    @property
    def protected(self) -> bool:
        """Whether any spelling is a file that only the user may allow to be written."""
        return any(is_protected(path, self.place.family) for path in self.spellings)

    @property
    def unknown_name(self) -> str | None:
        """A name in the path, below the working directory, that the CLI may protect (CLI-1723)."""
        if self.place.family.whole_tool_covers_protected:
            return None  # The few names that these versions protect are known.
        root = self.place.cwd.rstrip("/") + "/"
        return next(
            filter(None, (unknown_dot_name(path.removeprefix(root)) for path in self.spellings)),
            None,
        )

    @property
    def ambiguous(self) -> bool:
        """Whether Windows would read a spelling as another name."""
        if self.path.startswith("\\\\") or any(map(is_ambiguous, self.spellings)):
            return True
        if self.path != self.path.strip() and not self.by_command:
            return True
        strict = self.place.family.colons_are_ambiguous and not self.by_command
        if (self.by_command or strict) and self.path.startswith("//"):
            return True  # Windows reads it as the name of a computer (CLI-1505).
        return strict and (":" in self.path or self.path.endswith("."))


def _rules(
    question: FileQuestion, behavior: Behavior, tools: tuple[str, ...]
) -> Iterator[SourcedRule]:
    for entry in question.book.of_behavior(behavior):
        # `Read(**)` covers the whole tool, and is a pattern for the files of other tools (CLI-1530).
        if entry.rule.tool in tools and (not entry.whole_tool or entry.rule.content == "**"):
            yield entry


def forbidding_rule(
    question: FileQuestion, behavior: Behavior, *, writing: bool
) -> SourcedRule | None:
    """The deny or ask rule that matches any spelling of the file."""
    tools: tuple[str, ...] = _WRITE_NAMES if writing else _READ_TOOLS
    by_tool = writing and behavior is Behavior.DENY and not question.by_command
    if by_tool and question.place.family.read_denial_stops_writes:
        tools = tools + _READ_TOOLS
    rules = tuple(_rules(question, behavior, tools))
    for path in question.spellings:
        rule = covering_rule(rules, path, question.place)
        if rule is not None:
            return rule
    return None


def refused_link(question: FileQuestion) -> Decision | None:
    """The decision to deny, if a file tool would write through a symbolic link (CLI-1509)."""
    place = question.place
    if not place.family.refuses_links or not any(map(place.is_link, question.spellings)):
        return None
    return Decision(
        behavior=Behavior.DENY,
        reason=Reason.PROTECTED,
        words=f"{question.path} is a symbolic link, and the CLI writes only to its target",
        blocked_path=question.spellings[0],
    )


def unreadable_path(question: FileQuestion) -> Decision | None:
    """The decision to deny, if the path is a symbolic link that leads to itself."""
    if not any(question.place.is_loop(path) for path in question.spellings):
        return None
    return Decision(
        behavior=Behavior.DENY,
        reason=Reason.NOT_UNDERSTOOD,
        words=f"{question.path} is a symbolic link that leads to itself",
        blocked_path=question.spellings[0],
    )


def _allowing_rule(question: FileQuestion, *, writing: bool) -> SourcedRule | None:
    """The allow rule that covers the file in every spelling."""
    tools: tuple[str, ...] = _WRITE_TOOLS if writing else _READ_TOOLS
    if not writing and not question.by_command and not question.protected:
        # A file that may be edited may also be read (measured for the file tools).
        tools = _READ_TOOLS + _WRITE_TOOLS
    # `Edit(*)` means the tool Edit and no other one, so it is not a pattern (measured).
    rules = tuple(
        entry for entry in _rules(question, Behavior.ALLOW, tools) if entry.rule.content != "*"
    )
    covering: SourcedRule | None = None
    for path in question.spellings:
        rule = covering_rule(rules, path, question.place)
        if rule is not None:
            covering = rule
        elif not (
            question.by_command and not writing and is_inside(path, question.place, question.book)
        ):
            return None
    return covering


def read_decision(question: FileQuestion) -> Decision:
    """Allow or ask for reading, if no rule denies it."""
    if question.ambiguous:
        return _ambiguous(question)
    editable = None if question.by_command else _allowing_rule(question, writing=True)
    if question.inside and editable is None:
        return Decision(
            behavior=Behavior.ALLOW,
            reason=Reason.WORKING_DIRECTORY,
            words=f"{question.path} is in a working directory and may be read",
        )
    # The CLI names a rule that allows to edit the file, also in a working directory (CLI-1655).
    rule = editable or _allowing_rule(question, writing=False)
    if rule is not None:
        return Decision(
            behavior=Behavior.ALLOW, reason=Reason.RULE, words=f"{rule} covers it", rule=rule
        )
    return Decision(
        behavior=Behavior.ASK,
        reason=Reason.WORKING_DIRECTORY,
        words=f"{question.path} is outside the working directories",
        blocked_path=_blocked(question),
    )


def write_decision(question: FileQuestion, mode: Mode) -> Decision:
    """Allow or ask for writing, if no rule denies it."""
    if question.ambiguous:
        return _ambiguous(question)
    if question.protected:
        return Decision(
            behavior=Behavior.ASK,
            reason=Reason.PROTECTED,
            words=f"{question.path} can make programs run, so the user decides about it",
            blocked_path=question.spellings[0],
        )
    rule = _allowing_rule(question, writing=True)
    if rule is not None:
        return Decision(
            behavior=Behavior.ALLOW, reason=Reason.RULE, words=f"{rule} covers it", rule=rule
        )
    if question.inside and mode is Mode.ACCEPT_EDITS:
        return Decision(
            behavior=Behavior.ALLOW,
            reason=Reason.MODE,
            words=f"{question.path} is in a working directory and the mode accepts edits",
        )
    where = (
        "is a change that no rule allows"
        if question.inside
        else "is outside the working directories"
    )
    return Decision(
        behavior=Behavior.ASK,
        reason=Reason.NO_RULE if question.inside else Reason.WORKING_DIRECTORY,
        words=f"{question.path} {where}",
        blocked_path=question.spellings[0] if question.inside else _blocked(question),
    )


def _ambiguous(question: FileQuestion) -> Decision:
    return Decision(
        behavior=Behavior.ASK,
        reason=Reason.PROTECTED,
        words=f"some systems read {question.path} as another file name",
        blocked_path=question.spellings[0],
    )


def _blocked(question: FileQuestion) -> str:
    for path in question.spellings:
        if not is_inside(path, question.place, question.book):
            return path
    return question.spellings[0]
