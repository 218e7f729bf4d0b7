"""The words for the state of a machine."""

from __future__ import annotations

from typing import Any

import pytest

from fairlead.commands.fleet.machine_text import ago, machine_state

NOW = 1_000_000.0


@pytest.mark.parametrize(
    ("node", "words"),
    [
        ({"here": True}, "here"),
        ({"here": False}, "away"),
        ({"here": False, "since": NOW - 61}, "away for 1 minute"),
        ({"here": True, "draining": True}, "here, drained (no new sessions)"),
        ({"here": True, "running": 2, "since": NOW}, "here, 2 sessions running"),
        (
            {"here": True, "draining": True, "running": 1, "problem": "Too old."},
            "here, drained (no new sessions), 1 session running, Too old.",
        ),
    ],
)
def test_a_machine_is_described(node: dict[str, Any], words: str) -> None:
    assert machine_state(node, NOW) == words


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (-5, "less than a minute"),
        (59, "less than a minute"),
        (60, "1 minute"),
        (7_199, "1 hour"),
        (172_800, "2 days"),
    ],
)
def test_a_duration_is_given_in_its_largest_unit(age: float, words: str) -> None:
    assert ago(age) == words
