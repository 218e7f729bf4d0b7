"""One use of a tool: its check, permission, run and result.

The steps are those of the CLI: check the tool and its input, run PreToolUse hooks, apply the rules
and ask the host, run the tool, run PostToolUse hooks, write the user line with the result. Uses
that only read run in parallel, the others one after the other (CLI-309, rec parallel).
"""

from __future__ import annotations

from typing import Any

from fairlead.emulator.state.conversation import Conversation
from fairlead.emulator.state.effects import CheckTool, RunTool
from fairlead.emulator.state.profile import Profile
from fairlead.emulator.state.scheduler import Interrupted
from fairlead.emulator.tools.outcome import Outcome, failed, unusable
from fairlead.emulator.tools.runner import CHECKED
from fairlead.emulator.tools.tool_inputs import check_input
from fairlead.emulator.turn.ending import TurnFigures
from fairlead.emulator.turn.hook_calls import HookReport
from fairlead.emulator.turn.parts import TurnParts
from fairlead.emulator.turn.permissions import USER_REJECTED, Ruling
from fairlead.emulator.turn.use import QUICK, Use
from fairlead.emulator.turn.verdict import Meta, Verdict
from fairlead.permissions.model.scopes import Behavior

__all__ = ["UseRunner"]

LATE_HOOK = (
    "PreToolUse hook did not respond before its timeout (host client may be unreachable). The tool "
    "call was not executed; other configured hooks may not have completed."
)

NOT_IN_PLAN_MODE = (
    "You are not in plan mode. To enter plan mode, call the EnterPlanMode tool first. If your plan "
    "was already approved, continue with implementation."
)
CANCELLED = (
    "The user doesn't want to take this action right now. STOP what you are doing and wait for the "
    "user to tell you how to proceed."
)
LATE_COMMAND = "A hook didn't answer in time, so it didn't check this action."


class UseRunner:
    """Runs one use for a conversation."""

    def __init__(
        self, parts: TurnParts, conversation: Conversation, use: Use, figures: TurnFigures
    ) -> None:
        self._parts = parts
        self._conversation = conversation
        self._use = use
        self._figures = figures
        self._meta: Meta | None = None
        self._kind: str | None = None
        self._is_denied = False
        self._is_in_hook = False
        self._started_at = 0.0
        self._before_report = HookReport()
        self._after_report = HookReport()

    async def run(self) -> None:
        """Run the use up to its result line."""
        use = self._use
        try:
            for earlier in use.waits_for:
                await earlier.done
            outcome = self._cancelled() or await self._outcome()
        except Interrupted:
            outcome = self._interrupted()
            hidden = (
                self._parts.session.profile.labels_subagent_lines and not self._conversation.is_main
            )
            if not hidden or self._conversation.is_background:
                self._write_result(outcome)
            if use.after_result is not None:
                use.after_result()
            self._finish()
            raise
        # The next use starts before the result of this one is written (measured on 2.1.325).
        self._finish()
        if use.clock is not None:
            await self._parts.effects.yield_now()
        self._write_result(outcome)

    def _finish(self) -> None:
        self._use.done.settle(None)

    async def _outcome(self) -> Outcome:
        use, parts = self._use, self._parts
        refused = await self._refused()
        if refused is not None:
            return refused
        verdict = parts.permissions.judge(use.call)
        report = await self._before(verdict)
        if report.late is not None:
            return failed(LATE_HOOK)
        ruling = await self._ruling(verdict, report)
        self._meta = ruling.meta
        if not ruling.is_allowed:
            await use.passes(use.result_events)
            return self._denied(ruling)
        if ruling.input is not None:
            use.input = ruling.input
        if use.name.startswith("mcp__") or use.name in QUICK:
            await use.passes(1)
        outcome = await self._run()
        self._kind = outcome.non_execution_kind
        if outcome.rejects_update:
            self._meta = {"decision": "reject", "source": "permission_updated_input_invalid"}
        await use.passes(2 if use.name in QUICK else use.result_events)
        return outcome

    def _cancelled(self) -> Outcome | None:
        """The result of a use before which a prompt with the priority `now` came (CLI-1654)."""
        if not (self._figures.is_preempted and self._use.waits_for):
            return None
        self._kind = "cancelled"
        return failed(CANCELLED)

    async def _refused(self) -> Outcome | None:
        """The result of a use that is refused before its permission is considered."""
        use, parts = self._use, self._parts
        missing = parts.unavailable(use.name, use.input, self._conversation)
        if missing is not None:
            use.was_unavailable = True
            if use.name == "Skill":
                await use.passes(1)
            return unusable(missing)
        profile = parts.session.profile
        path = use.input.get("file_path", "")
        if use.name == "Read" and not isinstance(path, str) and not profile.survives_bad_paths:
            kind = _type_name(path)
            parts.session.crashes_with = f"Path must be a string, received {kind}"
        misfit = check_input(use.name, use.input, profile)
        if misfit is not None:
            await use.passes(1)
            return misfit
        stops = use.name in ("TaskStop", "KillShell") and profile.knows_kill_shell
        if stops and not parts.tasks.has(use.task_id):
            await use.passes(1)
            return unusable(f"No task found with ID: {use.task_id}")
        checks = use.name in CHECKED and not (profile.read_is_checked_late and use.name == "Read")
        # A rule that forbids the file is checked before the file itself.
        if checks and not (use.is_edit and parts.permissions.judge(use.call).is_unreadable):
            problem: Outcome | None = await parts.effects.perform(
                lambda n: CheckTool(
                    number=n,
                    name=use.name,
                    input=use.input,
                    owner=self._conversation.id,
                    may_read=parts.permissions.may_read(str(path)),
                )
            )
            if problem is not None:
                return problem
        return await self._refused_plan() if use.name == "ExitPlanMode" else None

    async def _refused_plan(self) -> Outcome | None:
        """The newer version refuses ExitPlanMode outside of plan mode (CLI-1602)."""
        session = self._parts.session
        if session.profile.refuses_exit_outside_plan and session.mode != "plan":
            await self._use.passes(1)
            return unusable(NOT_IN_PLAN_MODE)
        if self._use.input.get("plan"):
            session.keep_plan(str(self._use.input["plan"]))
        return None

    async def _before(self, verdict: Verdict) -> HookReport:
        use = self._use
        name = use.hook_name(self._parts.session.profile)
        fields = {"tool_name": name, "tool_input": dict(use.input), "tool_use_id": use.id}
        if not self._parts.hooks.has("PreToolUse", name):
            return HookReport()
        self._is_in_hook = True
        report = await self._parts.hooks.run(
            "PreToolUse", fields, subject=name, tool_use_id=use.id, conversation=self._conversation
        )
        self._is_in_hook = False
        self._before_report = report
        if report.has_late_command and self._parts.session.profile.reports_late_commands:
            self._parts.output.system(
                "informational",
                content=LATE_COMMAND,
                level="warning",
                tag="hook_no_verdict",
                hook_no_verdict={
                    "hook_event": "PreToolUse",
                    "tool_use_id": use.id,
                    "timed_out": True,
                },
            )
        if report.updated_input is not None:
            use.input = report.updated_input
        use.stops = use.stops or report.stops
        return report

    async def _ruling(self, verdict: Verdict, report: HookReport) -> Ruling:
        profile = self._parts.session.profile
        hooked = {"source": "hook", "reason_type": "hook"}
        if report.decision == "deny" or report.blocks:
            prefix = (
                f"PreToolUse:{self._use.name} hook error: " if profile.prefixes_hook_denials else ""
            )
            meta = {"decision": "reject", **hooked}
            return Ruling(
                is_allowed=False,
                meta=meta,
                message=prefix + report.reason,
                is_counted=profile.counts_hook_denials,
            )
        if report.decision == "allow" and verdict.behavior is not Behavior.DENY:
            return Ruling(is_allowed=True, meta={"decision": "accept", **hooked})
        if self._use.name == "StructuredOutput" and verdict.behavior is not Behavior.DENY:
            return Ruling(is_allowed=True, meta={"decision": "accept", "source": "config"})
        if report.decision == "ask":
            verdict = _hook_asks(self._use, report, verdict, profile)
        return await self._parts.permissions.rule(self._use, verdict)

    def _denied(self, ruling: Ruling) -> Outcome:
        use = self._use
        self._is_denied = True
        use.interrupts = ruling.interrupts
        profile = self._parts.session.profile
        unread = ruling.is_unreadable and not profile.counts_unreadable_denials
        if ruling.is_counted and not unread:
            self._deny_quietly()
        if ruling.is_unreadable:
            return unusable(ruling.message)
        is_rejected = ruling.kind == "user-rejected" and ruling.interrupts
        if self._conversation.is_main or not is_rejected:
            self._kind = ruling.kind
        if is_rejected:
            return Outcome(content=ruling.message, result="User rejected tool use", is_error=True)
        return failed(ruling.message)

    async def _run(self) -> Outcome:
        use, parts = self._use, self._parts
        use.has_started = True
        self._started_at = parts.session.now()
        outcome = await self._by_name()
        parts.session.lines_added += outcome.lines_added
        parts.session.lines_removed += outcome.lines_removed
        await self._after(outcome)
        return outcome

    async def _by_name(self) -> Outcome:
        use, parts = self._use, self._parts
        special = parts.special_tools.get(use.name)
        if special is not None:
            return await special(use, self._conversation, self._figures)
        if use.name.startswith("mcp__"):
            return await parts.mcp.call(use.id, use.name, use.input)
        watch = parts.effects.spawn(parts.tasks.watch_foreground(use, self._conversation))
        try:
            outcome: Outcome = await parts.effects.perform(
                lambda n: RunTool(
                    number=n,
                    name=use.name,
                    input=use.input,
                    tool_use_id=use.id,
                    session_id=parts.session.session_id,
                    owner=self._conversation.id,
                    prompt=parts.session.turn_uuid,
                )
            )
        except Interrupted:
            parts.tasks.foreground_ended(use, "stopped")
            raise
        finally:
            watch.stop()
        if outcome.task is not None:
            parts.tasks.command_started(outcome.task, use, self._conversation)
        else:
            parts.tasks.foreground_ended(use, "failed" if outcome.is_error else "completed")
        return outcome

    async def _after(self, outcome: Outcome) -> None:
        use, parts = self._use, self._parts
        event = "PostToolUseFailure" if outcome.is_error else "PostToolUse"
        name = use.hook_name(parts.session.profile)
        if not parts.hooks.has(event, name):
            return
        fields: dict[str, Any] = {"tool_name": name, "tool_input": dict(use.input)}
        if outcome.is_error:
            fields |= {"tool_use_id": use.id, "error": outcome.content, "is_interrupt": False}
        else:
            fields |= {"tool_response": outcome.result, "tool_use_id": use.id}
        if parts.session.profile.hook_input_has_duration:
            spent = parts.session.now() - self._started_at
            fields["duration_ms"] = round(spent * 1000)
        report = await parts.hooks.run(
            event, fields, subject=name, tool_use_id=use.id, conversation=self._conversation
        )
        self._after_report = report
        # After a failure it has no effect (measured on 2.1.38 and 2.1.325).
        use.stops = use.stops or (report.stops and not outcome.is_error)

    def _interrupted(self) -> Outcome:
        """The result of a use that an interrupt stopped (CLI-203)."""
        use, profile = self._use, self._parts.session.profile
        meta, self._meta = self._meta, None
        if self._figures.is_preempted and not (use.has_started or self._is_in_hook):
            # A prompt with the priority `now` came first (CLI-1629).
            self._kind = "permission-rule"
            self._meta = {"decision": "reject", "source": "user_abort"}
            self._deny_quietly()
            return failed("Tool permission request aborted")
        if self._figures.is_preempted and use.name.startswith("mcp__") and use.has_started:
            self._kind, self._meta = "interrupted", meta
            return failed("The tool call was interrupted.")
        if profile.rejects_interrupted_tools:
            self._kind = "user-rejected"
            if not (use.has_started or self._is_in_hook):
                self._deny_quietly()
            return Outcome(content=USER_REJECTED, result="User rejected tool use", is_error=True)
        if use.name == "Bash" and use.has_started:
            return failed("Exit code 137\n[Request interrupted by user for tool use]")
        if use.name.startswith("mcp__") and use.has_started:
            return failed("MCP error -32001: AbortError: This operation was aborted")
        if not (self._is_in_hook or (use.name in ("Task", "Agent") and use.has_started)):
            self._deny_quietly()
        return failed("Tool permission request failed: AbortError")

    def _deny_quietly(self) -> None:
        use, denials = self._use, self._figures.denials
        is_listed = use.id in [denial["tool_use_id"] for denial in denials]
        if not (is_listed and self._parts.session.profile.lists_each_denial_once):
            denials.append(
                {"tool_name": use.name, "tool_use_id": use.id, "tool_input": dict(use.input)}
            )

    def _write_result(self, outcome: Outcome) -> None:
        use, parts = self._use, self._parts
        if use.is_dropped:
            return
        profile = parts.session.profile
        block = _block(use, outcome)
        fields = self._conversation.fields(profile)
        if profile.result_has_decision:
            meta = self._result_meta()
            if meta is not None:
                fields["tool_result_meta"] = [meta]
        if self._conversation.is_main or outcome.is_error:
            fields["tool_use_result"] = outcome.result
        if self._conversation.is_main:
            self._figures.user_lines += 1
            parts.hooks.write_messages(self._before_report)
        line = parts.output.user([block], **fields)
        self._conversation.add_result(block, denied=self._is_denied)
        parts.transcript.user(self._conversation, [block], line, tool_use_result=outcome.result)
        if self._conversation.is_main:
            parts.hooks.write_messages(self._after_report)
        if outcome.followed_by:
            content = [{"type": "text", "text": outcome.followed_by}]
            parts.output.user(content, isSynthetic=True, **self._conversation.fields(profile))

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


def _type_name(value: Any) -> str:
    """The type of a JSON value as JavaScript names it."""
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, int | float) else "object"


def _hook_asks(use: Use, report: HookReport, verdict: Verdict, profile: Profile) -> Verdict:
    request: dict[str, Any] = {"decision_reason": report.reason}
    if profile.labels_requests:
        remaining = {"description", "requires_user_interaction"}
        request |= {name: value for name, value in verdict.request.items() if name in remaining}
        if use.name in ("Bash", "Task") and use.input.get("description"):
            request["description"] = use.input["description"]
        request |= {
            "decision_reason_type": "hook",
            "decision_reason_hook_event": "PreToolUse",
            "decision_reason_hook_source": "settings",
        }
    return Verdict(
        behavior=Behavior.ASK,
        request=request,
        offers=not profile.hook_requests_offer_nothing,
        message=report.reason,
    )
