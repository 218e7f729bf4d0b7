"""The host's own policy: answers a permission request by rule before a person is asked.

It holds rules of the host (not the CLI's), a true plan mode and a budget. Pure: it returns allow,
deny or "ask the person", with the reason; writing that down is the caller's (`audit`). It never
answers a question that is meant for a person.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field, replace

from fairlead.permissions.audit import Decider
from fairlead.permissions.book import RuleBook
from fairlead.permissions.decisions import Decision, Reason, ToolCall
from fairlead.permissions.families import CURRENT
from fairlead.permissions.modes import Mode
from fairlead.permissions.paths import Place, spellings
from fairlead.permissions.policy import check
from fairlead.permissions.scopes import Behaviour
from fairlead.permissions.tools import EDITORS, INTERACTIVE, file_of

__all__ = ["Guard", "Verdict"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the host does with a request."""

    behaviour: Behaviour
    decider: Decider
    words: str
    decision: Decision
    """What it rests on; names the rule, if one decided."""

    @property
    def final(self) -> bool:
        """Whether no person needs to be asked."""
        return self.behaviour is not Behaviour.ASK


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """The rules and limits of a host."""

    rules: RuleBook = field(default_factory=RuleBook)
    plan_only: bool = False
    """Deny every edit and every command that does more than look: the CLI's own plan mode asks
    instead, or does nothing at all (TRUTH 1.3)."""
    budget_usd: float | None = None
    """Deny everything once this much has been spent."""

    def answer(self, call: ToolCall, place: Place, spent_usd: float = 0.0) -> Verdict:
        """Allow, deny, or leave it to a person."""
        if self.budget_usd is not None and spent_usd >= self.budget_usd:
            words = f"the budget of ${self.budget_usd:.2f} is used up (${spent_usd:.2f} spent)"
            return _verdict(Behaviour.DENY, Decider.BUDGET, words, Reason.MODE)
        if call.tool in INTERACTIVE:
            words = f"{call.tool} is a question to a person"
            return _verdict(Behaviour.ASK, Decider.PERSON, words, Reason.NEEDS_A_PERSON)
        # The host is as strict as the newest CLI, whichever version asks.
        place = replace(place, family=CURRENT)
        decision = check(call, self.rules.with_mode(Mode.DEFAULT), place)
        if decision.behaviour is Behaviour.DENY:
            return Verdict(
                behaviour=Behaviour.DENY,
                decider=Decider.RULE,
                words=decision.words,
                decision=decision,
            )
        if self.plan_only and _changes_something(call, decision, place):
            words = f"{call.tool} would change something, and the session is only planning"
            return _verdict(Behaviour.DENY, Decider.PLAN_MODE, words, Reason.MODE)
        return _allowed_or_asked(decision)


def _allowed_or_asked(decision: Decision) -> Verdict:
    # The CLI had a reason to ask. Only a rule of the host outweighs it: that a command looks
    # harmless to us, or lies in a working directory, does not.
    by_rule = decision.reason is Reason.RULE and decision.rule is not None
    if decision.behaviour is Behaviour.ALLOW and by_rule:
        return Verdict(
            behaviour=Behaviour.ALLOW,
            decider=Decider.RULE,
            words=decision.words,
            decision=decision,
        )
    return Verdict(
        behaviour=Behaviour.ASK,
        decider=Decider.PERSON,
        words=decision.words if by_rule else "no rule of the host decides this",
        decision=decision,
    )


def _changes_something(call: ToolCall, decision: Decision, place: Place) -> bool:
    if call.tool in EDITORS:
        return not _is_plan_file(call, place)
    if call.tool != "Bash":
        return False
    looked_at = check(call, RuleBook(), place)
    return looked_at.behaviour is not Behaviour.ALLOW


def _is_plan_file(call: ToolCall, place: Place) -> bool:
    """2.1.325 keeps the plan itself in a file that the model writes (TRUTH 1.4)."""
    folder = posixpath.join(place.home, ".claude", "plans") + "/"
    paths = spellings(file_of(call), place)
    return all(path.startswith(folder) and path.endswith(".md") for path in paths)


def _verdict(behaviour: Behaviour, decider: Decider, words: str, reason: Reason) -> Verdict:
    decision = Decision(behaviour=behaviour, reason=reason, words=words)
    return Verdict(behaviour=behaviour, decider=decider, words=words, decision=decision)
