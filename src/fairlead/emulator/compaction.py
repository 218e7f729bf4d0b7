"""Compaction: the history is put into a few words, by command or when the window is full.

The order of the lines is the CLI's: a status, the hooks, a status, the boundary, and after an
automatic one the summary as a synthetic user line (TRUTH 1.5). A hook may refuse it in the newer
version; the older one takes no notice (measured).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairlead.emulator.conversation import Conversation
from fairlead.emulator.cost import model_of
from fairlead.emulator.hook_calls import HookWord
from fairlead.emulator.strands import Interrupted
from fairlead.emulator.usage_report import BUFFER_TOKENS

if TYPE_CHECKING:
    from fairlead.emulator.engine import Engine

__all__ = ["Compaction", "is_due"]

SUMMARY_TOKENS = 500


def is_due(engine: Engine) -> bool:
    """Whether the next request would not fit any more."""
    session = engine.session
    window = model_of(session.profile, session.model).context_window
    return session.spending.context_tokens > window - BUFFER_TOKENS


class Compaction:
    """One compaction, from its announcement to its boundary."""

    def __init__(self, engine: Engine, trigger: str, instructions: str = "") -> None:
        self._engine = engine
        self._trigger = trigger
        self._instructions = instructions
        self._summary = f"This conversation goes on from an earlier one of {len(engine.talk.messages)} messages."
        self._ran: list[str] = []
        self.refused: str | None = None
        """Why a hook does not want it, once it was prepared."""

    @property
    def notes(self) -> str:
        """What the hooks did, as the output of /compact says it."""
        return "\n".join(self._ran)

    async def prepare(self) -> None:
        """Everything before the boundary."""
        engine = self._engine
        modern = engine.session.profile.is_modern
        word = await self._ask_first()
        self._note("PreCompact", word)
        if modern and word.blocks:
            self.refused = f"Compaction blocked by PreCompact hook: {word.blocked_by}"
            problem = {"compact_result": "failed", "compact_error": f"skipped: {self.refused}"}
            engine.voice.status(None, **(problem if self._trigger == "manual" else {}))
            return
        await self._summarise()
        fields = {"source": "compact", "model": engine.session.model}
        await engine.hooks.run("SessionStart", fields, subject="compact")
        if modern:
            summed = {"trigger": self._trigger, "compact_summary": self._summary}
            self._note("PostCompact", await engine.hooks.run("PostCompact", summed))
        engine.voice.status(None, **({"compact_result": "success"} if modern else {}))

    async def _ask_first(self) -> HookWord:
        engine = self._engine
        modern = engine.session.profile.is_modern
        manual = self._trigger == "manual"
        nothing = "" if manual and not modern else None
        fields = {
            "trigger": self._trigger,
            "custom_instructions": self._instructions or nothing,
        }
        if modern and manual:
            engine.voice.status("compacting")
            return await engine.hooks.run("PreCompact", fields, subject=self._trigger)
        # Else the hook is asked before the status is told, and answers after it.
        hooks = engine.loom.spawn(engine.hooks.run("PreCompact", fields, subject=self._trigger))
        try:
            await engine.loom.breathe()
            engine.voice.status("compacting")
            return await hooks.done
        except Interrupted:
            hooks.stop()
            raise

    async def _summarise(self) -> None:
        """The newer version has an agent without a type do it, whose end is told (measured)."""
        engine = self._engine
        if engine.session.profile.is_modern:
            agent_id = "a" + engine.session.new_id().replace("-", "")[:16]
            await engine.hooks.agent_stops(Conversation(id=agent_id), self._summary, again=False)

    def _note(self, event: str, word: HookWord) -> None:
        self._ran += [f"{event} {name} completed successfully" for name in word.ran]

    def finish(self) -> None:
        """Replace the history by a summary, and say so."""
        engine, session, talk = self._engine, self._engine.session, self._engine.talk
        before = session.spending.context_tokens
        metadata: dict[str, Any] = {"trigger": self._trigger, "pre_tokens": before}
        fields: dict[str, Any] = {"compact_metadata": metadata}
        if session.profile.is_modern:
            metadata |= {
                "post_tokens": SUMMARY_TOKENS,
                "cumulative_dropped_tokens": max(0, before - SUMMARY_TOKENS),
            }
            fields["logical_parent_uuid"] = session.new_id()
        engine.voice.system("compact_boundary", **fields)
        engine.scribe.system(talk, "compact_boundary", content="Conversation compacted")
        automatic = self._trigger == "auto"
        kept = talk.messages[-1:] if automatic else []
        talk.messages = []
        talk.note(self._summary)
        talk.messages += kept
        session.spending.context_tokens = SUMMARY_TOKENS
        if automatic:
            engine.voice.user([{"type": "text", "text": self._summary}], isSynthetic=True)
