"""One use of a tool: checked, allowed, run, told. And the order among several.

The steps are those of the CLI: is there such a tool, does its input fit, what do PreToolUse hooks
say, what do the rules and the host say, then the tool itself, then PostToolUse hooks, then the
user line with the result. Uses that only read run side by side, the others one after the other
(TRUTH 1.3, rec parallel).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairlead.emulator.conversation import Conversation
from fairlead.emulator.effects import CheckTool, RunTool
from fairlead.emulator.ending import TurnFigures
from fairlead.emulator.hook_calls import HookWord
from fairlead.emulator.permission_desk import USER_REJECTED, Ruling
from fairlead.emulator.strands import Interrupted
from fairlead.emulator.tools.outcome import Outcome, failed, unusable
from fairlead.emulator.tools.workshop import CHECKED
from fairlead.emulator.verdict import Meta, Verdict
from fairlead.permissions.commands import parse_command
from fairlead.permissions.decisions import ToolCall
from fairlead.permissions.families import family_of
from fairlead.permissions.readonly import is_read_only
from fairlead.permissions.scopes import Behaviour

if TYPE_CHECKING:
    from fairlead.emulator.engine import Engine

__all__ = ["Use", "UseRunner"]

ALONE = frozenset({"Write", "Edit", "NotebookEdit", "TodoWrite", "ExitPlanMode", "EnterPlanMode"})
"""Tools that are never run beside another."""


@dataclass(slots=True, kw_only=True)
class Use:
    """A tool use of the model, and what became of it."""

    id: str
    name: str
    input: Mapping[str, Any]
    talk: Conversation | None = None
    """The subagent's conversation that it belongs to, if it is one's."""
    has_started: bool = False
    is_done: bool = False
    interrupts: bool = False
    is_dropped: bool = False
    """The turn is over: whatever comes of it is not told."""
    waits_for: list[Use] = field(default_factory=list)

    @property
    def agent_id(self) -> str | None:
        return self.talk.id if self.talk is not None else None

    @property
    def call(self) -> ToolCall:
        server = self.name.split("__")[1] if self.name.startswith("mcp__") else None
        return ToolCall(tool=self.name, input=self.input, mcp_server=server)

    def reads_only(self, version: str) -> bool:
        """Whether it may run beside others."""
        if self.name == "Bash":
            line = parse_command(self.call.text("command"))
            family = family_of(version)
            writes = any(command.redirects for command in line.commands)
            return not writes and all(is_read_only(c, family) for c in line.commands)
        return self.name not in ALONE

    def hook_name(self, *, modern: bool) -> str:
        """What hooks and their matchers call the tool (measured)."""
        return "Agent" if modern and self.name == "Task" else self.name

    def shown_input(self, *, modern: bool) -> dict[str, Any]:
        """What the host is shown: the new version keeps a plan to itself (TRUTH 1.4)."""
        shown = dict(self.input)
        if modern and self.name == "ExitPlanMode":
            shown.pop("plan", None)
        return shown


class UseRunner:
    """Runs one use for a conversation."""

    def __init__(self, engine: Engine, talk: Conversation, use: Use, figures: TurnFigures) -> None:
        self._engine = engine
        self._talk = talk
        self._use = use
        self._figures = figures
        self._meta: Meta | None = None
        self._kind: str | None = None
        self._is_denied = False
        self._started_at = 0.0

    async def run(self) -> None:
        """Take the use to its result line."""
        use = self._use
        try:
            for earlier in use.waits_for:
                await self._engine.when_done(earlier)
            outcome = await self._outcome()
        except Interrupted:
            self._tell(self._interrupted())
            self._finish()
            raise
        self._tell(outcome)
        self._finish()

    def _finish(self) -> None:
        self._use.is_done = True
        self._engine.use_done(self._use)

    async def _outcome(self) -> Outcome:
        use, engine = self._use, self._engine
        refused = engine.unavailable(use)
        if refused is not None:
            return unusable(refused)
        modern = engine.session.profile.is_modern
        if use.name in CHECKED and not (modern and use.name == "Read"):
            problem: Outcome | None = await engine.perform(
                lambda n: CheckTool(number=n, name=use.name, input=use.input, owner=self._talk.id)
            )
            if problem is not None:
                return problem
        if use.name == "ExitPlanMode" and use.input.get("plan"):
            engine.keep_plan(str(use.input["plan"]))
        verdict = engine.desk.judge(use.call)
        word = await self._before(verdict)
        ruling = await self._ruling(verdict, word)
        self._meta = ruling.meta
        if not ruling.is_allowed:
            return self._denied(ruling)
        if ruling.input is not None:
            use.input = ruling.input
        return await self._run()

    async def _before(self, verdict: Verdict) -> HookWord:
        use = self._use
        name = use.hook_name(modern=self._engine.session.profile.is_modern)
        fields = {"tool_name": name, "tool_input": dict(use.input), "tool_use_id": use.id}
        if not self._engine.hooks.has("PreToolUse", name):
            return HookWord()
        word = await self._engine.hooks.run(
            "PreToolUse", fields, subject=name, tool_use_id=use.id, talk=self._talk
        )
        if word.updated_input is not None:
            use.input = word.updated_input
        return word

    async def _ruling(self, verdict: Verdict, word: HookWord) -> Ruling:
        modern = self._engine.session.profile.is_modern
        hooked = {"source": "hook", "reason_type": "hook"}
        if word.decision == "deny" or word.blocks or word.failed:
            prefix = f"PreToolUse:{self._use.name} hook error: " if modern else ""
            meta = {"decision": "reject", **hooked}
            return Ruling(is_allowed=False, meta=meta, message=prefix + word.reason)
        if word.decision == "allow" and verdict.behaviour is not Behaviour.DENY:
            return Ruling(is_allowed=True, meta={"decision": "accept", **hooked})
        if word.decision == "ask":
            verdict = _hook_asks(word, verdict, modern=modern)
        return await self._engine.desk.rule(self._use, verdict)

    def _denied(self, ruling: Ruling) -> Outcome:
        use = self._use
        self._is_denied = True
        use.interrupts = ruling.interrupts
        modern = self._engine.session.profile.is_modern
        if not (ruling.is_unreadable and not modern):
            self._figures.denials.append(
                {"tool_name": use.name, "tool_use_id": use.id, "tool_input": dict(use.input)}
            )
        if ruling.is_unreadable:
            return unusable(ruling.message)
        self._kind = ruling.kind
        if ruling.kind == "user-rejected" and ruling.interrupts:
            return Outcome(content=ruling.message, result="User rejected tool use", is_error=True)
        return failed(ruling.message)

    async def _run(self) -> Outcome:
        use, engine = self._use, self._engine
        use.has_started = True
        self._started_at = engine.session.now()
        outcome = await self._by_name()
        engine.session.lines_added += outcome.lines_added
        engine.session.lines_removed += outcome.lines_removed
        await self._after(outcome)
        return outcome

    async def _by_name(self) -> Outcome:
        use, engine = self._use, self._engine
        special = engine.special_tools.get(use.name)
        if special is not None:
            return await special(use, self._talk, self._figures)
        if use.name.startswith("mcp__"):
            return await engine.mcp.call(use)
        outcome: Outcome = await engine.perform(
            lambda n: RunTool(
                number=n,
                name=use.name,
                input=use.input,
                tool_use_id=use.id,
                session_id=engine.session.session_id,
                owner=self._talk.id,
                prompt=engine.turn_uuid,
            )
        )
        if outcome.task is not None:
            engine.tasks.command_started(outcome.task, use, self._talk)
        return outcome

    async def _after(self, outcome: Outcome) -> None:
        use, engine = self._use, self._engine
        event = "PostToolUseFailure" if outcome.is_error else "PostToolUse"
        name = use.hook_name(modern=engine.session.profile.is_modern)
        if not engine.hooks.has(event, name):
            return
        fields: dict[str, Any] = {"tool_name": name, "tool_input": dict(use.input)}
        if outcome.is_error:
            fields |= {"tool_use_id": use.id, "error": outcome.content, "is_interrupt": False}
        else:
            fields |= {"tool_response": outcome.result, "tool_use_id": use.id}
        if engine.session.profile.is_modern:
            spent = engine.session.now() - self._started_at
            fields["duration_ms"] = round(spent * 1000)
        word = await engine.hooks.run(
            event, fields, subject=name, tool_use_id=use.id, talk=self._talk
        )
        engine.hook_notes += word.notes

    def _interrupted(self) -> Outcome:
        """The result of a use that an interrupt stopped (TRUTH 1.2)."""
        use, modern = self._use, self._engine.session.profile.is_modern
        self._meta = None
        if modern:
            self._kind = "user-rejected"
            if not use.has_started:
                self._deny_quietly()
            return Outcome(content=USER_REJECTED, result="User rejected tool use", is_error=True)
        if use.name == "Bash" and use.has_started:
            return failed("Exit code 137\n[Request interrupted by user for tool use]")
        if use.name.startswith("mcp__") and use.has_started:
            return failed("MCP error -32001: AbortError: This operation was aborted")
        self._deny_quietly()
        return failed("Tool permission request failed: AbortError")

    def _deny_quietly(self) -> None:
        use = self._use
        self._figures.denials.append(
            {"tool_name": use.name, "tool_use_id": use.id, "tool_input": dict(use.input)}
        )

    def _tell(self, outcome: Outcome) -> None:
        use, engine = self._use, self._engine
        if use.is_dropped:
            return
        modern = engine.session.profile.is_modern
        block = _block(use, outcome)
        fields = self._talk.fields(modern=modern)
        if modern:
            meta = self._result_meta()
            if meta is not None:
                fields["tool_result_meta"] = [meta]
        if self._talk.is_main:
            fields["tool_use_result"] = outcome.result
            self._figures.user_lines += 1
        said = engine.voice.user([block], **fields)
        self._talk.hear_result(block, denied=self._is_denied)
        engine.scribe.user(self._talk, [block], said, tool_use_result=outcome.result)
        for note in engine.hook_notes:
            if modern and engine.session.arguments.has("--include-hook-events"):
                engine.voice.system("informational", content=note, level="notice")
        engine.hook_notes = []

    def _result_meta(self) -> dict[str, Any] | None:
        if self._kind is None and self._meta is None:
            return None
        meta: dict[str, Any] = {"id": self._use.id}
        if self._kind is not None:
            meta["non_execution_kind"] = self._kind
        if self._meta is not None:
            meta["permission_decision"] = dict(self._meta)
        return meta


def _block(use: Use, outcome: Outcome) -> dict[str, Any]:
    if outcome.is_error:
        return {
            "type": "tool_result",
            "content": outcome.content,
            "is_error": True,
            "tool_use_id": use.id,
        }
    block = {"tool_use_id": use.id, "type": "tool_result", "content": outcome.content}
    return {**block, "is_error": False} if outcome.says_error_flag else block


def _hook_asks(word: HookWord, verdict: Verdict, *, modern: bool) -> Verdict:
    request: dict[str, Any] = {"decision_reason": word.reason}
    if modern:
        kept = {"description", "requires_user_interaction"}
        request |= {name: value for name, value in verdict.request.items() if name in kept}
        request |= {
            "decision_reason_type": "hook",
            "decision_reason_hook_event": "PreToolUse",
            "decision_reason_hook_source": "settings",
        }
    return Verdict(behaviour=Behaviour.ASK, request=request, offers=not modern, message=word.reason)
