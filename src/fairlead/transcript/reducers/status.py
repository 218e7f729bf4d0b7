"""The status, derived in one place from the facts.

A result is not the end of the work: while the CLI says it is running, or prompts wait, the
session is busy. Work in the background does not make it busy: 2.1.325 says that it is running
while a background agent works, and idle while only a background command does (CLI-1105). Run
after every message but the deltas of an open text, which cannot change it.
"""

from __future__ import annotations

from fairlead.transcript.reducers.background import agents_run, below_background
from fairlead.transcript.reducers.notices import note
from fairlead.transcript.state.fold import LAST_EVENT_STEP_S, Fold
from fairlead.transcript.state.memory import Memory
from fairlead.transcript.state.model import Background, ToolItem
from fairlead.wire.system import SessionStateChanged, Status, ThinkingTokens

__all__ = [
    "STATES",
    "add_waited",
    "on_session_state",
    "on_status",
    "on_thinking_tokens",
    "refresh",
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

_CALM = ("success", "interrupted", "host_stopped", "unknown")
"""Outcomes of a turn after which the session is idle and not in error."""


def refresh(fold: Fold, exact: bool = True, quiet: bool = False) -> None:
    """Make the status what the facts say; without `exact` the last event may lag behind.

    With `quiet` the event is no sign of activity, and the time of the last event stays.
    """
    document, memory = fold.document, fold.memory
    if document.order["pending"] or memory.blocked_since is not None:
        _count_waiting(fold)
    elif fold.of_one_moment and not quiet:
        # The state has changed at this moment already, so only the last state of it matters.
        status = document.parts["status"]
        if status.since == status.last_event == fold.at:
            fold.unsettled = True
            return
    state, tool = _derive(fold, memory)
    rows = document.rows["background"]
    background = _background(rows) if rows else 0
    old = document.parts["status"]
    if (
        state == old.state
        and tool == old.tool
        and background == old.background
        and len(memory.waiting) == old.waiting
    ):
        if not quiet and (exact or fold.at - fold.touched >= LAST_EVENT_STEP_S):
            fold.touch()
        return
    fold.touched = at = fold.at
    fold.put(
        "status",
        state=state,
        since=old.since if state == old.state else at,
        last_event=old.last_event if quiet else at,
        tool=tool,
        background=background,
        waiting=len(memory.waiting),
    )


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
    """The most reliable sign of activity, where the CLI sends it (CLI-525)."""
    fold.memory.cli_state = message.state


def on_thinking_tokens(fold: Fold, message: ThinkingTokens) -> None:
    """How much the model has thought so far, where the text is hidden."""
    tokens = fold.memory.thinking_tokens = message.estimated_tokens
    stream = fold.memory.streams.get(None)
    if stream is not None and stream.open == "thinking":
        for block in stream.blocks.values():
            if block.kind == "thinking" and not block.final and block.item is not None:
                fold.set("items", block.item, tokens=tokens)


def _derive(fold: Fold, memory: Memory) -> tuple[str, str | None]:
    """The state, and the tool that is running in it."""
    if memory.process == "exited":
        return ("ended" if memory.exit_expected else "disconnected"), None
    if fold.document.order["pending"]:
        return "awaiting_approval", None
    if memory.compacting:
        return "compacting", None
    if not memory.heard:
        return "starting", None
    if memory.turn is None and not _busy_without_turn(fold):
        if memory.last_outcome is None:
            return "ready", None
        return ("idle" if memory.last_outcome in _CALM else "error"), None
    if memory.retry is not None:
        return "retrying", None
    stream = memory.streams.get(None)
    if stream is not None and stream.open is not None:
        return _WHILE_OPEN[stream.open]
    if memory.open_tools and (tool := _running_tool(fold)) is not None:
        return "running_tool", tool
    return _THINKING


_THINKING = ("thinking", None)
_WHILE_OPEN = {
    "thinking": _THINKING,
    "text": ("streaming", None),
    "tool": ("streaming", None),
}
"""The state by the kind of the block that is growing."""


def _busy_without_turn(fold: Fold) -> bool:
    memory = fold.memory
    if memory.cli_state == "running" and not agents_run(fold):
        return True
    bare = fold.document.bare
    return any(bare("items", prompt).state == "sent" for prompt in memory.waiting)


def _running_tool(fold: Fold) -> str | None:
    """The newest running call of the main conversation, else of a subagent in the foreground."""
    nested = None
    for item_id in reversed(fold.memory.open_tools):
        item: ToolItem = fold.document.bare("items", item_id)
        if item.state == "running" and item.turn == fold.memory.turn:
            if item.parent is None:
                return item_id
            if nested is None and not below_background(fold, item_id):
                nested = item_id
    return nested


def _count_waiting(fold: Fold) -> None:
    """Add the time that the turn waited for a user to the turn, once the wait is over."""
    memory = fold.memory
    pending = fold.document.order["pending"]
    if memory.turn is None or (not pending and memory.blocked_since is None):
        memory.blocked_since = None
        return
    blocked = any(
        not below_background(fold, fold.get("pending", request).tool) for request in pending
    )
    if blocked and memory.blocked_since is None:
        memory.blocked_since = fold.at
    elif not blocked and memory.blocked_since is not None:
        add_waited(fold)


def add_waited(fold: Fold) -> None:
    """End the wait for the user, if the turn is waiting."""
    memory = fold.memory
    if memory.blocked_since is None:
        return
    turn = fold.turn
    if turn is not None:
        waited = max(0.0, fold.at - memory.blocked_since) * 1000
        fold.set("turns", turn.id, waited_ms=round(turn.waited_ms + waited, 3))
    memory.blocked_since = None


def _background(rows: dict[str, Background]) -> int:
    live = ("running", "paused")
    return sum(1 for row in rows.values() if row.backgrounded and row.state in live)
