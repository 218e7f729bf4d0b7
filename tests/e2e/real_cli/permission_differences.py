"""Where Fairlead's policy knowingly differs from a CLI: always on the strict side, each by name.

A difference has a reason, the versions it holds for, and a predicate over a case that came out
differently. A case that no predicate accepts fails the differential test.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fairlead.permissions import Behaviour, Decision, Reason, ToolCall
from fairlead.permissions.commands import parse_command

__all__ = ["DIFFERENCES", "Case", "Difference", "named"]

OLD = frozenset(("2.1.29", "2.1.38"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A call that the CLI treated in another way than the policy says."""

    version: str
    mode: str
    call: ToolCall
    ours: Decision
    theirs: Behaviour

    @property
    def command(self) -> str:
        return self.call.text("command")


@dataclass(frozen=True, slots=True)
class Difference:
    name: str
    reason: str
    holds: Callable[[Case], bool]


def _by_rule(case: Case, behaviour: Behaviour) -> bool:
    return case.ours.behaviour is behaviour and case.ours.rule is not None


DIFFERENCES = (
    Difference(
        "deny-looks-deeper",
        "2.1.38 holds deny rules only against the commands it finds at the surface; the policy looks "
        "into wrappers, prefixes, substitutions and groups, as 2.1.325 does.",
        lambda case: case.version in OLD and _by_rule(case, Behaviour.DENY),
    ),
    Difference(
        "ask-outranks-wide-allow",
        "In 2.1.38 an allow rule for the whole tool, or bypassPermissions, outranks an ask rule with "
        "content; the policy asks, as 2.1.325 does.",
        lambda case: case.version in OLD and _by_rule(case, Behaviour.ASK),
    ),
    Difference(
        "ask-looks-deeper",
        "Ask rules are seen as deep as deny rules; a CLI sees some of these only at the surface, and "
        "goes by the mode or by another rule then.",
        lambda case: _by_rule(case, Behaviour.ASK) and case.call.tool == "Bash",
    ),
    Difference(
        "deny-inside-shell-strings",
        "A command given to a shell as a string (`bash -c 'npm x'`) falls under deny rules here; no "
        "CLI looks inside.",
        lambda case: _by_rule(case, Behaviour.DENY) and "bash -c" in case.command,
    ),
    Difference(
        "deny-files-in-substitutions",
        "Files named by a command inside a substitution or group fall under deny rules here.",
        lambda case: _by_rule(case, Behaviour.DENY) and bool(parse_command(case.command).hidden),
    ),
    Difference(
        "not-understood-asks",
        "What the policy does not understand always asks. 2.1.38 splits such lines by its own means "
        "and 2.1.325 knows a few variables ($HOME).",
        lambda case: case.ours.reason is Reason.NOT_UNDERSTOOD,
    ),
    Difference(
        "cd-and-denied-files",
        "A glob, or a change of directory, may reach a file that a rule denies: the policy asks.",
        lambda case: "a rule denies" in case.ours.words or "deny files" in case.ours.words,
    ),
    Difference(
        "symlinks-lead-out",
        "2.1.38 goes by the name of a path alone when it writes; the policy by every spelling.",
        lambda case: case.version in OLD and "/link/" in str(case.call.input),
    ),
    Difference(
        "write-rules-are-heeded",
        "A CLI ignores `Write(path)` rules; what they deny or ask is heeded here.",
        lambda case: case.ours.rule is not None and case.ours.rule.rule.tool == "Write",
    ),
    Difference(
        "planning-reads-outside",
        "In plan mode 2.1.325 lets the Read tool read anywhere; the policy asks outside the working "
        "directories.",
        lambda case: case.mode == "plan" and case.call.tool == "Read",
    ),
)


def named(case: Case) -> str | None:
    """The name of the difference that this case is an instance of; None if there is none."""
    if case.ours.behaviour.strictness <= case.theirs.strictness:
        return None
    return next((known.name for known in DIFFERENCES if known.holds(case)), None)
