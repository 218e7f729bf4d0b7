"""Reads the numbered rules of docs/*.md and the tests that are named after them.

`tests/test_rules.py` says how both are written and checks it. Nothing is imported: the tests are read
with `ast`.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

__all__ = ["RULE", "documents", "ids_of", "proofs", "rules"]

ROOT = Path(__file__).parent.parent
RULE = re.compile(r"^- \*\*([A-Z])([1-9]\d*)\*\* \S")
PROOF = re.compile(r"^test_([A-Z]\d+)_\w")

Rules = dict[str, str]
"""Id -> the document that has it."""


def documents(root: Path = ROOT) -> list[Path]:
    return sorted((root / "docs").glob("*.md"))


def ids_of(document: Path) -> list[str]:
    """The ids of a document in the order of its lines."""
    matches = map(RULE.match, document.read_text().splitlines())
    return [f"{rule[1]}{rule[2]}" for rule in matches if rule]


def rules(root: Path = ROOT) -> Rules:
    return {item: path.name for path in documents(root) for item in ids_of(path)}


@cache
def proofs(root: Path = ROOT) -> dict[str, list[str]]:
    """Id -> the tests that are named after it."""
    matches: dict[str, list[str]] = {}
    tests = root / "tests"
    # A contract has tests that several test classes inherit.
    for path in sorted([*tests.rglob("test_*.py"), *tests.rglob("*contract.py")]):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                named = PROOF.match(node.name)
                if named:
                    where = f"{path.relative_to(root)}::{node.name}"
                    matches.setdefault(named[1], []).append(where)
    return matches
