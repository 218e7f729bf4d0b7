"""Imports point one way, and a pure folder does no I/O (docs/architecture.md).

`MAY_IMPORT` orders the packages directly below `fairlead`. `INSIDE` orders what each of the large
ones contains: an entry may import only the entries before it. An entry is a folder, or a module
that stands directly in the package. Everything is read from the source with `ast`, imports under
`TYPE_CHECKING` included, so that nothing is hidden from the check.
"""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "fairlead"

MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "version": set(),
    "wire": {"errors"},
    "transcript": {"errors", "wire"},
    "permissions": {"errors", "wire"},
    "host": {"errors", "wire"},
    "git": {"errors"},
    "interrupts": set(),
    "model_api": {"errors", "interrupts", "wire"},
    "emulator": {"errors", "interrupts", "wire", "permissions", "model_api"},
    "store": {"errors", "wire", "transcript"},
    "guarding": {"errors", "wire", "host", "permissions"},
    "transcript_observer": {"wire", "host", "transcript"},
    "live": {
        "errors", "wire", "host", "transcript", "permissions", "store", "guarding",
        "transcript_observer",
    },
    "blocking": {"errors"},
    "server": {
        "errors", "wire", "host", "transcript", "permissions", "store", "live", "guarding",
        "transcript_observer", "git", "version",
    },
    "fleet": {
        "errors", "wire", "transcript", "permissions", "store", "host", "git", "server", "version",
    },
}  # fmt: skip
"""Package -> the other packages it may import. `FREE` packages may import all."""

FREE = {"__init__", "__main__", "commands", "sync", "sync_session", "testing"}

INSIDE: dict[str, tuple[str, ...]] = {
    "transcript": ("state", "reducers", "*", "history"),
    "permissions": ("model", "rules", "shell", "*"),
    "git": ("errors", "repository", "formats", "reader", "*"),
    "fleet": ("protocol", "bus", "node", "gateway", "*"),
    "store": ("log", "database", "tables", "cli_files", "*"),
    "host": ("literals", "engine", "mcp", "requests", "process", "options", "*"),
    "emulator": ("state", "script", "tools", "protocol", "mcp", "turn", "engine", "process", "*"),
    "server": (
        "memory", "limits", "refusal", "ticks", "background", "files", "working_files", "branches", "trust",
        "worktree_settings", "policy", "profiles",
        "protocol", "limit_book", "access", "hub", "view", "session", "sessions", "review", "terminal", "intents",
        "http", "workbench", "notices", "budgets", "schedules", "sockets", "bridge",
        "*",
    ),
}  # fmt: skip
"""Package -> its folders and modules, lowest first. `*` stands for every module that is not named."""

PURE = (
    "fleet/protocol",
    "wire",
    "transcript",
    "permissions",
    "git/formats",
    "host/engine",
    "server/budgets/rules",
    "server/hub",
    "server/notices/rules",
    "server/protocol",
    "server/schedules/rules",
    "server/terminal/output",
    "server/view",
    "emulator/state",
)
IMPURE_FILES = {
    "permissions/rules/settings.py",  # reads the CLI's settings files
    "permissions/audit_log.py",  # appends to the audit log
    "wire/decoders.py",  # a lock, because threads create decoders too
    "server/view/pending_offers.py",  # computes choices in a thread, with a deadline
    "server/view/session_view.py",  # asks the file system what a path is
}
OUTSIDE_WORLD = {
    "asyncio", "datetime", "os", "random", "secrets", "shutil", "signal", "socket", "sqlite3",
    "subprocess", "tempfile", "threading", "time", "uuid",
}  # fmt: skip
MOST_FILES = 21
"""Files in a folder: 20 modules and `__init__`. A larger folder needs a finer division."""


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def layer_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@functools.cache
def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import hides the layer"
            names.add(node.module or "")
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def rank(package: str, parts: list[str]) -> int | None:
    """The position of a module in `INSIDE`; None for the package itself."""
    order = INSIDE[package]
    if not parts:
        return None
    return order.index(parts[0]) if parts[0] in order else order.index("*")


def inner_imports(names: set[str], package: str) -> set[str]:
    """Those of some imports that are modules of a package, as paths below the package."""
    prefix = f"fairlead.{package}."
    matches = {name.removeprefix(prefix) for name in names if name.startswith(prefix)}
    return {name for name in matches if is_module(package, name)}


def is_module(package: str, dotted: str) -> bool:
    base = SOURCE / package / dotted.replace(".", "/")
    return base.with_suffix(".py").exists() or base.is_dir()


def wrong_packages(path: Path, names: set[str]) -> set[str]:
    """The packages of these imports that a module must not import."""
    layer = layer_of(path)
    own = {name.split(".")[1] for name in names if name.startswith("fairlead.")}
    return set() if layer in FREE else own - {layer} - MAY_IMPORT[layer]


def wrong_inside(path: Path, names: set[str]) -> set[str]:
    """The modules of its own package in these imports that are above a module."""
    package = layer_of(path)
    own = rank(package, [*path.relative_to(SOURCE / package).with_suffix("").parts])
    assert own is not None
    above = set()
    for name in inner_imports(names, package):
        other = rank(package, name.split("."))
        assert other is not None
        if other > own:
            above.add(f"{package}.{name}")
    return above


def impurities(path: Path, names: set[str]) -> set[str]:
    """The modules in these imports that a module of a pure folder must not use."""
    folders = tuple(f"{folder}/" for folder in PURE)
    if name_of(path) in IMPURE_FILES or not name_of(path).startswith(folders):
        return set()
    return {name.split(".")[0] for name in names} & OUTSIDE_WORLD


def test_the_checks_notice_an_import_that_points_the_wrong_way() -> None:
    wire, hub = SOURCE / "wire" / "events.py", SOURCE / "server" / "hub" / "hub.py"
    assert wire.exists()
    assert hub.exists()
    assert wrong_packages(wire, {"fairlead.server.hub.hub", "fairlead.wire.decode"}) == {"server"}
    assert wrong_packages(hub, {"fairlead.transcript.reduce"}) == set()
    sockets = "fairlead.server.sockets.sockets"
    assert wrong_inside(hub, {sockets, "fairlead.server.hub.document"}) == {
        "server.sockets.sockets"
    }
    assert impurities(hub, {"asyncio", "collections"}) == {"asyncio"}
    assert impurities(SOURCE / "server" / "sockets" / "sockets.py", {"asyncio"}) == set()


def test_there_is_source_to_check() -> None:
    assert len(modules()) > 10


def test_a_module_imports_only_from_the_packages_below() -> None:
    wrong = {name_of(path): wrong_packages(path, imported(path)) for path in modules()}
    assert {name: packages for name, packages in wrong.items() if packages} == {}


def test_inside_a_package_imports_point_one_way() -> None:
    paths = [path for path in modules() if layer_of(path) in INSIDE]
    assert paths
    wrong = {name_of(path): wrong_inside(path, imported(path)) for path in paths}
    assert {name: above for name, above in wrong.items() if above} == {}


def test_the_modules_of_the_emulator_form_no_cycle() -> None:
    paths = [path for path in modules() if layer_of(path) == "emulator"]
    imports = {
        path.relative_to(SOURCE / "emulator").with_suffix("").as_posix().replace("/", "."): path
        for path in paths
    }
    left = {
        name: inner_imports(imported(path), "emulator") & set(imports)
        for name, path in imports.items()
    }
    while free := {name for name, needed in left.items() if not needed & set(left)}:
        left = {name: needed for name, needed in left.items() if name not in free}
    assert left == {}


def test_a_pure_module_does_not_reach_the_outside_world() -> None:
    folders = tuple(f"{folder}/" for folder in PURE)
    pure = [path for path in modules() if name_of(path).startswith(folders)]
    assert pure
    reaching = {name_of(path): impurities(path, imported(path)) for path in pure}
    assert {name: outside for name, outside in reaching.items() if outside} == {}


def test_a_module_has_at_most_600_lines() -> None:
    lengths = {name_of(path): len(path.read_text().splitlines()) for path in modules()}
    assert {name: length for name, length in lengths.items() if length > 600} == {}


def test_a_folder_holds_at_most_about_twenty_modules() -> None:
    folders = {path.parent for path in modules()}
    large = {
        name_of(folder): count
        for folder in folders
        if (count := sum(1 for _ in folder.glob("*.py"))) > MOST_FILES
    }
    assert large == {}


def test_shared_helpers_of_tests_are_not_in_test_modules() -> None:
    tests = Path(__file__).parent
    importers = {
        path.relative_to(tests).as_posix(): sorted(wrong)
        for path in sorted(tests.rglob("*.py"))
        if (
            wrong := {
                name for name in imported(path) if re.match(r"tests\.(\w+\.)*test_\w+$", name)
            }
        )
    }
    assert importers == {}
