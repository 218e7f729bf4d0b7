"""Every regular expression of the package, found in its source: where, what, and how it is used."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = ["Found", "found_patterns"]

SOURCE = Path(__file__).parent.parent.parent / "src" / "fairlead"
OURS_ONLY = ("emulator", "testing", "commands")
"""Folders that see no foreign text in a server: the emulator for tests, and the terminal
command."""
METHODS = {"match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"}


@dataclass(frozen=True)
class Found:
    """One expression."""

    module: str
    pattern: str
    flags: int
    methods: tuple[str, ...]

    @property
    def listed(self) -> str:
        """Its line in `patterns.txt`."""
        return f"{self.module}: {self.pattern!r}"


def found_patterns() -> list[Found]:
    """All of them, in order of their modules."""
    found: dict[str, Found] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        if path.relative_to(SOURCE).parts[0] in OURS_ONLY:
            continue
        for entry in _in_file(path):
            found.setdefault(entry.listed, entry)
    return list(found.values())


def _in_file(path: Path) -> list[Found]:
    source = path.read_text()
    if "import re\n" not in source:
        return []
    name = path.relative_to(SOURCE).with_suffix("").as_posix().replace("/", ".")
    module = import_module(f"fairlead.{name}".removesuffix(".__init__"))
    found = [_compiled(name, entry, source) for entry in _kept(vars(module))]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and _is_re(node.func) and node.args:
            method = node.func.attr  # type: ignore[attr-defined]
            texts = _texts(node.args[0], vars(module)) if method in METHODS else []
            found += [Found(name, text, _flags(node), (method,)) for text in texts]
    return found


def _is_re(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "re"


def _kept(names: dict[str, Any]) -> list[tuple[str, re.Pattern[str]]]:
    """The compiled ones that a module keeps, also in tuples."""
    found = []
    for name, value in names.items():
        values = value if isinstance(value, tuple) else (value,)
        found += [(name, entry) for entry in values if isinstance(entry, re.Pattern)]
    return found


def _compiled(module: str, kept: tuple[str, re.Pattern[str]], text: str) -> Found:
    name, pattern = kept
    used = set(re.findall(rf"\b{name}\.(\w+)\(", text)) & METHODS
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode()
    return Found(module, source, pattern.flags & ~re.UNICODE, tuple(sorted(used or {"search"})))


def _texts(node: ast.expr, names: dict[str, Any]) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.Name) and isinstance(names.get(node.id), str):
        return [names[node.id]]
    return []


def _flags(node: ast.Call) -> int:
    flags = 0
    for entry in (*node.args[1:], *(keyword.value for keyword in node.keywords)):
        for part in ast.walk(entry):
            if isinstance(part, ast.Attribute) and getattr(part.value, "id", "") == "re":
                flags |= int(re.RegexFlag.__members__.get(part.attr, 0))
    return flags


if __name__ == "__main__":
    listed = "".join(f"{entry.listed}\n" for entry in found_patterns())
    Path(__file__).with_name("patterns.txt").write_text(listed)
