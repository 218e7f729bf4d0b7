"""Selects and runs a tool by its name; holds the shared state of the tools.

The engine checks permissions; this module runs everything that it gets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import structs

from fairlead.emulator.state.effects import CheckTool, RunTool
from fairlead.emulator.state.profile import Profile
from fairlead.emulator.state.session import Workspace
from fairlead.emulator.tools.bash import Bash
from fairlead.emulator.tools.checkpoints import Checkpoints
from fairlead.emulator.tools.context import ToolContext
from fairlead.emulator.tools.edit import check_edit, edit
from fairlead.emulator.tools.glob import glob
from fairlead.emulator.tools.grep import grep
from fairlead.emulator.tools.notebook_edit import check_notebook_edit, notebook_edit
from fairlead.emulator.tools.outcome import Outcome, failed, invalid, unusable
from fairlead.emulator.tools.read import check_read, read
from fairlead.emulator.tools.task_list import TaskList
from fairlead.emulator.tools.todo_write import TodoList
from fairlead.emulator.tools.write import UNREAD, check_write, write
from fairlead.model_api.json_text import well_formed

EDITORS = frozenset({"Write", "Edit", "NotebookEdit"})

__all__ = ["CHECKED", "ToolRunner"]

Check = Callable[[ToolContext, Mapping[str, Any], str], Outcome | None]
Run = Callable[[ToolContext, Mapping[str, Any], str], Outcome]

_CHECKS: dict[str, Check] = {
    "Read": check_read,
    "Write": check_write,
    "Edit": check_edit,
    "NotebookEdit": check_notebook_edit,
}
_FILES: dict[str, Run] = {
    "Read": read,
    "Write": write,
    "Edit": edit,
    "NotebookEdit": notebook_edit,
    "Glob": glob,
    "Grep": grep,
}

CHECKED = frozenset({*_CHECKS, "WebSearch"})
"""Tools whose input is checked before a permission is requested."""


class ToolRunner:
    """The tools of one session."""

    def __init__(self, profile: Profile, workspace: Workspace) -> None:
        self.context = ToolContext(profile, workspace)
        self.bash = Bash(self.context)
        self._todos: dict[str, TodoList] = defaultdict(TodoList)
        self.checkpoints = Checkpoints()
        self._tasks = TaskList(profile)

    def check(self, use: CheckTool) -> Outcome | None:
        """The error of a use that is refused before its permission is requested."""
        if use.name == "WebSearch":
            long_enough = len(str(use.input.get("query", ""))) >= 2
            return None if long_enough else invalid("query: it needs two characters or more")
        try:
            if use.name in ("Edit", "Write") and not use.may_read:
                path = self.context.path(use.input.get("file_path"))
                if path.exists() and not self.context.has_seen(use.owner, path):
                    return unusable(UNREAD)
            return _CHECKS[use.name](self.context, use.input, use.owner)
        except OSError as problem:
            return failed(str(problem))

    async def run(self, use: RunTool) -> Outcome:
        """Run a tool."""
        use = structs.replace(use, input=well_formed(use.input))
        if use.prompt and use.name in EDITORS:
            named = use.input.get("file_path") or use.input.get("notebook_path")
            self.checkpoints.keep(use.prompt, self.context.path(named))
        try:
            if use.name == "Bash":
                return await self.bash.run(use.input, use.session_id, use.tool_use_id)
            if use.name == "TaskOutput":
                return await self.bash.look(use.input)
            if use.name in _FILES:
                return _FILES[use.name](self.context, use.input, use.owner)
        except (OSError, UnicodeDecodeError) as problem:
            return failed(str(problem))
        return self._listed(use)

    def _listed(self, use: RunTool) -> Outcome:
        tasks = self._tasks
        runs = {
            "TodoWrite": self._todos[use.owner].write,
            "TaskCreate": tasks.create,
            "TaskUpdate": tasks.update,
            "TaskList": tasks.list,
            "TaskGet": tasks.get,
        }
        if use.name in runs:
            return runs[use.name](use.input)
        if use.name == "WebFetch":
            return failed(
                f"Unable to verify if domain {_host(use.input)} is safe to fetch. "
                "The emulator has no network."
            )
        return failed(f"The emulator does not have {use.name}.")


def _host(input: Mapping[str, Any]) -> str:
    return str(input.get("url", "")).split("//")[-1].split("/")[0]
