"""The turn that is running, or a new one: the one thing every sign of work may need.

Lowest of the modules about turns, so that prompts, streams and tools can open one without
knowing how turns end; that is `turns`.
"""

from __future__ import annotations

from fairlead.transcript.fold import Fold
from fairlead.transcript.model import Turn

__all__ = ["open_turn"]


def open_turn(fold: Fold, origin: str | None = None) -> str:
    """The id of the turn that is running; opens one if there is none."""
    memory = fold.memory
    if memory.turn is not None:
        return memory.turn
    count = memory.counts["turn"] = memory.counts.get("turn", 0) + 1
    turn = f"turn-{count}"
    if origin is None:
        origin = memory.origin_hint or ("background" if _answers_a_task(fold) else "unknown")
    fold.add("turns", Turn(id=turn, at=fold.at, origin=origin))
    memory.turn = turn
    memory.origin_hint = None
    memory.turn_has_init = memory.turn_has_words = memory.interrupting = False
    memory.stopped_by = None
    memory.foldable.clear()
    return turn


def _answers_a_task(fold: Fold) -> bool:
    """A turn that nobody asked for is the answer to a background task (TRUTH 3)."""
    return not fold.memory.waiting and bool(fold.document.order["background"])
