"""What a module shows is what its `__all__` says, no more and no less."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "fairlead"
FOLDERS = ("wire",)


def modules() -> list[str]:
    paths = [path for folder in FOLDERS for path in (SOURCE / folder).rglob("*.py")]
    return sorted(".".join(path.relative_to(SOURCE).with_suffix("").parts) for path in paths)


def tree_of(module: str) -> ast.Module:
    return ast.parse((SOURCE / f"{module.replace('.', '/')}.py").read_text())


def exported(module: str) -> list[str]:
    """The names in the module's `__all__`, read from its source."""
    for node in tree_of(module).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if names == ["__all__"] and isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
            return [str(name) for name in ast.literal_eval(node.value)]
    raise AssertionError(f"{module} has no __all__")


def defined(module: str) -> set[str]:
    """The public names that a module makes itself: classes, functions, constants."""
    names: set[str] = set()
    for node in tree_of(module).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return {name for name in names if not name.startswith("_")}


def as_ruff_sorts(name: str) -> tuple[int, str]:
    """Constants, then classes, then the rest (RUF022)."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


def test_there_are_modules_to_check() -> None:
    assert len(modules()) > 12


@pytest.mark.parametrize("module", modules())
def test_a_module_exports_what_it_defines_and_nothing_else(module: str) -> None:
    assert set(exported(module)) == defined(module)


@pytest.mark.parametrize("module", modules())
def test_what_a_module_exports_is_sorted_and_named_once(module: str) -> None:
    names = exported(module)
    assert names == sorted(set(names), key=as_ruff_sorts)


@pytest.mark.parametrize("module", modules())
def test_what_a_module_exports_exists(module: str) -> None:
    loaded = importlib.import_module(f"fairlead.{module.removesuffix('.__init__')}")
    assert [name for name in exported(module) if not hasattr(loaded, name)] == []
