"""How full the context window is: measured on request, otherwise taken from the last usage.

Three sources, best first: the answer to `get_context_usage`, the Markdown that `/context`
prints (all that old CLIs have), and the token counts of the model's last message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isfinite
from typing import Any

from fairlead.transcript.state import plain
from fairlead.transcript.state.fold import Fold
from fairlead.wire.usage import Usage

__all__ = ["take_answer", "take_markdown", "take_usage", "take_window"]

_TOTAL = re.compile(r"\*\*Tokens:\*\*\s*([\d.,]+[kKmM]?)\s*/\s*([\d.,]+[kKmM]?)\s*\(([\d.]+)%\)")
_AMOUNT = re.compile(r"[\d.,]+[kKmM]?")
_LONGEST = 64 * 1024
"""Characters of the report that are read; a real one has two thousand."""
_FACTOR = {"k": 1_000, "m": 1_000_000}


def take_answer(fold: Fold, answer: Any, source: str = "control") -> None:
    """The CLI's own account; camel case as an answer, snake case on a `/context` line."""
    used = plain.number(plain.field_of(answer, "totalTokens", "total_tokens"))
    window = plain.number(plain.field_of(answer, "maxTokens", "rawMaxTokens", "raw_max_tokens"))
    if used is None:
        return
    percentage = plain.number(plain.field_of(answer, "percentage"))
    categories = [
        {
            "name": plain.text(row.get("name")),
            "tokens": plain.number(row.get("tokens")),
            "kind": row.get("kind"),
        }
        for row in plain.rows(plain.field_of(answer, "categories"))
    ]
    _put(fold, used, window, percentage, categories, source)


def take_markdown(fold: Fold, text: str) -> None:
    """The table that `/context` prints."""
    if "Context Usage" not in text[:200]:
        return
    text = text[:_LONGEST]
    total = _TOTAL.search(text)
    if total is None:
        return
    first_table = re.split(r"\n#{2,3} (?!Estimated)", text[total.end() :])[0]
    categories = [
        {"name": name, "tokens": _tokens(tokens), "kind": None}
        for name, tokens in _rows(first_table)
    ]
    _put(fold, _tokens(total[1]), _tokens(total[2]), _decimal(total[3]), categories, "command")


def _rows(table: str) -> Iterator[tuple[str, str]]:
    """The first two cells of each row of a table whose second is an amount."""
    for line in table.split("\n"):
        cells = [cell.strip() for cell in line.split("|", 3)]
        if len(cells) == 4 and not cells[0] and cells[1] and _AMOUNT.fullmatch(cells[2]):
            yield cells[1], cells[2]


def take_usage(fold: Fold, model: str | None, usage: Usage) -> None:
    """The model's last message says how much it was given."""
    used = (
        (usage.input_tokens or 0)
        + (usage.cache_read_input_tokens or 0)
        + (usage.cache_creation_input_tokens or 0)
    )
    known = _known(fold)
    if used > 0 and known.get("used") != used:
        categories = known.get("categories") or []
        _put(fold, used, _window(fold, model), None, categories, "usage")


def take_window(fold: Fold) -> None:
    """A result says how large the window of each model is."""
    known = _known(fold)
    window = _window(fold, None)
    if known.get("source") == "usage" and window != known.get("window"):
        _put(fold, known["used"], window, None, known["categories"], "usage")


def _put(
    fold: Fold,
    used: float,
    window: float | None,
    percentage: float | None,
    categories: list[dict[str, Any]],
    source: str,
) -> None:
    if percentage is None and window:
        percentage = round(100 * used / window, 1)
    fold.put(
        "ledger",
        context={
            "used": used,
            "window": window,
            "percentage": percentage,
            "categories": categories,
            "source": source,
            "at": fold.at,
        },
    )


def _window(fold: Fold, model: str | None) -> float | None:
    models = fold.ledger.models
    for name in (model, fold.session.model):
        known = models.get(name or "")
        if known and known.get("context_window"):
            return plain.number(known["context_window"])
    return plain.number(_known(fold).get("window"))


def _known(fold: Fold) -> dict[str, Any]:
    return fold.ledger.context or {}


def _tokens(text: str) -> float:
    """`17.3k`, `1m` or `3,200` as a number."""
    factor = _FACTOR.get(text[-1:].lower(), 1)
    value = _decimal(text.rstrip("kKmM").replace(",", "")) * factor
    return int(value) if value == int(value) else round(value)


def _decimal(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if isfinite(value) else 0.0
