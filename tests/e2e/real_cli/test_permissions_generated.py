"""The permission policy on a fixed slice of generated calls, with the recorded verdicts of real CLIs.

The verdicts were recorded by `tests/e2e/real_cli/policy`. A few of them are asked of the real CLI
again here, and all of them by `make conformance`, which also generates new calls.
"""

from __future__ import annotations

import datetime
from collections import Counter

import pytest

from fairlead.testing.real_cli import RealCli
from tests.e2e.real_cli.policy.compare import Verdicts, cases
from tests.e2e.real_cli.policy.figures import Figures, replaced, section
from tests.e2e.real_cli.policy.generate import scenario, scenarios
from tests.e2e.real_cli.policy.recording import SLICE, ask_cli, load
from tests.e2e.real_cli.policy.scenario import Scenario

VERSIONS = ("2.1.38", "2.1.325")
LIVE_CALLS = 12


def recorded(version: str) -> list[tuple[Scenario, Verdicts]]:
    return load(SLICE / f"{version}.jsonl")


@pytest.mark.parametrize("version", VERSIONS)
def test_P68_no_decision_of_the_slice_is_more_permissive_than_the_cli(version: str) -> None:
    found = cases(version, recorded(version))
    assert len(found) >= 300
    assert [str(case) for case in found if case.outcome == "laxer"] == []
    assert sum(case.outcome == "equal" for case in found) >= 0.85 * len(found)


@pytest.mark.parametrize("version", VERSIONS)
def test_P69_rules_of_the_host_are_at_least_as_strict_as_the_cli(version: str) -> None:
    """The same rules as host rules: whatever the host allows, the CLI allows by itself."""
    found = cases(version, recorded(version))
    assert [f"host {case.host}: {case}" for case in found if case.host_is_laxer] == []
    assert any(case.host == "allow" for case in found)
    assert any(case.host == "deny" for case in found)


@pytest.mark.parametrize("cli", VERSIONS, indirect=True)
async def test_P68_the_cli_still_decides_as_recorded(cli: RealCli) -> None:
    made, verdicts = next(item for item in recorded(cli.version) if item[0].mode == "default")
    few = made.with_calls(*made.calls[:LIVE_CALLS])
    assert await ask_cli(few, cli) == verdicts[:LIVE_CALLS]


def test_P68_the_same_seed_generates_the_same_scenario() -> None:
    assert scenario("x", "wild") == scenario("x", "wild") != scenario("y", "wild")
    made = list(scenarios("x", 500, "wild"))
    assert 500 <= sum(len(each.calls) for each in made) < 560
    assert [Scenario.of(each.plain()) for each in made] == made
    assert len({each.mode for each in made}) >= 3
    assert len({each.layout for each in made}) >= 3


def test_P68_the_section_of_the_document_is_replaced_and_not_repeated() -> None:
    figures = [Figures(version="2.1.38", mix="wild", counts=Counter(equal=9, stricter=1))]
    text = section(figures, "s", datetime.date(2026, 1, 2))
    assert "| 2.1.38 | wild | 10 | 9 (90.0 %) | 1 (10.0 %) | 0 (0.0 %) | 0 |" in text
    once = replaced("# T\n\nx\n\n## A\n\na\n\n## Last\n\nb\n", text)
    assert replaced(once, text) == once
    assert once.index("Generated permission") < once.index("## Last")
