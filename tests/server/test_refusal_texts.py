"""The reasons that the server gives to users, who read them in toasts, are sentences."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import fairlead.server

SOURCE = Path(str(fairlead.server.__file__)).parent


def refusals() -> Iterator[tuple[str, str]]:
    """The place and the literal text of every refusal; what is filled in is `…`."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "Refusal":
                continue
            if len(node.args) > 1 and (text := literal(node.args[1])):
                yield f"{path.relative_to(SOURCE)}:{node.lineno}", text


def literal(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(literal(part) or "…" for part in node.values)
    return ""


def test_every_refusal_is_a_sentence() -> None:
    texts = dict(refusals())
    assert len(texts) > 50
    wrong = {
        place: text
        for place, text in texts.items()
        if text[0].islower() or not text.endswith((".", "?", "…"))
    }
    assert wrong == {}
