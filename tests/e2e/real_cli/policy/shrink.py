"""Reduces a laxer case to its smallest form: fewer rules, a shorter command, a simpler scenario."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fairlead.testing.real_cli import RealCli
from tests.e2e.real_cli.policy.compare import Case, cases
from tests.e2e.real_cli.policy.recording import ask_cli
from tests.e2e.real_cli.policy.scenario import Call, Scenario

__all__ = ["shrunk"]

_BATCH = 20
_ROUNDS = 6


async def shrunk(case: Case, version: str, cli: RealCli) -> Case:
    """The smallest variant of the case that is still laxer."""
    best = replace(case, scenario=case.scenario.with_calls(case.call), number=0)
    for _ in range(_ROUNDS):
        smaller = await _smaller(best, version, cli)
        if smaller is None:
            return best
        best = smaller
    return best


async def _smaller(case: Case, version: str, cli: RealCli) -> Case | None:
    for scenario in _simpler_scenarios(case.scenario):
        found = await _laxer(scenario, version, cli)
        if found:
            return found[0]
    shorter = [Call(case.call.tool, {**case.call.input, "command": text}) for text in _cuts(case)]
    if not shorter:
        return None
    found = await _laxer(case.scenario.with_calls(*shorter[:_BATCH]), version, cli)
    if not found:
        return None
    shortest = min(found, key=lambda other: len(str(other.call)))
    return replace(shortest, scenario=case.scenario.with_calls(shortest.call), number=0)


async def _laxer(scenario: Scenario, version: str, cli: RealCli) -> list[Case]:
    verdicts = await ask_cli(scenario, cli)
    found = cases(version, [(scenario, verdicts)])
    return [other for other in found if other.outcome == "laxer"]


def _simpler_scenarios(scenario: Scenario) -> Iterator[Scenario]:
    for index in range(len(scenario.rules)):
        yield scenario.with_rules(*scenario.rules[:index], *scenario.rules[index + 1 :])
    if scenario.directories:
        yield replace(scenario, directories=())
    if scenario.layout != "plain":
        yield replace(scenario, layout="plain")


def _cuts(case: Case) -> list[str]:
    command = case.call.input.get("command")
    if not isinstance(command, str):
        return []
    words = command.split(" ")
    shorter = [" ".join(words[:index] + words[index + 1 :]) for index in range(len(words))]
    halves = [" ".join(words[: len(words) // 2]), " ".join(words[len(words) // 2 :])]
    return [text for text in dict.fromkeys(halves + shorter) if text.strip() and text != command]
