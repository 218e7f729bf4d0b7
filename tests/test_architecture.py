"""Every method, folder, path and link that the pages for contributors name exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "fairlead"
PAGE = (ROOT / "docs" / "architecture.md").read_text()
LINK = re.compile(r"\]\(([^)#]+)\)")
STATION = re.compile(r"^\| `((?:fleet|host|server|store|transcript)/[\w/]+)`", re.MULTILINE)


def methods() -> set[str]:
    """`Class.method` for every class of the package."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                found |= {
                    f"{node.name}.{inner.name}"
                    for inner in node.body
                    if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef)
                }
    return found


def named_methods() -> list[str]:
    pairs = re.findall(r"`(_?[A-Z]\w*\.\w+)`", PAGE)
    return sorted({name for name in pairs if not name.endswith(".Session")})


def test_the_page_names_methods() -> None:
    assert len(named_methods()) > 15


def test_every_method_that_the_page_names_exists() -> None:
    existing = methods()
    assert [name for name in named_methods() if name not in existing] == []


@pytest.mark.parametrize("station", sorted(set(STATION.findall(PAGE))))
def test_every_station_is_a_module_or_a_folder(station: str) -> None:
    path = SOURCE / station
    assert path.is_dir() or path.with_suffix(".py").exists()


@pytest.mark.parametrize("link", sorted(set(LINK.findall(PAGE))))
def test_every_link_leads_somewhere(link: str) -> None:
    assert (ROOT / "docs" / link).exists()


def test_the_table_of_packages_names_every_package_and_its_folders() -> None:
    table = PAGE.split("## Packages")[1]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    missing = []
    for package in sorted(path for path in SOURCE.iterdir() if (path / "__init__.py").exists()):
        row = next((row for row in rows if row.startswith(f"| `{package.name}/`")), None)
        assert row is not None, package.name
        folders = [path.name for path in package.iterdir() if (path / "__init__.py").exists()]
        missing += [f"{package.name}/{name}" for name in folders if f"`{name}/`" not in row]
    assert missing == []


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/glossary.md", "tests/README.md"])
def test_every_path_that_a_page_for_contributors_names_exists(page: str) -> None:
    text = (ROOT / page).read_text()
    paths = re.findall(r"`((?:bench|deploy|docs|src|tests|web)/[\w./-]+)`", text)
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_terms_of_the_glossary_are_in_alphabetical_order() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text().split("|---|---|")[1]
    terms = [line.split("|")[1].strip().lower() for line in text.strip().splitlines()]
    assert len(terms) > 25
    assert terms == sorted(terms)
