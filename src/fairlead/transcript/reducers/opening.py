"""Opens a turn when the CLI starts to work, unless one is running.

The lowest module about turns: prompts, streams and tools use it without knowing how turns end,
which is in `turns`.
"""

from __future__ import annotations

from fairlead.transcript.reducers.background import link_turn
from fairlead.transcript.state.fold import Fold
from fairlead.transcript.state.model import Turn

__all__ = ["open_turn"]


def open_turn(fold: Fold, origin: str | None = None) -> str:
    """The id of the running turn; opens a turn if none is running."""
    memory = fold.memory
    if memory.turn is not None:
        return memory.turn
    count = memory.counts["turn"] = memory.counts.get("turn", 0) + 1
    turn = f"turn-{count}"
    if origin is None:
        origin = memory.origin_hint or ("background" if _answers_a_task(fold) else "unknown")
    fold.add("turns", Turn(id=turn, at=fold.at, origin=origin))
    memory.turn = turn
    memory.origin_hint = memory.blocked_since = None
    if origin == "background":
        link_turn(fold, turn)
    memory.turn_has_init = memory.turn_has_words = memory.interrupting = False
    memory.stopped_by = None
    memory.foldable.clear()
    return turn


def _answers_a_task(fold: Fold) -> bool:
    """A turn without a prompt answers a background task (CLI-521)."""
    rows = fold.document.rows["background"].values()
    return not fold.memory.waiting and any(row.backgrounded for row in rows)
