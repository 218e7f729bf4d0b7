"""How many subagents were started, and how they ended: a field of every result. Pure."""

from __future__ import annotations

from collections import Counter
from typing import Any

from msgspec import Struct, field

__all__ = ["SubagentStats"]


class SubagentStats(Struct):
    """The count of a session."""

    by_type: Counter[str] = field(default_factory=Counter)
    requested: Counter[str] = field(default_factory=Counter)
    in_background: int = 0
    completed: int = 0
    killed: int = 0
    failed: int = 0
    tools: set[str] = field(default_factory=set)
    """The names of the tools that subagents have used."""

    def started(self, kind: str, requested: bool | None, *, background: bool) -> None:
        """One more."""
        self.by_type[kind] += 1
        request_kind = "unset" if requested is None else "background" if requested else "foreground"
        self.requested[request_kind] += 1
        self.in_background += background

    def report(self) -> dict[str, Any]:
        """The field as the CLI writes it."""
        spawned = self.by_type.total()
        requested = ("background", "foreground", "unset")
        return {
            "spawned": spawned,
            "requested": {request_kind: self.requested[request_kind] for request_kind in requested},
            "started_in_background": self.in_background,
            "max_depth": min(1, spawned),
            "spawned_by_subagents": 0,
            "completed": self.completed,
            "failed": self.failed,
            "killed": {"parent": 0, "user": self.killed, "system": 0},
            "refused": {"depth_limit": 0, "concurrency_limit": 0, "budget": 0},
            "by_type": dict(self.by_type),
        }
