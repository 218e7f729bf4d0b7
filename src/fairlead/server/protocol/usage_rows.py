"""The response of `/api/usage`: the single source of its types.

The TypeScript types in `web/src/protocol/usage.ts` are generated from this file. Types only;
`usage` computes the sums.
"""

from __future__ import annotations

from msgspec import Struct

__all__ = ["UsageReport", "UsageRow"]


class UsageRow(Struct, frozen=True, kw_only=True):
    """What was spent in one period on one model in one project and profile."""

    bucket: int
    """The index of the period, from 0."""
    project: str
    profile: str
    """Empty for the default one."""
    model: str
    """Empty if it is unknown."""
    source: str
    """`log`: sessions of the server, by their results; `files`: the CLI's own, by their files."""
    input_tokens: int
    output_tokens: int
    cache_read_input_tokens: int
    cache_creation_input_tokens: int
    cost_usd: float


class UsageReport(Struct, frozen=True, kw_only=True):
    """What was spent between the requested timestamps."""

    first: float | None
    """The time of the first known cost, even before those timestamps."""
    turns: tuple[int, ...]
    """The number of turns of the server's sessions in each period."""
    rows: tuple[UsageRow, ...]
    file_sessions: int
    """The number of the CLI's own sessions that are counted by their files."""
