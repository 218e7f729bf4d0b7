"""The state of a machine in words, for `fairlead fleet list` and `doctor`. Pure."""

from __future__ import annotations

from typing import Any

__all__ = ["ago", "counted", "machine_state"]

MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86_400


def machine_state(node: dict[str, Any], now: float) -> str:
    """`here` or `away`, and what is to be known about it. An older gateway says only that."""
    since = node.get("since")
    if not node["here"]:
        return "away" if not since else f"away for {ago(now - since)}"
    parts = ["here"]
    if node.get("draining"):
        parts.append("drained (no new sessions)")
    if node.get("running"):
        parts.append(f"{counted(node['running'], 'session')} running")
    if node.get("problem"):
        parts.append(node["problem"])
    return ", ".join(parts)


def ago(age: float) -> str:
    """A duration in its largest unit."""
    if age < MINUTE_S:
        return "less than a minute"
    for unit_s, name in ((DAY_S, "day"), (HOUR_S, "hour"), (MINUTE_S, "minute")):
        if age >= unit_s:
            return counted(int(age / unit_s), name)
    return ""


def counted(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
