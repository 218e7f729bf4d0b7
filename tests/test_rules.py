"""Numbered rules and the tests that prove them, checked both ways.

A rule is a list item of docs/*.md that begins with its id in bold, one capital letter and a
number:

    - **W12** One sentence that can be true or false.

A document has one letter, counts from 1 without gaps and uses each id once; no other document
has the same letter. An id in bold anywhere else is a mistake: in running text it is written plain.

A test proves a rule by its name, `test_W12_what_must_be_true`. Each rule has one such test or
more, and each such test names a rule that exists. Read from the source with `ast`: nothing is
imported.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from tests.rules import RULE, documents, ids_of, proofs, rules

BOLD_ID = re.compile(r"\*\*\W*([A-Z]\d+)\b[^*]*\*\*")


def in_order(ids: list[str]) -> list[str]:
    return sorted(ids, key=lambda one: (one[0], int(one[1:])))


def problems_of(document: Path) -> list[str]:
    """What is wrong with the ids of a document, as text."""
    name = document.name
    ids = ids_of(document)
    matches = [f"{name}: {item} is there twice" for item, n in Counter(ids).items() if n > 1]
    characters = sorted({item[0] for item in ids})
    if len(characters) > 1:
        matches.append(f"{name}: its ids have more than one letter: {', '.join(characters)}")
    numbers = {int(item[1:]) for item in ids}
    gaps = sorted(set(range(1, max(numbers, default=0) + 1)) - numbers)
    matches += [f"{name}: {characters[0]}{gap} is missing" for gap in gaps]
    for number, line in enumerate(document.read_text().splitlines(), 1):
        if not RULE.match(line) or len(BOLD_ID.findall(line)) > 1:
            matches += [
                f"{name}:{number}: {item} is bold but no rule; a rule begins `- **{item}** `"
                for item in BOLD_ID.findall(line)
            ]
    return matches


def listed(title: str, lines: list[str]) -> str:
    return "\n  ".join([f"{title} ({len(lines)}):", *lines])


def test_there_are_rules_to_prove() -> None:
    assert len(rules()) > 50


def test_ids_are_unique_contiguous_and_written_in_one_way() -> None:
    matches = [problem for document in documents() for problem in problems_of(document)]
    assert matches == [], listed("rules that are not written as rules are", matches)


def test_each_letter_belongs_to_one_document() -> None:
    homes: dict[str, set[str]] = {}
    for document in documents():
        for item in ids_of(document):
            homes.setdefault(item[0], set()).add(document.name)
    shared = {letter: sorted(names) for letter, names in homes.items() if len(names) > 1}
    assert shared == {}


def test_each_rule_is_proven_by_a_test_that_is_named_after_it() -> None:
    known = rules()
    missing = [f"{item} ({known[item]})" for item in in_order([*known.keys() - proofs().keys()])]
    assert missing == [], listed("rules without a test", missing)


def test_each_test_that_names_a_rule_names_one_that_exists() -> None:
    known = proofs()
    orphans = [f"{item}: {known[item][0]}" for item in in_order([*known.keys() - rules().keys()])]
    assert orphans == [], listed("tests of rules that no document has", orphans)


def write_project(root: Path, document: str, test: str = "") -> None:
    (root / "docs").mkdir()
    (root / "tests" / "deep").mkdir(parents=True)
    (root / "docs" / "sails.md").write_text(document)
    (root / "tests" / "deep" / "test_sails.py").write_text(test)


def test_the_reader_finds_rules_and_the_tests_that_prove_them(tmp_path: Path) -> None:
    write_project(
        tmp_path,
        "# Sails\n\n- **S1** White.\n- **S2** Dry, see S1.\n\n- a **bold** word\n",
        "class TestSails:\n    async def test_S1_are_white(self) -> None: ...\n"
        "def test_S2_are_dry() -> None: ...\ndef test_S2_stay_dry() -> None: ...\n"
        "def test_Sails() -> None: ...\ndef helper_S3_() -> None: ...\n",
    )
    assert rules(tmp_path) == {"S1": "sails.md", "S2": "sails.md"}
    assert problems_of(documents(tmp_path)[0]) == []
    assert {item: len(tests) for item, tests in proofs(tmp_path).items()} == {"S1": 1, "S2": 2}


def test_the_reader_refuses_every_other_way_to_write_a_rule(tmp_path: Path) -> None:
    others = ["* **S1** a", "  - **S1** a", "| **S1** | a |", "1. **S1** a", "**S1** a"]
    others += ["- **S1.** a", "- **S1:** a", "- **S1 a** b", "- **S1**: a", "- a (**S1**)"]
    write_project(tmp_path, "\n".join(others))
    (document,) = documents(tmp_path)
    assert ids_of(document) == []
    assert problems_of(document) == [
        f"sails.md:{n}: S1 is bold but no rule; a rule begins `- **S1** `"
        for n in range(1, len(others) + 1)
    ]


def test_the_reader_reports_missing_duplicate_and_misplaced_ids(tmp_path: Path) -> None:
    write_project(tmp_path, "- **S1** a\n- **S1** b\n- **S4** c\n- **T2** d **S3**\n")
    assert problems_of(documents(tmp_path)[0]) == [
        "sails.md: S1 is there twice",
        "sails.md: its ids have more than one letter: S, T",
        "sails.md: S3 is missing",
        "sails.md:4: T2 is bold but no rule; a rule begins `- **T2** `",
        "sails.md:4: S3 is bold but no rule; a rule begins `- **S3** `",
    ]
