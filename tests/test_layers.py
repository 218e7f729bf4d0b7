"""Imports point one way (docs/architecture.md). Read from the source, so nothing can hide."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "fairlead"

MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "wire": {"errors"},
    "transcript": {"errors", "wire"},
    "permissions": {"errors", "wire"},
    "host": {"errors", "wire"},
    "emulator": {"errors", "wire", "permissions"},
    "store": {"errors", "wire", "transcript"},
    "guarding": {"errors", "wire", "host", "permissions"},
    "live": {"errors", "wire", "host", "transcript", "permissions", "store", "guarding"},
    "sync": {"errors", "wire", "host", "transcript", "live"},
    "server": {"errors", "wire", "host", "transcript", "permissions", "store", "live", "guarding"},
}
"""Layer -> the other layers it may import. `commands`, `testing` and the public front may use all."""

FREE = {"__init__", "__main__", "commands", "testing"}

PURE = ("wire", "transcript", "permissions", "host/engine.py", "host/argv.py", "server/hub.py")
IMPURE_FILES = {"permissions/settings.py", "permissions/audit_log.py"}
OUTSIDE_WORLD = {
    "asyncio", "datetime", "os", "random", "secrets", "shutil", "signal", "socket", "sqlite3",
    "subprocess", "tempfile", "threading", "time", "uuid",
}  # fmt: skip


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def layer_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the layer"
            names.add(node.module or "")
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_there_is_source_to_check() -> None:
    assert len(modules()) > 10


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_module_imports_only_from_the_layers_below(path: Path) -> None:
    layer = layer_of(path)
    if layer in FREE:
        return
    own = {name.split(".")[1] for name in imported(path) if name.startswith("fairlead.")}
    assert own - {layer} <= MAY_IMPORT[layer]


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_pure_module_does_not_reach_the_outside_world(path: Path) -> None:
    relative = path.relative_to(SOURCE).as_posix()
    if relative in IMPURE_FILES or not relative.startswith(PURE):
        return
    assert not {name.split(".")[0] for name in imported(path)} & OUTSIDE_WORLD


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_module_fits_in_a_head(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 600
