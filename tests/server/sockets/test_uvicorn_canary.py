"""The private parts of uvicorn that the server builds on are still there.

Classes of uvicorn are subclassed that it does not promise to keep. It is pinned to a minor version
therefore, and this says at once, by name, what an update takes away.
"""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

import fairlead.server

ROOT = Path(__file__).parents[3]
SERVER = Path(fairlead.server.__path__[0])
USED = {
    "sockets/uvicorn_limits.py": (H11Protocol, WebSocketsSansIOProtocol),
    "sockets/websocket_limits.py": (WebSocketsSansIOProtocol,),
}


def test_uvicorn_is_pinned_to_the_minor_version_that_is_tested() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (wanted,) = [each for each in project["dependencies"] if each.startswith("uvicorn")]
    major, minor, *_ = version("uvicorn").split(".")
    assert wanted == f"uvicorn>={major}.{minor},<{major}.{int(minor) + 1}"


def modules_with(pattern: str) -> set[str]:
    return {
        path.relative_to(SERVER).as_posix()
        for path in SERVER.rglob("*.py")
        if re.search(pattern, path.read_text(), re.MULTILINE)
    }


def test_every_module_that_subclasses_uvicorn_is_listed_here() -> None:
    assert modules_with(r"^from fairlead\.server\.sockets\.uvicorn_parts .*Protocol") == set(USED)


def test_uvicorn_is_imported_only_where_its_command_line_is_left_out() -> None:
    assert modules_with(r"^(from|import) uvicorn\b") == {"sockets/uvicorn_parts.py"}


@pytest.mark.parametrize("module", sorted(USED))
def test_uvicorn_has_every_method_and_attribute_that_is_used(module: str) -> None:
    tree = ast.parse((SERVER / module).read_text())
    known = set[str]()
    for base in USED[module]:
        known |= set(dir(base))
        for each in inspect.getmro(base)[:-1]:
            known |= set(re.findall(r"self\.(\w+)", inspect.getsource(each)))
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    own |= {node.name for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef)}
    called_above, read, written = set[str](), set[str](), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            written.add(node.target.id)
        if not isinstance(node, ast.Attribute):
            continue
        if isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "") == "super":
            called_above.add(node.attr)
        elif isinstance(node.value, ast.Name) and node.value.id == "self":
            (written if isinstance(node.ctx, ast.Store) else read).add(node.attr)
    assert called_above, "this module builds on uvicorn"
    assert called_above - {"__init__"} <= known
    assert read - own - written <= known
