"""The status, derived in one place from the facts; nobody sets it.

A result is not the end of the work: while the CLI says it is running, or prompts wait, the
session is busy. Run after every message but the deltas of an open text, which cannot change it.
"""

from __future__ import annotations

from fairlead.transcript.fold import Fold
from fairlead.transcript.model import ToolItem
from fairlead.transcript.notices import note
from fairlead.wire.system import SessionStateChanged, Status, ThinkingTokens

__all__ = [
    "LAST_EVENT_STEP_S",
    "STATES",
    "on_session_state",
    "on_status",
    "on_thinking_tokens",
    "refresh",
    "touch",
]

STATES = (
    "starting",
    "ready",
    "thinking",
    "streaming",
    "running_tool",
    "awaiting_approval",
    "compacting",
    "retrying",
    "idle",
    "error",
    "disconnected",
    "ended",
)

LAST_EVENT_STEP_S = 1.0
"""How far `last_event` may lag behind while deltas stream: a change for each would double them."""

_CALM = ("success", "interrupted", "unknown")
"""Outcomes of a turn after which the session is idle and not in error."""


def refresh(fold: Fold, exact: bool = True) -> None:
    """Make the status what the facts say; without `exact` the last event may lag behind."""
    state = _derive(fold)
    old = fold.status
    tool = _running_tool(fold) if state == "running_tool" else None
    background = _background(fold)
    waiting = len(fold.memory.waiting)
    if (state, tool, background, waiting) == (old.state, old.tool, old.background, old.waiting):
        if exact or fold.at - fold.touched >= LAST_EVENT_STEP_S:
            touch(fold)
        return
    fold.touched = fold.at
    fold.put(
        "status",
        state=state,
        since=old.since if state == old.state else fold.at,
        last_event=fold.at,
        tool=tool,
        background=background,
        waiting=waiting,
    )


def touch(fold: Fold) -> None:
    """An event came that changed nothing but the time of the last one."""
    fold.touched = fold.at
    fold.put("status", last_event=fold.at)


def on_status(fold: Fold, message: Status) -> None:
    """The CLI compacts, requests, or is done with it; also tells a new permission mode."""
    if message.permission_mode is not None:
        fold.put("session", permission_mode=message.permission_mode)
    fold.memory.compacting = message.status == "compacting"
    if message.compact_error is not None or message.compact_result == "failed":
        note(
            fold,
            "compaction",
            message.compact_error or "",
            uuid=message.uuid,
            level="warning",
            data={"failed": True},
        )


def on_session_state(fold: Fold, message: SessionStateChanged) -> None:
    """The best sign of life, where there is one (TRUTH 6)."""
    fold.memory.cli_state = message.state


def on_thinking_tokens(fold: Fold, message: ThinkingTokens) -> None:
    """How much the model has thought so far, where the words are withheld."""
    fold.memory.thinking_tokens = message.estimated_tokens
    stream = fold.memory.streams.get(None)
    if stream is None or stream.open != "thinking":
        return
    for block in stream.blocks.values():
        if block.kind == "thinking" and not block.final and block.item is not None:
            fold.set("items", block.item, tokens=message.estimated_tokens)


def _derive(fold: Fold) -> str:
    memory = fold.memory
    if memory.process == "exited":
        return "ended" if memory.exit_expected else "disconnected"
    if fold.document.order["pending"]:
        return "awaiting_approval"
    if memory.compacting:
        return "compacting"
    if not memory.heard:
        return "starting"
    if _busy(fold):
        return _working(fold)
    if memory.last_outcome is None:
        return "ready"
    return "idle" if memory.last_outcome in _CALM else "error"


def _busy(fold: Fold) -> bool:
    memory = fold.memory
    if memory.turn is not None or memory.cli_state == "running":
        return True
    bare = fold.document.bare
    return any(bare("items", one).state == "sent" for one in memory.waiting)


def _working(fold: Fold) -> str:
    memory = fold.memory
    if memory.retry is not None:
        return "retrying"
    stream = memory.streams.get(None)
    if stream is not None and stream.open is not None:
        return "thinking" if stream.open == "thinking" else "streaming"
    return "running_tool" if _running_tool(fold) is not None else "thinking"


def _running_tool(fold: Fold) -> str | None:
    """The newest call of the main conversation that runs, else the newest of a subagent."""
    nested = None
    for item_id in reversed(fold.memory.open_tools):
        item: ToolItem = fold.document.bare("items", item_id)
        if item.state == "running" and item.turn == fold.memory.turn:
            if item.parent is None:
                return item_id
            nested = nested or item_id
    return nested


def _background(fold: Fold) -> int:
    rows = fold.document.rows["background"]
    if not rows:
        return 0
    live = ("running", "paused")
    return sum(1 for one in rows.values() if one.backgrounded and one.state in live)
