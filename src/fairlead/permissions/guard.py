"""The host's own policy: answers a permission request by rule before the user is asked.

It has rules of the host (not the CLI's), a real plan mode and a budget. Pure: it returns allow,
deny or "ask the user", with the reason; the caller records it (`audit`). It never answers a question
that is meant for the user.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field, replace

from fairlead.permissions.audit import Decider
from fairlead.permissions.model.families import CURRENT
from fairlead.permissions.model.modes import Mode
from fairlead.permissions.model.scopes import Behavior
from fairlead.permissions.policy import check
from fairlead.permissions.rules.book import RuleBook
from fairlead.permissions.rules.decisions import Decision, Reason, ToolCall
from fairlead.permissions.rules.paths import PathContext, spellings
from fairlead.permissions.rules.tools import EDITORS, INTERACTIVE, file_of

__all__ = ["Guard", "Verdict"]

UNDECIDED = "no rule of the host decides this"
TOO_LONG = "the command is too long to analyze, so no rule of the host can allow it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the host does with a request."""

    behavior: Behavior
    decider: Decider
    words: str
    decision: Decision
    """The decision behind it, with the rule if one decided."""

    @property
    def final(self) -> bool:
        """Whether the user need not be asked."""
        return not self.behavior.asks


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """The rules and limits of a host."""

    rules: RuleBook = field(default_factory=RuleBook)
    plan_only: bool = False
    """Deny every edit and every command that is not read-only: the CLI's own plan mode asks
    instead, or has no effect (CLI-315)."""
    budget_usd: float | None = None
    """Deny everything once this much has been spent."""

    def answer(self, call: ToolCall, place: PathContext, spent_usd: float = 0.0) -> Verdict:
        """Allow, deny, or leave the decision to the user."""
        if self.budget_usd is not None and spent_usd >= self.budget_usd:
            words = f"the budget of ${self.budget_usd:.2f} is used up (${spent_usd:.2f} spent)"
            return _verdict(Behavior.DENY, Decider.BUDGET, words, Reason.MODE)
        decision = self._decide(call, place)
        if decision.behavior is Behavior.DENY:
            return Verdict(
                behavior=Behavior.DENY,
                decider=Decider.RULE,
                words=decision.words,
                decision=decision,
            )
        if call.tool in INTERACTIVE:
            words = f"{call.tool} is a question to the user"
            return _verdict(Behavior.ASK, Decider.PERSON, words, Reason.NEEDS_A_PERSON)
        if self.plan_only and _changes_something(call, decision, place):
            words = f"{call.tool} would change something, and the session is only planning"
            return _verdict(Behavior.DENY, Decider.PLAN_MODE, words, Reason.MODE)
        return _allowed_or_asked(decision, too_long=_is_too_long(call))

    def _decide(self, call: ToolCall, place: PathContext) -> Decision:
        """The stricter of two decisions: as the CLI of this version decides, and as the newest."""
        rules = self.rules.with_mode(Mode.DEFAULT)
        places = [place] if place.family is CURRENT else [place, replace(place, family=CURRENT)]
        decisions = [check(call, rules, own) for own in places]
        return max(decisions, key=lambda decision: decision.behavior.strictness)


def _is_too_long(call: ToolCall) -> bool:
    if call.tool != "Bash":
        return False
    from fairlead.permissions.shell.text import is_too_long  # Loads the grammar, as `check` does.

    return is_too_long(call.text("command"))


def _allowed_or_asked(decision: Decision, *, too_long: bool) -> Verdict:
    # The CLI had a reason to ask. Only a rule of the host takes precedence over it: that a command
    # is read-only, or that a file is in a working directory, does not.
    by_rule = decision.reason is Reason.RULE and decision.rule is not None
    if decision.behavior is Behavior.ALLOW and by_rule:
        return Verdict(
            behavior=Behavior.ALLOW,
            decider=Decider.RULE,
            words=decision.words,
            decision=decision,
        )
    return Verdict(
        behavior=Behavior.ASK,
        decider=Decider.PERSON,
        words=decision.words if by_rule else TOO_LONG if too_long else UNDECIDED,
        decision=decision,
    )


def _changes_something(call: ToolCall, decision: Decision, place: PathContext) -> bool:
    if call.tool in EDITORS:
        return not _is_plan_file(call, place)
    if call.tool != "Bash":
        return False
    return check(call, RuleBook(), place).behavior is not Behavior.ALLOW


def _is_plan_file(call: ToolCall, place: PathContext) -> bool:
    """2.1.325 keeps the plan itself in a file that the model writes (CLI-407)."""
    folder = posixpath.join(place.config_folder, "plans") + "/"
    paths = spellings(file_of(call), place)
    return all(path.startswith(folder) and path.endswith(".md") for path in paths)


def _verdict(behavior: Behavior, decider: Decider, words: str, reason: Reason) -> Verdict:
    decision = Decision(behavior=behavior, reason=reason, words=words)
    return Verdict(behavior=behavior, decider=decider, words=words, decision=decision)
