"""What may be run: the part of the check flow that looks inside a command line.

Every part must be allowed; one denied part denies the whole; what is not understood asks.
Neighbours: `policy` calls it between its own steps; `bash_rules`, `readonly`, `command_paths` and
`file_policy` answer for single commands and files.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from fairlead.permissions.bash_rules import allows_command, catches_line
from fairlead.permissions.book import RuleBook, SourcedRule
from fairlead.permissions.command_paths import EDIT_COMMANDS, command_paths, is_plain_edit
from fairlead.permissions.commands import CommandLine, SimpleCommand, Word, parse_command
from fairlead.permissions.decisions import Decision, Reason
from fairlead.permissions.file_policy import (
    FileQuestion,
    forbidding_rule,
    read_decision,
    write_decision,
)
from fairlead.permissions.modes import Mode
from fairlead.permissions.paths import Place
from fairlead.permissions.readonly import is_read_only
from fairlead.permissions.scopes import Behaviour

__all__ = ["check_command", "forbidden_command", "runs_anything", "touches_protected"]

_EVALUATING_WORDS = """. alias bind complete coproc enable eval exec function hash let mapfile readarray repeat
    source trap zmodload"""
_EVALUATING = frozenset(_EVALUATING_WORDS.split())
"""Builtins that run their arguments: no rule speaks for them (measured on 2.1.325)."""


_FILE_TOOLS = ("Read", "Edit", "Write")


def forbidden_command(
    text: str, behaviour: Behaviour, book: RuleBook, place: Place
) -> Decision | None:
    """The decision of the deny or ask rule that any part of the line falls under, if one does."""
    line = parse_command(text)
    for entry in book.of_behaviour(behaviour):
        ours = entry.rule.tool == "Bash" and not entry.whole_tool
        if ours and catches_line(entry.rule.content or "", line):
            return _by_rule(entry, behaviour, "concerns a part of the command")
    for question, writing in _files(line, book, place):
        found = forbidding_rule(question, behaviour, writing=writing)
        if found is not None:
            return _by_rule(found, behaviour, f"concerns {question.path}, which the command names")
    return None


def _by_rule(entry: SourcedRule, behaviour: Behaviour, words: str) -> Decision:
    return Decision(
        behaviour=behaviour, reason=Reason.RULE, words=f"the {entry} {words}", rule=entry
    )


def _files(line: CommandLine, book: RuleBook, place: Place) -> Iterator[tuple[FileQuestion, bool]]:
    for command, cwd in _with_directories(line, place):
        paths = command_paths(command)
        for words, writing in ((paths.reads, False), (paths.changes, True)):
            for word in words:
                value = word.value or word.guess
                if value:
                    yield FileQuestion.of(value, book, place, cwd=cwd, by_command=True), writing


def _with_directories(line: CommandLine, place: Place) -> Iterator[tuple[SimpleCommand, str]]:
    """Each command with the directory it runs in, as far as `cd` tells."""
    cwd = place.cwd
    for command in line.everything:
        yield command, cwd
        words = [word.value for word in command.words]
        if words[:1] == ["cd"] and len(words) == 2 and words[1]:
            cwd = posixpath.normpath(place.absolute(words[1], cwd))


def touches_protected(text: str, book: RuleBook, place: Place) -> Decision | None:
    """The decision to ask, if the line writes to a file that only a person may let be written."""
    for question, writing in _files(parse_command(text), book, place):
        if writing and question.protected:
            return write_decision(question, Mode.DEFAULT)
    return None


def check_command(text: str, book: RuleBook, place: Place) -> Decision:
    """Allow or ask for a whole command line, once no rule forbids it."""
    line = parse_command(text)
    doubt = _doubt(line, book, place)
    if doubt:
        return Decision(
            behaviour=Behaviour.ASK,
            reason=Reason.NOT_UNDERSTOOD,
            words=f"the command cannot be checked: {doubt}",
        )
    whole = _exact_rule(line, book)
    parts: list[Decision] = []
    for command, cwd in _with_directories(line, place):
        # A line without doubts hides nothing: these are all its commands.
        part = _check_part(command, cwd, whole, book, place)
        parts.append(part.after(f"`{command.source}`: {part}"))
    trail = tuple(step for part in parts for step in part.trail)
    worst = _telling(parts)
    return Decision(
        behaviour=worst.behaviour,
        reason=worst.reason,
        words=worst.words,
        rule=worst.rule,
        blocked_path=worst.blocked_path,
        trail=trail,
    )


def _telling(parts: list[Decision]) -> Decision:
    """The part that tells why: one that asks, else one that a rule allows, else the last."""
    for part in parts:
        if part.behaviour is Behaviour.ASK:
            return part
    return next((part for part in parts if part.rule is not None), parts[-1])


def _doubt(line: CommandLine, book: RuleBook, place: Place) -> str | None:
    if line.doubts:
        return "; ".join(line.doubts)
    if not line.commands:
        return "it is empty"
    odd = sorted(line.features & place.family.doubts)
    if odd:
        return f"this version of the CLI does not look inside it ({', '.join(odd)})"
    return _doubt_about_cd(line, book, place)


def _doubt_about_cd(line: CommandLine, book: RuleBook, place: Place) -> str | None:
    names = [command.words[0].value if command.words else None for command in line.commands]
    if "cd" not in names or len(names) == 1:
        return None
    if names.count("cd") > 1:
        return "it changes the directory more than once"
    if any(command_paths(command).changes for command in line.commands):
        return "it changes the directory and writes files"
    if any(entry.rule.tool in _FILE_TOOLS for entry in book.of_behaviour(Behaviour.DENY)):
        return "it changes the directory, and there are rules that deny files"
    if "git" in names and "cd-with-git" in place.family.doubts:
        return "it runs git after changing the directory"
    return None


def _exact_rule(line: CommandLine, book: RuleBook) -> SourcedRule | None:
    """The allow rule that is, letter by letter, the whole line; for pipelines none is (measured)."""
    if any(line.segments):
        return None
    for entry in book.of_behaviour(Behaviour.ALLOW):
        if entry.rule.tool == "Bash" and entry.rule.content == line.text.strip():
            return entry
    return None


def _check_part(
    command: SimpleCommand,
    cwd: str,
    whole: SourcedRule | None,
    book: RuleBook,
    place: Place,
) -> Decision:
    blocked = _blocked_file(command, cwd, book, place)
    if blocked is not None:
        return blocked
    name = command.words[0].value or ""
    if is_read_only(command, place.family) or _is_plain_cd(command):
        return _allow(Reason.READ_ONLY, "it only looks")
    if is_plain_edit(command, place.family) and book.mode is Mode.ACCEPT_EDITS:
        return _allow(Reason.MODE, "the mode accepts edits in the working directories")
    rule = whole or _covering(command, book, place)
    if rule is None:
        return _ask("no rule covers it")
    if runs_anything(command):
        return _ask(f"{name!r} may run or change anything, so no rule speaks for it")
    if name in EDIT_COMMANDS and not place.family.rules_cover_edit_commands:
        return _ask(f"this version of the CLI asks about {name!r} in spite of the {rule}")
    return Decision(
        behaviour=Behaviour.ALLOW, reason=Reason.RULE, words=f"the {rule} covers it", rule=rule
    )


def _covering(command: SimpleCommand, book: RuleBook, place: Place) -> SourcedRule | None:
    for entry in book.of_behaviour(Behaviour.ALLOW):
        ours = entry.rule.tool == "Bash" and not entry.whole_tool
        if ours and allows_command(entry.rule.content or "", command, place.family):
            return entry
    return None


def _is_plain_cd(command: SimpleCommand) -> bool:
    values = [word.value for word in command.words]
    plain = len(values) == 2 and values[0] == "cd" and not command.assignments
    return plain and bool(values[1]) and not str(values[1]).startswith("-")


def runs_anything(command: SimpleCommand) -> bool:
    """Whether the command runs its own arguments, so that no rule speaks for it."""
    values = {word.value or "" for word in command.words}
    if command.words and command.words[0].value in _EVALUATING:
        return True
    actions = ("-delete", "-fprint", "-fls")
    return "find" in values and any(v.startswith(("-exec", "-ok", *actions)) for v in values)


def _blocked_file(
    command: SimpleCommand, cwd: str, book: RuleBook, place: Place
) -> Decision | None:
    """The file that stops this command, if one does."""
    paths = command_paths(command)
    edits = paths.program in EDIT_COMMANDS
    # Inside the working directories a file command waits for its own rule or mode, not here.
    groups = (
        (paths.redirected, book.mode, True),
        (paths.writes, Mode.ACCEPT_EDITS if edits else book.mode, True),
        (paths.reads, book.mode, False),
    )
    for words, mode, writing in groups:
        for word in words:
            problem = _unclear(word, book, writing=writing)
            if problem:
                return _ask(problem)
            question = FileQuestion.of(word.value or "", book, place, cwd=cwd, by_command=True)
            found = write_decision(question, mode) if writing else read_decision(question)
            if found.behaviour is Behaviour.ASK:
                return found
            if writing and edits and _is_working_directory(question, place):
                return _ask(f"{question.path} is the working directory itself, or holds it")
    return None


def _is_working_directory(question: FileQuestion, place: Place) -> bool:
    return any(
        place.cwd == path or place.cwd.startswith(path.rstrip("/") + "/")
        for path in question.spellings
    )


def _unclear(word: Word, book: RuleBook, *, writing: bool) -> str | None:
    value = word.value
    if value is None:
        return "it names a file that is known only when it runs"
    if value.startswith("~") and value != "~" and not value.startswith("~/"):
        return f"{value} is in somebody's home directory"
    if ".." in value.split("/")[1:]:
        return f"{value} leads through '..'"
    if not word.glob:
        return None
    if writing:
        return f"{value} may stand for any number of files"
    folder = posixpath.dirname(value)
    if any(char in folder for char in "*?["):
        return f"{value} may lead anywhere"
    denied = (entry.rule.tool for entry in book.of_behaviour(Behaviour.DENY))
    if any(tool in _FILE_TOOLS for tool in denied):
        return f"{value} may stand for a file that a rule denies"
    return None


def _allow(reason: Reason, words: str) -> Decision:
    return Decision(behaviour=Behaviour.ALLOW, reason=reason, words=words)


def _ask(words: str) -> Decision:
    return Decision(behaviour=Behaviour.ASK, reason=Reason.NO_RULE, words=words)
