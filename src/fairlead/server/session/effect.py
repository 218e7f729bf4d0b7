"""How much of a session a batch of events can have changed, so that the rest is not computed again.

Most batches of a working CLI add to a text or show a step of the turn. Neither concerns the prompt
queue, budgets, notices or schedules: those depend on requests, turns, limits and facts. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from fairlead.transcript.state.changes import Append, Change
from fairlead.wire.control import ControlResponse
from fairlead.wire.events import Assistant, StreamEvent, ToolProgress, User
from fairlead.wire.inputs import Request
from fairlead.wire.system import Status, ThinkingTokens

__all__ = ["Effect", "effect_of"]


class Effect(IntEnum):
    """What follows from a batch; a larger effect contains the smaller ones."""

    GREW = 0
    """Texts grew; nothing is derived from that."""
    WORKED = 1
    """The turn continued: items, files, figures, the status or a setting changed. Only the session's row
    in the lobby can differ."""
    OTHER = 2
    """Anything else."""


_TEXT: frozenset[type] = frozenset({Append})
_DELTA: frozenset[type] = frozenset({StreamEvent})
_WORK: frozenset[type] = frozenset(
    {StreamEvent, Assistant, User, ToolProgress, ThinkingTokens, Status, Request, ControlResponse}
)
_WORK_SECTIONS = frozenset({"items", "status", "ledger", "files", "tasks", "session"})


def effect_of(kinds: set[type], changes: Sequence[Change]) -> Effect:
    """The effect of events of these types that made these changes."""
    if not kinds <= _WORK:
        return Effect.OTHER
    if kinds <= _DELTA and {type(change) for change in changes} <= _TEXT:
        return Effect.GREW
    if {change.to for change in changes} <= _WORK_SECTIONS:
        return Effect.WORKED
    return Effect.OTHER
