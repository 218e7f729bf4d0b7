"""One turn: from a prompt to its result line.

The loop of the CLI: call the model, run its tools, add prompts that were queued meanwhile, repeat.
The model, a limit, an API error, a hook or an interrupt ends the turn; exactly one result line
reports it (CLI-518).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from msgspec import structs

from fairlead.emulator.state.cost import Spending
from fairlead.emulator.state.inbox import Prompt, content_of
from fairlead.emulator.state.scheduler import Crashed, Interrupted, Job, Pending
from fairlead.emulator.turn import no_reply
from fairlead.emulator.turn.compaction import Compaction, is_due
from fairlead.emulator.turn.ending import Ending, TurnFigures, aborted, result_line
from fairlead.emulator.turn.hook_calls import HookReport
from fairlead.emulator.turn.limits import OutputLimits
from fairlead.emulator.turn.model_call import ModelCall, ReceivedReply, report_requesting
from fairlead.emulator.turn.parts import TurnParts
from fairlead.emulator.turn.slash import SlashCommands
from fairlead.emulator.turn.stream_clock import StreamClock
from fairlead.emulator.turn.suggestion import suggest
from fairlead.emulator.turn.tool_call import UseRunner
from fairlead.emulator.turn.use import Use

__all__ = ["Turn"]

LATE_STOP = "Stop says: The app driving this session didn't respond, so this turn ended without it."
NO_VISIBLE_OUTPUT = (
    "[Your previous response had no visible output. Please continue and produce a user-visible "
    "response.]"
)
STOPPED_BY_CLASSIFIER = (
    "Interrupted: a safety classifier stopped the response that made this tool call while the call "
    "was running; it may have partially or fully completed."
)
SILENT = "[exit 2]: No stderr output"
CUT_OFF = "Your response above was cut off mid-stream. Continue from where it stops."
INTERRUPTED = "[Request interrupted by user]"
INTERRUPTED_IN_TOOLS = "[Request interrupted by user for tool use]"


class Turn:
    """A running turn."""

    def __init__(self, parts: TurnParts, slash: SlashCommands, prompts: Sequence[Prompt]) -> None:
        self._parts = parts
        self._slash = slash
        self._prompts = tuple(prompts)
        self._first = prompts[0]
        self._uses: list[tuple[Use, Job[None]]] = []
        self._stop_reason: str | None = None
        self._has_marker = False
        self._folded: list[str] = []
        self._completed: set[str] = set()
        self._message_complete: Pending[None] = Pending()
        self._clock = StreamClock(parts.effects)
        self._hook_blocks = 0
        self._requested_text = False
        self._typed: str | None = None
        """A slash command that becomes a prompt, as it was typed."""
        self._prompt_report = HookReport()
        """The report of the UserPromptSubmit hooks; their messages follow the init line."""
        self._is_reported = False
        self.in_tools = False
        self.figures = TurnFigures(started_at=parts.session.now())
        self.figures.uuids = [p.uuid for p in self._prompts if p.uuid]
        self.figures.origin = self._first.reported_origin
        self._limits = OutputLimits(parts, self.figures, self._stop_refused_uses)

    def report_started(self) -> None:
        """Report that its prompts have started."""
        self._is_reported = True
        for uuid in self.figures.uuids:
            self._parts.output.lifecycle(uuid, "started")

    async def run(self) -> None:
        """Run the turn up to its result."""
        try:
            if not self._is_reported:
                await self._parts.mcp.wait_for_all()
                self.report_started()
            ending = await self._play()
        except Interrupted:
            ending = await self._aborted()
        except Crashed as problem:
            session = self._parts.session
            session.spending = Spending(session.profile)
            self._end(
                Ending(subtype="error_during_execution", is_error=True, errors=(str(problem),))
            )
            self._parts.turns.exit(1)
            return
        self._end(ending)

    async def _play(self) -> Ending:
        parts = self._parts
        if parts.session.crashes_with is not None:
            raise Crashed(parts.session.crashes_with)
        command = self._slash.read(self._first.text) if self._first.is_slash else None
        expanded = self._slash.expand(command) if command is not None else None
        parts.permissions.grant(())
        if expanded is not None and command is not None:
            self._typed = self._first.text.strip()
            parts.permissions.grant(parts.session.custom_grants.get(command.typed, ()))
        if parts.session.is_first_turn:
            parts.session.is_first_turn = False
            await parts.hooks.run("SessionStart", {"source": "startup"}, subject="startup")
        if command is None or expanded is not None:
            blocked = await self._submitted(expanded)
            if blocked is not None:
                return blocked
        await parts.mcp.ready()
        if command is not None and expanded is None:
            if command.name == "clear" and parts.session.profile.slash_output_is_assistant:
                await self._clear()
            begun = await self._slash.prepare(command)
            self._init()
            return self._slash.run(command, self._first.uuid, begun)
        self._init()
        return await self._converse(expanded)

    async def _clear(self) -> None:
        """End the session and start another one, each with its hooks."""
        parts = self._parts
        await parts.hooks.run("SessionEnd", {"reason": "clear"}, subject="clear")
        parts.turns.clear(self._first.uuid)
        await parts.hooks.run("SessionStart", {"source": "clear"}, subject="clear")

    async def _submitted(self, expanded: str | None) -> Ending | None:
        """UserPromptSubmit: a hook may stop the prompt (CLI-814)."""
        parts = self._parts
        fields = {"prompt": expanded or self._first.text}
        report = await parts.hooks.run("UserPromptSubmit", fields)
        if not (report.blocks or report.stops or report.late is not None):
            for context in report.contexts:
                parts.session.conversation.note(context)
            self._prompt_report = report
            return None
        self._init()
        if not parts.session.profile.explains_blocked_prompts:
            return Ending(text="", is_local=True)
        blocked = "UserPromptSubmit operation blocked by hook:\n"
        if report.blocks:
            outcome = {"kind": "blocked_by_hook", "prompt_kept": False}
            if report.reason:
                outcome["reason"] = report.reason
            text = f"{blocked}{report.reason or SILENT}\n\nOriginal prompt: {fields['prompt']}"
        elif report.late is not None:
            outcome = {"kind": "no_verdict", "prompt_kept": False}
            outcome["no_verdict_kind"] = "callback_timed_out"
            text = f"{blocked}UserPromptSubmit hook callback timed out after {report.late}ms"
        else:
            outcome = {"kind": "stopped_by_hook", "prompt_kept": True}
            if report.stop_reason:
                outcome["reason"] = report.stop_reason
            text = f"Operation stopped by hook: {report.stop_reason}"
        parts.output.system(
            "informational",
            content=text,
            level="warning",
            prevent_continuation=True,
            prompt_submit_outcome=outcome,
        )
        if outcome["prompt_kept"]:
            self._echo()
        return Ending(text=text, is_local=True)

    def _init(self) -> None:
        parts = self._parts
        parts.output.init(
            parts.mcp.listed(),
            parts.offered_tools(),
            uuids=self.figures.uuids,
            problems=parts.mcp.problems,
        )
        parts.hooks.write_warnings(self._prompt_report)
        parts.hooks.write_messages(self._prompt_report)

    async def _converse(self, expanded: str | None) -> Ending:
        parts = self._parts
        content = [{"type": "text", "text": expanded}] if expanded else content_of(self._prompts)
        parts.session.conversation.add_prompt(content, is_own=self._first.origin is not None)
        if parts.session.pending_note is not None:
            parts.session.conversation.note(parts.session.pending_note)
            parts.session.pending_note = None
        parts.transcript.user(parts.session.conversation, content, None, uuid=self._first.uuid)
        if not self._first.should_query and parts.session.profile.honors_should_query:
            self._echo()
            return Ending(text="", is_local=True)
        if not parts.session.has_key:
            return no_reply.not_logged_in(parts)
        return await self._loop()

    async def _loop(self) -> Ending:
        parts = self._parts
        echo_uuids = tuple(self.figures.uuids)
        while True:
            over = self._over_budget(before=True)
            if over is not None:
                report_requesting(parts, tuple(self.figures.uuids))
                return over
            if is_due(parts):
                compaction = Compaction(parts, "auto")
                await compaction.prepare()
                if not parts.session.profile.replays_before_stream:
                    self._echo()
                if compaction.refused is not None:
                    self._echo()
                    return no_reply.too_long(parts, self.figures.uuids)
                compaction.finish()
            received = await self._listen(echo_uuids)
            first, echo_uuids = echo_uuids, (() if received.blocks else echo_uuids)
            if received.failure is not None:
                return no_reply.failed(parts, received.failure, first)
            if received.is_cut:
                self._synthetic(CUT_OFF)
                continue
            self.figures.replies += 1
            self.figures.use.add(parts.session.last_usage)
            self._stop_reason = received.stop_reason
            self._complete_folded()
            limited = self._limits.apply(received)
            if limited is not None:
                if isinstance(limited, Ending):
                    return limited
                continue
            ending = await self._after(received)
            if ending is not None:
                return ending

    def _complete_folded(self) -> None:
        for uuid in self._folded:
            self._parts.output.lifecycle(uuid, "completed")
        self._completed.update(self._folded)
        self._folded = []

    async def _after(self, received: ReceivedReply) -> Ending | None:
        """Handle a reply; None if the model is called again."""
        over = self._over_budget(before=False)
        if over is not None:
            self._drop_uses()
            return over
        if not self._uses:
            return await self._wants_to_stop(received)
        if await self._finish_uses():
            return self._stopped_by_hook()
        if (
            self.figures.has_structured_output
            and self._parts.session.profile.structured_output_ends_turn
        ):
            return self._structured()
        limit = self._parts.session.arguments.one("--max-turns")
        if limit is not None and self.figures.replies >= int(limit):
            return self._limit("error_max_turns", "max_turns", f"turns ({limit})")
        self._fold()
        return None

    async def _listen(self, answered: tuple[str, ...]) -> ReceivedReply:
        self._clock = StreamClock(self._parts.effects)
        return await ModelCall(
            self._parts,
            self._parts.session.conversation,
            uuids=tuple(self.figures.uuids),
            answered=answered,
            announces=not self.figures.replies,
            on_start=self._echo,
            on_tool=self._take_use,
            on_event=self._clock.tick,
            on_stop=self._limits.stopping,
            on_abort=self._mark,
        ).listen()

    def _echo(self) -> None:
        """Replay the prompts when the model begins to answer (CLI-517)."""
        parts = self._parts
        if self._prompts and parts.session.replays and self._first.reported_origin is None:
            content = self._typed or content_of(self._prompts)
            parts.output.user(content, isReplay=True, uuid=self._first.uuid)
        self._prompts = ()

    # Tools

    def _take_use(self, block: dict[str, Any]) -> None:
        parts = self._parts
        streams = parts.session.profile.tools_start_while_streaming
        use = Use(
            id=block["id"],
            name=block["name"],
            input=block["input"],
            clock=self._clock if streams else None,
            started_at=self._clock.events,
        )
        version = parts.session.profile.version
        earlier = [other for other, _ in self._uses]
        if use.reads_only(version):
            use.waits_for = [other for other in earlier if not other.reads_only(version)]
        else:
            use.waits_for = earlier
        runner = UseRunner(parts, parts.session.conversation, use, self.figures)
        if streams:
            self._uses.append((use, parts.effects.spawn(runner.run())))
        else:
            self._uses.append((use, parts.effects.spawn(self._later(runner))))

    @property
    def runs_command(self) -> bool:
        """Whether a shell command runs that only its own end or a signal stops (CLI-1654)."""
        return any(use.runs_command for use, _ in self._uses)

    async def _later(self, runner: UseRunner) -> None:
        """The old version starts no tool before the message is complete."""
        await self._message_complete
        await runner.run()

    async def _finish_uses(self) -> bool:
        """Wait for the results; whether a hook ends the turn."""
        self.in_tools = True
        self._clock.end()
        self._message_complete.settle(None)
        for _, job in self._uses:
            await job.done
        interrupts = any(use.interrupts for use, _ in self._uses)
        stops = any(use.stops for use, _ in self._uses)
        self._uses = []
        self._message_complete = Pending()
        if interrupts or self.figures.is_preempted:
            raise Interrupted
        self.in_tools = False
        return stops

    def _stop_refused_uses(self) -> None:
        """The model's reply was refused: its tools are stopped and their results say so."""
        parts = self._parts
        uses = [use for use, _ in self._uses if not use.done.is_settled]
        self._drop_uses()
        for use in uses:
            block = {
                "type": "tool_result",
                "tool_use_id": use.id,
                "is_error": True,
                "content": STOPPED_BY_CLASSIFIER,
            }
            meta = [{"id": use.id, "non_execution_kind": "interrupted"}]
            line = parts.output.user(
                [block], tool_use_result=STOPPED_BY_CLASSIFIER, tool_result_meta=meta
            )
            parts.session.conversation.add_result(block, denied=False)
            parts.transcript.user(
                parts.session.conversation, [block], line, tool_use_result=STOPPED_BY_CLASSIFIER
            )
            self.figures.user_lines += 1

    def _drop_uses(self) -> None:
        for use, job in self._uses:
            use.is_dropped = True
            job.stop()
        self._uses = []

    def _fold(self) -> None:
        """Add queued prompts to this turn."""
        parts = self._parts
        folded = parts.inbox.fold()
        for prompt in folded:
            if prompt.origin is not None:
                parts.session.conversation.note(prompt.text)
                continue
            parts.session.conversation.add_prompt(prompt.content, joins=True)
            parts.transcript.user(
                parts.session.conversation, prompt.content, None, uuid=prompt.uuid
            )
            if parts.session.replays:
                parts.output.user(
                    prompt.content,
                    isReplay=True,
                    uuid=prompt.uuid,
                    isSynthetic=prompt.is_synthetic or None,
                    origin=prompt.reported_origin,
                )
        for prompt in folded:
            if prompt.uuid:
                parts.output.lifecycle(prompt.uuid, "started")
                self._folded.append(prompt.uuid)
                self.figures.uuids.append(prompt.uuid)

    # Endings

    async def _wants_to_stop(self, received: ReceivedReply) -> Ending | None:
        """The model wants to end the turn: hooks and a missing structured output can continue
        it."""
        parts = self._parts
        demand = self._wants_structure() or self._wants_text(received)
        if demand is not None:
            self._echo()  # a reply without text has not replayed the prompt
            for _ in range(self._demands()):
                self._synthetic(demand)
            return None
        fields: dict[str, Any] = {"stop_hook_active": self._hook_blocks > 0}
        if parts.session.profile.stop_hook_input_has_message:
            fields |= {
                "last_assistant_message": received.text,
                "background_tasks": parts.tasks.hook_entries(),
                "session_crons": [],
            }
        report = await parts.hooks.run("Stop", fields)
        if report.blocks:
            self._hook_blocks += 1
            self._synthetic(f"Stop hook feedback:\n{report.reason}")
            parts.hooks.write_messages(report)
            if self._hook_blocks == 1:
                self._notify_of_stop_hook()
            return None
        parts.hooks.write_messages(report)
        if report.late is not None and not parts.session.noted_late_stop:
            parts.session.noted_late_stop = True
            parts.output.system("informational", content=LATE_STOP, level="notice")
        if report.has_failed:
            self._notify_of_stop_hook()
        profile = parts.session.profile
        keeps = profile.keeps_stop_reason or not received.was_streamed
        return Ending(
            text=received.text,
            terminal_reason="stop_hook_prevented" if report.stops else "completed",
            stop_reason=received.stop_reason if keeps else None,
            was_streamed=received.was_streamed,
        )

    def _structured(self) -> Ending:
        """The new version ends the turn with the output."""
        report = json.dumps(
            self.figures.structured_output, ensure_ascii=False, separators=(",", ":")
        )
        return Ending(text=report, stop_reason=self._stop_reason)

    def _notify_of_stop_hook(self) -> None:
        """Write the notification that a terminal would show (measured on 2.1.325)."""
        if self._parts.session.profile.notifies_of_blocked_stop:
            self._parts.output.system(
                "notification",
                key="stop-hook-error",
                text="Stop hook error occurred · ctrl+o to see",
                priority="immediate",
            )

    def _stopped_by_hook(self) -> Ending:
        profile = self._parts.session.profile
        return Ending(
            text="",
            stop_reason=self._stop_reason if profile.keeps_stop_reason else None,
            terminal_reason="hook_stopped",
        )

    def _wants_structure(self) -> str | None:
        parts = self._parts
        if parts.session.structured_schema is None or self.figures.has_structured_output:
            return None
        demand = (
            "You MUST call the StructuredOutput tool to complete this request. Call this tool now."
        )
        if not parts.session.profile.asks_once_for_structure:
            if parts.session.has_structured_output:
                return None  # the output of an earlier turn is enough (CLI-1622)
            return f"Stop hook feedback:\n{demand}"
        self._hook_blocks += 1
        return f"[structured-output-enforce] {demand}" if self._hook_blocks == 1 else None

    def _demands(self) -> int:
        """How often a demand is written: the old version repeats it for each turn (CLI-1648)."""
        session = self._parts.session
        return 1 if session.profile.asks_once_for_structure else max(1, session.turns_begun)

    def _wants_text(self, received: ReceivedReply) -> str | None:
        """The request for visible output, once, after a reply without text."""
        if received.has_text or self._requested_text or received.stop_reason == "pause_turn":
            return None
        if not self._parts.session.profile.asks_for_visible_output:
            return None
        self._requested_text = True
        return NO_VISIBLE_OUTPUT

    def _synthetic(self, text: str) -> None:
        content = [{"type": "text", "text": text}]
        self._parts.output.user(content, isSynthetic=True)
        self._parts.session.conversation.note(text)
        self.figures.user_lines += 1

    def _over_budget(self, *, before: bool) -> Ending | None:
        parts = self._parts
        limit = parts.session.arguments.one("--max-budget-usd")
        if not parts.session.is_over_budget:
            return None
        if before and self.figures.replies:
            return None
        return self._limit("error_max_budget_usd", "budget_exhausted", f"budget (${limit})")

    def _limit(self, subtype: str, reason: str, what: str) -> Ending:
        profile = self._parts.session.profile
        text = what.replace("turns", "number of turns")
        return Ending(
            subtype=subtype,
            text=None,
            is_error=profile.limits_are_errors,
            stop_reason=self._stop_reason if profile.keeps_stop_reason else None,
            terminal_reason=reason,
            errors=(f"Reached maximum {text}",) if profile.limits_are_errors else (),
        )

    # Interruption

    async def _aborted(self) -> Ending:
        parts = self._parts
        for _, job in self._uses:
            job.stop()
        for use, _ in self._uses:
            await use.done
        self._uses = []
        if self.figures.is_preempted and self.in_tools:
            return Ending(
                text="",
                terminal_reason="aborted_tools",
                stop_reason=self._stop_reason,
                is_cancelled=True,
            )
        self._mark()
        ending = aborted(parts.session, in_tools=self.in_tools, stop_reason=self._stop_reason)
        limit = parts.session.arguments.one("--max-turns")
        if self.in_tools and limit is not None and self.figures.replies >= int(limit):
            # The tool's result would have been followed by one request too many (CLI-1620).
            ending = structs.replace(ending, subtype="error_max_turns")
        return ending

    def _mark(self) -> None:
        if self._has_marker or self.figures.is_preempted:
            return
        self._has_marker = True
        self._echo()
        text = INTERRUPTED_IN_TOOLS if self.in_tools else INTERRUPTED
        content = [{"type": "text", "text": text}]
        line = self._parts.output.user(content)
        self._parts.session.conversation.note(text)
        self._parts.transcript.user(self._parts.session.conversation, content, line)
        self.figures.user_lines += 1

    def _end(self, ending: Ending) -> None:
        parts = self._parts
        session = parts.session
        session.last_was_error = ending.is_error
        session.last_was_interrupted = (ending.terminal_reason or "").startswith("aborted")
        parts.output.raw(result_line(session, ending, self.figures))
        session.results += 1
        parts.transcript.note({"type": "cost-state", "totalCostUsd": session.spending.dollars})
        failed = ending.is_error and ending.terminal_reason != "max_turns"
        failed = failed and session.profile.cancels_failed_prompts
        state = "cancelled" if ending.is_cancelled or failed else "completed"
        for uuid in self.figures.uuids:
            if uuid not in self._completed:
                parts.output.lifecycle(uuid, state)
        if session.last_was_interrupted or not ending.is_error:
            suggest(parts)
        parts.turns.turn_over()
