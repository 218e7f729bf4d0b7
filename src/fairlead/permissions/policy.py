"""The check flow: what the CLI will do with a call under these rules, and by which of them.

Deny rules, ask rules, the tool's own checks, the mode, allow rules, otherwise ask, with the
deviations measured on real CLIs. If the answer of the CLI is not certain, the decision is "may ask",
never "allow". Pure: facts about files and versions are passed in as a `PathContext`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fairlead.permissions.bash_policy import (
    asks_anyway,
    asks_plainly,
    check_command,
    forbidden_command,
    may_ask_anyway,
    touches_protected,
)
from fairlead.permissions.certainty import certain_rules, uncertainty
from fairlead.permissions.file_policy import (
    FileQuestion,
    forbidding_rule,
    read_decision,
    refused_link,
    unreadable_path,
    write_decision,
)
from fairlead.permissions.in_force import in_force
from fairlead.permissions.model.modes import Mode
from fairlead.permissions.model.scopes import Behavior
from fairlead.permissions.rules.book import RuleBook, SourcedRule
from fairlead.permissions.rules.decisions import Decision, Reason, ToolCall
from fairlead.permissions.rules.domains import domain_matches, is_documentation
from fairlead.permissions.rules.fields import field_matches
from fairlead.permissions.rules.mcp_names import allows_mcp, catches_mcp, is_mcp
from fairlead.permissions.rules.paths import PathContext
from fairlead.permissions.rules.tools import (
    AGENTS,
    EDITORS,
    HARMLESS,
    INTERACTIVE,
    READERS,
    SHELLS,
    SKILLS,
    file_of,
    same_tool,
)
from fairlead.permissions.rules.wildcards import star_match

__all__ = ["check", "explain"]


def check(call: ToolCall, book: RuleBook, place: PathContext) -> Decision:
    """What happens to this call, and why."""
    book, steps = in_force(book, place)
    for behavior in (Behavior.DENY, Behavior.ASK):
        decision = _whole_tool(call, behavior, book, place) or _by_content(
            call, behavior, book, place
        )
        if decision is None and behavior is Behavior.DENY:
            decision = _refused(call, book, place)
        if decision is not None:
            return _finish(decision, call, book, place, steps)
        steps.append(f"no {behavior.value} rule matches")
    decision = _by_steps(call, book, place, steps)
    if decision.behavior is Behavior.ALLOW:
        uncertain = _may_ask_anyway(call, decision, book, place)
        if uncertain is not None:
            steps.append(decision.words)
            decision = uncertain
    return _finish(decision, call, book, place, steps)


def _by_steps(call: ToolCall, book: RuleBook, place: PathContext, steps: list[str]) -> Decision:
    for note, step in _STEPS:
        decision = step(call, book, place)
        if decision is not None:
            return decision
        steps.append(note)
    return Decision(
        behavior=Behavior.ASK,
        reason=Reason.NO_RULE,
        words=f"no rule matches this use of {call.tool}, and the mode does not allow it",
    )


def _may_ask_anyway(
    call: ToolCall, decision: Decision, book: RuleBook, place: PathContext
) -> Decision | None:
    """The reason why the CLI may ask in spite of the rule or the mode that allows the call."""
    known = may_ask_anyway(call.text("command"), book, place) if call.tool in SHELLS else None
    if known is not None:
        return known
    words = uncertainty(call, decision, book, place) or _unknown_name(call, book, place)
    if words is None:
        certain = certain_rules(book, place)
        if certain != book and not _by_steps(call, certain, place, []).behavior.asks:
            return None
        words = None if certain == book else "it rests on a rule or folder of an unusual form"
    if words is None:
        return None
    return Decision(behavior=Behavior.MAY_ASK, reason=Reason.NOT_UNDERSTOOD, words=words)


def _unknown_name(call: ToolCall, book: RuleBook, place: PathContext) -> str | None:
    if call.tool not in EDITORS or book.mode is Mode.BYPASS:
        return None
    name = FileQuestion.of(file_of(call), book, place).unknown_name
    return f"the CLI may protect files named {name}" if name else None


def explain(call: ToolCall, book: RuleBook, place: PathContext) -> str:
    """Every step of the decision, one per line, and the decision itself."""
    decision = check(call, book, place)
    lines = [f"{call.tool}, mode {book.mode.value} ({book.mode.in_words}):"]
    lines += [f"  {number}. {step}" for number, step in enumerate(decision.trail, 1)]
    lines.append(f"Result: {decision}.")
    return "\n".join(lines)


def _finish(
    decision: Decision, call: ToolCall, book: RuleBook, place: PathContext, steps: list[str]
) -> Decision:
    trail = (*steps, *decision.trail, decision.words)
    if decision.behavior.asks and book.mode is Mode.DONT_ASK:
        words = f"{decision.words}; mode dontAsk denies calls that it would have to ask about"
        return replace(
            decision, behavior=Behavior.DENY, reason=Reason.MODE, words=words, trail=trail
        )
    if _goes_to_classifier(decision, call, book, place):
        words = (
            f"{decision.words}; mode {book.mode.value} passes this to the CLI's classifier, "
            "and there is none"
        )
        return replace(
            decision, behavior=Behavior.DENY, reason=Reason.CLASSIFIER, words=words, trail=trail
        )
    return replace(decision, trail=trail)


def _goes_to_classifier(
    decision: Decision, call: ToolCall, book: RuleBook, place: PathContext
) -> bool:
    if not _has_classifier(book, place) or place.classifier:
        return False
    if decision.behavior is Behavior.ALLOW:
        return call.tool in AGENTS and decision.rule is None
    if not decision.behavior.asks or call.tool in INTERACTIVE or call.tool in READERS:
        return False
    if is_mcp(call.tool) and book.mode is Mode.PLAN:
        return False  # the user is asked (CLI-1613)
    if decision.rule is not None and same_tool(decision.rule.rule.tool, call.tool):
        return call.tool in SHELLS and not asks_plainly(decision.rule, call.text("command"), place)
    if book.mode is Mode.AUTO and call.tool in EDITORS:
        # Auto mode accepts edits inside the working directories, and judges all others (CLI-1514).
        return decision.reason is not Reason.NO_RULE
    return call.tool not in EDITORS or decision.reason is Reason.PROTECTED


def _has_classifier(book: RuleBook, place: PathContext) -> bool:
    """Whether the mode passes calls that would ask to the CLI's classifier."""
    if book.mode is Mode.AUTO:
        return place.family.classifier_in_auto
    return book.mode is Mode.PLAN and place.family.classifier_in_plan


# The steps after deny and ask, in order. Each returns a decision, or None to continue.


def _needs_the_user(call: ToolCall, book: RuleBook, place: PathContext) -> Decision | None:
    if call.tool not in INTERACTIVE:
        return None
    return Decision(
        behavior=Behavior.ASK,
        reason=Reason.NEEDS_A_PERSON,
        words=f"{call.tool} is a question to the user",
    )


def _refused(call: ToolCall, book: RuleBook, place: PathContext) -> Decision | None:
    """What no rule and no mode allows."""
    if call.tool not in READERS | EDITORS or not file_of(call):
        return None
    question = FileQuestion.of(file_of(call), book, place)
    refused = refused_link(question) if call.tool in EDITORS else None
    return refused or unreadable_path(question)


def _always_asks(call: ToolCall, book: RuleBook, place: PathContext) -> Decision | None:
    """What asks in every mode and in spite of every allow rule."""
    return asks_anyway(call.text("command"), place) if call.tool in SHELLS else None


def _bypassed(call: ToolCall, book: RuleBook, place: PathContext) -> Decision | None:
    if book.mode is not Mode.BYPASS:
        return None
    if not place.family.bypass_covers_protected:
        protected = _protected(call, book, place)
        if protected is not None:
            return protected
    return Decision(behavior=Behavior.ALLOW, reason=Reason.MODE, words="the mode allows every call")


def _protected(call: ToolCall, book: RuleBook, place: PathContext) -> Decision | None:
    if place.family.whole_tool_covers_protected and _covering_whole(call, book, place):
        return None
    if call.tool in SHELLS:
        return touches_protected(call.text("command"), book, place)
    if call.tool in EDITORS:
        question = FileQuestion.of(file_of(call), book, place)
        leads_out = len(question.spellings) > 1 and not question.inside
        other_home = question.path.startswith("~") and question.path[1:2] not in ("", "/")
        if other_home:
            # 2.1.325 asks although a rule covers the whole tool (CLI-351).
            return replace(write_decision(question, Mode.DEFAULT), behavior=Behavior.ASK)
        if (
            question.protected
            or question.ambiguous
            or (leads_out and _covering_whole(call, book, place))
        ):
            # Names that Windows reads as others ask too (CLI-1520).
            return write_decision(question, Mode.DEFAULT)
    return None


def _planning(call: ToolCall, book: RuleBook, place: PathContext) -> Decision | None:
    if book.mode is not Mode.PLAN or not place.family.classifier_in_plan:
        return None
    if call.tool in EDITORS:
        words = "plan mode asks about every edit"
    elif is_mcp(call.tool):
        words = "plan mode asks about every MCP tool"
    else:
        return None
    return Decision(behavior=Behavior.ASK, reason=Reason.MODE, words=words)


def _covered_whole(call: ToolCall, book: RuleBook, place: PathContext) -> Decision | None:
    if _has_classifier(book, place) and call.tool in SHELLS:
        # 2.1.325 does not apply a rule for all of Bash in the modes plan and auto (measured).
        return None
    entry = _covering_whole(call, book, place)
    if entry is None:
        return None
    return Decision(
        behavior=Behavior.ALLOW, reason=Reason.RULE, words=f"the {entry} covers it", rule=entry
    )


def _by_the_tool(call: ToolCall, book: RuleBook, place: PathContext) -> Decision | None:
    if call.tool in SHELLS:
        return check_command(call.text("command"), book, place)
    if call.tool in READERS | EDITORS and not file_of(call):
        return Decision(
            behavior=Behavior.ASK,
            reason=Reason.NOT_UNDERSTOOD,
            words=f"this use of {call.tool} names no file",
        )
    if call.tool in READERS:
        return read_decision(FileQuestion.of(file_of(call), book, place))
    if call.tool in EDITORS:
        return write_decision(FileQuestion.of(file_of(call), book, place), book.mode)
    if call.tool == "WebFetch":
        return _fetch(call, book)
    if call.tool in SKILLS:
        return _skill(call, book, place)
    if call.tool in HARMLESS:
        return Decision(
            behavior=Behavior.ALLOW,
            reason=Reason.HARMLESS,
            words=f"{call.tool} itself changes nothing",
        )
    return None


_Step = Callable[[ToolCall, RuleBook, PathContext], Decision | None]
_STEPS: tuple[tuple[str, _Step], ...] = (
    ("it is not a question to the user", _needs_the_user),
    ("it is not a call that always asks", _always_asks),
    ("the mode does not allow every call", _bypassed),
    ("it writes no protected file", _protected),
    ("it is not an edit or an MCP tool in plan mode", _planning),
    ("no allow rule covers the whole tool", _covered_whole),
    ("no allow rule covers this use of the tool", _by_the_tool),
)


def _skill(call: ToolCall, book: RuleBook, place: PathContext) -> Decision | None:
    name = _skill_name(call)
    for entry in book.of_behavior(Behavior.ALLOW):
        if same_tool(entry.rule.tool, call.tool) and entry.rule.content == name:
            return _ruled(entry, "covers it")
    plain = place.is_plain_skill(name)
    if plain:
        return Decision(
            behavior=Behavior.ALLOW,
            reason=Reason.HARMLESS,
            words=f"the skill {name} only adds text to the conversation",
        )
    if plain is False:
        return Decision(
            behavior=Behavior.ASK,
            reason=Reason.PROTECTED,
            words=f"the skill {name} grants tools, runs hooks or contains commands",
        )
    return Decision(
        behavior=Behavior.MAY_ASK,
        reason=Reason.NOT_UNDERSTOOD,
        words=f"the skill {name} may grant tools or run hooks, and then the CLI asks",
    )


def _skill_name(call: ToolCall) -> str:
    text = call.text("skill") or call.text("command")
    return text.strip().removeprefix("/").partition(" ")[0]


def _fetch(call: ToolCall, book: RuleBook) -> Decision | None:
    url = call.text("url")
    for entry in book.of_behavior(Behavior.ALLOW):
        if entry.rule.tool == "WebFetch" and domain_matches(
            entry.rule.content or "", url, generous=False
        ):
            return _ruled(entry, "covers it")
    if is_documentation(url):
        return Decision(
            behavior=Behavior.ALLOW,
            reason=Reason.DOCUMENTATION,
            words="the page is documentation that the CLI fetches without asking",
        )
    return None


def _whole_tool(
    call: ToolCall, behavior: Behavior, book: RuleBook, place: PathContext
) -> Decision | None:
    tools = [call.tool]
    if call.tool in EDITORS and place.family.read_denial_stops_writes:
        # A file that must not be read must not be edited either (measured on 2.1.325).
        tools += ["Read"] if behavior is Behavior.DENY else []
    for entry in book.of_behavior(behavior):
        if entry.whole_tool and any(_names_tool(entry.rule.tool, tool) for tool in tools):
            return _ruled(entry, f"covers every use of {call.tool}")
    return None


def _names_tool(rule_tool: str, tool: str) -> bool:
    """Whether the tool name of a deny or ask rule, which may contain stars, means this tool."""
    if same_tool(rule_tool, tool) or catches_mcp(rule_tool, tool):
        return True
    return "*" in rule_tool and star_match(rule_tool.split("*"), tool)


def _covering_whole(call: ToolCall, book: RuleBook, place: PathContext) -> SourcedRule | None:
    for entry in book.of_behavior(Behavior.ALLOW):
        if not entry.whole_tool:
            continue
        if is_mcp(call.tool):
            globs = place.family.mcp_globs
            if allows_mcp(entry.rule.tool, call.tool, call.mcp_server, globs=globs):
                return entry
        elif _allows_whole(entry.rule.tool, call.tool):
            return entry
    return None


def _allows_whole(rule_tool: str, tool: str) -> bool:
    """Whether an allow rule for a whole tool covers this one; only agents have two names."""
    return rule_tool == tool or (rule_tool in AGENTS and tool in AGENTS)


def _by_content(
    call: ToolCall, behavior: Behavior, book: RuleBook, place: PathContext
) -> Decision | None:
    """The decision of a deny or ask rule with content that matches this input."""
    for entry in book.of_behavior(behavior):
        if same_tool(entry.rule.tool, call.tool) and field_matches(entry.rule.content or "", call):
            return _ruled(entry, "matches a field of the input")
    if call.tool in SHELLS:
        return forbidden_command(call.text("command"), behavior, book, place)
    if call.tool in SKILLS:
        for command in place.skill_commands(_skill_name(call)):
            # The CLI checks the commands in the file of a skill before it starts it (CLI-1515).
            decision = forbidden_command(command, behavior, book, place)
            if decision is not None:
                return decision
    if call.tool in READERS or call.tool in EDITORS:
        question = FileQuestion.of(file_of(call), book, place)
        forbidding = forbidding_rule(question, behavior, writing=call.tool in EDITORS)
        return None if forbidding is None else _ruled(forbidding, f"matches {question.path}")
    for entry in book.of_behavior(behavior):
        if same_tool(entry.rule.tool, call.tool) and _content_matches(entry, call):
            return _ruled(entry, "matches this input")
    return None


def _content_matches(entry: SourcedRule, call: ToolCall) -> bool:
    content = entry.rule.content or ""
    if call.tool == "WebFetch":
        return domain_matches(content, call.text("url"), generous=True)
    name = _skill_name(call) if call.tool in SKILLS else call.text("subagent_type")
    if not name and call.tool in AGENTS:
        name = "general-purpose"
    if not name:
        return False
    # 2.1.325 finds an agent by its name in any case (CLI-1517).
    content, name = content.lower(), name.lower()
    content = content.removeprefix("/") if call.tool in SKILLS else content
    return star_match(content.removesuffix(":*").split("*"), name) or (
        content.endswith(":*") and name.startswith(content[:-2])
    )


def _ruled(entry: SourcedRule, words: str) -> Decision:
    return Decision(
        behavior=entry.behavior, reason=Reason.RULE, words=f"the {entry} {words}", rule=entry
    )
