"""What a command line may run: the part of the check flow that looks inside a command.

Every part must be allowed; one denied part denies the whole command; a command that is not
understood asks. Neighbors: `policy` calls this between its own steps; `shell/rules`, `readonly`,
`command_paths` and `file_policy` check single commands and files.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from itertools import islice, pairwise

from fairlead.permissions.file_policy import (
    FileQuestion,
    forbidding_rule,
    read_decision,
    unreadable_path,
    write_decision,
)
from fairlead.permissions.model.families import Family
from fairlead.permissions.model.modes import Mode
from fairlead.permissions.model.scopes import Behavior
from fairlead.permissions.rules.book import RuleBook, SourcedRule
from fairlead.permissions.rules.decisions import Decision, Reason
from fairlead.permissions.rules.paths import PathContext
from fairlead.permissions.shell.command_paths import (
    EDIT_COMMANDS,
    command_paths,
    is_plain_edit,
    writes_files,
)
from fairlead.permissions.shell.commands import CommandLine, SimpleCommand, Word, parse_command
from fairlead.permissions.shell.evaluating import asks_under_every_rule
from fairlead.permissions.shell.readonly import is_read_only, quotes_options
from fairlead.permissions.shell.removals import Removal, removal_in
from fairlead.permissions.shell.rules import allows_command, catches_line, matches_text
from fairlead.permissions.shell.wrappers import RUNNERS, deny_views

__all__ = [
    "asks_anyway",
    "asks_plainly",
    "check_command",
    "forbidden_command",
    "may_ask_anyway",
    "runs_anything",
    "touches_protected",
]

_EVALUATING_WORDS = """. alias bind complete coproc declare enable eval exec export function hash let local mapfile
    readarray readonly repeat source trap typeset unset zmodload"""
_EVALUATING = frozenset(_EVALUATING_WORDS.split())
"""Builtins that run their arguments: no rule covers them (measured on 2.1.325)."""


_BARE_REPOSITORY = ("HEAD", "objects", "refs")
"""Names in a directory of which one is enough to make it look like a bare repository (measured)."""

_SUSPENDED = frozenset(("bunx", "lua", "npx", "ssh"))
_SCRIPT_RUNNERS = frozenset(("bun", "npm", "pnpm", "yarn"))
"""In plan mode, 2.1.325 ignores rules such as `npx:*` and `npm run:*` (CLI-347)."""

_MAX_VIEWS = 20
"""Views of one command in which files are looked for."""

_MAX_WORDS = 2_000
"""Different words that are taken for files if a command is too long to analyze."""
_BARE_WORD = re.compile(r"[^\s'\"|;&<>()=]+")

_FILE_TOOLS = ("Read", "Edit", "Write")


def forbidden_command(
    text: str, behavior: Behavior, book: RuleBook, place: PathContext
) -> Decision | None:
    """The decision of the deny or ask rule that matches any part of the line, if there is one."""
    line = parse_command(text)
    for entry in book.of_behavior(behavior):
        ours = entry.rule.tool == "Bash" and not entry.whole_tool
        if ours and catches_line(entry.rule.content or "", line):
            return _by_rule(entry, behavior, "matches a part of the command")
    if behavior is Behavior.ASK:
        return None  # Rules that ask about files do not reach commands (CLI-1532).
    named = _possible_files(line, book, place) if line.too_long else _files(line, book, place)
    for question, writing in named:
        rule = forbidding_rule(question, behavior, writing=writing)
        if rule is not None:
            return _by_rule(rule, behavior, f"matches {question.path}, which the command names")
    return None


def asks_plainly(entry: SourcedRule, text: str, place: PathContext) -> bool:
    """Whether an ask rule matches a command of the line as the CLI sees it, so that it is certain to ask.

    Behind other wrappers and in strings for a shell, the CLI may not see the command (CLI-1537).
    """
    line = parse_command(text)
    content = entry.rule.content
    if line.doubts or entry.whole_tool or content is None:
        return not line.doubts
    return any(
        matches_text(content, command.source, command.source)
        or allows_command(content, command, place.family)
        for command in line.commands
    )


def _possible_files(
    line: CommandLine, book: RuleBook, place: PathContext
) -> Iterator[tuple[FileQuestion, bool]]:
    """Every word of a line that is too long for the grammar: the CLI still denies files in it."""
    words = dict.fromkeys(match[0] for match in _BARE_WORD.finditer(line.text))
    for word in islice(words, _MAX_WORDS):
        question = FileQuestion.of(word, book, place, cwd=place.cwd, by_command=True)
        yield question, False
        yield question, True


def _by_rule(entry: SourcedRule, behavior: Behavior, words: str) -> Decision:
    return Decision(behavior=behavior, reason=Reason.RULE, words=f"the {entry} {words}", rule=entry)


def _files(
    line: CommandLine, book: RuleBook, place: PathContext
) -> Iterator[tuple[FileQuestion, bool]]:
    for command, cwd in _with_directories(line, place):
        folders = tuple(dict.fromkeys((cwd, place.cwd)))
        for view in (command, *_hidden_views(command)):
            paths = command_paths(view)
            for words, writing in ((paths.reads, False), (paths.changes, True)):
                for word in words:
                    value = word.value or word.guess
                    for folder in folders if value else ():
                        question = FileQuestion.of(
                            value or "", book, place, cwd=folder, by_command=True
                        )
                        yield question, writing


def _hidden_views(command: SimpleCommand) -> Iterator[SimpleCommand]:
    """What the command may run besides what it says: behind wrappers, and in strings for a shell."""
    for values in islice(deny_views(command), 1, _MAX_VIEWS):
        words = tuple(Word(source=value, value=value) for value in values)
        yield SimpleCommand(source=" ".join(values), words=words)


def _with_directories(line: CommandLine, place: PathContext) -> Iterator[tuple[SimpleCommand, str]]:
    """Each command with the directory that it runs in, as far as `cd` commands tell."""
    cwd = place.cwd
    for command in line.everything:
        yield command, cwd
        words = [word.value for word in command.words]
        if words[:1] == ["cd"] and len(words) == 2 and words[1]:
            cwd = posixpath.normpath(place.absolute(words[1], cwd))


def touches_protected(text: str, book: RuleBook, place: PathContext) -> Decision | None:
    """The decision to ask, if the line writes to a protected file."""
    for question, writing in _files(parse_command(text), book, place):
        if writing and (question.protected or question.ambiguous):
            return write_decision(question, Mode.DEFAULT)
    return None


def asks_anyway(text: str, place: PathContext) -> Decision | None:
    """The decision to ask about a command that asks in every mode and under every rule."""
    if removal_in(parse_command(text), place) is not Removal.DANGEROUS:
        return None
    return Decision(
        behavior=Behavior.ASK,
        reason=Reason.PROTECTED,
        words="it removes a system folder, the home folder or the working directory",
    )


def may_ask_anyway(text: str, book: RuleBook, place: PathContext) -> Decision | None:
    """Why the CLI may ask about a command that a rule or the mode allows, if it may."""
    line = parse_command(text)
    if removal_in(line, place) is Removal.UNCLEAR:
        return _may_ask("it removes files that are known only when it runs")
    if book.mode is not Mode.BYPASS:
        for question, writing in _files(line, book, place):
            if writing and question.unknown_name:
                return _may_ask(f"the CLI may protect files named {question.unknown_name}")
            if writing and question.leads_outside:
                return _may_ask(f"{question.path} leads out of the working directories by a link")
        if _passes_on_files(line) and _denies_files(book):
            return _may_ask("xargs passes on names of files, and there are rules that deny files")
    if not place.family.bash_rules_need_parse:
        return None
    if line.broken:
        return _may_ask("it is not complete, or not bash")
    if line.doubts and _has_rules_against(book):
        return _may_ask(f"{line.doubts[0]}, and there are rules that deny or ask")
    return None


def _passes_on_files(line: CommandLine) -> bool:
    """Whether xargs runs a command with files that the line does not name (CLI-1735)."""
    return any(word.value == "xargs" for command in line.everything for word in command.words)


def _denies_files(book: RuleBook) -> bool:
    return any(entry.rule.tool in _FILE_TOOLS for entry in book.of_behavior(Behavior.DENY))


def _has_rules_against(book: RuleBook) -> bool:
    """Whether any deny or ask rule could match a part of a command."""
    # Rules that ask about files do not reach commands (CLI-1532).
    reaching = ((Behavior.DENY, ("Bash", *_FILE_TOOLS)), (Behavior.ASK, ("Bash",)))
    return any(
        entry.rule.tool in tools
        for behavior, tools in reaching
        for entry in book.of_behavior(behavior)
    )


def check_command(text: str, book: RuleBook, place: PathContext) -> Decision:
    """Allow or ask for a whole command line, if no rule denies it."""
    line = parse_command(text)
    doubt = _doubt(line, book, place)
    if doubt:
        return Decision(
            behavior=Behavior.ASK,
            reason=Reason.NOT_UNDERSTOOD,
            words=f"the command cannot be checked: {doubt}",
        )
    whole = _exact_rule(line, book)
    parts: list[Decision] = []
    for command, cwd in _with_directories(line, place):
        # A line without doubts hides nothing: these are all its commands.
        # The CLI checks the paths after a `cd` from the first directory too (CLI-341).
        for folder in dict.fromkeys((cwd, place.cwd)):
            part = _check_part(command, folder, whole, book, place)
            parts.append(part.after(f"`{command.source}`: {part}"))
    trail = tuple(step for part in parts for step in part.trail)
    deciding = _deciding(parts)
    return Decision(
        behavior=deciding.behavior,
        reason=deciding.reason,
        words=deciding.words,
        rule=deciding.rule,
        blocked_path=deciding.blocked_path,
        trail=trail,
    )


def _deciding(parts: list[Decision]) -> Decision:
    """The strictest part; among allowed parts one that a rule allows, or the last."""
    strictest = max(parts, key=lambda part: part.behavior.strictness)
    if strictest.behavior is not Behavior.ALLOW:
        return strictest
    return next((part for part in parts if part.rule is not None), parts[-1])


def _names_environment(word: str) -> bool:
    _, process, rest = word.partition("/proc/")
    return bool(process) and "environ" in rest


def _doubt(line: CommandLine, book: RuleBook, place: PathContext) -> str | None:
    if line.doubts:
        return "; ".join(line.doubts)
    if not line.commands:
        return "it is empty"
    if "/proc/" in line.text and any(map(_names_environment, line.text.split())):
        return "it names the environment of a process"
    piped = place.family.plain_words_only and any(line.segments)
    if piped and any(command_paths(command).redirected for command in line.commands):
        return "this version of the CLI does not analyze a pipeline that writes a file"
    if place.family.plain_words_only and any(map(_hides_option, line.commands)):
        return "the name of an option is quoted, or stands behind an empty word"
    odd = sorted(line.features & place.family.doubts)
    if odd:
        return f"this version of the CLI does not analyze it ({', '.join(odd)})"
    return _doubt_about_repository(line) or _doubt_about_cd(line, book, place)


def _hides_option(command: SimpleCommand) -> bool:
    """Whether 2.1.38 sees an attempt to hide an option: `-''x`, `'' -x` (CLI-348, CLI-1524)."""
    if len(command.words) < 2:
        return False
    behind_nothing = any(
        word.source in ("''", '""') and (following.value or "").startswith("-")
        for word, following in pairwise(command.words)
    )
    if behind_nothing and command.words[0].value != "echo":
        return True
    return quotes_options((Word(source="", value=""), *command.words[1:]))


def _doubt_about_repository(line: CommandLine) -> str | None:
    if not any(word.value == "git" for command in line.commands for word in command.words):
        return None
    written = [word for command in line.commands for word in command_paths(command).changes]
    names = {posixpath.basename((word.value or "").rstrip("/")) for word in written}
    if names.intersection((*_BARE_REPOSITORY, "config", "hooks")):
        return "it creates files of a repository and runs git"
    return None


def _doubt_about_cd(line: CommandLine, book: RuleBook, place: PathContext) -> str | None:
    names = [command.words[0].value if command.words else None for command in line.commands]
    if "cd" not in names or len(names) == 1:
        return None
    if names.count("cd") > 1:
        return "it changes the directory more than once"
    if any(map(writes_files, line.commands)):
        return "it changes the directory and writes files"
    if _denies_files(book):
        return "it changes the directory, and there are rules that deny files"
    if "git" in names and "cd-with-git" in place.family.doubts:
        return "it runs git after changing the directory"
    return None


def _exact_rule(line: CommandLine, book: RuleBook) -> SourcedRule | None:
    """The allow rule that equals the whole line; none covers a pipeline (measured)."""
    if any(line.segments):
        return None
    for entry in book.of_behavior(Behavior.ALLOW):
        if entry.rule.tool == "Bash" and entry.rule.content == line.text.strip():
            return entry
    return None


def _check_part(
    command: SimpleCommand,
    cwd: str,
    whole: SourcedRule | None,
    book: RuleBook,
    place: PathContext,
) -> Decision:
    blocked = _blocked_file(command, cwd, book, place)
    if blocked is not None:
        return blocked
    name = command.words[0].value or ""
    if is_read_only(command, place.family) or _is_plain_cd(command, place.family):
        if _git_in_bare_repository(command, cwd, place):
            return _ask("the directory looks like a bare repository, which can run programs")
        if _is_sed(command) and place.family.plain_words_only and book.mode is Mode.ACCEPT_EDITS:
            return _ask(
                "this version of the CLI asks about printing with sed while edits are accepted"
            )
        return _allow(Reason.READ_ONLY, "it is read-only")
    if is_plain_edit(command) and book.mode is Mode.ACCEPT_EDITS:
        return _allow(Reason.MODE, "the mode accepts edits in the working directories")
    rule = whole or _covering(command, book, place)
    if rule is None:
        return _ask("no rule covers it")
    if runs_anything(command):
        return _ask(f"{name!r} may run or change anything, so no rule covers it")
    if name in ("mv", "cp") and any(
        word.glob or (word.value or "").startswith("-") for word in command.words
    ):
        return _ask(f"the CLI asks about {name!r} with options or patterns in spite of the {rule}")
    if name in EDIT_COMMANDS and not place.family.rules_cover_edit_commands:
        return _ask(f"this version of the CLI asks about {name!r} in spite of the {rule}")
    return Decision(
        behavior=Behavior.ALLOW, reason=Reason.RULE, words=f"the {rule} covers it", rule=rule
    )


def _is_sed(command: SimpleCommand) -> bool:
    return any(word.value == "sed" for word in command.words)


def _git_in_bare_repository(command: SimpleCommand, cwd: str, place: PathContext) -> bool:
    """Whether git would take the directory itself for a repository and run what its config says."""
    if not any(word.value == "git" for word in command.words):
        return False
    if place.exists(posixpath.join(cwd, ".git", "HEAD")):
        return False
    return any(place.exists(posixpath.join(cwd, name)) for name in _BARE_REPOSITORY)


def _covering(command: SimpleCommand, book: RuleBook, place: PathContext) -> SourcedRule | None:
    for entry in book.of_behavior(Behavior.ALLOW):
        ours = entry.rule.tool == "Bash" and not entry.whole_tool
        if not ours or _is_suspended(entry, book, place):
            continue
        if allows_command(entry.rule.content or "", command, place.family):
            return entry
    return None


def _is_suspended(entry: SourcedRule, book: RuleBook, place: PathContext) -> bool:
    """Whether plan or auto mode ignores the rule, because it allows any program (measured)."""
    family = place.family
    if not (book.mode is Mode.AUTO and family.classifier_in_auto) and not (
        book.mode is Mode.PLAN and family.classifier_in_plan
    ):
        return False
    content = entry.rule.content or ""
    words = content.removesuffix(":*").rstrip("*").split()
    if content.startswith("*") or not words:
        return True
    return words[0] in RUNNERS | _SUSPENDED or (
        words[0] in _SCRIPT_RUNNERS and words[1:] == ["run"] and content.endswith("*")
    )


def _is_plain_cd(command: SimpleCommand, family: Family) -> bool:
    if family.plain_words_only and command.words[0].source != "cd":
        return False  # 2.1.38 asks about `'cd' src` (CLI-1728).
    values = [word.value for word in command.words]
    plain = len(values) == 2 and values[0] == "cd" and not command.assignments
    plain = plain and not any(word.glob for word in command.words)
    return plain and bool(values[1]) and not str(values[1]).startswith("-")


def runs_anything(command: SimpleCommand) -> bool:
    """Whether the command runs its own arguments, so that no rule covers it."""
    values = {word.value or "" for word in command.words}
    if command.words and command.words[0].value in _EVALUATING:
        return True
    actions = ("-delete", "-fprint", "-fls")
    if "find" in values and any(v.startswith(("-exec", "-ok", *actions)) for v in values):
        return True
    return asks_under_every_rule([word.value or "" for word in command.words])


def _blocked_file(
    command: SimpleCommand, cwd: str, book: RuleBook, place: PathContext
) -> Decision | None:
    """The decision about a file that the command may not access, if there is one."""
    paths = command_paths(command)
    for target in paths.redirected:
        if (target.value or "").startswith("~"):
            return _ask(f"no rule covers the redirection to {target.value}")  # CLI-1739
    edits = paths.program in EDIT_COMMANDS
    # Inside the working directories, the rules and the mode decide about a file command, not this.
    groups = (
        (paths.redirected, book.mode, True),
        (paths.writes, Mode.ACCEPT_EDITS if edits else book.mode, True),
        (paths.reads, book.mode, False),
    )
    for words, mode, writing in groups:
        for word in words:
            problem = _unclear(word, book, place.family, writing=writing)
            if problem:
                return _ask(problem)
            question = FileQuestion.of(word.value or "", book, place, cwd=cwd, by_command=True)
            if unreadable_path(question) is not None:
                return _ask(f"{question.path} is a symbolic link that leads to itself")
            decision = write_decision(question, mode) if writing else read_decision(question)
            if decision.behavior is Behavior.ASK:
                return decision
            if writing and edits and _is_working_directory(question, place):
                return _ask(f"{question.path} is the working directory itself, or contains it")
    return None


def _is_working_directory(question: FileQuestion, place: PathContext) -> bool:
    return any(
        place.cwd == path or place.cwd.startswith(path.rstrip("/") + "/")
        for path in question.spellings
    )


def _unclear(word: Word, book: RuleBook, family: Family, *, writing: bool) -> str | None:
    value = word.value
    if value is None:
        return "it names a file that is known only when it runs"
    if value.startswith("~") and value != "~" and not value.startswith("~/"):
        return f"{value} is in the home folder of another user"
    if "$" in value or "`" in value:
        # The CLI looks for an expansion even in quotes (CLI-1500).
        return f"{value} looks like a name that the shell expands"
    if "%" in value and family.plain_words_only:
        return f"{value} looks like a variable of Windows"  # CLI-1525
    if ".." in value.split("/")[1:]:
        return f"{value} leads through '..'"
    if not word.glob:
        return None
    if writing:
        return f"{value} may stand for any number of files"
    folder = posixpath.dirname(value)
    if any(char in folder for char in "*?["):
        return f"{value} may lead anywhere"
    denied = (entry.rule.tool for entry in book.of_behavior(Behavior.DENY))
    if any(tool in _FILE_TOOLS for tool in denied):
        return f"{value} may stand for a file that a rule denies"
    return None


def _allow(reason: Reason, words: str) -> Decision:
    return Decision(behavior=Behavior.ALLOW, reason=reason, words=words)


def _may_ask(words: str) -> Decision:
    return Decision(behavior=Behavior.MAY_ASK, reason=Reason.NOT_UNDERSTOOD, words=words)


def _ask(words: str) -> Decision:
    return Decision(behavior=Behavior.ASK, reason=Reason.NO_RULE, words=words)
