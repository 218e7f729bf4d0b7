"""Whether one file may be read or written, by rules, directories and protected names.

The same questions serve the file tools and the files a command names. Neighbours: `policy` and
`bash_policy` ask, `paths` knows the patterns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fairlead.permissions.book import RuleBook, SourcedRule
from fairlead.permissions.decisions import Decision, Reason
from fairlead.permissions.modes import Mode
from fairlead.permissions.paths import Place, covering_rule, is_inside, is_protected, spellings
from fairlead.permissions.scopes import Behaviour

__all__ = ["FileQuestion", "forbidding_rule", "read_decision", "write_decision"]

_READ_TOOLS = ("Read",)
_WRITE_TOOLS = ("Edit",)
_WRITE_WORDS = ("Edit", "Write", "NotebookEdit", "MultiEdit")
"""The CLI heeds only `Edit(path)`, and lets `Write(path)` mean nothing (measured). What denies or
asks under those names is heeded here all the same: whoever wrote it meant it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileQuestion:
    """A file that something wants to touch, in each of its spellings."""

    path: str
    spellings: tuple[str, ...]
    book: RuleBook
    place: Place
    by_command: bool = False
    """Commands are judged spelling by spelling, file tools all at once (measured)."""

    @classmethod
    def of(
        cls,
        path: str,
        book: RuleBook,
        place: Place,
        *,
        cwd: str | None = None,
        by_command: bool = False,
    ) -> FileQuestion:
        """Ask about a path as a tool or a command spells it."""
        found = spellings(path, place, cwd)
        return cls(path=path, spellings=found, book=book, place=place, by_command=by_command)

    @property
    def inside(self) -> bool:
        """Whether every spelling lies in a working directory."""
        return all(is_inside(path, self.place, self.book) for path in self.spellings)

    @property
    def protected(self) -> bool:
        """Whether any spelling is a file that only a person may let be written."""
        return any(is_protected(path, self.place.family) for path in self.spellings)


def _rules(
    question: FileQuestion, behaviour: Behaviour, tools: tuple[str, ...]
) -> Iterator[SourcedRule]:
    for entry in question.book.of_behaviour(behaviour):
        if entry.rule.tool in tools and not entry.whole_tool:
            yield entry


def forbidding_rule(
    question: FileQuestion, behaviour: Behaviour, *, writing: bool
) -> SourcedRule | None:
    """The deny or ask rule that any spelling of the file falls under."""
    tools: tuple[str, ...] = _WRITE_WORDS if writing else _READ_TOOLS
    by_tool = writing and behaviour is Behaviour.DENY and not question.by_command
    if by_tool and question.place.family.read_denial_stops_writes:
        tools = tools + _READ_TOOLS
    rules = tuple(_rules(question, behaviour, tools))
    for path in question.spellings:
        found = covering_rule(rules, path, question.place)
        if found is not None:
            return found
    return None


def _allowing_rule(question: FileQuestion, *, writing: bool) -> SourcedRule | None:
    """The allow rule that covers the file in every spelling."""
    tools: tuple[str, ...] = _WRITE_TOOLS if writing else _READ_TOOLS
    if not writing and not question.by_command:
        # What may be edited may be read (measured for the file tools).
        tools = _READ_TOOLS + _WRITE_TOOLS
    rules = tuple(_rules(question, Behaviour.ALLOW, tools))
    found: SourcedRule | None = None
    for path in question.spellings:
        rule = covering_rule(rules, path, question.place)
        if rule is not None:
            found = rule
        elif not (
            question.by_command and not writing and is_inside(path, question.place, question.book)
        ):
            return None
    return found


def read_decision(question: FileQuestion) -> Decision:
    """Allow or ask for reading, once no rule forbids it."""
    if question.inside:
        return Decision(
            behaviour=Behaviour.ALLOW,
            reason=Reason.WORKING_DIRECTORY,
            words=f"{question.path} lies in a working directory and may be read",
        )
    rule = _allowing_rule(question, writing=False)
    if rule is not None:
        return Decision(
            behaviour=Behaviour.ALLOW, reason=Reason.RULE, words=f"{rule} covers it", rule=rule
        )
    return Decision(
        behaviour=Behaviour.ASK,
        reason=Reason.WORKING_DIRECTORY,
        words=f"{question.path} lies outside the working directories",
        blocked_path=_blocked(question),
    )


def write_decision(question: FileQuestion, mode: Mode) -> Decision:
    """Allow or ask for writing, once no rule forbids it."""
    if question.protected:
        return Decision(
            behaviour=Behaviour.ASK,
            reason=Reason.PROTECTED,
            words=f"{question.path} can make programs run, so a person decides about it",
            blocked_path=question.spellings[0],
        )
    rule = _allowing_rule(question, writing=True)
    if rule is not None:
        return Decision(
            behaviour=Behaviour.ALLOW, reason=Reason.RULE, words=f"{rule} covers it", rule=rule
        )
    if question.inside and mode is Mode.ACCEPT_EDITS:
        return Decision(
            behaviour=Behaviour.ALLOW,
            reason=Reason.MODE,
            words=f"{question.path} lies in a working directory and the mode accepts edits",
        )
    where = (
        "is a change that no rule allows"
        if question.inside
        else "lies outside the working directories"
    )
    return Decision(
        behaviour=Behaviour.ASK,
        reason=Reason.NO_RULE if question.inside else Reason.WORKING_DIRECTORY,
        words=f"{question.path} {where}",
        blocked_path=question.spellings[0] if question.inside else _blocked(question),
    )


def _blocked(question: FileQuestion) -> str:
    for path in question.spellings:
        if not is_inside(path, question.place, question.book):
            return path
    return question.spellings[0]
