"""Subagents and background commands: when they start, what they do, how they end.

New CLIs announce them; 2.1.38 only says so in the result of the tool that started one, and
never reports the end (CLI-1102). A task that disappears from the CLI's list without a report has
`ended`; one whose process died is `lost`.

The CLI also announces subagents and long commands in the foreground. `backgrounded` separates the
two: the turn waits for a task in the foreground, and not for one in the background.
"""

from __future__ import annotations

from typing import Any

from fairlead.transcript.state import plain
from fairlead.transcript.state.calls import tool_item
from fairlead.transcript.state.fold import Fold
from fairlead.transcript.state.model import FINAL_TOOL_STATES, Background, ToolItem
from fairlead.wire.system import (
    BackgroundTasksChanged,
    TaskNotification,
    TaskProgress,
    TaskStarted,
    TaskUpdated,
    TaskUsage,
)

__all__ = [
    "agents_run",
    "below_background",
    "link_turn",
    "lose_all",
    "on_list",
    "on_notification",
    "on_progress",
    "on_started",
    "on_updated",
    "runs",
    "take_tool_result",
]

_LIVE = ("running", "paused")
_TYPES = {"local_agent": "agent", "local_bash": "shell"}
_STATES = {"pending": "running", "killed": "stopped"}
_REPORTED = ("completed", "failed", "stopped")
"""Ends that the CLI reports to the model, which starts a turn."""


def runs(fold: Fold, task_id: str) -> bool:
    """Whether a task runs in the background."""
    task = fold.get("background", task_id)
    return task is not None and task.backgrounded and task.state in _LIVE


def agents_run(fold: Fold) -> bool:
    """Whether something other than a command runs in the background: the CLI counts it as running."""
    rows = fold.document.rows["background"].values()
    return any(row.backgrounded and row.state in _LIVE and row.type != "shell" for row in rows)


def below_background(fold: Fold, item_id: str | None) -> bool:
    """Whether a call belongs to an agent that runs in the background, at any depth."""
    seen: set[str] = set()
    item = None if item_id is None else fold.item(item_id)
    while item is not None and item.parent is not None and item.id not in seen:
        seen.add(item.id)
        item = fold.item(item.parent)
        if isinstance(item, ToolItem) and item.background and runs(fold, item.background):
            return True
    return False


def link_turn(fold: Fold, turn: str, run: str | None = None) -> None:
    """Note which turn the end of a task started; `run` is the run that the CLI names."""
    task_id = fold.memory.runs.get(run or "")
    if task_id is not None and fold.get("background", task_id) is not None:
        fold.set("background", task_id, turn=turn)
        return
    for row in tuple(fold.document.rows["background"].values()):
        if row.backgrounded and row.turn is None and row.state in _REPORTED:
            fold.set("background", row.id, turn=turn)


def on_started(fold: Fold, message: TaskStarted) -> None:
    """A subagent or a command was started."""
    item = tool_item(fold, message.tool_use_id or "")
    backgrounded = message.is_backgrounded
    if backgrounded is None:
        # 2.1.120 and 2.1.220 do not say; the call itself does.
        requested = None if item is None else plain.field_of(item.input, "run_in_background")
        backgrounded = item is None or requested is True
    _ensure(fold, message.task_id)
    _note_run(fold, message.task_id, message.run_id)
    fold.set(
        "background",
        message.task_id,
        type=_TYPES.get(message.task_type or "", message.task_type or ""),
        tool=item.id if item is not None else message.tool_use_id,
        description=message.description,
        agent=message.subagent_type,
        backgrounded=backgrounded,
        parent=message.parent_task_id,
    )
    if item is not None:
        _link(fold, item, message.task_id, backgrounded)


def on_progress(fold: Fold, message: TaskProgress) -> None:
    """What a task is doing."""
    _ensure(fold, message.task_id)
    fold.set(
        "background",
        message.task_id,
        progress=message.summary or message.description,
        last_tool=message.last_tool_name,
        **_usage(message.usage),
    )


def on_updated(fold: Fold, message: TaskUpdated) -> None:
    """Some fields of a task changed; its end may be reported only here."""
    patch = message.patch
    if patch is None:
        return
    _ensure(fold, message.task_id)
    fields: dict[str, Any] = {}
    if patch.description is not None:
        fields["description"] = patch.description
    if patch.error is not None:
        fields["error"] = patch.error
    if patch.is_backgrounded is not None:
        fields["backgrounded"] = patch.is_backgrounded
        item = fold.item(fold.get("background", message.task_id).tool or "")
        if item is not None and patch.is_backgrounded:
            fold.set("items", item.id, background=message.task_id)
    fold.set("background", message.task_id, **fields)
    if patch.status is not None:
        _take_state(fold, message.task_id, patch.status)


def on_notification(fold: Fold, message: TaskNotification) -> None:
    """A task has ended."""
    _ensure(fold, message.task_id)
    _note_run(fold, message.task_id, message.run_id)
    fold.set(
        "background",
        message.task_id,
        summary=message.summary,
        exit_code=_exit_code(message.summary or ""),
        output_file=message.output_file or None,
        **_usage(message.usage),
    )
    if message.status is not None:
        _take_state(fold, message.task_id, message.status)


def on_list(fold: Fold, message: BackgroundTasksChanged) -> None:
    """The full list of what runs in the background."""
    listed = message.tasks or ()
    names = {task.task_id for task in listed}
    for task_id in fold.ids("background"):
        if task_id not in names and runs(fold, task_id):
            _take_state(fold, task_id, "ended")
    for task in listed:
        _ensure(fold, task.task_id)
        _note_run(fold, task.task_id, task.run_id)
        fold.set(
            "background",
            task.task_id,
            type=_TYPES.get(task.task_type or "", task.task_type or ""),
            description=task.description,
            agent=task.subagent_type,
            backgrounded=True,
            parent=task.parent_task_id,
        )


def take_tool_result(fold: Fold, item: ToolItem) -> None:
    """A result may be the only report that a task continues or has ended."""
    structured = item.structured
    if isinstance(structured, dict):
        agent = plain.text(structured.get("agentId"))
        shell = plain.text(structured.get("backgroundTaskId"))
        if shell or (agent and structured.get("isAsync") is True):
            _take_started(fold, item, agent, shell)
            return
    for task_id in tuple(fold.document.order["background"]):
        task = fold.get("background", task_id)
        if task.tool == item.id and not task.backgrounded and task.state in _LIVE:
            _take_state(fold, task_id, "completed" if item.state == "done" else "failed")


def _take_started(fold: Fold, item: ToolItem, agent: str, shell: str) -> None:
    """The call continues as a task in the background."""
    task_id = shell or agent
    if fold.get("background", task_id) is None:
        _ensure(fold, task_id)
        fold.set(
            "background",
            task_id,
            type="shell" if shell else "agent",
            tool=item.id,
            description=plain.text(plain.field_of(item.input, "description")),
            agent=plain.text(plain.field_of(item.input, "subagent_type")) or None,
            output_file=plain.text(item.structured.get("outputFile")) or None,
        )
    fold.set("background", task_id, backgrounded=True)
    _link(fold, item, task_id, True)


def lose_all(fold: Fold) -> None:
    """The process has ended; it will not report how its tasks ended."""
    for task_id in fold.ids("background"):
        if fold.get("background", task_id).state in _LIVE:
            _take_state(fold, task_id, "lost")


def _ensure(fold: Fold, task_id: str) -> None:
    if fold.get("background", task_id) is None:
        fold.add("background", Background(id=task_id, started=fold.at))


def _note_run(fold: Fold, task_id: str, run: str | None) -> None:
    if run:
        fold.memory.runs[run] = task_id


def _exit_code(summary: str) -> int | None:
    """The number in `… failed with exit code 3`, the only place where the CLI reports it."""
    _, separator, rest = summary.rpartition("exit code ")
    digits = rest.rstrip(").")
    return int(digits) if separator and digits.isdecimal() and len(digits) < 6 else None


def _link(fold: Fold, item: ToolItem, task_id: str, backgrounded: bool) -> None:
    fold.memory.agents[task_id] = item.id
    if backgrounded and item.background != task_id:
        fold.set("items", item.id, background=task_id)


def _take_state(fold: Fold, task_id: str, state: str) -> None:
    """The first end is used, but a plain `ended` is replaced by a more specific end."""
    task = fold.get("background", task_id)
    if task.state not in (*_LIVE, "ended"):
        return
    state = _STATES.get(state, state)
    if task.state == "ended" and state == "ended":
        return
    over = state not in _LIVE
    fold.set("background", task_id, state=state, ended=fold.at if over else None)
    if over:
        _close_children(fold, task.tool)


def _close_children(fold: Fold, tool: str | None) -> None:
    """Calls of a background agent that never got a result end with it, if its turn is over."""
    owner = fold.item(tool) if tool is not None else None
    if owner is None or owner.state not in FINAL_TOOL_STATES:
        return
    for item_id in tuple(fold.memory.open_tools):
        if fold.item(item_id).parent == owner.id:
            fold.memory.open_tools.pop(item_id)
            fold.set("items", item_id, state="interrupted", ended=fold.at)


def _usage(usage: TaskUsage | None) -> dict[str, Any]:
    if usage is None:
        return {}
    return {
        "tokens": usage.total_tokens,
        "tool_uses": usage.tool_uses,
        "duration_ms": usage.duration_ms,
    }
