"""Answers of several machines as one answer. Pure.

Every merged answer has `machines`: how many there are, how many answered, and the names of the
others, so that a page can say "17 of 20 machines; laptop is away".
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest
from typing import Any

__all__ = ["merged_hits", "merged_lists", "merged_usage", "with_machines"]

Answers = list[tuple[str, dict[str, Any]]]
"""The id of each machine, and its answer."""


def with_machines(answer: dict[str, Any], total: int, missing: list[str]) -> dict[str, Any]:
    """An answer with the machines that it is from."""
    asked = {"total": total, "answered": total - len(missing), "missing": missing}
    return {**answer, "machines": asked}


def merged_lists(answers: Answers) -> dict[str, Any]:
    """Lists are joined, with the machine of each row; of other values the first is taken. A folder that
    several machines have is listed once."""
    merged: dict[str, Any] = {}
    for node, answer in answers:
        for key, value in answer.items():
            if isinstance(value, list):
                known = merged.get(key, [])
                rows = [_marked(row, node) for row in value if isinstance(row, dict)]
                texts = [row for row in value if not isinstance(row, dict) and row not in known]
                merged[key] = [*known, *rows, *texts]
            else:
                merged.setdefault(key, value)
    return merged


def merged_hits(
    answers: Answers, name: Callable[[str, str], str], *, newest: bool, offset: int, limit: int
) -> dict[str, Any]:
    """Hits of a search: in turn, because ranks of different databases do not compare; or by time."""
    lists = [
        [
            {**hit, "session": name(node, hit["session"]), "node": node}
            for hit in answer.get("hits", [])
        ]
        for node, answer in answers
    ]
    hits = [hit for turn in zip_longest(*lists) for hit in turn if hit is not None]
    if newest:
        hits.sort(key=lambda hit: -float(hit.get("at") or 0.0))
    return {"hits": hits[offset : offset + limit]}


def merged_usage(answers: Answers) -> dict[str, Any]:
    """Reports of usage: their rows with the machine, and the sums of the other figures."""
    reports = [answer for _, answer in answers]
    firsts = [report["first"] for report in reports if report.get("first") is not None]
    turns = [report.get("turns", []) for report in reports]
    return {
        "first": min(firsts, default=None),
        "turns": [sum(column) for column in zip_longest(*turns, fillvalue=0)],
        "rows": [{**row, "node": node} for node, each in answers for row in each.get("rows", [])],
        "file_sessions": sum(report.get("file_sessions", 0) for report in reports),
    }


def _marked(row: dict[str, Any], node: str) -> dict[str, Any]:
    return {**row, "node": node}
