"""What `/api/usage` tells: the single source of its types.

The TypeScript types in `web/src/protocol/usage.ts` are generated from this file. Shapes only;
`usage` makes the sums.
"""

from __future__ import annotations

from msgspec import Struct

__all__ = ["UsageReport", "UsageRow"]


class UsageRow(Struct, frozen=True, kw_only=True):
    """What was spent in one period on one model in one project."""

    bucket: int
    """Which of the periods asked for, from 0."""
    project: str
    model: str
    """Empty where nobody told."""
    source: str
    """`log`: sessions of the server, by their results; `files`: of the CLI's own, by its files."""
    input_tokens: int
    output_tokens: int
    cache_read_input_tokens: int
    cache_creation_input_tokens: int
    cost_usd: float


class UsageReport(Struct, frozen=True, kw_only=True):
    """What was spent between the moments asked for."""

    first: float | None
    """When the first was spent that is known of, also before those moments."""
    turns: tuple[int, ...]
    """In each period, of the sessions of the server."""
    rows: tuple[UsageRow, ...]
    file_sessions: int
    """How many sessions of the CLI's own are counted by their files."""
