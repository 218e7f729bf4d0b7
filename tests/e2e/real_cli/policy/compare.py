"""Compares the policy and the host's guard with the verdicts of a CLI: equal, stricter, laxer."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fairlead.permissions import Decision, ToolCall, check, family_of, place_of
from fairlead.permissions.guard import Guard
from tests.e2e.real_cli.policy.layouts import Workspace
from tests.e2e.real_cli.policy.scenario import Call, Scenario

__all__ = ["Case", "Verdicts", "cases", "decide"]

Verdicts = list[str | None]
_STRICTNESS = {"allow": 0, "mayAsk": 1, "ask": 1, "deny": 2}
_SILENT_MODES = ("dontAsk", "plan", "auto")
"""In these modes the CLI does not ask, so the host has nothing to answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One call, with the policy's decision and the CLI's verdict."""

    scenario: Scenario
    number: int
    decision: Decision
    verdict: str
    host: str
    """What the host's guard answers if it has the same rules."""

    @property
    def call(self) -> Call:
        return self.scenario.calls[self.number]

    @property
    def outcome(self) -> str:
        """`equal`, `stricter` or `laxer`; a decision of `mayAsk` is at best stricter."""
        decided = self.decision.behavior.value
        if decided == self.verdict:
            return "equal"
        more = _STRICTNESS[decided] - _STRICTNESS[self.verdict]
        return "laxer" if more < 0 else "stricter"

    @property
    def host_is_laxer(self) -> bool:
        """Whether the guard allows what the CLI would not allow by itself."""
        silent = self.scenario.mode in _SILENT_MODES
        return not silent and _STRICTNESS[self.host] < _STRICTNESS[self.verdict]

    def __str__(self) -> str:
        rules = "; ".join(" ".join(rule) for rule in self.scenario.rules)
        where = f"{self.scenario.mode} ({self.scenario.mode_from}), {self.scenario.layout}"
        trust = "" if self.scenario.trusted else ", not trusted"
        dirs = f", dirs {self.scenario.directories}" if self.scenario.directories else ""
        return (
            f"{str(self.call)!r}\n    CLI {self.verdict}, policy {self.decision}"
            f"\n    {where}{trust}{dirs}, rules [{rules}]"
        )


def decide(scenario: Scenario, version: str, root: Path) -> list[tuple[Decision, str]]:
    """What policy and guard say about each call; builds the scenario's folders below `root`."""
    workspace = Workspace(scenario, root)
    workspace.build()
    book = workspace.book()
    place = place_of(
        str(workspace.project), str(workspace.home), family_of(version), trusted=scenario.trusted
    )
    guard = Guard(rules=book)
    calls = [
        ToolCall(tool=call.tool, input=workspace.real(dict(call.input))) for call in scenario.calls
    ]
    return [(check(call, book, place), guard.answer(call, place).behavior.value) for call in calls]


def cases(version: str, recorded: Iterable[tuple[Scenario, Verdicts]]) -> list[Case]:
    """All calls that have a verdict, with the decision of the policy."""
    found = []
    for scenario, verdicts in recorded:
        with tempfile.TemporaryDirectory(prefix="fl-") as folder:
            decisions = decide(scenario, version, Path(folder).resolve())
        for number, (decided, verdict) in enumerate(zip(decisions, verdicts, strict=True)):
            if verdict is not None:
                decision, host = decided
                case = Case(
                    scenario=scenario, number=number, decision=decision, verdict=verdict, host=host
                )
                found.append(case)
    return found
