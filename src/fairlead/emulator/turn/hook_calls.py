"""Hooks: callbacks of the host and commands of the settings, and what they decide.

For an event, every matching hook is run, the host's by hook_callback and the others as commands;
their outputs become one `HookReport`. Command hooks are visible only where the CLI shows them
(CLI-811). The turn and the tool call decide what to do with the report.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from fairlead.emulator.state.conversation import Conversation
from fairlead.emulator.state.effects import RunHook
from fairlead.emulator.state.ports import Ask, Effects, HostAnswer, OpenRequest, Output
from fairlead.emulator.state.scheduler import Interrupted, Job
from fairlead.emulator.state.session import Session
from fairlead.emulator.turn.background import BackgroundTasks

__all__ = ["HookReport", "HookRun", "Hooks"]

DEFAULT_TIMEOUT_S = 60.0
CALLBACK = "[callback]"
LATE = "the hook did not answer in time"

OUTSIDE_TURNS = frozenset(
    {"SessionStart", "SessionEnd", "PreCompact", "PostCompact", "SubagentStart", "Notification"}
)
"""Events whose input contains neither the mode nor the effort (measured)."""

SILENT = frozenset({"SessionEnd", "PreCompact", "PostCompact", "Notification"})
"""Events whose command hooks are never shown, not even with --include-hook-events (measured)."""

HEARD_SUBJECTS = frozenset({"compact", "clear"})
"""Callbacks for the start or end of a session are only called for these: at the start of the
process they are not registered yet, and at its end stdin is closed (CLI-811)."""


class HookRun(Struct, frozen=True, kw_only=True):
    """The outcome of a command hook."""

    stdout: str
    stderr: str
    exit_code: int
    is_late: bool = False
    """It was killed at its timeout."""

    @property
    def outcome(self) -> str:
        if self.is_late:
            return "cancelled"
        return "success" if self.exit_code == 0 else "error"


class HookReport(Struct):
    """The combined output of all hooks of an event."""

    decision: str | None = None
    """allow, deny or ask."""
    reason: str = ""
    updated_input: dict[str, Any] | None = None
    stops: bool = False
    """continue: false"""
    stop_reason: str = ""
    blocks: bool = False
    notes: list[str] = field(default_factory=list)
    """Messages of the hooks to the user (`systemMessage`), each with the name of its hook."""
    has_late_command: bool = False
    """A command was killed at its timeout."""
    has_failed: bool = False
    """A command could not be run or failed."""
    permission: Mapping[str, Any] | None = None
    """The decision of a PermissionRequest hook."""
    contexts: list[str] = field(default_factory=list)
    late: int | None = None
    """The timeout in milliseconds of a callback that did not answer, in the new version."""
    warnings: list[str] = field(default_factory=list)
    """Warnings about callbacks that failed."""
    ran: list[str] = field(default_factory=list)
    """The hooks that ran, in brackets as the CLI writes them."""
    blocked_by: str = ""

    def add_output(self, output: Mapping[str, Any], name: str, title: str) -> None:
        """Add the JSON output of one hook; `title` names it in a message to the user."""
        specific = output.get("hookSpecificOutput")
        specific = specific if isinstance(specific, dict) else {}
        if output.get("continue") is False:
            self.stops = True
            self.stop_reason = str(output.get("stopReason") or "")
        if output.get("decision") == "approve":
            self.decision = "allow"  # the form before `permissionDecision`
        if output.get("decision") == "block":
            self.block(name, str(output.get("reason") or ""))
        if output.get("systemMessage"):
            self.notes.append(f"{title} says: {output['systemMessage']}")
        if specific.get("permissionDecision"):
            self.decision = str(specific["permissionDecision"])
            self.reason = str(specific.get("permissionDecisionReason") or "")
        if isinstance(specific.get("updatedInput"), dict):
            self.updated_input = specific["updatedInput"]
        if specific.get("additionalContext"):
            self.contexts.append(str(specific["additionalContext"]))
        if isinstance(specific.get("decision"), dict):
            self.permission = specific["decision"]

    def block(self, name: str, reason: str) -> None:
        """A hook blocks."""
        self.blocks, self.reason, self.blocked_by = True, reason, name


class Hooks:
    """All hooks of a session."""

    def __init__(
        self,
        session: Session,
        output: Output,
        effects: Effects,
        ask: Ask,
        tasks: BackgroundTasks,
    ) -> None:
        self._session = session
        self._output = output
        self._effects = effects
        self._ask = ask
        self._tasks = tasks
        self._callbacks: dict[str, list[Mapping[str, Any]]] = {}

    def register(self, hooks: Any) -> None:
        """Register the callbacks of `initialize`."""
        if isinstance(hooks, dict):
            self._callbacks = {event: list(entries or ()) for event, entries in hooks.items()}

    def has(self, event: str, subject: str = "") -> bool:
        return bool(self._matching_callbacks(event, subject)) or bool(
            self._matching_commands(event, subject)
        )

    def listing(self) -> list[str]:
        return sorted(self._callbacks)

    async def run(
        self,
        event: str,
        fields: Mapping[str, Any],
        *,
        subject: str = "",
        tool_use_id: str | None = None,
        conversation: Conversation | None = None,
    ) -> HookReport:
        """Run the hooks of an event; `subject` is what their matchers look at.

        `conversation` is that of a subagent, if the event belongs to one.
        """
        report = HookReport()
        input = self._input(event, fields, conversation)
        calls = [
            self._effects.spawn(self._call(callback, timeout, input, tool_use_id, report))
            for callback, timeout in self._matching_callbacks(event, subject)
        ]
        try:
            for call in calls:
                await call.done
        except Interrupted:
            _stop(calls)
            raise
        commands = [
            self._effects.spawn(self._command(event, subject, hook, input, report))
            for hook in self._matching_commands(event, subject)
        ]
        try:
            for command in commands:
                await command.done
        except Interrupted:
            _stop(commands)
            raise
        if event != "UserPromptSubmit":  # there the init line comes first
            self.write_warnings(report)
        return report

    def write_warnings(self, report: HookReport) -> None:
        """Write the warnings about callbacks that failed."""
        for text in report.warnings:
            self._output.system(
                "informational", content=text, level="warning", tag="hook_callback_failed"
            )

    def write_messages(self, report: HookReport) -> None:
        """Write the messages of hooks to the user, as the newer version does (CLI-1609)."""
        if not self._session.profile.shows_hook_messages:
            return
        for note in report.notes:
            self._output.system("informational", content=note, level="notice")

    async def agent_stops(
        self, conversation: Conversation, last_message: str, *, again: bool
    ) -> HookReport:
        """Run the SubagentStop hooks; `again` if one has blocked before."""
        session = self._session
        folder = f"{session.workspace.projects}/{session.session_id}/subagents"
        path = f"{folder}/agent-{conversation.id}.jsonl"
        fields: dict[str, Any] = {"stop_hook_active": again, "agent_transcript_path": path}
        if session.profile.stop_hook_input_has_message:
            fields |= {
                "last_assistant_message": last_message,
                "background_tasks": self._tasks.hook_entries(),
                "session_crons": [],
            }
        else:
            fields |= {"agent_id": conversation.id, "agent_type": conversation.subagent_type}
        return await self.run(
            "SubagentStop", fields, subject=conversation.subagent_type, conversation=conversation
        )

    def _input(
        self, event: str, fields: Mapping[str, Any], conversation: Conversation | None
    ) -> dict[str, Any]:
        s = self._session
        input: dict[str, Any] = {
            "session_id": s.session_id,
            "transcript_path": s.transcript_path,
            "cwd": s.workspace.cwd,
        }
        profile = s.profile
        if profile.hook_input_has_prompt_id and fields.get("source") not in ("startup", "clear"):
            input["prompt_id"] = self._session.prompt_id
        if event not in OUTSIDE_TURNS:
            input["permission_mode"] = s.mode
        if profile.hook_input_has_agent and conversation is not None and not conversation.is_main:
            input |= {"agent_id": conversation.id, "agent_type": conversation.subagent_type}
        if profile.hook_input_has_effort and event not in OUTSIDE_TURNS | {"UserPromptSubmit"}:
            input["effort"] = {"level": "medium"}
        return {**input, "hook_event_name": event, **fields}

    def _matching_callbacks(self, event: str, subject: str) -> list[tuple[str, float]]:
        if event in ("SessionStart", "SessionEnd") and subject not in HEARD_SUBJECTS:
            return []
        return [
            (str(callback), float(entry.get("timeout") or DEFAULT_TIMEOUT_S))
            for entry in self._callbacks.get(event, ())
            if _matches(entry.get("matcher"), subject)
            for callback in entry.get("hookCallbackIds") or ()
        ]

    def _matching_commands(self, event: str, subject: str) -> list[Mapping[str, Any]]:
        hooks = self._session.settings.get("hooks")
        entries = hooks.get(event) if isinstance(hooks, dict) else None
        return [
            hook
            for entry in entries or ()
            if _matches(entry.get("matcher"), subject)
            for hook in entry.get("hooks") or ()
            if hook.get("type") == "command"
        ]

    async def _call(
        self,
        callback: str,
        timeout: float,
        input: Mapping[str, Any],
        tool_use_id: str | None,
        report: HookReport,
    ) -> None:
        host = self._ask
        open_request = host.ask(
            "hook_callback",
            callback_id=callback,
            input=dict(input),
            tool_use_id=tool_use_id or self._session.new_id(),
        )
        clock = self._effects.spawn(self._expire(open_request, timeout))
        try:
            answer = await open_request.answer
        except Interrupted:
            host.withdraw(open_request)
            raise
        finally:
            clock.stop()
        if answer.body is None:
            self._failed(input["hook_event_name"], callback, answer, timeout, report)
        else:
            report.ran.append(CALLBACK)
            report.add_output(
                answer.body, CALLBACK, self._name(str(input["hook_event_name"]), input)
            )

    def _name(self, event: str, input: Mapping[str, Any]) -> str:
        subject = input.get("tool_name")
        return f"{event}:{subject}" if subject else event

    def _failed(
        self, event: str, callback: str, answer: HostAnswer, timeout: float, report: HookReport
    ) -> None:
        """A failed callback counts as an empty answer; the new version warns of it (measured)."""
        self._effects.tell(f"Error in hook callback {callback}: Error: {answer.error}")
        if not self._session.profile.reports_failed_callbacks:
            return
        if answer.error == LATE:
            report.late = round(timeout * 1000)
            return
        report.warnings.append(
            f"{event}: Hook callback {callback} failed: the SDK host replied with an error or an "
            "invalid answer. Its answer was treated as empty."
        )

    async def _expire(self, open_request: OpenRequest, timeout: float) -> None:
        try:
            await self._effects.sleep(timeout)
        except Interrupted:
            return
        self._ask.withdraw(open_request)
        open_request.answer.settle(HostAnswer(None, LATE))

    async def _command(
        self,
        event: str,
        subject: str,
        hook: Mapping[str, Any],
        input: Mapping[str, Any],
        report: HookReport,
    ) -> None:
        shows_events = self._session.arguments.has("--include-hook-events")
        shown = event == "SessionStart" or (shows_events and event not in SILENT)
        named = f"{event}:{subject}" if subject and event != "SubagentStop" else event
        mark = {
            "hook_id": self._session.new_id(),
            "hook_name": named,
            "hook_event": event,
        }
        if shown:
            self._output.system("hook_started", **mark)
        run: HookRun = await self._effects.perform(
            lambda number: RunHook(
                number=number,
                command=str(hook.get("command", "")),
                input=input,
                timeout=float(hook.get("timeout") or DEFAULT_TIMEOUT_S),
            )
        )
        if shown:
            self._output.system(
                "hook_response",
                **mark,
                output=run.stdout + run.stderr,
                stdout=run.stdout,
                stderr=run.stderr,
                exit_code=run.exit_code,
                outcome=run.outcome,
            )
        name = f"[{hook.get('command', '')}]"
        report.ran.append(name)
        self._add_command_output(run, named, name, report)

    def _add_command_output(self, run: HookRun, named: str, name: str, report: HookReport) -> None:
        if run.exit_code == 2:
            report.decision = "deny"
            report.block(name, run.stderr.strip())
            return
        if run.is_late:
            report.has_late_command = True
            return
        report.has_failed = report.has_failed or run.exit_code != 0
        try:
            output = json.loads(run.stdout)
        except ValueError:
            if run.stdout.strip():
                report.contexts.append(run.stdout.strip())
            return
        if isinstance(output, dict):
            report.add_output(output, name, named)


def _matches(matcher: Any, subject: str) -> bool:
    if not matcher or matcher == "*" or not subject:
        return True
    # The tool Agent was called Task before, and matchers may still use that name (measured).
    names = ("Agent", "Task") if subject == "Agent" else (subject,)
    try:
        return any(re.fullmatch(str(matcher), name) for name in names)
    except re.error:
        return str(matcher) in names


def _stop(calls: list[Job[None]]) -> None:
    for call in calls:
        call.stop()
