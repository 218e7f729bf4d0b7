"""The worked example in the hub's theory of operation runs as it is written."""

from __future__ import annotations

import doctest

import fairlead.server.hub


def test_the_worked_example_gives_what_it_says() -> None:
    result = doctest.testmod(fairlead.server.hub)
    assert result.attempted > 8
    assert result.failed == 0
