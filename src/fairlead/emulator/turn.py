"""One turn: from a prompt to its result line.

The loop of the CLI: ask the model, run its tools, take in what was queued meanwhile, ask again.
Ends by the model's own will or by a limit, an API error, a hook or an interrupt; the ending is a
value of `ending`, and exactly one result line tells it (TRUTH 1.5).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fairlead.emulator import no_reply
from fairlead.emulator.compaction import Compaction, is_due
from fairlead.emulator.ending import Ending, TurnFigures, aborted, result_line
from fairlead.emulator.inbox import Prompt, content_of
from fairlead.emulator.limits import OutputLimits
from fairlead.emulator.listening import Heard, Listener
from fairlead.emulator.strands import Interrupted, Pending, Strand
from fairlead.emulator.tool_call import Use, UseRunner

if TYPE_CHECKING:
    from fairlead.emulator.engine import Engine

__all__ = ["Turn"]

INTERRUPTED = "[Request interrupted by user]"
INTERRUPTED_IN_TOOLS = "[Request interrupted by user for tool use]"


class Turn:
    """A turn that runs."""

    def __init__(self, engine: Engine, prompts: Sequence[Prompt]) -> None:
        self._engine = engine
        self._prompts = tuple(prompts)
        self._first = prompts[0]
        self._uses: list[tuple[Use, Strand[None]]] = []
        self._stop_reason: str | None = None
        self._has_marker = False
        self._folded: list[str] = []
        self._completed: set[str] = set()
        self._message_complete: Pending[None] = Pending()
        self._hook_blocks = 0
        self._limits = OutputLimits(engine)
        self.in_tools = False
        self.is_preempted = False
        """A prompt with priority "now" takes the place of this turn (TRUTH 1.5)."""
        self.figures = TurnFigures(started_at=engine.session.now())
        self.figures.uuids = [p.uuid for p in self._prompts if p.uuid]
        self.figures.origin = self._first.origin

    async def run(self) -> None:
        """The whole turn, to its result."""
        for uuid in self.figures.uuids:
            self._engine.voice.lifecycle(uuid, "started")
        try:
            ending = await self._play()
        except Interrupted:
            ending = await self._aborted()
        self._end(ending)

    async def _play(self) -> Ending:
        engine = self._engine
        command = engine.slash.read(self._first.text) if self._first.is_slash else None
        expanded = engine.slash.expand(command) if command is not None else None
        if engine.is_first_turn:
            engine.is_first_turn = False
            await engine.hooks.run("SessionStart", {"source": "startup"}, subject="startup")
        if command is None or expanded is not None:
            blocked = await self._submitted(expanded)
            if blocked is not None:
                return blocked
        await engine.mcp.ready()
        if command is not None and expanded is None:
            if command.name == "clear" and engine.session.profile.slash_output_is_assistant:
                await self._clear()
            begun = await engine.slash.prepare(command)
            self._init()
            return engine.slash.run(command, self._first.uuid, begun)
        self._init()
        return await self._converse(expanded)

    async def _clear(self) -> None:
        """One session ends and another begins, each with its hooks."""
        engine = self._engine
        await engine.hooks.run("SessionEnd", {"reason": "clear"}, subject="clear")
        engine.clear(self._first.uuid)
        await engine.hooks.run("SessionStart", {"source": "clear"}, subject="clear")

    async def _submitted(self, expanded: str | None) -> Ending | None:
        """UserPromptSubmit: a hook may stop the prompt (TRUTH 1.8)."""
        engine = self._engine
        fields = {"prompt": expanded or self._first.text}
        word = await engine.hooks.run("UserPromptSubmit", fields)
        if not (word.blocks or word.stops):
            for context in word.contexts:
                engine.talk.note(context)
            return None
        self._init()
        text = word.reason
        if engine.session.profile.is_modern:
            engine.voice.system(
                "informational",
                content=text,
                level="warning",
                prevent_continuation=True,
                prompt_submit_outcome="blocked",
            )
        else:
            text = ""
        return Ending(text=text, is_local=True)

    def _init(self) -> None:
        engine = self._engine
        engine.voice.init(
            engine.mcp.listed(),
            engine.offered_tools(),
            uuids=self.figures.uuids,
            problems=engine.mcp.problems,
        )

    async def _converse(self, expanded: str | None) -> Ending:
        engine = self._engine
        content = [{"type": "text", "text": expanded}] if expanded else content_of(self._prompts)
        engine.talk.hear_user(content)
        if engine.pending_note is not None:
            engine.talk.note(engine.pending_note)
            engine.pending_note = None
        engine.scribe.user(engine.talk, content, None, uuid=self._first.uuid)
        if not self._first.should_query and engine.session.profile.is_modern:
            return Ending(text="", is_local=True)
        if not engine.session.has_key:
            return no_reply.not_logged_in(engine)
        return await self._loop()

    async def _loop(self) -> Ending:
        engine = self._engine
        echo_uuids = tuple(self.figures.uuids)
        while True:
            over = self._over_budget(before=True)
            if over is not None:
                return over
            if is_due(engine):
                compaction = Compaction(engine, "auto")
                await compaction.prepare()
                if compaction.refused is not None:
                    self._echo()
                    return no_reply.too_long(engine, self.figures.uuids)
                compaction.finish()
            heard = await self._listen(echo_uuids)
            echo_uuids = ()
            if heard.failure is not None:
                return no_reply.failed(engine, heard.failure)
            self.figures.replies += 1
            self.figures.use.add(engine.last_usage)
            self._stop_reason = heard.stop_reason
            self._complete_folded()
            limited = self._limits.apply(heard)
            if limited is not None:
                if isinstance(limited, Ending):
                    return limited
                continue
            ending = await self._after(heard)
            if ending is not None:
                return ending

    def _complete_folded(self) -> None:
        for uuid in self._folded:
            self._engine.voice.lifecycle(uuid, "completed")
        self._completed.update(self._folded)
        self._folded = []

    async def _after(self, heard: Heard) -> Ending | None:
        """What follows a reply; None if the model is asked again."""
        over = self._over_budget(before=False)
        if over is not None:
            self._drop_uses()
            return over
        if not self._uses:
            return await self._wants_to_stop(heard)
        await self._finish_uses()
        limit = self._engine.session.arguments.one("--max-turns")
        if limit is not None and self.figures.replies >= int(limit):
            return self._limit("error_max_turns", "max_turns", f"turns ({limit})")
        self._fold()
        return None

    async def _listen(self, uuids: tuple[str, ...]) -> Heard:
        return await Listener(
            self._engine,
            self._engine.talk,
            uuids=uuids,
            on_start=self._echo,
            on_tool=self._take_use,
            on_abort=self._mark,
        ).listen()

    def _echo(self) -> None:
        """The replay of the prompts, when the model begins to answer (TRUTH 1.5)."""
        engine = self._engine
        if self._prompts and engine.session.replays and self._first.origin is None:
            content = content_of(self._prompts)
            engine.voice.user(content, isReplay=True, uuid=self._first.uuid)
        self._prompts = ()

    # Tools

    def _take_use(self, block: dict[str, Any]) -> None:
        engine = self._engine
        use = Use(id=block["id"], name=block["name"], input=block["input"])
        version = engine.session.profile.version
        earlier = [other for other, _ in self._uses]
        if use.reads_only(version):
            use.waits_for = [other for other in earlier if not other.reads_only(version)]
        else:
            use.waits_for = earlier
        runner = UseRunner(engine, engine.talk, use, self.figures)
        if engine.session.profile.tools_start_while_streaming:
            self._uses.append((use, engine.loom.spawn(runner.run())))
        else:
            self._uses.append((use, engine.loom.spawn(self._later(runner))))

    async def _later(self, runner: UseRunner) -> None:
        """The old version starts no tool before the message is complete."""
        await self._message_complete
        await runner.run()

    async def _finish_uses(self) -> None:
        self.in_tools = True
        self._message_complete.settle(None)
        for _, strand in self._uses:
            await strand.done
        interrupts = any(use.interrupts for use, _ in self._uses)
        self._uses = []
        self._message_complete = Pending()
        if interrupts:
            raise Interrupted
        self.in_tools = False

    def _drop_uses(self) -> None:
        for use, strand in self._uses:
            use.is_dropped = True
            strand.stop()
        self._uses = []

    def _fold(self) -> None:
        """Prompts that came meanwhile join this turn."""
        engine = self._engine
        folded = engine.inbox.fold()
        for prompt in folded:
            if prompt.origin is not None:
                engine.talk.note(prompt.text)
                continue
            engine.talk.hear_user(prompt.content)
            engine.scribe.user(engine.talk, prompt.content, None, uuid=prompt.uuid)
            if engine.session.replays:
                engine.voice.user(prompt.content, isReplay=True, uuid=prompt.uuid)
        for prompt in folded:
            if prompt.uuid:
                engine.voice.lifecycle(prompt.uuid, "started")
                self._folded.append(prompt.uuid)
                self.figures.uuids.append(prompt.uuid)

    # Endings

    async def _wants_to_stop(self, heard: Heard) -> Ending | None:
        """The model is done: hooks and a wanted structure may say otherwise."""
        engine = self._engine
        told = self._wants_structure()
        if told is not None:
            self._synthetic(told)
            return None
        fields: dict[str, Any] = {"stop_hook_active": self._hook_blocks > 0}
        if engine.session.profile.is_modern:
            fields |= {
                "last_assistant_message": heard.text,
                "background_tasks": engine.tasks.told_to_hooks(),
                "session_crons": [],
            }
        word = await engine.hooks.run("Stop", fields)
        if word.blocks:
            self._hook_blocks += 1
            self._synthetic(f"Stop hook feedback:\n{word.reason}")
            return None
        modern = engine.session.profile.is_modern
        keeps = modern or not heard.was_streamed
        return Ending(
            text=heard.text,
            stop_reason=heard.stop_reason if keeps else None,
            was_streamed=heard.was_streamed,
        )

    def _wants_structure(self) -> str | None:
        engine = self._engine
        if engine.session.structured_schema is None or self.figures.has_structured_output:
            return None
        demand = "You MUST call the StructuredOutput tool to complete this request. Call it now."
        if not engine.session.profile.is_modern:
            return f"Stop hook feedback:\n{demand}"
        self._hook_blocks += 1
        return f"[structured-output-enforce] {demand}" if self._hook_blocks == 1 else None

    def _synthetic(self, text: str) -> None:
        content = [{"type": "text", "text": text}]
        self._engine.voice.user(content, isSynthetic=True)
        self._engine.talk.note(text)
        self.figures.user_lines += 1

    def _over_budget(self, *, before: bool) -> Ending | None:
        engine = self._engine
        limit = engine.session.arguments.one("--max-budget-usd")
        if limit is None or engine.session.spending.dollars < float(limit):
            return None
        if before and self.figures.replies:
            return None
        return self._limit("error_max_budget_usd", "budget_exhausted", f"budget (${limit})")

    def _limit(self, subtype: str, reason: str, what: str) -> Ending:
        modern = self._engine.session.profile.is_modern
        words = what.replace("turns", "number of turns")
        return Ending(
            subtype=subtype,
            text=None,
            is_error=modern,
            stop_reason=self._stop_reason if modern else None,
            terminal_reason=reason,
            errors=(f"Reached maximum {words}",) if modern else (),
        )

    # Interruption

    async def _aborted(self) -> Ending:
        engine = self._engine
        for _, strand in self._uses:
            strand.stop()
        for use, _ in self._uses:
            await engine.when_done(use)
        self._uses = []
        if self.is_preempted:
            return Ending(text="", terminal_reason="aborted_tools", had_reply=False)
        self._mark()
        return aborted(engine.session, in_tools=self.in_tools, stop_reason=self._stop_reason)

    def _mark(self) -> None:
        if self._has_marker or self.is_preempted:
            return
        self._has_marker = True
        text = INTERRUPTED_IN_TOOLS if self.in_tools else INTERRUPTED
        content = [{"type": "text", "text": text}]
        said = self._engine.voice.user(content)
        self._engine.talk.note(text)
        self._engine.scribe.user(self._engine.talk, content, said)
        self.figures.user_lines += 1

    def _end(self, ending: Ending) -> None:
        engine = self._engine
        session = engine.session
        session.last_was_error = ending.is_error
        engine.voice.raw(result_line(session, ending, self.figures))
        session.results += 1
        engine.scribe.note({"type": "cost-state", "totalCostUsd": session.spending.dollars})
        state = "cancelled" if ending.is_cancelled else "completed"
        for uuid in self.figures.uuids:
            if uuid not in self._completed:
                engine.voice.lifecycle(uuid, state)
        engine.turn_over()
