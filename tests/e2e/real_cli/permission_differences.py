"""Where Fairlead's policy knowingly differs from a CLI: always on the strict side, each by name.

A difference has a reason, the versions that show it, and a predicate over a case that came out
differently. A case that no predicate accepts fails the differential test, and so does a difference
that a version which is named here no longer shows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fairlead.permissions import Behavior, Decision, Reason, ToolCall
from fairlead.permissions.shell.commands import parse_command
from tests.e2e.real_cli.permission_cases import Call, Group

__all__ = ["DIFFERENCES", "Case", "Difference", "named"]

OLD = ("2.1.29", "2.1.38")
NEW = ("2.1.120", "2.1.220", "2.1.325")
EVERY = (*OLD, *NEW)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A call that the CLI treated in another way than the policy says."""

    version: str
    mode: str
    call: ToolCall
    ours: Decision
    theirs: Behavior

    @property
    def command(self) -> str:
        return self.call.text("command")

    def __str__(self) -> str:
        what = self.command or f"{self.call.tool} {dict(self.call.input)}"
        return f"{what!r} in mode {self.mode}: CLI {self.theirs.value}; policy {self.ours}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One way in which the policy is stricter, with a case that shows it on real CLIs."""

    name: str
    reason: str
    holds: Callable[[Case], bool]
    """Whether a case on one of its versions is an instance of it."""
    example: Group
    versions: tuple[str, ...]
    ours: Behavior
    theirs: Behavior

    def explains(self, case: Case) -> bool:
        return case.version in self.versions and self.holds(case)


def _by_rule(case: Case, behavior: Behavior) -> bool:
    return case.ours.behavior is behavior and case.ours.rule is not None


def _example(*calls: str | Call, mode: str = "default", **rules: str) -> Group:
    """A group of calls, of which the last one counts; each rule stands in the user's settings."""
    asked = tuple(
        Call("Bash", {"command": call, "description": "d"}) if isinstance(call, str) else call
        for call in calls
    )
    placed = tuple(("user", behavior, rule) for behavior, rule in rules.items())
    return Group(number=0, mode=mode, rules=placed, calls=asked)


DIFFERENCES = (
    Difference(
        name="deny-looks-deeper",
        reason="2.1.38 holds deny rules only against the commands it finds at the surface; the policy "
        "looks into wrappers, prefixes, substitutions and groups, as 2.1.120 and later do.",
        holds=lambda case: _by_rule(case, Behavior.DENY),
        example=_example("FOO=1 npm test", deny="Bash(npm:*)"),
        versions=OLD,
        ours=Behavior.DENY,
        theirs=Behavior.ASK,
    ),
    Difference(
        name="ask-outranks-wide-allow",
        reason="In 2.1.38 an allow rule for the whole tool, or bypassPermissions, outranks an ask rule "
        "with content; the policy asks, as 2.1.120 and later do.",
        holds=lambda case: _by_rule(case, Behavior.ASK),
        example=_example("ls", allow="Bash", ask="Bash(ls:*)"),
        versions=OLD,
        ours=Behavior.ASK,
        theirs=Behavior.ALLOW,
    ),
    Difference(
        name="ask-looks-deeper",
        reason="Ask rules are seen as deep as deny rules; a CLI sees some of them only at the surface, "
        "and goes by the mode or by another rule then.",
        holds=lambda case: _by_rule(case, Behavior.ASK) and case.call.tool == "Bash",
        example=_example("bash -c 'npm test'", ask="Bash(npm test)", mode="bypassPermissions"),
        versions=NEW,
        ours=Behavior.ASK,
        theirs=Behavior.ALLOW,
    ),
    Difference(
        name="deny-inside-shell-strings",
        reason="A command given to a shell as a string falls under deny rules here; no CLI looks inside.",
        holds=lambda case: _by_rule(case, Behavior.DENY) and "bash -c" in case.command,
        example=_example("bash -c 'npm test'", deny="Bash(npm:*)"),
        versions=EVERY,
        ours=Behavior.DENY,
        theirs=Behavior.ASK,
    ),
    Difference(
        name="deny-files-in-substitutions",
        reason="Files named by a command inside a substitution or group fall under deny rules here.",
        holds=lambda case: (
            _by_rule(case, Behavior.DENY) and bool(parse_command(case.command).hidden)
        ),
        example=_example("echo $(cat secret.txt)", deny="Read(./secret.txt)"),
        versions=EVERY,
        ours=Behavior.DENY,
        theirs=Behavior.ASK,
    ),
    Difference(
        name="not-understood-asks",
        reason="What the policy does not understand always asks; newer CLIs know a few variables.",
        holds=lambda case: case.ours.reason is Reason.NOT_UNDERSTOOD,
        example=_example("echo $HOME"),
        versions=("2.1.220", "2.1.325"),
        ours=Behavior.ASK,
        theirs=Behavior.ALLOW,
    ),
    Difference(
        name="globs-may-reach-denied-files",
        reason="A star may stand for a file that a rule denies: the policy asks, newer CLIs do not.",
        holds=lambda case: "a rule denies" in case.ours.words,
        example=_example("cat *.txt", deny="Read(./secret.txt)"),
        versions=NEW,
        ours=Behavior.ASK,
        theirs=Behavior.ALLOW,
    ),
    Difference(
        name="dot-dot-paths",
        reason="A path that goes through `..` asks, wherever it ends: with symlinks on the way nobody "
        "can tell from the text. CLIs let some of them through.",
        holds=lambda case: "leads through '..'" in case.ours.words,
        example=_example("pwd || cat src/../secret.txt"),
        versions=(*OLD, "2.1.120"),
        ours=Behavior.ASK,
        theirs=Behavior.ALLOW,
    ),
    Difference(
        name="symlinks-lead-out",
        reason="2.1.38 goes by the name of a path alone when it writes; the policy by every spelling.",
        holds=lambda case: "/link/" in str(case.call.input),
        example=_example(
            Call("Write", {"file_path": "@P/link/new.txt", "content": "x"}), mode="acceptEdits"
        ),
        versions=OLD,
        ours=Behavior.ASK,
        theirs=Behavior.ALLOW,
    ),
    Difference(
        name="write-rules-are-heeded",
        reason="A CLI ignores `Write(path)` rules; what they deny or ask about is heeded here.",
        holds=lambda case: case.ours.rule is not None and case.ours.rule.rule.tool == "Write",
        example=_example(
            Call("Write", {"file_path": "@P/src/new.txt", "content": "x"}), deny="Write(src/**)"
        ),
        versions=EVERY,
        ours=Behavior.DENY,
        theirs=Behavior.ASK,
    ),
    Difference(
        name="planning-reads-outside",
        reason="In plan mode newer CLIs let the Read tool read anywhere; the policy asks outside the "
        "working directories.",
        holds=lambda case: case.mode == "plan" and case.call.tool == "Read",
        example=_example(Call("Read", {"file_path": "@O/x.txt"}), mode="plan"),
        versions=("2.1.220", "2.1.325"),
        ours=Behavior.ASK,
        theirs=Behavior.ALLOW,
    ),
    Difference(
        name="leading-star-and-interpreters",
        reason="`Bash(* --version)` does not cover programs that run their arguments here; the CLI "
        "takes the star at its word.",
        holds=lambda case: (
            case.ours.reason is Reason.NO_RULE and case.command.endswith("--version")
        ),
        example=_example("bash -c ls --version", allow="Bash(* --version)"),
        versions=EVERY,
        ours=Behavior.ASK,
        theirs=Behavior.ALLOW,
    ),
    Difference(
        name="deny-files-beside-redirections",
        reason="Where a command writes its output to a file, 2.1.120 and 2.1.220 do not hold the rules "
        "that deny files against what it reads; the policy does, as 2.1.325 does.",
        holds=lambda case: _by_rule(case, Behavior.DENY) and ">" in case.command,
        example=_example("cat secret.txt > out.txt", deny="Read(./secret.txt)"),
        versions=("2.1.120", "2.1.220"),
        ours=Behavior.DENY,
        theirs=Behavior.ASK,
    ),
    Difference(
        name="background-jobs",
        reason="2.1.120 looks at a command before `&` as at any other; the policy asks about jobs in the "
        "background, as later CLIs do.",
        holds=lambda case: "starts a background job" in case.ours.words,
        example=_example("npm test &", allow="Bash(npm:*)"),
        versions=("2.1.120",),
        ours=Behavior.ASK,
        theirs=Behavior.ALLOW,
    ),
    Difference(
        name="classifier-is-given-up",
        reason="After two refusals in a row 2.1.220 asks a person instead of its classifier; the policy "
        "knows one call at a time and says what the classifier would have said.",
        holds=lambda case: case.ours.reason is Reason.CLASSIFIER,
        example=_example("npm one", "npm two", "npm three", mode="plan"),
        versions=("2.1.220",),
        ours=Behavior.DENY,
        theirs=Behavior.ASK,
    ),
)


def named(case: Case) -> str | None:
    """The name of the difference that this case is an instance of; None if there is none."""
    if case.ours.behavior.strictness <= case.theirs.strictness:
        return None
    return next((known.name for known in DIFFERENCES if known.explains(case)), None)
