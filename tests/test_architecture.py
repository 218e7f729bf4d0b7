"""Every method, folder and link that docs/architecture.md names exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "fairlead"
PAGE = (ROOT / "docs" / "architecture.md").read_text()
LINK = re.compile(r"\]\(([^)#]+)\)")
STATION = re.compile(r"^\| `((?:host|server|store|transcript)/[\w/]+)`", re.MULTILINE)


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
