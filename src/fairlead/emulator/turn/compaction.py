"""Compaction: a summary replaces the history, by command or when the context is full.

The lines come in the order of the CLI: a status, the hooks, a status, the boundary, and after an
automatic compaction the summary as a synthetic user line (CLI-516). In the newer version a hook can
prevent it; the older one ignores that (measured).
"""

from __future__ import annotations

from typing import Any

from fairlead.emulator.protocol.usage_report import BUFFER_TOKENS
from fairlead.emulator.state.conversation import Conversation
from fairlead.emulator.state.cost import model_of
from fairlead.emulator.state.scheduler import Interrupted
from fairlead.emulator.turn.hook_calls import HookReport
from fairlead.emulator.turn.parts import TurnParts
from fairlead.model_api.replies import Usage

__all__ = ["TOO_SHORT", "Compaction", "is_due"]

SUMMARY_TOKENS = 500
TOO_SHORT = "Not enough messages to compact."


def is_due(parts: TurnParts) -> bool:
    """Whether the next request would exceed the context."""
    session = parts.session
    window = model_of(session.profile, session.model).context_window
    return session.spending.context_tokens > window - BUFFER_TOKENS


class Compaction:
    """One compaction, from its announcement to its boundary."""

    def __init__(self, parts: TurnParts, trigger: str, instructions: str = "") -> None:
        self._parts = parts
        self._trigger = trigger
        self._instructions = instructions
        self._summary = (
            f"This conversation continues an earlier one of "
            f"{len(parts.session.conversation.messages)} messages."
        )
        self._began = parts.session.now()
        self._ran: list[str] = []
        self.refused: str | None = None
        """Why a hook prevented it; set by `prepare`."""

    @property
    def notes(self) -> str:
        """What the hooks did, for the output of /compact."""
        return "\n".join(self._ran)

    async def prepare(self) -> None:
        """Everything before the boundary."""
        parts = self._parts
        profile = parts.session.profile
        report = await self._ask_first()
        self._note("PreCompact", report)
        if profile.hooks_can_refuse_compaction and report.blocks:
            self.refused = f"Compaction blocked by PreCompact hook: {report.blocked_by}"
            problem = {"compact_result": "failed", "compact_error": f"skipped: {self.refused}"}
            parts.output.status(None, **(problem if self._trigger == "manual" else {}))
            return
        if profile.reports_compaction_result and not parts.session.conversation.has_reply:
            self.refused = TOO_SHORT
            parts.output.status(None, compact_result="failed", compact_error=TOO_SHORT)
            return
        await self._summarize()
        fields = {"source": "compact", "model": parts.session.model}
        await parts.hooks.run("SessionStart", fields, subject="compact")
        if profile.has_post_compact_hooks:
            summed = {"trigger": self._trigger, "compact_summary": self._summary}
            self._note("PostCompact", await parts.hooks.run("PostCompact", summed))
        parts.output.status(
            None, **({"compact_result": "success"} if profile.reports_compaction_result else {})
        )

    async def _ask_first(self) -> HookReport:
        parts = self._parts
        profile = parts.session.profile
        manual = self._trigger == "manual"
        nothing = "" if manual and not profile.empty_instructions_are_null else None
        fields = {
            "trigger": self._trigger,
            "custom_instructions": self._instructions or nothing,
        }
        if profile.reports_compaction_first and manual:
            parts.output.status("compacting")
            return await parts.hooks.run("PreCompact", fields, subject=self._trigger)
        # Otherwise the hook is called before the status is written, and answers after it.
        hooks = parts.effects.spawn(parts.hooks.run("PreCompact", fields, subject=self._trigger))
        try:
            await parts.effects.yield_now()
            parts.output.status("compacting")
            return await hooks.done
        except Interrupted:
            hooks.stop()
            raise

    async def _summarize(self) -> None:
        """In the newer version an agent without a type does it; SubagentStop hooks run
        (measured)."""
        parts = self._parts
        if parts.session.profile.compacts_with_an_agent:
            agent_id = "a" + parts.session.new_id().replace("-", "")[:16]
            await parts.hooks.agent_stops(Conversation(id=agent_id), self._summary, again=False)
        if parts.session.profile.counts_compaction:
            parts.session.spending.add(parts.session.model, Usage().at_end())

    def _note(self, event: str, report: HookReport) -> None:
        self._ran += [f"{event} {name} completed successfully" for name in report.ran]

    def finish(self) -> None:
        """Replace the history by a summary and write the boundary."""
        parts, session, conversation = (
            self._parts,
            self._parts.session,
            self._parts.session.conversation,
        )
        before = session.spending.context_tokens
        metadata: dict[str, Any] = {"trigger": self._trigger, "pre_tokens": before}
        fields: dict[str, Any] = {"compact_metadata": metadata}
        if session.profile.details_compaction:
            metadata["duration_ms"] = round((session.now() - self._began) * 1000)
            metadata |= {
                "post_tokens": SUMMARY_TOKENS,
                "cumulative_dropped_tokens": max(0, before - SUMMARY_TOKENS),
            }
            last = session.new_id()
            fields["logical_parent_uuid"] = last
            if (
                session.profile.keeps_last_turn
                and sum(message["role"] == "assistant" for message in conversation.messages) > 1
                and self._trigger == "manual"
            ):
                metadata |= _preserved(last, session.new_id())
        parts.output.system("compact_boundary", **fields)
        parts.transcript.system(conversation, "compact_boundary", content="Conversation compacted")
        automatic = self._trigger == "auto"
        remaining = conversation.messages[-1:] if automatic else []
        conversation.messages = []
        conversation.note(self._summary)
        conversation.messages += remaining
        session.spending.context_tokens = SUMMARY_TOKENS
        if automatic:
            parts.output.user([{"type": "text", "text": self._summary}], isSynthetic=True)
            return
        synthetic = {"isSynthetic": True} if session.profile.marks_summary_synthetic else {}
        parts.output.user(self._summary, isReplay=False, **synthetic)


def _preserved(last: str, anchor: str) -> dict[str, Any]:
    """The last message, which a compaction does not change."""
    segment = {"head_uuid": last, "anchor_uuid": anchor, "tail_uuid": last}
    messages = {"anchor_uuid": anchor, "uuids": [last], "all_uuids": [last]}
    return {"preserved_segment": segment, "preserved_messages": messages}
