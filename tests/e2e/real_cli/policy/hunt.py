"""Scenarios with only those calls on which the policy can be laxer: the calls that it does not deny.

Two of three generated calls ask or are denied by the policy, and a CLI can hardly be stricter about
them. A search for laxer decisions therefore generates many calls, lets the policy decide first, and
shows the CLI the calls that the policy allows, and a few that ask in spite of deny rules.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from fairlead.permissions import Decision
from tests.e2e.real_cli.policy.compare import decide
from tests.e2e.real_cli.policy.everyday import EVERYDAY
from tests.e2e.real_cli.policy.generate import CALLS, scenario
from tests.e2e.real_cli.policy.scenario import Call, Scenario

__all__ = ["hunted"]

DRAWN = 5
"""Scenarios from whose calls those of one scenario are chosen."""
ASKING = 25
"""Calls that ask, in a scenario with deny rules."""
_KNOWN = frozenset(EVERYDAY)


def hunted(seed: str, count: int, mix: str, version: str) -> Iterator[Scenario]:
    """Scenarios with `count` calls in all, or a few more, that the policy allows on this version."""
    number = calls = 0
    while calls < count:
        made = _chosen(f"{seed}-{mix}-{number}", mix, version)
        number += 1
        if made.calls:
            yield made
            calls += len(made.calls)


def _chosen(seed: str, mix: str, version: str) -> Scenario:
    first = scenario(seed, mix)
    more = [scenario(f"{seed}-{number}", mix) for number in range(DRAWN - 1)]
    drawn = {str(call): call for made in (first, *more) for call in made.calls}
    drawn = {text: call for text, call in drawn.items() if call.input.get("command") not in _KNOWN}
    whole = first.with_calls(*drawn.values())
    with tempfile.TemporaryDirectory(prefix="fl-") as folder:
        decisions = [made for made, _ in decide(whole, version, Path(folder).resolve())]
    allowed = _of(whole, decisions, "allow")
    denies = any(behavior == "deny" for _, behavior, _ in first.rules)
    asking = _of(whole, decisions, "ask", "mayAsk")[:ASKING] if denies else []
    return replace(whole, seed=seed, calls=tuple(allowed[: CALLS - len(asking)] + asking))


def _of(made: Scenario, decisions: list[Decision], *behaviors: str) -> list[Call]:
    return [
        call
        for call, decision in zip(made.calls, decisions, strict=True)
        if decision.behavior.value in behaviors
    ]
