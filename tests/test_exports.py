"""What a module shows is what its `__all__` says, no more and no less."""

from __future__ import annotations

import ast
import importlib
from importlib import metadata
from pathlib import Path

import pytest

import fairlead

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


FRONT = ("fairlead", "fairlead.sync", "fairlead.testing")
"""What programs import from."""


@pytest.mark.parametrize("name", FRONT)
def test_what_the_front_names_exists_and_is_named_once(name: str) -> None:
    front = importlib.import_module(name)
    names: list[str] = front.__all__
    assert len(names) == len(set(names))
    assert [item for item in names if not hasattr(front, item)] == []
    assert set(names) <= set(dir(front))


@pytest.mark.parametrize("module", ["events", "system", "blocks", "stream"])
def test_every_message_block_and_event_is_in_the_front(module: str) -> None:
    """Each class that a program can meet in a message; those of one server tool are blocks too."""
    wire = importlib.import_module(f"fairlead.wire.{module}")
    classes = {name for name in wire.__all__ if isinstance(getattr(wire, name), type)}
    assert classes - set(fairlead.__all__) == set()


def test_the_front_can_be_read_by_a_type_checker() -> None:
    """Every name that is loaded lazily is imported for type checkers, from the same module."""
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    (block,) = [
        node for node in tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node)
    ]
    seen = {
        alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == fairlead._MODULE_OF


def test_the_version_is_that_of_the_package() -> None:
    assert fairlead.__version__ == metadata.version("fairlead")


@pytest.mark.parametrize("package", ["fairlead", "fairlead.permissions"])
def test_no_name_that_is_loaded_late_is_also_a_module(package: str) -> None:
    """Importing the module would set the attribute, so that the name would be the module."""
    loaded = importlib.import_module(package)
    modules = {path.stem for path in Path(str(loaded.__file__)).parent.iterdir()}
    late = {name for names in loaded._HOME.values() for name in names}
    assert late
    assert late & modules == set()
