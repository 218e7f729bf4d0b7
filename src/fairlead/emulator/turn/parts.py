"""The parts that a turn works with, created once for a session.

Read-only: each part changes its own state. The parts know only those that their constructors
name.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct, field

from fairlead.emulator.mcp.client import McpClient
from fairlead.emulator.mcp.resources import McpResources
from fairlead.emulator.protocol.transcript_writer import TranscriptWriter
from fairlead.emulator.script.player import Player
from fairlead.emulator.state.conversation import Conversation
from fairlead.emulator.state.inbox import Inbox
from fairlead.emulator.state.input_count import InputCount
from fairlead.emulator.state.ports import Ask, Effects, Output, Turns
from fairlead.emulator.state.session import Session
from fairlead.emulator.tools.outcome import Outcome
from fairlead.emulator.turn.background import BackgroundTasks
from fairlead.emulator.turn.ending import TurnFigures
from fairlead.emulator.turn.hook_calls import Hooks
from fairlead.emulator.turn.permissions import Permissions
from fairlead.emulator.turn.use import Use

__all__ = ["SpecialTool", "TurnParts"]

SpecialTool = Callable[[Use, Conversation, TurnFigures], Awaitable[Outcome]]


class TurnParts(Struct, frozen=True, kw_only=True):
    """What a turn, a tool use and a subagent need."""

    session: Session
    output: Output
    effects: Effects
    ask: Ask
    turns: Turns
    inbox: Inbox
    inputs: InputCount
    player: Player
    transcript: TranscriptWriter
    hooks: Hooks
    tasks: BackgroundTasks
    mcp: McpClient
    resources: McpResources
    permissions: Permissions
    special_tools: dict[str, SpecialTool] = field(default_factory=dict)
    """Name -> a tool that the engine runs itself, such as a subagent."""

    def offered_tools(self) -> list[str]:
        """All tools of the session, in the order of init."""
        return self.resources.with_resource_tools(self.session.tools, self.mcp.tool_names())

    def unavailable(
        self, name: str, input: Mapping[str, Any], conversation: Conversation
    ) -> str | None:
        """Why a tool cannot be used in a conversation; None if it can."""
        offered = self.offered_tools()
        if conversation.tools is not None:
            offered = [tool for tool in offered if tool in conversation.tools]
        skill = input.get("skill")
        hidden = (*self.session.profile.catalog.skills, *self.session.hidden_skills)
        if name == "Skill" and skill in hidden:
            return f"Skill {skill} cannot be used with Skill tool due to disable-model-invocation"
        if name == "Skill" and isinstance(skill, str) and skill not in self.session.custom_commands:
            return f"Unknown skill: {skill}"
        aliases = {"Agent": "Task"}
        if self.session.profile.knows_kill_shell:
            aliases["KillShell"] = "TaskStop"
        known = name in offered or aliases.get(name) in offered
        if known and not self._is_hidden(name):
            return None
        return f"Error: No such tool available: {name}"

    def _is_hidden(self, name: str) -> bool:
        """Whether a deny rule covers the server of a tool; the old version denies each call."""
        kind, _, rest = name.partition("__")
        denied = self.session.denied_tools
        hides = self.session.profile.hides_denied_servers and kind == "mcp"
        return hides and (name in denied or f"mcp__{rest.partition('__')[0]}" in denied)
