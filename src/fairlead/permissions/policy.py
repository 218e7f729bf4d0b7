"""The check flow: what the CLI will do with a call under these rules, and by which of them.

Deny, ask, what the tool itself needs, mode, allow, else ask (seed 002 §5.7), with the deviations
measured on real CLIs. Where this differs from a CLI it is stricter, never laxer; the differences
are named in the differential test. Pure: files and versions come in through `Place`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fairlead.permissions.bash_policy import check_command, forbidden_command, touches_protected
from fairlead.permissions.book import RuleBook, SourcedRule
from fairlead.permissions.decisions import Decision, Reason, ToolCall
from fairlead.permissions.domains import domain_matches, is_documentation
from fairlead.permissions.file_policy import (
    FileQuestion,
    forbidding_rule,
    read_decision,
    write_decision,
)
from fairlead.permissions.mcp_names import allows_mcp, catches_mcp, is_mcp
from fairlead.permissions.modes import Mode
from fairlead.permissions.paths import Place
from fairlead.permissions.scopes import Behaviour, Scope
from fairlead.permissions.tools import EDITORS, HARMLESS, INTERACTIVE, READERS, file_of, same_tool

__all__ = ["check", "explain"]


def check(call: ToolCall, book: RuleBook, place: Place) -> Decision:
    """What happens to this call, and why."""
    book, steps = _in_force(book, place)
    for behaviour in (Behaviour.DENY, Behaviour.ASK):
        found = _whole_tool(call, behaviour, book) or _by_content(call, behaviour, book, place)
        if found is not None:
            return _finish(found, call, book, place, steps)
        steps.append(f"no {behaviour.value} rule matches")
    for words, look in _STEPS:
        found = look(call, book, place)
        if found is not None:
            return _finish(found, call, book, place, steps)
        steps.append(words)
    nothing = Decision(
        behaviour=Behaviour.ASK,
        reason=Reason.NO_RULE,
        words=f"no rule matches this use of {call.tool}, and the mode does not allow it",
    )
    return _finish(nothing, call, book, place, steps)


def explain(call: ToolCall, book: RuleBook, place: Place) -> str:
    """The whole trail, one step a line, ending with the decision."""
    decision = check(call, book, place)
    lines = [f"{call.tool}, mode {book.mode.value} ({book.mode.in_words}):"]
    lines += [f"  {number}. {step}" for number, step in enumerate(decision.trail, 1)]
    lines.append(f"So: {decision}.")
    return "\n".join(lines)


def _in_force(book: RuleBook, place: Place) -> tuple[RuleBook, list[str]]:
    """The rules that count, and in words those that do not."""
    notes = [f"the {entry} is ignored: {entry.rule.problem}" for entry in book.ignored()]
    rules = book.rules
    if place.family.project_needs_trust and not place.trusted:
        waiting = tuple(
            entry
            for entry in rules
            if entry.scope is Scope.PROJECT and entry.behaviour is Behaviour.ALLOW
        )
        notes += [f"the {entry} is ignored until the workspace is trusted" for entry in waiting]
        rules = tuple(entry for entry in rules if entry not in waiting)
    return replace(book, rules=rules), notes


def _finish(
    found: Decision, call: ToolCall, book: RuleBook, place: Place, steps: list[str]
) -> Decision:
    trail = (*steps, *found.trail, found.words)
    if found.behaviour is Behaviour.ASK and book.mode is Mode.DONT_ASK:
        words = f"{found.words}; mode dontAsk refuses what it would have to ask about"
        return replace(
            found, behaviour=Behaviour.DENY, reason=Reason.MODE, words=words, trail=trail
        )
    if _goes_to_classifier(found, call, book, place):
        words = f"{found.words}; plan mode hands that to the CLI's classifier, and there is none"
        return replace(
            found, behaviour=Behaviour.DENY, reason=Reason.CLASSIFIER, words=words, trail=trail
        )
    return replace(found, trail=trail)


def _goes_to_classifier(found: Decision, call: ToolCall, book: RuleBook, place: Place) -> bool:
    if found.behaviour is not Behaviour.ASK or book.mode is not Mode.PLAN:
        return False
    if not place.family.classifier_in_plan or place.classifier:
        return False
    if call.tool in INTERACTIVE or call.tool in READERS:
        return False
    if found.rule is not None and same_tool(found.rule.rule.tool, call.tool):
        return False
    return call.tool not in EDITORS or found.reason is Reason.PROTECTED


# The steps after deny and ask, in order. Each gives a decision, or None to go on.


def _needs_a_person(call: ToolCall, book: RuleBook, place: Place) -> Decision | None:
    if call.tool not in INTERACTIVE:
        return None
    return Decision(
        behaviour=Behaviour.ASK,
        reason=Reason.NEEDS_A_PERSON,
        words=f"{call.tool} is a question to a person",
    )


def _bypassed(call: ToolCall, book: RuleBook, place: Place) -> Decision | None:
    if book.mode is not Mode.BYPASS:
        return None
    if not place.family.bypass_covers_protected:
        protected = _protected(call, book, place)
        if protected is not None:
            return protected
    return Decision(
        behaviour=Behaviour.ALLOW, reason=Reason.MODE, words="the mode lets everything through"
    )


def _protected(call: ToolCall, book: RuleBook, place: Place) -> Decision | None:
    if place.family.whole_tool_covers_protected and _covering_whole(call, book, place):
        return None
    if call.tool == "Bash":
        return touches_protected(call.text("command"), book, place)
    if call.tool in EDITORS:
        question = FileQuestion.of(file_of(call), book, place)
        leads_out = len(question.spellings) > 1 and not question.inside
        if question.protected or (leads_out and _covering_whole(call, book, place)):
            return write_decision(question, Mode.DEFAULT)
    return None


def _planning(call: ToolCall, book: RuleBook, place: Place) -> Decision | None:
    if book.mode is not Mode.PLAN or not place.family.classifier_in_plan:
        return None
    if call.tool not in EDITORS:
        return None
    return Decision(
        behaviour=Behaviour.ASK, reason=Reason.MODE, words="plan mode asks about every edit"
    )


def _covered_whole(call: ToolCall, book: RuleBook, place: Place) -> Decision | None:
    if book.mode is Mode.PLAN and place.family.classifier_in_plan and call.tool == "Bash":
        # A rule for all of Bash is set aside while planning (measured on 2.1.325).
        return None
    entry = _covering_whole(call, book, place)
    if entry is None:
        return None
    return Decision(
        behaviour=Behaviour.ALLOW, reason=Reason.RULE, words=f"the {entry} covers it", rule=entry
    )


def _by_the_tool(call: ToolCall, book: RuleBook, place: Place) -> Decision | None:
    if call.tool == "Bash":
        return check_command(call.text("command"), book, place)
    if call.tool in READERS | EDITORS and not file_of(call):
        return Decision(
            behaviour=Behaviour.ASK,
            reason=Reason.NOT_UNDERSTOOD,
            words=f"this use of {call.tool} names no file",
        )
    if call.tool in READERS:
        return read_decision(FileQuestion.of(file_of(call), book, place))
    if call.tool in EDITORS:
        return write_decision(FileQuestion.of(file_of(call), book, place), book.mode)
    if call.tool == "WebFetch":
        return _fetch(call, book)
    if call.tool in HARMLESS:
        return Decision(
            behaviour=Behaviour.ALLOW,
            reason=Reason.HARMLESS,
            words=f"{call.tool} itself changes nothing",
        )
    return None


_Look = Callable[[ToolCall, RuleBook, Place], Decision | None]
_STEPS: tuple[tuple[str, _Look], ...] = (
    ("it is not a question to a person", _needs_a_person),
    ("the mode does not let everything through", _bypassed),
    ("it writes no protected file", _protected),
    ("it is no edit in plan mode", _planning),
    ("no allow rule covers the whole tool", _covered_whole),
    ("no allow rule covers this use of the tool", _by_the_tool),
)


def _fetch(call: ToolCall, book: RuleBook) -> Decision | None:
    url = call.text("url")
    for entry in book.of_behaviour(Behaviour.ALLOW):
        if entry.rule.tool == "WebFetch" and domain_matches(
            entry.rule.content or "", url, generous=False
        ):
            return Decision(
                behaviour=Behaviour.ALLOW,
                reason=Reason.RULE,
                words=f"the {entry} covers it",
                rule=entry,
            )
    if is_documentation(url):
        return Decision(
            behaviour=Behaviour.ALLOW,
            reason=Reason.DOCUMENTATION,
            words="the page is documentation that the CLI always fetches",
        )
    return None


def _whole_tool(call: ToolCall, behaviour: Behaviour, book: RuleBook) -> Decision | None:
    for entry in book.of_behaviour(behaviour):
        if not entry.whole_tool:
            continue
        if same_tool(entry.rule.tool, call.tool) or catches_mcp(entry.rule.tool, call.tool):
            return _ruled(entry, f"speaks of every use of {call.tool}")
    return None


def _covering_whole(call: ToolCall, book: RuleBook, place: Place) -> SourcedRule | None:
    for entry in book.of_behaviour(Behaviour.ALLOW):
        if not entry.whole_tool:
            continue
        if is_mcp(call.tool):
            globs = place.family.mcp_globs
            if allows_mcp(entry.rule.tool, call.tool, call.mcp_server, globs=globs):
                return entry
        elif same_tool(entry.rule.tool, call.tool):
            return entry
    return None


def _by_content(
    call: ToolCall, behaviour: Behaviour, book: RuleBook, place: Place
) -> Decision | None:
    """A deny or ask rule with content that this very input falls under."""
    if call.tool == "Bash":
        return forbidden_command(call.text("command"), behaviour, book, place)
    if call.tool in READERS or call.tool in EDITORS:
        question = FileQuestion.of(file_of(call), book, place)
        entry = forbidding_rule(question, behaviour, writing=call.tool in EDITORS)
        return None if entry is None else _ruled(entry, f"concerns {question.path}")
    for entry in book.of_behaviour(behaviour):
        if same_tool(entry.rule.tool, call.tool) and _content_concerns(entry, call):
            return _ruled(entry, "concerns this input")
    return None


def _content_concerns(entry: SourcedRule, call: ToolCall) -> bool:
    content = entry.rule.content or ""
    if call.tool == "WebFetch":
        return domain_matches(content, call.text("url"), generous=True)
    named = call.text("skill") or call.text("subagent_type")
    prefix = content.removesuffix(":*")
    return bool(named) and (named == content or (prefix != content and named.startswith(prefix)))


def _ruled(entry: SourcedRule, words: str) -> Decision:
    return Decision(
        behaviour=entry.behaviour, reason=Reason.RULE, words=f"the {entry} {words}", rule=entry
    )
