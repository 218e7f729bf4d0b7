"""The lists of abuse cases, faults and promises name tests that exist, and miss none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SECURITY, FAULTS = ROOT / "docs" / "security.md", ROOT / "docs" / "faults.md"
NAMED = re.compile(r"`((?:tests|web/tests)/[\w/]+(?:\.test)?\.(?:py|ts))(?:::(test_\w+))?`")
CITED = re.compile(r"\b([TF]-\d{2,3})\b")


def listed(document: Path, letter: str) -> dict[str, str]:
    """Id -> its row; a row may be about several."""
    found = {}
    for line in document.read_text().splitlines():
        if line.startswith("| "):
            for entry in re.findall(rf"{letter}-\d+", line.split("|")[1]):
                assert entry not in found, f"{entry} is there twice"
                found[entry] = line
    return found


@pytest.mark.parametrize("document", [SECURITY, FAULTS], ids=lambda path: path.name)
def test_every_test_that_is_named_exists(document: Path) -> None:
    named = NAMED.findall(document.read_text())
    assert len(named) > 50
    for path, test in named:
        assert (ROOT / path).is_file(), path
        if test:
            assert re.search(rf"def {test}\(", (ROOT / path).read_text()), f"{path}::{test}"


def test_every_abuse_case_fault_and_promise_has_a_test_or_a_reason() -> None:
    cases, faults = listed(SECURITY, "T"), listed(FAULTS, "F")
    assert {f"T-{n:02}" for n in range(1, 38)} <= cases.keys()
    assert faults.keys() == {f"F-{n:02}" for n in range(1, 63)}
    for name, row in {**cases, **faults}.items():
        assert NAMED.search(row.split("|")[3]) or "Not tested: " in row, name
    promises = re.findall(r"(?m)^\| (\d+) \| .+ \| (.+) \|$", SECURITY.read_text())
    assert [int(number) for number, _ in promises] == list(range(1, 21))
    for number, proof in promises:
        known = set(CITED.findall(proof))
        assert known or "Not promised: " in proof, number
        assert known <= cases.keys() | faults.keys(), number


def test_every_id_that_the_sources_name_is_listed() -> None:
    known = listed(SECURITY, "T").keys() | listed(FAULTS, "F").keys()
    for top, pattern in (
        ("src", "*.py"),
        ("tests", "*.py"),
        ("web/src", "*.ts"),
        ("web/src", "*.svelte"),
    ):
        for path in sorted((ROOT / top).rglob(pattern)):
            if path.name == Path(__file__).name:
                continue
            missing = set(CITED.findall(path.read_text())) - known
            assert not missing, f"{path.relative_to(ROOT)}: {', '.join(sorted(missing))}"
