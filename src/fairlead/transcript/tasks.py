"""The model's own list of things to do, from TodoWrite or from TaskCreate and its kin.

It changes when the tool has succeeded, not when it is called: on some CLIs these tools do not
exist and every call fails (TRUTH 1.10). Subagents keep lists of their own, which are not shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fairlead.transcript import plain
from fairlead.transcript.fold import Fold
from fairlead.transcript.model import Task, ToolItem

__all__ = ["take_tool_result"]


def take_tool_result(fold: Fold, item: ToolItem) -> None:
    """What a tool that has succeeded did to the list."""
    take = _TOOLS.get(item.name)
    if take is not None and item.parent is None:
        take(fold, plain.mapping(item.input), plain.mapping(item.structured))


def _todo_write(fold: Fold, asked: dict[str, Any], said: dict[str, Any]) -> None:
    todos = plain.rows(asked.get("todos")) or plain.rows(said.get("newTodos"))
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


def _task_create(fold: Fold, asked: dict[str, Any], said: dict[str, Any]) -> None:
    created = plain.mapping(said.get("task"))
    task = _known_or_new(fold, created)
    if task is not None:
        fold.set("tasks", task, **_fields({**asked, **created}))


def _task_update(fold: Fold, asked: dict[str, Any], said: dict[str, Any]) -> None:
    task = fold.get("tasks", plain.text(plain.field_of(asked, "taskId")))
    if task is None or said.get("success") is False:
        return
    if asked.get("status") == "deleted":
        fold.remove("tasks", task.id)
        return
    fold.set("tasks", task.id, **_fields(asked))
    for other in plain.strings(asked.get("addBlocks")):
        _depend(fold, blocker=task.id, blocked=other)
    for other in plain.strings(asked.get("addBlockedBy")):
        _depend(fold, blocker=other, blocked=task.id)


def _task_list(fold: Fold, asked: dict[str, Any], said: dict[str, Any]) -> None:
    listed = plain.rows(said.get("tasks"))
    if not isinstance(said.get("tasks"), list):
        return
    names = {plain.text(one.get("id")) for one in listed}
    for task_id in fold.ids("tasks"):
        if task_id not in names:
            fold.remove("tasks", task_id)
    for one in listed:
        _task_get(fold, asked, {"task": one})


def _task_get(fold: Fold, asked: dict[str, Any], said: dict[str, Any]) -> None:
    told = plain.mapping(said.get("task"))
    task = _known_or_new(fold, told)
    if task is not None:
        fold.set("tasks", task, **_fields(told))


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


def _known_or_new(fold: Fold, told: dict[str, Any]) -> str | None:
    task_id = plain.text(told.get("id"))
    if task_id and fold.get("tasks", task_id) is None:
        fold.add("tasks", Task(id=task_id))
    return task_id or None


def _fields(told: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        ours: told[theirs] for theirs, ours in _NAMES.items() if isinstance(told.get(theirs), str)
    }
    for theirs, ours in (("blocks", "blocks"), ("blockedBy", "blocked_by")):
        if isinstance(told.get(theirs), list):
            fields[ours] = tuple(plain.strings(told[theirs]))
    return fields


def _depend(fold: Fold, *, blocker: str, blocked: str) -> None:
    first, second = fold.get("tasks", blocker), fold.get("tasks", blocked)
    if first is not None and blocked not in first.blocks:
        fold.set("tasks", blocker, blocks=(*first.blocks, blocked))
    if second is not None and blocker not in second.blocked_by:
        fold.set("tasks", blocked, blocked_by=(*second.blocked_by, blocker))
