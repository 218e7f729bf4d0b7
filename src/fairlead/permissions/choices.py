"""What "always" can mean for one request: the choices, narrowest first.

Each choice says in words what else it would let through, with examples from the session's own
earlier calls. Built from the CLI's suggestions and from narrower rules of our own; a choice that
would not cover the very call it is offered for, or would switch all checks off, is left out.
Neighbours: `policy` tells what a choice would change, `updates` is what is sent back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairlead.permissions.book import RuleBook
from fairlead.permissions.commands import parse_command
from fairlead.permissions.decisions import ToolCall
from fairlead.permissions.modes import Mode
from fairlead.permissions.paths import Place, spellings
from fairlead.permissions.policy import check
from fairlead.permissions.rules import Rule
from fairlead.permissions.scopes import Behaviour, Scope
from fairlead.permissions.tools import EDITORS, READERS, file_of
from fairlead.permissions.updates import (
    DirectoryUpdate,
    ModeUpdate,
    PermissionUpdate,
    RuleUpdate,
    UnknownUpdate,
    apply_update,
    from_wire,
)

__all__ = ["Choice", "always_choices"]

_MAX_EXAMPLES = 3
"""Enough to see the kind; a longer list would not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One meaning of "always"."""

    updates: tuple[PermissionUpdate, ...]
    words: str
    """What is allowed from now on."""
    lets_through: str
    """What else that lets through."""
    examples: tuple[str, ...] = ()
    """Earlier calls of this session that it would have let through unasked."""
    breadth: int = 0
    """How wide it is, for sorting; 0 lets nothing else through."""
    suggestion: int | None = None
    """Its place among the CLI's suggestions; None for one of our own."""


def always_choices(
    call: ToolCall,
    suggested: Sequence[Mapping[str, Any]],
    earlier: Iterable[ToolCall],
    book: RuleBook,
    place: Place,
) -> tuple[Choice, ...]:
    """The choices for this call, narrowest first. Empty where nothing can be remembered."""
    past = tuple(earlier)
    found: dict[tuple[PermissionUpdate, ...], Choice] = {}
    for update, index in _candidates(call, suggested, place):
        choice = _choice(update, index, call, past, book, place)
        if choice is not None:
            found.setdefault(choice.updates, choice)
    return tuple(sorted(found.values(), key=lambda choice: choice.breadth))


def _candidates(
    call: ToolCall, suggested: Sequence[Mapping[str, Any]], place: Place
) -> Iterable[tuple[PermissionUpdate, int | None]]:
    rules = _own_rules(call, place)
    if rules:
        yield RuleUpdate(kind="addRules", rules=rules), None
    for index, raw in enumerate(suggested):
        yield from_wire(raw), index


def _own_rules(call: ToolCall, place: Place) -> tuple[Rule, ...]:
    """The narrowest rules that may cover the call."""
    if call.tool == "Bash":
        line = parse_command(call.text("command"))
        if not line.understood:
            return ()
        texts = dict.fromkeys(command.source for command in line.commands)
        rules = (Rule("Bash", text) for text in texts if "*" not in text)
        return tuple(rule for rule in rules if rule.problem is None)
    if call.tool in READERS | EDITORS and file_of(call) != ".":
        tool = "Read" if call.tool in READERS else "Edit"
        paths = spellings(file_of(call), place)
        if any(char in path for path in paths for char in "*?[\\!#"):
            return ()
        return tuple(Rule(tool, "/" + path) for path in paths)
    return ()


def _choice(
    update: PermissionUpdate,
    index: int | None,
    call: ToolCall,
    past: tuple[ToolCall, ...],
    book: RuleBook,
    place: Place,
) -> Choice | None:
    if isinstance(update, UnknownUpdate) or update.destination.read_only:
        return None
    if isinstance(update, ModeUpdate) and update.mode is Mode.BYPASS:
        return None
    after = apply_update(book, update)
    if check(call, after, place).behaviour is not Behaviour.ALLOW and index is None:
        return None
    return Choice(
        updates=(update,),
        words=f"{_words(update)} ({update.destination.in_words})",
        lets_through=_lets_through(update),
        examples=_examples(call, past, book, after, place),
        breadth=_breadth(update),
        suggestion=index,
    )


def _examples(
    call: ToolCall,
    past: tuple[ToolCall, ...],
    before: RuleBook,
    after: RuleBook,
    place: Place,
) -> tuple[str, ...]:
    shown: dict[str, None] = {}
    for earlier in past:
        text = _short(earlier)
        if text == _short(call) or text in shown:
            continue
        if check(earlier, before, place).behaviour is Behaviour.ALLOW:
            continue
        if check(earlier, after, place).behaviour is Behaviour.ALLOW:
            shown[text] = None
    return tuple(shown)[:_MAX_EXAMPLES]


def _short(call: ToolCall) -> str:
    detail = call.text("command") or call.text("url") or file_of(call)
    return detail if call.tool == "Bash" else f"{call.tool} {detail}"


def _words(update: RuleUpdate | DirectoryUpdate | ModeUpdate) -> str:
    if isinstance(update, ModeUpdate):
        return f"switch to mode {update.mode.value}"
    if isinstance(update, DirectoryUpdate):
        return f"work in {', '.join(update.directories)} as well"
    return f"{update.behaviour.value} {', '.join(str(rule) for rule in update.rules)}"


def _lets_through(update: RuleUpdate | DirectoryUpdate | ModeUpdate) -> str:
    if isinstance(update, ModeUpdate):
        return f"everything that mode does: it {update.mode.in_words}"
    if isinstance(update, DirectoryUpdate):
        return f"reading every file below {', '.join(update.directories)}; writing still asks"
    return "; ".join(dict.fromkeys(_rule_lets_through(rule) for rule in update.rules))


def _rule_lets_through(rule: Rule) -> str:
    content = rule.content
    if rule.whole_tool or content is None:
        return f"every use of {rule.tool}, whatever its input"
    if rule.tool == "Bash":
        if content.endswith((":*", " *")):
            return f"every command that begins with `{content[:-2]}`, whatever follows"
        if "*" in content:
            return f"every command of the form `{content}`, with anything for the star"
        return f"nothing but `{content}`, letter by letter"
    if rule.tool in ("Read", "Edit"):
        doing = "reading" if rule.tool == "Read" else "changing"
        if content.endswith("/**"):
            return f"{doing} every file below {content[:-3].replace('//', '/', 1)}"
        return f"{doing} nothing but {content.replace('//', '/', 1)}"
    if content.startswith("domain:"):
        return f"fetching every page of {content.removeprefix('domain:')}"
    return f"every use of {rule.tool} with {content}"


def _breadth(update: RuleUpdate | DirectoryUpdate | ModeUpdate) -> int:
    kept = 0 if update.destination is Scope.SESSION else 1
    if isinstance(update, ModeUpdate):
        return 90 + kept
    if isinstance(update, DirectoryUpdate):
        return 60 + kept
    return max((_rule_breadth(rule) for rule in update.rules), default=0) + kept


def _rule_breadth(rule: Rule) -> int:
    if rule.whole_tool or rule.content is None:
        return 80
    if rule.content.endswith("/**"):
        return 40
    return 20 if "*" in rule.content or rule.content.startswith("domain:") else 0
