"""`make test` runs a slice of each long matrix, and another target runs what the slice leaves out.

Whatever is left out, `make test` runs at least one test of each numbered rule, of each page of the web
app, of each kind of request and of each kind of attack in a browser.
"""

from __future__ import annotations

import ast
import itertools
import os
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from tests.e2e.real_cli.conftest import one_of_each_rule
from tests.matrix import TARGETS, check_mark, left_text, slice_of
from tests.rules import proofs, rules

ROOT = Path(__file__).parents[1]
BROWSER = ROOT / "tests" / "e2e" / "browser"

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

@pytest.mark.matrix(target="browser", cases=0)
@pytest.mark.parametrize("kind", ["a", "b"])
def test_elsewhere(kind):
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
    browser: set[str]


@pytest.fixture(scope="module")
def selected(tmp_path_factory: pytest.TempPathFactory) -> Selected:
    folder = tmp_path_factory.mktemp("sample")
    (folder / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    (folder / "test_sample.py").write_text(SAMPLE)
    (folder / "test_module.py").write_text(MODULE)
    others = (
        collected(folder, "-m", f"matrix(target='{target}')", matrix="whole")
        for target in ("faults", "conformance", "browser")
    )
    return Selected(collected(folder), *others)


def test_the_targets_together_run_every_case(selected: Selected) -> None:
    assert Counter(name.partition("[")[0] for name in set().union(*selected)) == {
        "test_first": 4,
        "test_second": 1,
        "test_pages": 12,
        "test_recordings": 5,
        "test_product": 4,
        "test_generated": 1,
        "test_elsewhere": 2,
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
    recipes = {
        target: makefile.partition(f"\n{target}:")[2].partition("\n\n")[0] for target in TARGETS
    }
    for target in ("conformance", "faults"):
        assert f"$(MATRIX) -m \"matrix(target='{target}')\"" in recipes[target]
    whole = "FAIRLEAD_MATRIX=whole $(ISOLATED) $(BIN)/pytest tests/e2e/browser "
    assert whole in recipes["browser"]
    strangers = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("test_*.py")
        if BROWSER not in path.parents and path != Path(__file__)
        if 'matrix(target="browser"' in path.read_text("utf-8")
    ]
    assert strangers == []
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


def test_a_run_says_how_many_cases_it_leaves_to_each_target() -> None:
    left = Counter(browser=157, conformance=1184)
    assert left_text(left) == (
        "left to other targets: 157 to make browser, 1,184 to make conformance"
    )


def test_each_rule_is_proven_in_make_test() -> None:
    run = {item for item, tests in proofs().items() if any(map(_is_run, tests))}
    assert rules().keys() - run == set(), "rules whose tests all have matrix(cases=0)"


def test_of_the_real_cli_one_case_of_each_rule_runs() -> None:
    names = ["test_story", "test_B44_long", "test_B44_short", "test_C34_a", "test_last"]
    cases: Any = {name: [SimpleNamespace(name=name)] for name in names}
    chosen = [same[0].name for same in one_of_each_rule(cases)]
    assert chosen == ["test_B44_short", "test_C34_a"]
    del cases["test_B44_long"], cases["test_B44_short"], cases["test_C34_a"]
    assert [same[0].name for same in one_of_each_rule(cases)] == ["test_story"]


def test_each_page_of_the_web_app_is_opened_in_make_test() -> None:
    routes = (ROOT / "web" / "src" / "core" / "routes.ts").read_text("utf-8")
    lists = re.findall(r"PAGES = \[([^]]*)\]", routes)
    pages = {name for names in lists for name in re.findall(r'"(\w+)"', names)}
    pages |= set(re.findall(r'readonly page: "(\w+)"', routes)) - {"home", "session"}
    assert len(pages) > 15
    sources = _sources_run()
    missing = {page for page in pages if not re.search(rf"""[/"']{page}\b""", sources)}
    assert missing == set()


@pytest.mark.parametrize(
    "kind",
    ["Bash", "Edit", "Write", "NotebookEdit", "AskUserQuestion", "ExitPlanMode", "form", "url"],
)
def test_each_kind_of_request_is_shown_in_make_test(kind: str) -> None:
    words = f"""mode=['"]{kind}['"]""" if kind.islower() else f"""['"]{kind}['"]"""
    assert re.search(words, _sources_run())


def test_each_kind_of_attack_in_a_browser_is_tried_in_make_test() -> None:
    kinds = ("test_attacks_*.py", "test_dialog_*.py", "test_payloads*.py")
    files = [path for kind in kinds for path in BROWSER.glob(kind)]
    assert len(files) >= 10
    assert [path.name for path in files if not _names_run(path)] == []


def _is_run(test: str) -> bool:
    """Whether `make test` runs a case of a test, given as FILE::NAME."""
    file, _, name = test.partition("::")
    return name in _names_run(ROOT / file)


@cache
def _names_run(path: Path) -> set[str]:
    """The test functions of a file of which `make test` surely runs a case, with those of classes."""
    text = path.read_text("utf-8")
    if "cases=0" not in text and "of_module=" not in text:
        return set(re.findall(r"def (test_\w+)", text))
    tree = ast.parse(text)
    if any(re.search("of_module=", ast.unparse(node)) for node in tree.body if _is_mark(node)):
        return set()
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.name.startswith("test_")
        and not any("cases=0" in ast.unparse(mark) for mark in node.decorator_list)
    }


@cache
def _sources_run() -> str:
    """The browser tests that `make test` runs, with the functions that they share."""
    parts: list[str] = []
    for path in BROWSER.glob("test_*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            name = getattr(node, "name", "")
            if not name.startswith("test_") or name in _names_run(path):
                parts.append(ast.unparse(node))
    return "\n".join(parts)


def _is_mark(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"
