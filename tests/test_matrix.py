"""`make test` runs a slice of each long matrix, and another target runs what the slice leaves out."""

from __future__ import annotations

import ast
import itertools
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.matrix import TARGETS, check_mark, slice_of

ROOT = Path(__file__).parents[1]

SAMPLE = """
import pytest
from hypothesis import given, strategies

@pytest.mark.matrix(target="faults")
@pytest.mark.parametrize("width", [1440, 1024, 390])
@pytest.mark.parametrize("page", ["home", "files", "changes", "search"])
def test_pages(page, width):
    pass

@pytest.mark.matrix(target="conformance", cases=2)
@pytest.mark.parametrize("name", ["a", "b", "c", "d", "e"])
def test_recordings(name):
    pass

@pytest.mark.parametrize("left", [1, 2])
@pytest.mark.parametrize("right", [1, 2])
def test_product(left, right):
    pass

@given(strategies.integers())
def test_generated(number):
    pass
"""


MODULE = """
import pytest

pytestmark = pytest.mark.matrix(target="conformance", of_module=2)

@pytest.mark.parametrize("case", ["a", "b", "c", "d"])
def test_first(case):
    pass

def test_second():
    pass
"""


def collected(folder: Path, *arguments: str, matrix: str = "") -> set[str]:
    """The names of the tests that a run selects."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    completed = subprocess.run(
        [*command, "-c", str(ROOT / "pyproject.toml"), *arguments, "."],
        cwd=folder,
        env={**os.environ, "FAIRLEAD_MATRIX": matrix, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    lines = completed.stdout.splitlines()
    return {line.partition("::")[2] for line in lines if "::" in line}


class Selected(NamedTuple):
    """What runs of the sample select."""

    tested: set[str]
    faults: set[str]
    conformance: set[str]


@pytest.fixture(scope="module")
def selected(tmp_path_factory: pytest.TempPathFactory) -> Selected:
    folder = tmp_path_factory.mktemp("sample")
    (folder / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    (folder / "test_sample.py").write_text(SAMPLE)
    (folder / "test_module.py").write_text(MODULE)
    faults, conformance = (
        collected(folder, "-m", f"matrix(target='{target}')", matrix="whole")
        for target in ("faults", "conformance")
    )
    return Selected(collected(folder), faults, conformance)


def test_the_targets_together_run_every_case(selected: Selected) -> None:
    assert Counter(name.partition("[")[0] for name in set().union(*selected)) == {
        "test_first": 4,
        "test_second": 1,
        "test_pages": 12,
        "test_recordings": 5,
        "test_product": 4,
        "test_generated": 1,
    }
    assert Counter(name.partition("[")[0] for name in selected.tested) == {
        "test_first": 1,
        "test_second": 1,
        "test_pages": 4,
        "test_recordings": 2,
        "test_product": 4,
        "test_generated": 1,
    }


def test_a_slice_has_each_value_of_each_parameter(selected: Selected) -> None:
    pages = [name for name in selected.tested if name.startswith("test_pages")]
    words = ("home", "files", "changes", "search", "1440", "1024", "390")
    assert all(any(word in name for name in pages) for word in words)


def test_a_slice_takes_the_values_of_a_short_parameter_in_turn() -> None:
    cases = [{"page": page, "width": width} for page in range(8) for width in ("wide", "narrow")]
    widths = [cases[number]["width"] for number in slice_of(cases)]
    assert sorted(widths) == ["narrow"] * 4 + ["wide"] * 4


def test_a_slice_covers_a_matrix_with_holes() -> None:
    product = itertools.product("abc", "xyz", "12")
    cases = [{"one": a, "two": b, "three": c} for a, b, c in product if (a, b) != ("a", "x")]
    chosen = [cases[number] for number in slice_of(cases)]
    assert {value for case in chosen for value in case.values()} == set("abcxyz12")
    assert len(chosen) == 3


def test_an_unknown_target_is_refused() -> None:
    with pytest.raises(pytest.UsageError, match="conformance"):
        check_mark(pytest.mark.matrix(target="fualts").mark, "test_pages")


def test_the_makefile_runs_the_matrices_of_each_target() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert "MATRIX := FAIRLEAD_MATRIX=whole $(ISOLATED) $(BIN)/pytest tests " in makefile
    for target in TARGETS:
        recipe = makefile.partition(f"\n{target}:")[2].partition("\n\n")[0]
        assert f"$(MATRIX) -m \"matrix(target='{target}')\"" in recipe
    # The conformance program runs the folder that the recipe leaves out.
    assert '"FAIRLEAD_MATRIX": "whole"' in (ROOT / "tests/e2e/conformance.py").read_text("utf-8")


def test_a_test_that_takes_a_share_is_run_whole_elsewhere() -> None:
    wrong = []
    for path in (ROOT / "tests").rglob("test_*.py"):
        text = path.read_text("utf-8")
        if not re.search(r"^from tests.matrix import .*\bshare\b", text, re.MULTILINE):
            continue
        tree = ast.parse(text)
        if any("pytest.mark.matrix" in ast.unparse(node) for node in tree.body if _is_mark(node)):
            continue
        wrong += [
            f"{path.name}: {node.name}"
            for node in tree.body
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            and re.search(r"\bshare\(", ast.unparse(node))
            and not any("mark.matrix" in ast.unparse(mark) for mark in node.decorator_list)
        ]
    assert wrong == []


def _is_mark(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"
