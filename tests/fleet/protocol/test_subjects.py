"""Names of subjects, and which patterns they match."""

from __future__ import annotations

import pytest

from fairlead.fleet.protocol import subjects


@pytest.mark.parametrize(
    ("pattern", "subject", "expected"),
    [
        ("fl.live.n.s", "fl.live.n.s", True),
        ("fl.live.*.s", "fl.live.n.s", True),
        ("fl.live.*", "fl.live.n.s", False),
        ("fl.live.*.*.*", "fl.live.n.s", False),
        ("fl.>", "fl.live.n.s", True),
        ("fl.>", "fl", False),
        (">", "fl", True),
        ("fl.live.n", "fl.live.n.s", False),
    ],
)
def test_a_pattern_matches_by_tokens(pattern: str, subject: str, expected: bool) -> None:
    assert subjects.matches(pattern, subject) is expected


@pytest.mark.parametrize("token", ["", "a.b", "*", ">", "a b", "ä", "a\n", "x" * 129])
def test_N6_no_id_can_change_the_meaning_of_a_subject(token: str) -> None:
    with pytest.raises(ValueError, match="cannot be part of a subject"):
        subjects.live("n", token)
    with pytest.raises(ValueError, match="cannot be part of a subject"):
        subjects.do(token)


def test_N6_the_node_is_the_third_token_of_every_subject_of_a_node() -> None:
    names = (
        subjects.live("n", "s"),
        subjects.lobby("n"),
        subjects.beat("n"),
        subjects.do("n"),
        subjects.ask("n", "open"),
        subjects.log("n", "s"),
    )
    assert {name.split(".")[2] for name in names} == {"n"}
