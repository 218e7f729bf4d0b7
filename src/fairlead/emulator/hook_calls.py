"""Hooks: callbacks of the host and commands of the settings, and what they decide.

For an event, every matching hook is run, the host's by hook_callback and the others as commands;
their outputs become one `HookWord`. Command hooks are visible only where the CLI shows them
(TRUTH 1.8). What is done with the word is decided by the turn and the tool call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairlead.emulator.effects import RunHook
from fairlead.emulator.host_line import Asked, HostAnswer
from fairlead.emulator.strands import Interrupted, Strand

if TYPE_CHECKING:
    from fairlead.emulator.conversation import Conversation
    from fairlead.emulator.engine import Engine

__all__ = ["HookRun", "HookWord", "Hooks"]

DEFAULT_TIMEOUT_S = 60.0
CALLBACK = "[callback]"

OUTSIDE_TURNS = frozenset(
    {"SessionStart", "SessionEnd", "PreCompact", "PostCompact", "SubagentStart", "Notification"}
)
"""Events whose input tells neither the mode nor the effort (measured)."""

SILENT = frozenset({"SessionEnd", "PreCompact", "PostCompact", "Notification"})
"""Events whose command hooks are never shown, not even with --include-hook-events (measured)."""

HEARD_SUBJECTS = frozenset({"compact", "clear"})
"""Callbacks for the start or end of a session are called for these alone: at the start of the
process they are registered too late, and at its end nobody listens (TRUTH 1.8)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookRun:
    """How a command hook went."""

    stdout: str
    stderr: str
    exit_code: int


@dataclass(slots=True)
class HookWord:
    """What all hooks of an event said together."""

    decision: str | None = None
    """allow, deny or ask."""
    reason: str = ""
    updated_input: dict[str, Any] | None = None
    stops: bool = False
    """continue: false"""
    blocks: bool = False
    notes: list[str] = field(default_factory=list)
    permission: Mapping[str, Any] | None = None
    """The decision of a PermissionRequest hook."""
    contexts: list[str] = field(default_factory=list)
    failed: bool = False
    ran: list[str] = field(default_factory=list)
    """What ran, in the brackets in which the CLI names it."""
    blocked_by: str = ""

    def hear(self, output: Mapping[str, Any], name: str) -> None:
        """Take in the JSON output of one hook."""
        specific = output.get("hookSpecificOutput")
        specific = specific if isinstance(specific, dict) else {}
        if output.get("continue") is False:
            self.stops = True
            self.reason = str(output.get("stopReason") or "")
        if output.get("decision") == "block":
            self.block(name, str(output.get("reason") or ""))
        if output.get("systemMessage"):
            self.notes.append(str(output["systemMessage"]))
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
        """A hook says no."""
        self.blocks, self.reason, self.blocked_by = True, reason, name


class Hooks:
    """All hooks of a session."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._callbacks: dict[str, list[Mapping[str, Any]]] = {}

    def register(self, hooks: Any) -> None:
        """The callbacks of `initialize`."""
        if isinstance(hooks, dict):
            self._callbacks = {event: list(found or ()) for event, found in hooks.items()}

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
        talk: Conversation | None = None,
    ) -> HookWord:
        """Run the hooks of an event; `subject` is what their matchers look at.

        `talk` is the conversation it happens in, where that may be a subagent's.
        """
        word = HookWord()
        given = self._input(event, fields, talk)
        calls = [
            self._engine.loom.spawn(self._call(callback, timeout, given, tool_use_id, word))
            for callback, timeout in self._matching_callbacks(event, subject)
        ]
        try:
            for call in calls:
                await call.done
        except Interrupted:
            _stop(calls)
            raise
        for hook in self._matching_commands(event, subject):
            await self._command(event, subject, hook, given, word)
        return word

    async def agent_stops(self, talk: Conversation, said: str, *, again: bool) -> HookWord:
        """A subagent wants to end; `again` if a hook has held it before."""
        session = self._engine.session
        path = f"{session.place.projects}/{session.session_id}/subagents/agent-{talk.id}.jsonl"
        fields: dict[str, Any] = {"stop_hook_active": again, "agent_transcript_path": path}
        if session.profile.is_modern:
            fields |= {
                "last_assistant_message": said,
                "background_tasks": self._engine.tasks.told_to_hooks(),
                "session_crons": [],
            }
        else:
            fields |= {"agent_id": talk.id, "agent_type": talk.subagent_type}
        return await self.run("SubagentStop", fields, subject=talk.subagent_type, talk=talk)

    def _input(
        self, event: str, fields: Mapping[str, Any], talk: Conversation | None
    ) -> dict[str, Any]:
        s = self._engine.session
        given: dict[str, Any] = {
            "session_id": s.session_id,
            "transcript_path": s.transcript_path,
            "cwd": s.place.cwd,
        }
        modern = s.profile.is_modern
        if modern and fields.get("source") not in ("startup", "clear"):
            given["prompt_id"] = self._engine.prompt_id
        if event not in OUTSIDE_TURNS:
            given["permission_mode"] = s.mode
        if modern and talk is not None and not talk.is_main:
            given |= {"agent_id": talk.id, "agent_type": talk.subagent_type}
        if modern and event not in OUTSIDE_TURNS | {"UserPromptSubmit"}:
            given["effort"] = {"level": "medium"}
        return {**given, "hook_event_name": event, **fields}

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
        hooks = self._engine.session.settings.get("hooks")
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
        given: Mapping[str, Any],
        tool_use_id: str | None,
        word: HookWord,
    ) -> None:
        host = self._engine.host
        asked = host.ask(
            "hook_callback",
            callback_id=callback,
            input=dict(given),
            tool_use_id=tool_use_id or self._engine.session.new_id(),
        )
        clock = self._engine.loom.spawn(self._expire(asked, timeout))
        try:
            answer = await asked.answer
        except Interrupted:
            host.withdraw(asked)
            raise
        finally:
            clock.stop()
        if answer.body is None:
            # A hook that fails is no opinion in the old version and a refusal in the new one.
            word.failed = self._engine.session.profile.is_modern
            self._engine.tell(f"Error in hook callback {callback}: Error: {answer.error}")
        else:
            word.ran.append(CALLBACK)
            word.hear(answer.body, CALLBACK)

    async def _expire(self, asked: Asked, timeout: float) -> None:
        try:
            await self._engine.sleep(timeout)
        except Interrupted:
            return
        self._engine.host.withdraw(asked)
        asked.answer.settle(HostAnswer(None, "the hook did not answer in time"))

    async def _command(
        self,
        event: str,
        subject: str,
        hook: Mapping[str, Any],
        given: Mapping[str, Any],
        word: HookWord,
    ) -> None:
        told = self._engine.session.arguments.has("--include-hook-events")
        shown = event == "SessionStart" or (told and event not in SILENT)
        named = f"{event}:{subject}" if subject and event != "SubagentStop" else event
        mark = {
            "hook_id": self._engine.session.new_id(),
            "hook_name": named,
            "hook_event": event,
        }
        if shown:
            self._engine.voice.system("hook_started", **mark)
        run: HookRun = await self._engine.perform(
            lambda number: RunHook(
                number=number,
                command=str(hook.get("command", "")),
                input=given,
                timeout=float(hook.get("timeout") or DEFAULT_TIMEOUT_S),
            )
        )
        if shown:
            self._engine.voice.system(
                "hook_response",
                **mark,
                output=run.stdout + run.stderr,
                stdout=run.stdout,
                stderr=run.stderr,
                exit_code=run.exit_code,
                outcome="success" if run.exit_code == 0 else "error",
            )
        name = f"[{hook.get('command', '')}]"
        word.ran.append(name)
        self._hear_command(run, named, name, word)

    def _hear_command(self, run: HookRun, named: str, name: str, word: HookWord) -> None:
        if run.exit_code == 2:
            word.decision = "deny"
            word.block(name, run.stderr.strip())
            return
        try:
            output = json.loads(run.stdout)
        except ValueError:
            if run.stdout.strip():
                word.contexts.append(run.stdout.strip())
            return
        if isinstance(output, dict):
            notes = len(word.notes)
            word.hear(output, name)
            word.notes[notes:] = [f"{named} says: {note}" for note in word.notes[notes:]]


def _matches(matcher: Any, subject: str) -> bool:
    if not matcher or matcher == "*" or not subject:
        return True
    # The tool that is Agent now was Task before, and is still found by that name (measured).
    names = ("Agent", "Task") if subject == "Agent" else (subject,)
    try:
        return any(re.fullmatch(str(matcher), name) for name in names)
    except re.error:
        return str(matcher) in names


def _stop(calls: list[Strand[None]]) -> None:
    for call in calls:
        call.stop()
