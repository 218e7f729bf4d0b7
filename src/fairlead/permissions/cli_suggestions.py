"""The permission_suggestions that the CLI itself sends with a request, version by version.

For the emulator, and for seeing what a real CLI left out. Checked against the recordings and, by
the differential test, against real CLIs. Pure; directories are asked of `PathContext`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from fairlead.permissions.bash_policy import check_command, runs_anything
from fairlead.permissions.file_policy import FileQuestion, read_decision, write_decision
from fairlead.permissions.model.families import Family
from fairlead.permissions.model.modes import Mode
from fairlead.permissions.model.scopes import Behavior, Scope
from fairlead.permissions.rules.book import RuleBook
from fairlead.permissions.rules.decisions import ToolCall
from fairlead.permissions.rules.domains import host_of
from fairlead.permissions.rules.mcp_names import is_mcp
from fairlead.permissions.rules.paths import PathContext
from fairlead.permissions.rules.rule import Rule
from fairlead.permissions.rules.tools import EDITORS, READERS, file_of
from fairlead.permissions.rules.updates import rule_values
from fairlead.permissions.shell.command_paths import EDIT_COMMANDS, command_paths
from fairlead.permissions.shell.commands import CommandLine, SimpleCommand, parse_command
from fairlead.permissions.shell.parts import Part, parts_with_reserved_words
from fairlead.permissions.shell.wrappers import RUNNERS, safe_assignments
from fairlead.wire.updates import AddDirectories, AddRules, PermissionUpdate, SetMode

__all__ = ["suggestions"]

_SUBCOMMAND = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_ACCEPT_EDITS = SetMode(mode=Mode.ACCEPT_EDITS.value, destination=Scope.SESSION.value)


def suggestions(call: ToolCall, book: RuleBook, place: PathContext) -> list[dict[str, Any]] | None:
    """What the CLI suggests with its request for this call; None where it says nothing at all."""
    updates = _updates(call, book, place)
    return None if updates is None else [_plain(update) for update in updates]


def _plain(update: PermissionUpdate) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(update)
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()
    }


def _updates(call: ToolCall, book: RuleBook, place: PathContext) -> list[PermissionUpdate] | None:
    if call.tool == "Bash":
        return _for_command(call.text("command"), book, place)
    if call.tool in READERS:
        return [_read_rule(place.absolute(file_of(call)), place)]
    if call.tool in EDITORS:
        return _for_edit(call, book, place)
    if call.tool == "WebFetch":
        host = host_of(call.text("url"))
        return None if host is None else [_local_rule(Rule("WebFetch", f"domain:{host}"))]
    if call.tool == "Skill":
        skill = call.text("skill").removeprefix("/")
        return [_local_rule(Rule("Skill", skill)), _local_rule(Rule("Skill", f"{skill}:*"))]
    if is_mcp(call.tool):
        return [_local_rule(Rule(call.tool))]
    if call.tool == "WebSearch" and place.family.wildcard_suggestions:
        return [_local_rule(Rule("WebSearch"))]
    return None


def _allow(rules: Iterable[Rule], scope: Scope) -> AddRules:
    return AddRules(rules=rule_values(rules), behavior="allow", destination=scope.value)


def _local_rule(*rules: Rule) -> AddRules:
    return _allow(rules, Scope.LOCAL)


def _read_rule(path: str, place: PathContext) -> AddRules:
    folder = path if place.is_directory(path) else posixpath.dirname(path)
    return _allow([Rule("Read", f"/{folder.rstrip('/')}/**")], Scope.SESSION)


def _directory(path: str) -> AddDirectories:
    folder = posixpath.dirname(path)
    return AddDirectories(directories=(folder,), destination=Scope.SESSION.value)


def _for_edit(call: ToolCall, book: RuleBook, place: PathContext) -> list[PermissionUpdate] | None:
    question = FileQuestion.of(file_of(call), book, place)
    if book.mode is Mode.PLAN and place.family.classifier_in_plan:
        return None
    if question.protected:
        return [_ACCEPT_EDITS] if place.family.wildcard_suggestions else None
    updates: list[PermissionUpdate] = [_ACCEPT_EDITS]
    if not question.inside:
        updates.append(_directory(question.spellings[0]))
    return updates


def _for_command(text: str, book: RuleBook, place: PathContext) -> list[PermissionUpdate] | None:
    line = parse_command(text)
    parts = () if place.family.wildcard_suggestions else parts_with_reserved_words(text)
    if parts:
        return _for_parts(parts, book, place)
    if not line.understood and _is_plain_expansion(line, place.family):
        return _rules_by_stage(line, book, place)
    if not line.understood:
        return _for_doubt(line, place.family)
    blocked = _for_blocked_path(line, book, place)
    if blocked and place.family.rule_beside_path:
        return _beside_path(line, blocked, book, place)
    if blocked:
        return blocked
    if place.family.wildcard_suggestions and any(map(runs_anything, line.commands)):
        return []
    if not place.family.wildcard_suggestions and "<<" in text and len(line.commands) == 1:
        return [_local_rule(Rule("Bash", text.strip()))]
    return _rules_by_stage(line, book, place)


def _for_parts(
    parts: Sequence[Part], book: RuleBook, place: PathContext
) -> list[PermissionUpdate] | None:
    """What 2.1.38 suggests for loops and conditions: a rule for each part of the text (CLI-1651)."""
    for part in filter(lambda part: part.names_paths, parts):
        blocked = _for_blocked_path(parse_command(part.text), book, place)
        if blocked:
            return blocked
    stages: dict[int, dict[Rule, None]] = {}
    for part in parts:
        if check_command(part.text, book, place).behavior is not Behavior.ALLOW:
            stages.setdefault(part.stage, {})[Rule("Bash", part.text)] = None
    return [_local_rule(*rules) for rules in stages.values()] or None


def _beside_path(
    line: CommandLine, blocked: list[PermissionUpdate], book: RuleBook, place: PathContext
) -> list[PermissionUpdate] | None:
    """The path's own suggestions, with a rule for the command before them."""
    if len(line.commands) == 1:
        rule = _command_rule(line.commands[0], place.family)
        if not (rule.content or "").endswith(" *"):
            rule = Rule("Bash", line.text.strip())
        return [_local_rule(rule), *blocked]
    asking = [
        command
        for command in line.commands
        if command.redirects or check_command(command.source, book, place).behavior is Behavior.ASK
    ]
    if len(asking) > 1:
        if any(command.redirects for command in asking):
            return None
        return [_local_rule(*(_command_rule(command, place.family) for command in asking))]
    return [_local_rule(Rule("Bash", _first_words(line.text))), *blocked]


def _first_words(text: str) -> str:
    """A compound command as 2.1.325 suggests it: by its first two words, if the second is plain."""
    words = text.split()
    if len(words) > 1 and words[0] not in RUNNERS and _SUBCOMMAND.fullmatch(words[1]):
        return f"{words[0]} {words[1]} *"
    return text


def _is_plain_expansion(line: CommandLine, family: Family) -> bool:
    """Whether 2.1.38 suggests the command as it is: its only doubt is `$X` or `{a,b}`."""
    harmless = {"it contains a variable", "it contains a brace expansion"}
    first = line.text.split(maxsplit=1)[:1]
    return (
        not family.wildcard_suggestions
        and set(line.doubts) <= harmless
        and first not in (["for"], ["while"], ["until"], ["case"], ["select"])
        and not any(command.redirects for command in line.commands)
    )


def _for_doubt(line: CommandLine, family: Family) -> list[PermissionUpdate] | None:
    silent = ("subshell", "background")
    if any(word in doubt for doubt in line.doubts for word in silent):
        return None
    if family.wildcard_suggestions or "`" in line.text or "<<" in line.text:
        return []
    return None


def _for_blocked_path(
    line: CommandLine, book: RuleBook, place: PathContext
) -> list[PermissionUpdate] | None:
    for command in line.commands:
        paths = command_paths(command)
        for word in paths.redirected:
            question = FileQuestion.of(word.value or "", book, place, by_command=True)
            if write_decision(question, book.mode).behavior is Behavior.ASK:
                return [_directory(question.spellings[0])]
        looked_after = EDIT_COMMANDS | ({"tee"} if place.family.rule_beside_path else set())
        touched = (*paths.reads, *paths.writes) if paths.program in ("cp", "mv") else paths.writes
        if paths.program in looked_after and touched and book.mode is not Mode.ACCEPT_EDITS:
            questions = [FileQuestion.of(word.value or "", book, place) for word in touched]
            folder = _directory(_most_blocked(questions, place))
            plans = book.mode is Mode.PLAN and place.family.classifier_in_plan
            return [folder] if plans else [folder, _ACCEPT_EDITS]
        for word in paths.reads:
            question = FileQuestion.of(word.value or "", book, place, by_command=True)
            if read_decision(question).behavior is Behavior.ASK:
                return [_read_rule(question.spellings[0], place)]
    return None


def _most_blocked(questions: list[FileQuestion], place: PathContext) -> str:
    if place.family.wildcard_suggestions:
        for question in questions:
            if not question.inside:
                return question.spellings[0]
    return questions[0].spellings[0]


def _rules_by_stage(
    line: CommandLine, book: RuleBook, place: PathContext
) -> list[PermissionUpdate] | None:
    stages: dict[int, dict[Rule, None]] = {}
    for command, stage in zip(line.commands, line.segments, strict=True):
        alone = check_command(command.source, book, place)
        if alone.behavior is Behavior.ALLOW:
            continue
        stages.setdefault(stage, {})[_command_rule(command, place.family)] = None
    return [_local_rule(*rules) for rules in stages.values()] or None


def _command_rule(command: SimpleCommand, family: Family) -> Rule:
    values = [word.value or "" for word in command.words]
    sources = [word.source for word in command.words]
    open_ended = (
        family.wildcard_suggestions
        and len(values) > 1
        and values[0] not in RUNNERS
        and sources[:2] == values[:2]
        and _SUBCOMMAND.fullmatch(values[1])
        and safe_assignments(command, family)
    )
    if open_ended:
        return Rule("Bash", f"{values[0]} {values[1]} *")
    return Rule("Bash", re.sub(r"(?<![ \t])[ \t]*\\\n[ \t]*", " ", command.source))
