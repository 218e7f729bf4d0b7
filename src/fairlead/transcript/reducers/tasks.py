"""The model's own list of things to do, from TodoWrite or from TaskCreate and its kin.

It changes when the tool has succeeded, not when it is called: on some CLIs these tools do not
exist and every call fails (CLI-1009). Subagents keep lists of their own, which are not shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fairlead.transcript.state import plain
from fairlead.transcript.state.fold import Fold
from fairlead.transcript.state.model import Task, ToolItem

__all__ = ["take_tool_result"]


def take_tool_result(fold: Fold, item: ToolItem) -> None:
    """What a tool that has succeeded did to the list."""
    take = _TOOLS.get(item.name)
    if take is not None and item.parent is None:
        take(fold, plain.mapping(item.input), plain.mapping(item.structured))


def _todo_write(fold: Fold, tool_input: dict[str, Any], result: dict[str, Any]) -> None:
    todos = plain.rows(tool_input.get("todos")) or plain.rows(result.get("newTodos"))
    fold.replace(
        "tasks",
        tuple(
            Task(
                id=f"todo-{number}",
                subject=plain.text(todo.get("content")),
                status=plain.text(todo.get("status")) or "pending",
                active_form=plain.text(todo.get("activeForm")) or None,
                source="todo",
            )
            for number, todo in enumerate(todos, 1)
        ),
    )


def _task_create(fold: Fold, tool_input: dict[str, Any], result: dict[str, Any]) -> None:
    created = plain.mapping(result.get("task"))
    task = _known_or_new(fold, created)
    if task is not None:
        fold.set("tasks", task, **_fields({**tool_input, **created}))


def _task_update(fold: Fold, tool_input: dict[str, Any], result: dict[str, Any]) -> None:
    task = fold.get("tasks", plain.text(plain.field_of(tool_input, "taskId")))
    if task is None or result.get("success") is False:
        return
    if tool_input.get("status") == "deleted":
        fold.remove("tasks", task.id)
        return
    fold.set("tasks", task.id, **_fields(tool_input))
    for other in plain.strings(tool_input.get("addBlocks")):
        _depend(fold, blocker=task.id, blocked=other)
    for other in plain.strings(tool_input.get("addBlockedBy")):
        _depend(fold, blocker=other, blocked=task.id)


def _task_list(fold: Fold, tool_input: dict[str, Any], result: dict[str, Any]) -> None:
    listed = plain.rows(result.get("tasks"))
    if not isinstance(result.get("tasks"), list):
        return
    names = {plain.text(task.get("id")) for task in listed}
    for task_id in fold.ids("tasks"):
        if task_id not in names:
            fold.remove("tasks", task_id)
    for task in listed:
        _task_get(fold, tool_input, {"task": task})


def _task_get(fold: Fold, tool_input: dict[str, Any], result: dict[str, Any]) -> None:
    reported = plain.mapping(result.get("task"))
    task = _known_or_new(fold, reported)
    if task is not None:
        fold.set("tasks", task, **_fields(reported))


_TOOLS: dict[str, Callable[[Fold, dict[str, Any], dict[str, Any]], None]] = {
    "TodoWrite": _todo_write,
    "TaskCreate": _task_create,
    "TaskUpdate": _task_update,
    "TaskList": _task_list,
    "TaskGet": _task_get,
}

_NAMES = {
    "subject": "subject",
    "status": "status",
    "description": "description",
    "activeForm": "active_form",
    "owner": "owner",
}


def _known_or_new(fold: Fold, reported: dict[str, Any]) -> str | None:
    task_id = plain.text(reported.get("id"))
    if task_id and fold.get("tasks", task_id) is None:
        fold.add("tasks", Task(id=task_id))
    return task_id or None


def _fields(reported: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        ours: reported[in_result]
        for in_result, ours in _NAMES.items()
        if isinstance(reported.get(in_result), str)
    }
    for in_result, ours in (("blocks", "blocks"), ("blockedBy", "blocked_by")):
        if isinstance(reported.get(in_result), list):
            fields[ours] = tuple(plain.strings(reported[in_result]))
    return fields


def _depend(fold: Fold, *, blocker: str, blocked: str) -> None:
    first, second = fold.get("tasks", blocker), fold.get("tasks", blocked)
    if first is not None and blocked not in first.blocks:
        fold.set("tasks", blocker, blocks=(*first.blocks, blocked))
    if second is not None and blocker not in second.blocked_by:
        fold.set("tasks", blocked, blocked_by=(*second.blocked_by, blocker))
