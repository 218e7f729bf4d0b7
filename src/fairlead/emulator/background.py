"""Background tasks: commands and subagents that go on after their tool has answered.

Announces them as the newer CLI does, and asks for a turn of their own when they end; the older
one says nothing (TRUTH 1.11, 6).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairlead.emulator.conversation import Conversation
from fairlead.emulator.effects import WatchTask
from fairlead.emulator.inbox import Prompt
from fairlead.emulator.strands import Interrupted, Strand
from fairlead.emulator.tools.outcome import TaskEnd, TaskStart

if TYPE_CHECKING:
    from fairlead.emulator.engine import Engine
    from fairlead.emulator.tool_call import Use

__all__ = ["BackgroundTasks", "Task"]


@dataclass(slots=True, kw_only=True)
class Task:
    """Something that runs beside the conversation."""

    task_id: str
    run_id: str
    tool_use_id: str
    description: str
    kind: str
    output_file: str
    is_backgrounded: bool = True
    subagent_type: str = ""
    prompt: str = ""
    command: str = ""
    strand: Strand[Any] | None = None

    def listed(self) -> dict[str, Any]:
        entry = {"task_id": self.task_id, "run_id": self.run_id, "task_type": self.kind}
        if self.subagent_type:
            entry["subagent_type"] = self.subagent_type
        return {**entry, "description": self.description}

    def told_to_hooks(self) -> dict[str, Any]:
        """The entry of the task in the input of a hook (measured)."""
        entry = {
            "id": self.task_id,
            "type": "subagent" if self.subagent_type else "shell",
            "status": "running",
            "description": self.description,
        }
        own = "agent_type" if self.subagent_type else "command"
        return {**entry, own: self.subagent_type or self.command}


class BackgroundTasks:
    """The tasks that run now."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._running: dict[str, Task] = {}

    def __len__(self) -> int:
        return len(self._running)

    def new_run_id(self) -> str:
        return f"0m{self._engine.session.new_id()[:8]}-{self._engine.session.new_id()[:8]}"

    def output_file(self, task_id: str) -> str:
        session = self._engine.session
        return f"{session.place.tasks(session.session_id, session.profile)}/{task_id}.output"

    def announce(self, task: Task) -> None:
        """A task has begun."""
        if task.is_backgrounded:
            self._running[task.task_id] = task
            self.list_all()
        if not self._engine.session.profile.announces_tasks:
            return
        fields: dict[str, Any] = {
            "task_id": task.task_id,
            "run_id": task.run_id,
            "tool_use_id": task.tool_use_id,
            "description": task.description,
        }
        if task.subagent_type:
            fields["subagent_type"] = task.subagent_type
        fields["is_backgrounded"] = task.is_backgrounded
        if task.subagent_type:
            fields["spawn_depth"] = 1
        fields["task_type"] = task.kind
        if task.subagent_type:
            fields["prompt"] = task.prompt
        self._engine.voice.system("task_started", **fields)

    def progress(self, task: Task, tool: str, described: str, uses: int, tokens: int) -> None:
        """A subagent uses a tool."""
        if self._engine.session.profile.announces_tasks:
            self._engine.voice.system(
                "task_progress",
                task_id=task.task_id,
                run_id=task.run_id,
                tool_use_id=task.tool_use_id,
                description=described,
                subagent_type=task.subagent_type,
                usage={"total_tokens": tokens, "tool_uses": uses, "duration_ms": 0},
                last_tool_name=tool,
            )

    def ended(
        self, task: Task, status: str, summary: str, usage: dict[str, Any] | None = None
    ) -> None:
        """A task is over: say so, and ask for a turn if it ran in the background."""
        engine = self._engine
        self._running.pop(task.task_id, None)
        if not engine.session.profile.announces_tasks:
            return
        mark = {"task_id": task.task_id, "run_id": task.run_id}
        patch = {"status": status, "end_time": round(engine.session.now() * 1000)}
        engine.voice.system("task_updated", **mark, patch=patch)
        fields: dict[str, Any] = {
            **mark,
            "tool_use_id": task.tool_use_id,
            "status": status,
            "output_file": task.output_file,
            "summary": summary,
        }
        if usage is not None:
            fields["usage"] = usage
        engine.voice.system("task_notification", **fields)
        if not task.is_backgrounded:
            return
        self.list_all()
        if status != "killed":
            self._ask_for_turn(task, summary)

    def _ask_for_turn(self, task: Task, summary: str) -> None:
        origin = {
            "kind": "task-notification",
            "producer": "session-task",
            "runId": task.run_id,
        }
        text = (
            f"<task-notification>\n<task-id>{task.task_id}</task-id>\n"
            f"<summary>{summary}</summary>\n</task-notification>"
        )
        self._engine.receive(Prompt(content=[{"type": "text", "text": text}], origin=origin))

    def list_all(self) -> None:
        """The full list, as it is now."""
        if self._engine.session.profile.announces_tasks:
            tasks = [task.listed() for task in self._running.values()]
            self._engine.voice.system("background_tasks_changed", tasks=tasks)

    def told_to_hooks(self) -> list[dict[str, Any]]:
        """What still runs, for the hooks at the end of a turn."""
        return [task.told_to_hooks() for task in self._running.values()]

    def command_started(self, start: TaskStart, use: Use, talk: Conversation) -> None:
        """A command went to the background."""
        described = str(use.input.get("description") or use.input.get("command", ""))
        task = Task(
            task_id=start.task_id,
            run_id=self.new_run_id(),
            tool_use_id=use.id,
            description=described,
            kind="local_bash",
            output_file=start.output_file,
            command=str(use.input.get("command", "")),
        )
        self.announce(task)
        task.strand = self._engine.loom.spawn(self._watch(task))

    async def _watch(self, task: Task) -> None:
        try:
            end: TaskEnd = await self._engine.perform(lambda n: WatchTask(n, task.task_id))
        except Interrupted:
            self.ended(task, "killed", f'Background command "{task.description}" was stopped')
            return
        failed = end.exit_code != 0
        how = f"failed with exit code {end.exit_code}" if failed else "completed (exit code 0)"
        words = f'Background command "{task.description}" {how}'
        self.ended(task, "failed" if failed else "completed", words)
        self._engine.maybe_exit()

    def stop(self, task_id: str) -> bool:
        """Stop a task; False if there is none of that id."""
        task = self._running.get(task_id)
        if task is None or task.strand is None:
            return False
        task.strand.stop()
        return True
