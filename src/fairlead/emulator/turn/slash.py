"""Slash commands: those the CLI answers itself, those of the project, and the unknown ones.

Each version has its own list and its own way to show the output (CLI-605). A command that expands
to a prompt is only expanded here; the turn then goes to the model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct, structs

from fairlead.emulator.protocol.usage_report import context_report, context_usage, cost_report
from fairlead.emulator.state.cost import resolve_model
from fairlead.emulator.turn.api_errors import synthetic_message
from fairlead.emulator.turn.compaction import TOO_SHORT, Compaction
from fairlead.emulator.turn.ending import Ending
from fairlead.emulator.turn.parts import TurnParts

__all__ = ["Command", "SlashCommands"]


class Command(Struct, frozen=True, kw_only=True):
    """A slash command of a prompt."""

    typed: str
    name: str
    """The command that runs; differs from `typed` for an alias."""
    arguments: str

    @classmethod
    def read(cls, text: str, aliases: dict[str, str]) -> Command:
        words = text.strip().removeprefix("/").split(None, 1)
        typed = words[0] if words else ""
        rest = words[1] if len(words) > 1 else ""
        return cls(typed=typed, name=aliases.get(typed, typed), arguments=rest)


class SlashCommands:
    """Runs slash commands."""

    def __init__(self, parts: TurnParts) -> None:
        self._parts = parts
        self._runs: dict[str, Callable[[Command], str]] = {
            "cost": lambda command: cost_report(parts.session),
            "usage": lambda command: cost_report(parts.session),
            "context": lambda command: context_report(parts.session),
            "model": self._model,
            "release-notes": lambda command: "The emulator has no release notes.",
            "config": lambda command: "Usage: /config key=value [key=value ...]",
            "effort": lambda command: f"Effort level: {command.arguments or 'medium'}",
            "fast": self._fast,
            "output-style": lambda command: "Output style: default",
            "mcp": lambda command: self._mcp(),
            "rename": self._rename,
            "list-agents": lambda command: self._agents(),
            "agents": lambda command: self._agents(),
        }

    def read(self, text: str) -> Command:
        return Command.read(text, self._parts.session.profile.catalog.aliases)

    def expand(self, command: Command) -> str | None:
        """The prompt that a command expands to; None if it is not such a command."""
        session = self._parts.session
        custom = session.custom_commands.get(command.typed)
        if custom is not None:
            if "$ARGUMENTS" in custom:
                return custom.replace("$ARGUMENTS", command.arguments)
            return f"{custom}\n\n{command.arguments}".strip()
        catalog = session.profile.catalog
        if command.name in catalog.local_commands or self._is_unavailable(command):
            return None
        known = command.name in catalog.slash_commands
        if known or session.profile.unknown_slash_goes_to_model:
            return f"/{command.typed} {command.arguments}".strip()
        return None

    def _is_unavailable(self, command: Command) -> bool:
        return command.name in self._parts.session.profile.catalog.unavailable_commands

    async def prepare(self, command: Command) -> Compaction | None:
        """Start the compaction of a command before the init line; None for other commands."""
        if command.name != "compact" or not self._parts.session.conversation.messages:
            return None
        compaction = Compaction(self._parts, "manual", command.arguments)
        await compaction.prepare()
        return compaction

    def run(self, command: Command, uuid: str | None, begun: Compaction | None) -> Ending:
        """Run a command that needs no model."""
        catalog = self._parts.session.profile.catalog
        if command.name == "clear" and "clear" in catalog.local_commands:
            self._echo(command, uuid)
            return Ending(is_local=True, local_command="clear")
        if command.name == "compact":
            return self._compact(command, uuid, begun)
        if self._is_unavailable(command):
            text = f"/{command.typed} isn't available in this environment."
            outcome = {"kind": "unavailable_headless"}
            return self._show(command, text, uuid, run=False, outcome=outcome)
        if command.name not in catalog.local_commands:
            return Ending(text=f"Unknown skill: {command.typed}", is_local=True)
        return self._show(command, self._runs[command.name](command), uuid)

    def _show(
        self,
        command: Command,
        text: str,
        uuid: str | None,
        *,
        run: bool = True,
        outcome: dict[str, Any] | None = None,
        stream: str = "stdout",
    ) -> Ending:
        parts = self._parts
        wrapped = f"<local-command-{stream}>{text}</local-command-{stream}>"
        if not parts.session.profile.slash_output_is_assistant:
            parts.output.user(wrapped, isReplay=True)
            parts.transcript.user(parts.session.conversation, wrapped, None)
            return Ending(text="", is_local=True)
        fields: dict[str, Any] = {"local_command_source": wrapped}
        if run:
            fields["local_command_run"] = {"command": command.name, "args": command.arguments}
        if command.name == "context":
            fields["context_usage"] = context_usage(parts.session)
        if outcome is not None:
            fields["local_command_outcome"] = outcome
        message = synthetic_message(
            text, parts.session.new_id(), parts.session.profile, stop_reason="end_turn"
        )
        parts.output.assistant(message, **fields)
        parts.transcript.system(parts.session.conversation, "local_command", content=wrapped)
        if run:
            self._echo(command, uuid)
        failed = bool(outcome and outcome["kind"] == "failed")
        return Ending(
            text="" if failed else text,
            is_local=True,
            local_command=command.typed if run else None,
        )

    def _echo(self, command: Command, uuid: str | None) -> None:
        if self._parts.session.replays and uuid is not None:
            text = (
                f"<command-name>/{command.name}</command-name>\n"
                f"            <command-message>{command.name}</command-message>\n"
                f"            <command-args>{command.arguments}</command-args>"
            )
            self._parts.output.user(text, isReplay=True, uuid=uuid)

    def _compact(self, command: Command, uuid: str | None, begun: Compaction | None) -> Ending:
        failed = {"kind": "failed"}
        if begun is None:
            text = "Error: No messages to compact"
            return self._show(command, text, uuid, outcome=failed, stream="stderr")
        if begun.refused is not None:
            outcome = None if begun.refused == TOO_SHORT else failed
            shown = self._show(command, begun.refused, uuid, outcome=outcome, stream="stderr")
            return structs.replace(shown, text=begun.refused)
        begun.finish()
        line = f"<local-command-stdout>Compacted {begun.notes}</local-command-stdout>"
        self._parts.output.user(line, isReplay=True)
        if self._parts.session.profile.echoes_compact_command:
            self._echo(command, uuid)
        return Ending(text="", is_local=True, local_command="compact")

    def _model(self, command: Command) -> str:
        session = self._parts.session
        models = session.profile.catalog.models
        if not command.arguments:
            current = next((m.title for m in models if m.name == session.model), session.model)
            names = ", ".join(m.alias for m in models)
            return f"Current model: `{current}`\nUsage: /model <name>. Available: {names}."
        session.model = resolve_model(session.profile, command.arguments)
        title = next((m.title for m in models if m.name == session.model), session.model)
        return f"Set model to `{title}` for this session only"

    def _fast(self, command: Command) -> str:
        settings = self._parts.session.settings
        if command.arguments == "off":
            settings["fastMode"] = False
            return "Fast mode is off for this session"
        # Measured on 2.1.325: under a host the command alone does not enable it.
        on = settings.get("fastMode") is True
        return "Fast mode is on for this session" if on else "Fast mode: the host has to ask for it"

    def _rename(self, command: Command) -> str:
        self._parts.session.title = command.arguments
        return f"Session renamed to: {command.arguments}"

    def _mcp(self) -> str:
        servers = self._parts.mcp.servers.values()
        return "\n".join(f"{s.name}: {s.status}" for s in servers) or "No MCP servers"

    def _agents(self) -> str:
        session = self._parts.session
        return "\n".join([*session.profile.catalog.agents, *session.agents])
