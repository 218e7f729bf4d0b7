"""What "always" can mean for one request: the choices, narrowest first.

Each choice says in words what else it would let through, with examples from the session's own
earlier calls. Built from the CLI's suggestions and from narrower rules of our own; a choice that
would not cover the very call it is offered for, or would switch all checks off, is left out.
Neighbors: `policy` tells what a choice would change, `updates` is what is sent back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from fairlead.permissions.model.modes import Mode
from fairlead.permissions.model.scopes import Behavior, Scope
from fairlead.permissions.policy import check
from fairlead.permissions.rules.book import RuleBook
from fairlead.permissions.rules.decisions import ToolCall
from fairlead.permissions.rules.paths import PathContext, spellings
from fairlead.permissions.rules.rule import Rule
from fairlead.permissions.rules.tools import EDITORS, READERS, file_of
from fairlead.permissions.rules.updates import (
    DirectoryUpdate,
    RuleUpdate,
    apply_update,
    mode_of,
    read_update,
    rule_values,
    rules_of,
    scope_of,
)
from fairlead.permissions.shell.commands import parse_command
from fairlead.wire.updates import (
    AddRules,
    KnownUpdate,
    PermissionUpdate,
    SetMode,
    UnknownUpdate,
)

__all__ = ["Choice", "always_choices", "too_long_to_analyze"]

_MAX_EXAMPLES = 3
"""Enough to see the kind; a longer list would not be read."""

# A model chooses how long a command is and a CLI how much it suggests, so everything has a bound.
_MAX_TEXT = 10_000
"""Characters of a command, a path or an address."""
_MAX_OWN_RULES = 20
"""Most commands of a line that get an exact rule each; a user would not compare more of them."""
_MAX_SUGGESTIONS = 20
_MAX_SUGGESTED_RULES = 50
_MAX_PAST = 50
_MAX_PAST_TEXT = 500
"""Earlier calls that are looked at, and their characters; a longer one is no good example."""

_PATTERN = frozenset("*?[\\!#")
"""What makes a path a pattern."""


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
    may_ask: str = ""
    """Why the CLI may ask about this very call again in spite of the choice; empty if it will not."""


def always_choices(
    call: ToolCall,
    suggested: Sequence[Mapping[str, Any]],
    earlier: Iterable[ToolCall],
    book: RuleBook,
    place: PathContext,
) -> tuple[Choice, ...]:
    """The choices for this call, narrowest first. Empty where nothing can be remembered."""
    if too_long_to_analyze(call):
        return ()
    past = _comparable(earlier)
    choices_by_updates: dict[tuple[PermissionUpdate, ...], Choice] = {}
    for update, index in _candidates(call, suggested, place):
        choice = _choice(update, index, call, past, book, place)
        if choice is not None:
            choices_by_updates.setdefault(choice.updates, choice)
    return tuple(sorted(choices_by_updates.values(), key=lambda choice: choice.breadth))


def too_long_to_analyze(call: ToolCall) -> bool:
    """Whether the call is so long that nothing can be said about its like."""
    texts = (call.text("command"), call.text("url"), file_of(call))
    if any(len(text) > _MAX_TEXT for text in texts):
        return True
    return call.tool == "Bash" and parse_command(call.text("command")).too_long


def _comparable(earlier: Iterable[ToolCall]) -> tuple[ToolCall, ...]:
    """The last few calls that may serve as examples, each once."""
    examples: dict[str, ToolCall] = {}
    for call in islice(earlier, _MAX_PAST):
        text = _short(call)
        if len(text) <= _MAX_PAST_TEXT:
            examples.setdefault(text, call)
    return tuple(examples.values())


def _candidates(
    call: ToolCall, suggested: Sequence[Mapping[str, Any]], place: PathContext
) -> Iterable[tuple[PermissionUpdate, int | None]]:
    rules = _own_rules(call, place)
    if rules:
        own = rule_values(rules)
        yield AddRules(rules=own, behavior="allow", destination="session"), None
    for index, raw in enumerate(suggested[:_MAX_SUGGESTIONS]):
        listed = raw.get("rules")
        if isinstance(listed, Sequence) and len(listed) > _MAX_SUGGESTED_RULES:
            continue
        yield read_update(raw), index


def _own_rules(call: ToolCall, place: PathContext) -> tuple[Rule, ...]:
    """The narrowest rules that may cover the call."""
    if call.tool == "Bash":
        line = parse_command(call.text("command"))
        if not line.understood:
            return ()
        texts = dict.fromkeys(command.source for command in line.commands)
        if len(texts) > _MAX_OWN_RULES:
            return ()
        rules = (Rule("Bash", text) for text in texts if "*" not in text)
        return tuple(rule for rule in rules if rule.problem is None)
    if call.tool in READERS | EDITORS and file_of(call) != ".":
        tool = "Read" if call.tool in READERS else "Edit"
        paths = spellings(file_of(call), place)
        if any(_PATTERN & set(path) for path in paths):
            return ()
        return tuple(Rule(tool, "/" + path) for path in paths)
    return ()


def _choice(
    update: PermissionUpdate,
    index: int | None,
    call: ToolCall,
    past: tuple[ToolCall, ...],
    book: RuleBook,
    place: PathContext,
) -> Choice | None:
    if isinstance(update, UnknownUpdate) or scope_of(update).read_only:
        return None
    if isinstance(update, SetMode) and mode_of(update) is Mode.BYPASS:
        return None
    after = apply_update(book, update)
    repeated = check(call, after, place)
    if index is None and repeated.behavior is not Behavior.ALLOW:
        return None
    return Choice(
        updates=(update,),
        words=f"{_words(update)} ({scope_of(update).in_words})",
        lets_through=_lets_through(update),
        examples=_examples(call, update, past, book, after, place),
        breadth=_breadth(update),
        suggestion=index,
        may_ask=repeated.words if repeated.behavior.asks else "",
    )


def _examples(
    call: ToolCall,
    update: PermissionUpdate,
    past: tuple[ToolCall, ...],
    before: RuleBook,
    after: RuleBook,
    place: PathContext,
) -> tuple[str, ...]:
    shown: list[str] = []
    for earlier in past:
        if len(shown) == _MAX_EXAMPLES:
            break
        text = _short(earlier)
        if text == _short(call) or not _may_cover(update, earlier):
            continue
        if check(earlier, before, place).behavior is Behavior.ALLOW:
            continue  # Most earlier calls read files, which needs no rule.
        if check(earlier, after, place).behavior is Behavior.ALLOW:
            shown.append(text)
    return tuple(shown)


def _may_cover(update: PermissionUpdate, earlier: ToolCall) -> bool:
    """A quick look that spares most checks: the fixed text of some rule must be there."""
    if not isinstance(update, RuleUpdate):
        return True
    return any(_may_match(rule, earlier) for rule in rules_of(update))


def _may_match(rule: Rule, earlier: ToolCall) -> bool:
    content = rule.content or ""
    if rule.tool == "Bash":
        fixed = content.split("*")[0].rstrip(": ")
        return earlier.tool == "Bash" and fixed in earlier.text("command")
    if rule.tool in ("Read", "Edit") and not _PATTERN & set(content):
        # However the path is written, it ends with the name of the file.
        return content.rpartition("/")[2] in _short(earlier)
    return True


def _short(call: ToolCall) -> str:
    detail = call.text("command") or call.text("url") or file_of(call)
    return detail if call.tool == "Bash" else f"{call.tool} {detail}"


def _words(update: KnownUpdate) -> str:
    if isinstance(update, SetMode):
        return f"switch to mode {mode_of(update)}"
    if isinstance(update, DirectoryUpdate):
        return f"work in {', '.join(update.directories)} as well"
    return f"{update.behavior} {', '.join(str(rule) for rule in rules_of(update))}"


def _lets_through(update: KnownUpdate) -> str:
    if isinstance(update, SetMode):
        if mode_of(update) is Mode.ACCEPT_EDITS:
            return "Edits in the project folders run without asking; everything else still asks"
        return f"Everything this mode does: it {mode_of(update).in_words}"
    if isinstance(update, DirectoryUpdate):
        return f"Read access to {', '.join(update.directories)}; writes still ask"
    return "; ".join(dict.fromkeys(_rule_lets_through(rule) for rule in rules_of(update)))


def _rule_lets_through(rule: Rule) -> str:
    content = rule.content
    if rule.whole_tool or content is None:
        return f"Any use of {rule.tool}, with any input"
    if rule.tool == "Bash":
        if content.endswith((":*", " *")):
            return f"Any command starting with `{content[:-2]}`"
        if "*" in content:
            return f"Any command of the form `{content}`"
        return f"Only this exact command: `{content}`"
    if rule.tool in ("Read", "Edit"):
        access = "Read access" if rule.tool == "Read" else "Edits"
        if content.endswith("/**"):
            return f"{access} to all files below {content[:-3].replace('//', '/', 1)}"
        return f"{access} to this file only: {content.replace('//', '/', 1)}"
    if content.startswith("domain:"):
        return f"Any page of {content.removeprefix('domain:')}"
    return f"Any use of {rule.tool} with {content}"


def _breadth(update: KnownUpdate) -> int:
    persistence = 0 if scope_of(update) is Scope.SESSION else 1
    if isinstance(update, SetMode):
        return 90 + persistence
    if isinstance(update, DirectoryUpdate):
        return 60 + persistence
    return max((_rule_breadth(rule) for rule in rules_of(update)), default=0) + persistence


def _rule_breadth(rule: Rule) -> int:
    if rule.whole_tool or rule.content is None:
        return 80
    if rule.content.endswith("/**"):
        return 40
    return 20 if "*" in rule.content or rule.content.startswith("domain:") else 0
