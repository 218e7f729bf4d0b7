"""Background tasks: commands and subagents that continue after their tool has returned.

Reports them as the newer CLI does, and requests a turn when they end; the older one writes
nothing (CLI-1100, CLI-500).
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from fairlead.emulator.state.conversation import Conversation
from fairlead.emulator.state.effects import WatchTask
from fairlead.emulator.state.inbox import Prompt
from fairlead.emulator.state.ports import Effects, Output, Turns
from fairlead.emulator.state.scheduler import Interrupted, Job
from fairlead.emulator.state.session import Session
from fairlead.emulator.tools.outcome import TaskEnd, TaskStart
from fairlead.emulator.turn.use import Use

__all__ = ["BackgroundTasks", "Task"]


FOREGROUND_S = 2.8
"""A foreground command is reported as a task after this time: `sleep 3` is, `sleep 2.6` is not
(rec agent_front, CLI-1106). With 3.0 the timer would race with the end of `sleep 3`."""


HEARTBEAT_S = 30.0


class Task(Struct, kw_only=True):
    """A command or a subagent that is reported as a task."""

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
    parent_task_id: str | None = None
    """The subagent whose command it is."""
    job: Job[Any] | None = None

    def listed(self) -> dict[str, Any]:
        entry = {"task_id": self.task_id, "run_id": self.run_id, "task_type": self.kind}
        if self.subagent_type:
            entry["subagent_type"] = self.subagent_type
        return {**entry, "description": self.description}

    def hook_entries(self) -> dict[str, Any]:
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
    """The running tasks."""

    def __init__(self, session: Session, output: Output, effects: Effects, turns: Turns) -> None:
        self._session = session
        self._output = output
        self._effects = effects
        self._turns = turns
        self._running: dict[str, Task] = {}
        self._foreground: dict[str, Task] = {}
        """Tool use id -> a foreground command that is reported as a task."""

    def __len__(self) -> int:
        return len(self._running)

    @property
    def has_agents(self) -> bool:
        """Whether a subagent runs in the background."""
        return any(task.subagent_type for task in self._running.values())

    def new_run_id(self) -> str:
        return f"0m{self._session.new_id()[:8]}-{self._session.new_id()[:8]}"

    def output_file(self, task_id: str) -> str:
        session = self._session
        return f"{session.workspace.tasks(session.session_id, session.profile)}/{task_id}.output"

    def announce(self, task: Task) -> None:
        """Report a task that has started."""
        if task.is_backgrounded:
            self._running[task.task_id] = task
            self.list_all()
        if not self._session.profile.announces_tasks:
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
        if task.parent_task_id is not None:
            fields |= {"owned_by_subagent": True, "parent_task_id": task.parent_task_id}
        self._output.system("task_started", **fields)

    def progress(self, task: Task, tool: str, described: str, uses: int, tokens: int) -> None:
        """Report a tool use of a subagent."""
        if self._session.profile.announces_tasks:
            self._output.system(
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
        """Report the end of a task, and request a turn if it ran in the background."""
        self._report_end(task, status, summary, usage)
        if task.is_backgrounded and status != "killed" and self._session.profile.announces_tasks:
            self._ask_for_turn(task, summary)

    def stop_all(self) -> None:
        """Report the end of all tasks when the process ends."""
        for task in list(self._running.values()):
            self._report_end(task, "stopped", task.description)

    def die(self) -> None:
        """Report the end of all tasks when a signal ends the process: the notice comes first
        (CLI-1617)."""
        tasks, self._running = list(self._running.values()), {}
        if not self._session.profile.announces_tasks:
            return
        for task in tasks:
            self._notify(task, "stopped", task.description, None)
            self._update(task, "killed")
        if tasks:
            self.list_all()

    def _report_end(
        self, task: Task, status: str, summary: str, usage: dict[str, Any] | None = None
    ) -> None:
        self._running.pop(task.task_id, None)
        if not self._session.profile.announces_tasks:
            return
        self._update(task, "killed" if status == "stopped" else status)
        self._notify(task, status, summary, usage)
        if task.is_backgrounded:
            self.list_all()

    def _update(self, task: Task, status: str) -> None:
        patch = {"status": status, "end_time": round(self._session.now() * 1000)}
        mark = {"task_id": task.task_id, "run_id": task.run_id}
        self._output.system("task_updated", **mark, patch=patch)

    def _notify(self, task: Task, status: str, summary: str, usage: dict[str, Any] | None) -> None:
        fields: dict[str, Any] = {
            "task_id": task.task_id,
            "run_id": task.run_id,
            "tool_use_id": task.tool_use_id,
            "status": status,
            "output_file": task.output_file,
            "summary": summary,
        }
        if usage is not None:
            fields["usage"] = usage
        self._output.system("task_notification", **fields)

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
        self._turns.receive(Prompt(content=[{"type": "text", "text": text}], origin=origin))

    def list_all(self) -> None:
        """Write the list of background tasks."""
        if self._session.profile.announces_tasks:
            tasks = [task.listed() for task in self._running.values()]
            self._output.system("background_tasks_changed", tasks=tasks)

    def hook_entries(self) -> list[dict[str, Any]]:
        """The running tasks, for the input of Stop hooks."""
        return [task.hook_entries() for task in self._running.values()]

    def command_started(self, start: TaskStart, use: Use, conversation: Conversation) -> None:
        """Report a command that runs in the background."""
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
        shown = self._foreground.pop(use.id, None)
        if shown is None:
            self.announce(task)
        else:
            self._move(task, shown)
        task.job = self._effects.spawn(self._watch(task))

    def _move(self, task: Task, shown: Task) -> None:
        """A command that was reported in the foreground goes to the background (CLI-1645)."""
        task.run_id = shown.run_id
        self._running[task.task_id] = task
        self.list_all()
        mark = {"task_id": task.task_id, "run_id": task.run_id}
        self._output.system("task_updated", **mark, patch={"is_backgrounded": True})

    async def _watch(self, task: Task) -> None:
        try:
            end: TaskEnd = await self._effects.perform(lambda n: WatchTask(n, task.task_id))
        except Interrupted:
            self.ended(task, "killed", f'Background command "{task.description}" was stopped')
            return
        failed = end.exit_code != 0
        how = f"failed with exit code {end.exit_code}" if failed else "completed (exit code 0)"
        summary = f'Background command "{task.description}" {how}'
        self.ended(task, "failed" if failed else "completed", summary)
        self._turns.maybe_exit()

    async def watch_foreground(self, use: Use, conversation: Conversation) -> None:
        """Report a command that takes long as a task (measured on 2.1.325)."""
        background = use.input.get("run_in_background")
        if use.name != "Bash" or background or not self._session.profile.announces_tasks:
            return
        try:
            await self._effects.sleep(FOREGROUND_S)
        except Interrupted:
            return
        task = Task(
            task_id="b" + self._session.new_id().replace("-", "")[:8],
            run_id=self.new_run_id(),
            tool_use_id=use.id,
            description=str(use.input.get("description") or use.input.get("command", "")),
            kind="local_bash",
            output_file="",
            is_backgrounded=False,
            parent_task_id=None if conversation.is_main else conversation.id,
        )
        self._foreground[use.id] = task
        self.announce(task)
        await self._beat(use)

    async def _beat(self, use: Use) -> None:
        """Report every 30 seconds that a command still runs (CLI-1630)."""
        beats = 0
        while True:
            try:
                await self._effects.sleep(HEARTBEAT_S - (0 if beats else FOREGROUND_S))
            except Interrupted:
                return
            self._output.raw(
                {
                    "type": "tool_progress",
                    "tool_use_id": f"{use.id}-heartbeat-{beats}",
                    "tool_name": use.name,
                    "parent_tool_use_id": use.id,
                    "elapsed_time_seconds": round(HEARTBEAT_S * (beats + 1)),
                    "heartbeat": True,
                    "session_id": self._session.session_id,
                    "uuid": self._session.new_id(),
                }
            )
            beats += 1

    def foreground_ended(self, use: Use, status: str) -> None:
        """Report the end of such a task; precedes the result of its tool."""
        task = self._foreground.pop(use.id, None)
        if task is not None:
            self._output.system(
                "task_notification",
                task_id=task.task_id,
                run_id=task.run_id,
                tool_use_id=task.tool_use_id,
                status=status,
                output_file="",
                summary=task.description,
            )

    def has(self, task_id: str) -> bool:
        """Whether a task with this id runs."""
        return task_id in self._running

    def stop(self, task_id: str) -> bool:
        """Stop a task; False if no task has this id."""
        task = self._running.get(task_id)
        if task is None or task.job is None:
            return False
        task.job.stop()
        return True
