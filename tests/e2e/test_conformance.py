"""The table of compatibility: what a report of pytest becomes."""

from __future__ import annotations

import datetime

from tests.e2e.conformance import Outcome, read_outcomes, render, with_generated
from tests.e2e.conversations.figures import replaced

REPORT = """<testsuites><testsuite>
<testcase classname="tests.e2e.real_cli.test_queue" name="test_it_ends[2.1.38]"/>
<testcase classname="tests.e2e.real_cli.test_queue" name="test_it_ends[a-2.1.325]"/>
<testcase classname="tests.e2e.real_cli.test_queue" name="test_it_ends[b-2.1.325]">
  <failure message="no"/>
</testcase>
<testcase classname="tests.e2e.real_cli.test_start" name="test_only_here[2.1.325]"/>
<testcase classname="tests.e2e.real_cli.test_start" name="test_left_out[2.1.38]"><skipped/></testcase>
<testcase classname="tests.e2e.real_cli.test_start" name="test_of_no_version"/>
</testsuite></testsuites>"""

DAY = datetime.date(2026, 1, 2)


def test_a_test_with_several_cases_passes_on_a_version_if_all_of_them_do() -> None:
    table = render(read_outcomes(REPORT), ["2.1.38", "2.1.325"], DAY)
    assert "| it ends | ✓ | ✗ 1 of 2 |" in table
    assert "| only here | – | ✓ |" in table


def test_a_skip_is_a_failure_and_a_test_of_no_version_is_left_out() -> None:
    outcomes = read_outcomes(REPORT)
    skipped = Outcome(module="test_start", test="test_left_out", version="2.1.38", passed=False)
    assert skipped in outcomes
    assert not [one for one in outcomes if one.test == "test_of_no_version"]


def test_the_document_says_how_and_when_it_was_made() -> None:
    table = render(read_outcomes(REPORT), ["2.1.38", "2.1.325"], DAY)
    assert "python -m tests.e2e.conformance 2.1.38 2.1.325" in table
    assert "From `test_queue.py`, run on 2026-01-02." in table
    assert "## How a CLI starts under Fairlead, and its first messages\n" in table
    assert "| schema loops | • |  |" in table


def test_a_run_of_a_part_leaves_the_other_sections_as_they_were() -> None:
    versions = ["2.1.38", "2.1.325"]
    before = render(read_outcomes(REPORT), versions, DAY)
    again = [
        Outcome(module="test_queue", test="test_it_ends", version=version, passed=True)
        for version in versions
    ]
    later = render(again, versions, datetime.date(2026, 3, 4), before)
    assert "From `test_queue.py`, run on 2026-03-04." in later
    assert "| it ends | ✓ | ✓ |" in later
    assert "From `test_start.py`, run on 2026-01-02." in later
    assert later.count("## Differences between versions") == 1
    assert "test_start" not in render(again, ["2.1.38"], DAY, before)


def test_sections_on_generated_cases_stay_and_are_replaced() -> None:
    versions = ["2.1.38", "2.1.325"]
    table = render(read_outcomes(REPORT), versions, DAY)
    first = replaced(table, "## Generated conversations\n\n| all | 1 of 2 |\n")
    assert first.index("## Generated conversations") < first.index(
        "## Differences between versions"
    )
    second = replaced(first, "## Generated conversations\n\n| all | 2 of 2 |\n")
    assert second.count("## Generated conversations") == 1
    assert "| all | 2 of 2 |" in second
    assert "| all | 1 of 2 |" not in second
    assert with_generated(table, second) == second
