"""The text of a script: parses it as YAML or JSON, and finds the position of a value.

Raises `UsageError` in one line that begins with file, line and column, in the form that editors
and terminals turn into a link.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from msgspec import Struct

from fairlead.emulator.script.schema import Mistake
from fairlead.errors import UsageError

__all__ = ["ScriptSource", "read_source"]


class ScriptSource(Struct):
    """A text and its name in messages."""

    text: str
    name: str = "script"
    is_json: bool = False
    _root: Any = None

    def parse(self) -> Any:
        """The data of the text."""
        try:
            return self._parse_json() if self.is_json else self._parse_yaml()
        except RecursionError:
            raise UsageError(f"{self.name}: the script is nested too deeply.") from None

    def explained(self, mistake: Mistake) -> UsageError:
        """The mistake as an error with its position."""
        line, column = self._position(mistake)
        return UsageError(f"{self.name}:{line}:{column}: {mistake}")

    def _parse_json(self) -> Any:
        try:
            return json.loads(self.text, object_pairs_hook=_distinct)
        except json.JSONDecodeError as problem:
            position = f"{self.name}:{problem.lineno}:{problem.colno}"
            raise UsageError(f"{position}: the script is not JSON: {problem.msg}.") from None
        except Mistake as mistake:
            raise UsageError(f"{self.name}: {mistake}") from None

    def _parse_yaml(self) -> Any:
        yaml = _yaml()
        loader = yaml.SafeLoader(self.text)
        try:
            self._root = loader.get_single_node()
            if self._root is None:
                return None
            _forbid_twins(self._root, self.name)
            return loader.construct_document(self._root)
        except yaml.MarkedYAMLError as problem:
            mark = problem.problem_mark or problem.context_mark
            position = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
            problem_text = " ".join(
                str(word) for word in (problem.problem, problem.context) if word
            )
            raise UsageError(
                f"{self.name}{position}: the script is not YAML: {problem_text}."
            ) from None
        except (yaml.YAMLError, ValueError) as problem:
            problem_text = " ".join(str(problem).split())
            raise UsageError(f"{self.name}: the script is not YAML: {problem_text}") from None
        finally:
            loader.dispose()

    def _position(self, mistake: Mistake) -> tuple[int, int]:
        if self._root is None:
            # JSON is YAML except for its escapes, which do not change positions.
            try:
                self._root = _yaml().compose(self.text, Loader=_yaml().SafeLoader)
            except _yaml().YAMLError:
                return 1, 1
        mark = _mark(self._root, mistake.at, on_key=mistake.on_key)
        return mark.line + 1, mark.column + 1


def read_source(path: Path) -> ScriptSource:
    """The text of a file."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as problem:
        reason = problem.strerror or problem
        raise UsageError(
            f"{path}: the script cannot be read: {reason}. Check FAIRLEAD_SCRIPT."
        ) from None
    except UnicodeDecodeError as problem:
        raise UsageError(f"{path}: the script is not UTF-8: {problem.reason}.") from None
    return ScriptSource(text, str(path), path.suffix == ".json")


def _yaml() -> Any:
    return import_module("yaml")  # only scripts need it


def _mark(node: Any, path: Sequence[str | int], *, on_key: bool) -> Any:
    """Where the value of a path begins; of the nearest node around it if it is not there."""
    mark = node.start_mark
    for depth, part in enumerate(path):
        if node.id == "sequence" and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            mark = node.start_mark
            continue
        pairs = node.value if node.id == "mapping" else ()
        match = next((pair for pair in pairs if pair[0].value == str(part)), None)
        if match is None:
            break
        node = match[1]
        is_last = depth == len(path) - 1
        mark = match[0].start_mark if is_last and on_key else node.start_mark
    return mark


def _forbid_twins(node: Any, name: str) -> None:
    """A key that occurs twice is a mistake, which YAML itself ignores."""
    waiting, seen = [node], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if node.id == "sequence":
            waiting += node.value
        if node.id != "mapping":
            continue
        keys = set()
        for key, value in node.value:
            waiting.append(value)
            if key.id == "scalar" and key.value in keys:
                position = f"{name}:{key.start_mark.line + 1}:{key.start_mark.column + 1}"
                raise UsageError(f"{position}: the key `{key.value}` occurs twice. Remove one.")
            keys.add(key.value if key.id == "scalar" else id(key))


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        names = [key for key, _ in pairs]
        twin = next(key for key in names if names.count(key) > 1)
        raise Mistake((), f"the key `{twin}` occurs twice.", "Remove one.")
    return mapping
