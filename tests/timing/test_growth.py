"""No parser of untrusted text takes more than linear time, and none blocks the event loop.

A short version runs with all tests. `FAIRLEAD_TIMING=long` uses texts of 1 MB and more mixtures;
`make faults` runs it.
"""

from __future__ import annotations

import os

import pytest

from tests.timing.generators import Generator, generators
from tests.timing.growth import cost, grows_badly
from tests.timing.parsers import PARSERS, Parser

LONG = os.environ.get("FAIRLEAD_TIMING") == "long"
SIZE = 1024 * 1024 if LONG else 32 * 1024
MIXTURES = 60 if LONG else 6
FEW_MIXTURES = 6
"""For parsers that do not read a long text to its end."""
PARTS = 4 if LONG else 1
"""Tests per parser, so that they run in parallel and each ends within its time limit."""
LOOP_S = 0.05
"""CPU time that one callback of the event loop may take."""


def texts(parser: Parser, part: int = 0, parts: int = 1) -> dict[str, Generator]:
    """The texts for a parser, or every `parts`-th of them."""
    mixtures = MIXTURES if parser.declines_above is None else FEW_MIXTURES
    return dict(list(generators(mixtures).items())[part::parts])


def rows() -> list[object]:
    """Each parser with each part of its texts."""
    return [
        pytest.param(parser, part, parts, id=f"{parser.name}-{part + 1} of {parts}")
        for parser in PARSERS
        for parts in [PARTS if parser.declines_above is None else 1]
        for part in range(parts)
    ]


@pytest.mark.matrix(target="faults", cases=14)
@pytest.mark.parametrize(("parser", "part", "parts"), rows())
def test_R14_no_parser_takes_more_than_linear_time(parser: Parser, part: int, parts: int) -> None:
    bad = {}
    for name, text in texts(parser, part, parts).items():
        problem = grows_badly(parser.run, text, SIZE)
        if problem is not None:
            bad[name] = problem
    assert not bad


IN_LOOP = [parser for parser in PARSERS if parser.bound is not None]


@pytest.mark.matrix(target="faults", cases=10)
@pytest.mark.parametrize("parser", IN_LOOP, ids=[parser.name for parser in IN_LOOP])
def test_R14_no_parser_blocks_the_event_loop(parser: Parser) -> None:
    assert parser.bound is not None
    slow = {}
    for name, text in texts(parser).items():
        longest = text(parser.bound)
        took = cost(parser.run, longest, repeats=2)
        if took > LOOP_S:
            took = cost(parser.run, longest, repeats=10)
        if took > LOOP_S:
            slow[name] = round(took, 3)
    assert not slow


DECLINING = [parser for parser in PARSERS if parser.declines_above is not None]


@pytest.mark.matrix(target="faults", cases=3)
@pytest.mark.parametrize("parser", DECLINING, ids=[parser.name for parser in DECLINING])
def test_R14_a_text_that_is_too_long_costs_no_more_than_the_longest(parser: Parser) -> None:
    assert parser.declines_above is not None
    slow = {}
    for name, text in generators(0).items():
        took = cost(parser.run, text(1024 * 1024), repeats=2)
        longest = cost(parser.run, text(parser.declines_above), repeats=2)
        if took > max(LOOP_S, 2 * longest):
            slow[name] = round(took, 3)
    assert not slow
