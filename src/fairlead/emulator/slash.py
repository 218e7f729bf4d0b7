"""Slash commands: those the CLI answers itself, those of the project, and the unknown ones.

Each version has its own list and its own way to show the output (TRUTH 1.6). A command that is a
prompt in disguise is only expanded here; the turn then goes to the model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fairlead.emulator.api_errors import synthetic_message
from fairlead.emulator.compaction import Compaction
from fairlead.emulator.cost import resolve_model
from fairlead.emulator.ending import Ending
from fairlead.emulator.usage_report import context_report, context_usage, cost_report

if TYPE_CHECKING:
    from fairlead.emulator.engine import Engine

__all__ = ["Command", "SlashCommands"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What was typed."""

    typed: str
    name: str
    """The command that runs; another word than was typed for an alias."""
    arguments: str

    @classmethod
    def read(cls, text: str, aliases: dict[str, str]) -> Command:
        words = text.strip().removeprefix("/").split(None, 1)
        typed = words[0] if words else ""
        rest = words[1] if len(words) > 1 else ""
        return cls(typed=typed, name=aliases.get(typed, typed), arguments=rest)


class SlashCommands:
    """Runs slash commands."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._runs: dict[str, Callable[[Command], str]] = {
            "cost": lambda command: cost_report(engine.session),
            "usage": lambda command: cost_report(engine.session),
            "context": lambda command: context_report(engine.session),
            "model": self._model,
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
        return Command.read(text, self._engine.session.profile.catalogue.aliases)

    def expand(self, command: Command) -> str | None:
        """The prompt that a command stands for; None if it is not such a command."""
        session = self._engine.session
        custom = session.custom_commands.get(command.typed)
        if custom is not None:
            if "$ARGUMENTS" in custom:
                return custom.replace("$ARGUMENTS", command.arguments)
            return f"{custom}\n\n{command.arguments}".strip()
        catalogue = session.profile.catalogue
        if command.name in catalogue.local_commands or self._is_unavailable(command):
            return None
        known = command.name in catalogue.slash_commands
        if known or session.profile.unknown_slash_goes_to_model:
            return f"/{command.typed} {command.arguments}".strip()
        return None

    def _is_unavailable(self, command: Command) -> bool:
        return command.name in self._engine.session.profile.catalogue.unavailable_commands

    async def prepare(self, command: Command) -> Compaction | None:
        """The compaction that a command begins before its turn is opened, if it does."""
        if command.name != "compact" or not self._engine.talk.messages:
            return None
        compaction = Compaction(self._engine, "manual", command.arguments)
        await compaction.prepare()
        return compaction

    def run(self, command: Command, uuid: str | None, begun: Compaction | None) -> Ending:
        """Run a command that needs no model."""
        catalogue = self._engine.session.profile.catalogue
        if command.name == "clear" and "clear" in catalogue.local_commands:
            return Ending(is_local=True, local_command="clear")
        if command.name == "compact":
            return self._compact(command, uuid, begun)
        if self._is_unavailable(command):
            text = f"/{command.typed} isn't available in this environment."
            outcome = {"kind": "unavailable_headless"}
            return self._show(command, text, uuid, run=False, outcome=outcome)
        if command.name not in catalogue.local_commands:
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
        engine = self._engine
        wrapped = f"<local-command-{stream}>{text}</local-command-{stream}>"
        if not engine.session.profile.slash_output_is_assistant:
            engine.voice.user(wrapped, isReplay=True)
            engine.scribe.user(engine.talk, wrapped, None)
            return Ending(text="", is_local=True)
        fields: dict[str, Any] = {"local_command_source": wrapped}
        if run:
            fields["local_command_run"] = {"command": command.name, "args": command.arguments}
        if command.name == "context":
            fields["context_usage"] = context_usage(engine.session)
        if outcome is not None:
            fields["local_command_outcome"] = outcome
        message = synthetic_message(
            text, engine.session.new_id(), modern=True, stop_reason="end_turn"
        )
        engine.voice.assistant(message, **fields)
        engine.scribe.system(engine.talk, "local_command", content=wrapped)
        self._echo(command, uuid)
        failed = bool(outcome and outcome["kind"] == "failed")
        return Ending(
            text="" if failed else text,
            is_local=True,
            local_command=command.typed if run else None,
        )

    def _echo(self, command: Command, uuid: str | None) -> None:
        if self._engine.session.replays:
            text = (
                f"<command-name>/{command.name}</command-name>\n"
                f"            <command-message>{command.name}</command-message>\n"
                f"            <command-args>{command.arguments}</command-args>"
            )
            self._engine.voice.user(text, isReplay=True, uuid=uuid)

    def _compact(self, command: Command, uuid: str | None, begun: Compaction | None) -> Ending:
        failed = {"kind": "failed"}
        if begun is None:
            text = "Error: No messages to compact"
            return self._show(command, text, None, outcome=failed, stream="stderr")
        if begun.refused is not None:
            shown = self._show(command, begun.refused, uuid, outcome=failed, stream="stderr")
            return replace(shown, text=begun.refused)
        begun.finish()
        said = f"<local-command-stdout>Compacted {begun.notes}</local-command-stdout>"
        self._engine.voice.user(said, isReplay=True)
        return Ending(text="", is_local=True, local_command="compact")

    def _model(self, command: Command) -> str:
        session = self._engine.session
        models = session.profile.catalogue.models
        if not command.arguments:
            current = next((m.title for m in models if m.name == session.model), session.model)
            names = ", ".join(m.alias for m in models)
            return f"Current model: `{current}`\nUsage: /model <name>. Available: {names}."
        session.model = resolve_model(session.profile, command.arguments)
        title = next((m.title for m in models if m.name == session.model), session.model)
        return f"Set model to `{title}` for this session only"

    def _fast(self, command: Command) -> str:
        settings = self._engine.session.settings
        if command.arguments == "off":
            settings["fastMode"] = False
            return "Fast mode is off for this session"
        # Measured on 2.1.325: the command alone does not switch it on under a host.
        on = settings.get("fastMode") is True
        return "Fast mode is on for this session" if on else "Fast mode: the host has to ask for it"

    def _rename(self, command: Command) -> str:
        self._engine.session.title = command.arguments
        return f"Session renamed to: {command.arguments}"

    def _mcp(self) -> str:
        servers = self._engine.mcp.servers.values()
        return "\n".join(f"{s.name}: {s.status}" for s in servers) or "No MCP servers"

    def _agents(self) -> str:
        session = self._engine.session
        return "\n".join([*session.profile.catalogue.agents, *session.agents])
