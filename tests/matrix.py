"""Long matrices of tests: `make test` runs a slice of each, and another target runs it whole.

    @pytest.mark.matrix(target="faults")
    @pytest.mark.parametrize("page", PAGES)
    @pytest.mark.parametrize("width", [1440, 390])
    async def test_…(page, width): …

The slice of a matrix is a fixed set of its cases in which every value of every parameter occurs at
least once, so it grows with the longest parameter and not with the product of all. The remaining
cases are deselected, not skipped. With FAIRLEAD_MATRIX=whole in the environment nothing is
deselected; `make faults` and `make conformance` set it and run all tests marked with their name.

`matrix(target=…, cases=8)` limits the slice further, to evenly spread cases. That is for long lists
of cases that another test of `make test` proves in a cheaper way, such as by recordings. Of a mark
for a whole module, `pytestmark = pytest.mark.matrix(target=…, of_module=8)`, the cases of all its tests
are one such list.

A test that loops over a list, or that generates its cases, asks for its share:

    for flag in share(flags, 4): …            # 4 of the flags, evenly spread, or all of them
    @settings(max_examples=examples(200))     # 200 in `make faults`, a tenth in `make test`

`matrix(target=…, cases=0)` leaves a test to its target altogether. `make test` must still run at least
one test of every numbered rule, of every page and of every file of browser tests. So the mark is for
further tests of the same rule, and of them for those that use the most CPU time.

`share` needs the mark as well. A Hypothesis test is marked for `make faults` by itself.
`tests/test_matrix.py` checks that no case is lost. A run says at its end how many cases it left to
each target.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeVar

import pytest

__all__ = [
    "LEFT",
    "TARGETS",
    "WHOLE",
    "check_mark",
    "deselect",
    "examples",
    "leave",
    "left_text",
    "share",
    "slice_of",
]

T = TypeVar("T")

WHOLE = os.environ.get("FAIRLEAD_MATRIX") == "whole"

TARGETS = ("browser", "conformance", "faults")
"""Targets of the Makefile that run the matrices marked with their name."""

LEFT = pytest.StashKey[Counter[str]]()
"""How many cases a run leaves to each target."""

FEWEST_EXAMPLES = 10


def share(cases: Sequence[T], count: int) -> list[T]:
    """All cases, or in `make test` this many of them, with the first and the last."""
    if WHOLE or len(cases) <= count:
        return list(cases)
    return [cases[number * (len(cases) - 1) // max(count - 1, 1)] for number in range(count)]


def examples(count: int) -> int:
    """How many examples a test generates in `make test` that generates this many in `make faults`."""
    return count if WHOLE else min(count, max(FEWEST_EXAMPLES, count // 10))


def slice_of(cases: Sequence[Mapping[str, Hashable]]) -> list[int]:
    """The numbers of cases that together have every value of every parameter.

    In each step it takes the case with the most values that no case before it had; of several,
    the one whose values were taken the least, so that the values of a short parameter alternate.
    """
    pairs = [list(case.items()) for case in cases]
    taken: Counter[tuple[str, Hashable]] = Counter()
    missing = {pair for case in pairs for pair in case}
    chosen: list[int] = []
    while missing:
        best = max(
            range(len(pairs)),
            key=lambda n: (
                sum(pair in missing for pair in pairs[n]),
                -sum(taken[pair] for pair in pairs[n]),
                -n,
            ),
        )
        chosen.append(best)
        taken.update(pairs[best])
        missing.difference_update(pairs[best])
    return sorted(chosen)


def check_mark(mark: pytest.Mark, test: str) -> None:
    """Refuse a mark whose cases no target would run."""
    if mark.kwargs.get("target") not in TARGETS:
        raise pytest.UsageError(f"{test}: matrix(target=…) must be one of {', '.join(TARGETS)}")


def deselect(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the slice of each matrix, unless all cases are wanted."""
    matrices: dict[str, list[pytest.Item]] = {}
    for item in items:
        mark = item.get_closest_marker("matrix")
        if mark is None:
            if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
                item.add_marker(pytest.mark.matrix(target="faults"))
            continue
        check_mark(mark, item.nodeid)
        separator = "::" if "of_module" in mark.kwargs else "["
        matrices.setdefault(item.nodeid.partition(separator)[0], []).append(item)
    if WHOLE:
        return
    removed: dict[pytest.Item, str] = {}
    for cases in matrices.values():
        mark = cases[0].get_closest_marker("matrix")
        limits = mark.kwargs if mark else {}
        kept = _kept(cases, limits)
        removed.update(
            (item, limits["target"]) for number, item in enumerate(cases) if number not in kept
        )
    leave(config, items, removed)


def leave(
    config: pytest.Config, items: list[pytest.Item], removed: Mapping[pytest.Item, str]
) -> None:
    """Remove cases from this run, each with the target that runs it, and count them."""
    if not removed:
        return
    config.stash.setdefault(LEFT, Counter()).update(removed.values())
    config.hook.pytest_deselected(items=[item for item in items if item in removed])
    items[:] = [item for item in items if item not in removed]


def left_text(left: Mapping[str, int]) -> str:
    """One line about the cases that a run left to other targets."""
    parts = [f"{count:,} to make {target}" for target, count in sorted(left.items())]
    return f"left to other targets: {', '.join(parts)}"


def _kept(cases: list[pytest.Item], limits: Mapping[str, Any]) -> set[int]:
    if "of_module" in limits:
        return set(share(range(len(cases)), limits["of_module"]))
    # A test without parameters has one case, which stays unless the mark says that none does.
    chosen = slice_of([_values(item) for item in cases]) or [0]
    return set(share(chosen, limits["cases"]) if "cases" in limits else chosen)


def _values(item: pytest.Item) -> dict[str, Hashable]:
    """The values of the parameters; the position stands for one that has no short text."""
    spec: Any = getattr(item, "callspec", None)
    if spec is None:
        return {}
    return {
        name: value if isinstance(value, (str, int)) else ("number", spec.indices[name])
        for name, value in spec.params.items()
    }
