"""TaskCreate, TaskUpdate, TaskList, TaskGet: a list of tasks that may block each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from fairlead.emulator.state.profile import Profile
from fairlead.emulator.tools.outcome import Outcome

__all__ = ["TaskList"]


class _Task(Struct):
    id: str
    subject: str
    description: str
    status: str = "pending"
    owner: str | None = None
    blocks: list[str] = field(default_factory=list)
    blocked_by: list[str] = field(default_factory=list)


class TaskList:
    """The tasks of a session."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._tasks: dict[str, _Task] = {}
        self._count = 0

    def create(self, input: Mapping[str, Any]) -> Outcome:
        """Add a task."""
        self._count += 1
        task = _Task(
            str(self._count), str(input.get("subject", "")), str(input.get("description", ""))
        )
        self._tasks[task.id] = task
        report: dict[str, Any] = {"id": task.id, "subject": task.subject}
        if self._profile.task_create_has_description:
            report["description"] = task.description
        words = f"Task #{task.id} created successfully: {task.subject}"
        return Outcome(content=words, result={"task": report})

    def update(self, input: Mapping[str, Any]) -> Outcome:
        """Change the fields that are given."""
        task_id = str(input.get("taskId"))
        task = self._tasks.get(task_id)
        if task is None:
            result: dict[str, Any] = {
                "success": False,
                "taskId": task_id,
                "updatedFields": [],
                "error": "Task not found",
            }
            return Outcome(content="Task not found", result=result)
        result = {"success": True, "taskId": task_id, "updatedFields": self._change(task, input)}
        status = input.get("status")
        if status is not None and status != task.status:
            result["statusChange"] = {"from": task.status, "to": status}
            task.status = str(status)
        if status == "deleted":
            del self._tasks[task_id]
        words = f"Updated task #{task_id} {', '.join(result['updatedFields'])}"
        return Outcome(content=words, result=result)

    def _change(self, task: _Task, input: Mapping[str, Any]) -> list[str]:
        changed = []
        for name in ("subject", "description", "owner"):
            if input.get(name) is not None:
                setattr(task, name, str(input[name]))
                changed.append(name)
        for name, target in (("addBlocks", task.blocks), ("addBlockedBy", task.blocked_by)):
            if input.get(name):
                target += [str(other) for other in input[name]]
                changed.append({"addBlocks": "blocks", "addBlockedBy": "blockedBy"}[name])
        status = input.get("status")
        if status is not None and status != task.status:
            changed.append("deleted" if status == "deleted" else "status")
        return changed

    def list(self, input: Mapping[str, Any]) -> Outcome:
        """All tasks in short."""
        report, words = [], []
        for task in self._tasks.values():
            entry: dict[str, Any] = {
                "id": task.id,
                "subject": task.subject,
                "status": task.status,
            }
            if task.owner:
                entry["owner"] = task.owner
            report.append({**entry, "blockedBy": list(task.blocked_by)})
            owner = f" ({task.owner})" if task.owner else ""
            blockers = ", ".join(f"#{other}" for other in task.blocked_by)
            blocked = f" [blocked by {blockers}]" if blockers else ""
            words.append(f"#{task.id} [{task.status}] {task.subject}{owner}{blocked}")
        return Outcome(content="\n".join(words) or "No tasks found", result={"tasks": report})

    def get(self, input: Mapping[str, Any]) -> Outcome:
        """One task in full."""
        task = self._tasks.get(str(input.get("taskId")))
        if task is None:
            return Outcome(content="Task not found", result={"task": None})
        report = {
            "id": task.id,
            "subject": task.subject,
            "description": task.description,
            "status": task.status,
            "blocks": list(task.blocks),
            "blockedBy": list(task.blocked_by),
        }
        words = [f"Task #{task.id}: {task.subject}", f"Status: {task.status}"]
        words.append(f"Description: {task.description}")
        if task.blocked_by:
            words.append("Blocked by: " + ", ".join(f"#{other}" for other in task.blocked_by))
        return Outcome(content="\n".join(words), result={"task": report})
