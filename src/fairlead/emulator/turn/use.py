"""A tool use of the model and its state. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, field

from fairlead.emulator.state.conversation import Conversation
from fairlead.emulator.state.profile import Profile
from fairlead.emulator.state.scheduler import Pending
from fairlead.emulator.turn.stream_clock import StreamClock
from fairlead.permissions.model.families import family_of
from fairlead.permissions.rules.decisions import ToolCall
from fairlead.permissions.shell.commands import parse_command
from fairlead.permissions.shell.readonly import is_read_only

__all__ = ["Use"]

ALONE = frozenset({"Write", "Edit", "NotebookEdit", "TodoWrite", "ExitPlanMode", "EnterPlanMode"})
"""Tools that are never run in parallel with another one."""

PREPARATION = {"WebFetch": 2, "Write": 3, "Edit": 3, "NotebookEdit": 3}
"""Tool -> events of the message that pass before its permission is requested (measured)."""

QUICK = frozenset({"StructuredOutput", "EnterPlanMode"})
"""Tools whose result comes before the message ends."""


class Use(Struct, kw_only=True):
    """A tool use of the model and its state."""

    id: str
    name: str
    input: Mapping[str, Any]
    conversation: Conversation | None = None
    """The conversation of the subagent that it belongs to, if any."""
    has_started: bool = False
    done: Pending[None] = field(default_factory=Pending)
    """Settled once its outcome is known."""
    was_unavailable: bool = False
    """The conversation has no such tool."""
    interrupts: bool = False
    stops: bool = False
    """A hook returned `continue: false`: the turn ends with the results of its message."""
    is_dropped: bool = False
    """The turn is over: its result is not written."""
    waits_for: list[Use] = field(default_factory=list)
    after_result: Callable[[], None] | None = None
    """Called once its result was written."""
    clock: StreamClock | None = None
    """The clock of its message while that streams; None for a subagent."""
    result_events: int = 3
    """Events of the message that pass before its result: to its end, if nothing follows."""
    started_at: int = 0
    """The event of the message at which it was started."""

    @property
    def agent_id(self) -> str | None:
        return self.conversation.id if self.conversation is not None else None

    @property
    def runs_command(self) -> bool:
        """Whether it is a shell command that has started and not ended."""
        return self.name == "Bash" and self.has_started and not self.done.is_settled

    @property
    def call(self) -> ToolCall:
        server = self.name.split("__")[1] if self.name.startswith("mcp__") else None
        return ToolCall(tool=self.name, input=self.input, mcp_server=server)

    async def passes(self, events: int) -> None:
        """Let this many events of the message pass since the use was started."""
        if self.clock is not None and events:
            await self.clock.pass_time(self.started_at, events)

    async def message_ends(self) -> None:
        """Wait for the end of the message that it is part of."""
        if self.clock is not None:
            await self.clock.ends()

    @property
    def preparation(self) -> int:
        """The events of the message that pass before its permission is requested or denied."""
        if self.name == "Bash":
            # Several commands take longer to be checked than one.
            return 2 if len(parse_command(self.call.text("command")).commands) == 1 else 3
        return PREPARATION.get(self.name, 1 if self.name.startswith("mcp__") else 0)

    @property
    def task_id(self) -> str:
        """The task that TaskStop is to stop."""
        return str(self.input.get("task_id") or self.input.get("shell_id") or "")

    @property
    def is_edit(self) -> bool:
        return self.name in ("Write", "Edit", "NotebookEdit")

    def reads_only(self, version: str) -> bool:
        """Whether it may run in parallel with other calls."""
        if self.name == "Bash":
            line = parse_command(self.call.text("command"))
            family = family_of(version)
            writes = any(command.redirects for command in line.commands)
            return not writes and all(is_read_only(c, family) for c in line.commands)
        return self.name not in ALONE

    def hook_name(self, profile: Profile) -> str:
        """The name of the tool for hooks and their matchers (measured)."""
        return "Agent" if profile.calls_task_agent and self.name == "Task" else self.name

    def shown_input(self, profile: Profile) -> dict[str, Any]:
        """The input in a permission request: the new version omits a plan (CLI-407)."""
        shown = dict(self.input)
        if profile.hides_plans and self.name == "ExitPlanMode":
            shown.pop("plan", None)
        return shown
