"""Money and tokens: what each turn cost, and the sum that survives the CLI's own restarts.

The CLI reports running totals that start again after `/clear`, after a resume on older
versions, and after a killed process (CLI-508). 2.1.325 also reports the difference itself,
which is exact; for the others it is taken here, and a total that went down is a restart.
"""

from __future__ import annotations

from typing import Any

from fairlead.transcript.reducers import context
from fairlead.transcript.state import plain
from fairlead.transcript.state.facts import Accounted
from fairlead.transcript.state.fold import Fold
from fairlead.wire.events import Result
from fairlead.wire.usage import ModelUsage, read_model_usage

__all__ = ["on_accounted", "take_result"]

_COUNTED = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "thinking_tokens",
    "web_search_requests",
    "cost_usd",
)
_DIGITS = 10
"""Enough for the smallest price; rounds away what binary fractions add."""


def take_result(fold: Fold, turn: str, message: Result) -> None:
    """The costs of one turn."""
    memory = fold.memory
    reported = message.total_cost_usd
    restarted = memory.fresh_process or (reported is not None and reported < memory.last_total)
    if restarted:
        memory.last_total, memory.last_models = 0.0, {}
    totals = {name: _numbers(usage) for name, usage in message.model_usage.items()}
    spent = _since_last_result(message)
    if spent is None:
        spent = _differences(totals, memory.last_models)
        cost = 0.0 if reported is None else reported - memory.last_total
    else:
        cost = float(sum(usage["cost_usd"] for usage in spent.values()))
    cost = round(max(cost, 0.0), _DIGITS)
    fold.set(
        "turns",
        turn,
        cost_usd=cost,
        models=spent,
        api_ms=message.duration_api_ms,
    )
    fold.put(
        "ledger",
        cost_usd=round(fold.ledger.cost_usd + cost, _DIGITS),
        models=_sum(fold.ledger.models, spent, message.model_usage),
        duration_ms=round(fold.ledger.duration_ms + max(message.duration_ms or 0.0, 0.0), 3),
    )
    context.take_window(fold)
    if reported is not None:
        fold.put("ledger", reported_usd=reported)
        memory.last_total = reported
        memory.fresh_process = False
    memory.last_models = totals


def on_accounted(fold: Fold, fact: Accounted) -> None:
    """A transcript file says what the session had cost so far."""
    totals = {
        name: read_model_usage(value)
        for name, value in fact.models.items()
        if isinstance(value, dict)
    }
    spent = {name: _numbers(usage) for name, usage in totals.items()}
    fold.put(
        "ledger",
        cost_usd=round(fact.total_usd, _DIGITS),
        reported_usd=fact.total_usd,
        models=_sum({}, spent, totals),
    )
    fold.memory.last_total, fold.memory.last_models = fact.total_usd, spent


def _since_last_result(message: Result) -> dict[str, dict[str, Any]] | None:
    """The CLI's own difference; the field has no typed twin."""
    if b"model_usage_since_last_result" not in message.raw:
        return None
    reported = plain.mapping(message.data).get("model_usage_since_last_result")
    if not isinstance(reported, dict):
        return None
    return {
        name: _numbers(read_model_usage(value))
        for name, value in reported.items()
        if isinstance(value, dict)
    }


def _numbers(usage: ModelUsage) -> dict[str, Any]:
    return {name: getattr(usage, name) or 0 for name in _COUNTED}


def _differences(
    totals: dict[str, dict[str, Any]], before: dict[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    spent = {}
    for name, counts in totals.items():
        old = before.get(name, {})
        restarted = any(counts[key] < old.get(key, 0) for key in _COUNTED)
        base = {} if restarted else old
        difference = {
            key: round(value - base.get(key, 0), _DIGITS) for key, value in counts.items()
        }
        if any(difference.values()):
            spent[name] = difference
    return spent


def _sum(
    models: dict[str, Any], spent: dict[str, dict[str, Any]], reported: dict[str, ModelUsage]
) -> dict[str, Any]:
    summed = dict(models)
    for name, counts in spent.items():
        old = summed.get(name, {})
        summed[name] = {
            **{key: round(old.get(key, 0) + value, _DIGITS) for key, value in counts.items()},
            "context_window": old.get("context_window"),
        }
    for name, usage in reported.items():
        if usage.context_window is not None and name in summed:
            summed[name] = {**summed[name], "context_window": usage.context_window}
    return summed
