"""Subagents: the Task tool, in the foreground or the background.

A subagent is a conversation of its own with the same player, tools and permissions. Its prompt,
its tool uses and their results are shown with the parent's tool use id; its words only when it
runs in the background (TRUTH 1.11).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairlead.emulator.background import Task
from fairlead.emulator.conversation import Conversation
from fairlead.emulator.cost import TurnUse, resolve_model
from fairlead.emulator.ending import TurnFigures
from fairlead.emulator.listening import Heard, Listener
from fairlead.emulator.strands import Interrupted, Strand
from fairlead.emulator.tool_call import Use, UseRunner
from fairlead.emulator.tools.outcome import Outcome, failed

if TYPE_CHECKING:
    from fairlead.emulator.engine import Engine

__all__ = ["Subagents"]

MOST_REQUESTS = 50
"""A subagent whose script never ends is stopped after so many."""


@dataclass(slots=True, kw_only=True)
class _Run:
    talk: Conversation
    task: Task
    figures: TurnFigures
    started_at: float
    tools: list[str] = field(default_factory=list)
    text: str = ""
    was_held: bool = False
    """A hook did not let it end."""

    @property
    def tokens(self) -> int:
        counts = self.figures.use.counts
        return counts["input_tokens"] + counts["output_tokens"]


class Subagents:
    """Starts and runs subagents."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def use(self, use: Use, talk: Conversation, figures: TurnFigures) -> Outcome:
        """The Task tool."""
        session = self._engine.session
        kind = str(use.input.get("subagent_type") or "general-purpose")
        if kind not in (*session.profile.catalogue.agents, *session.agents):
            return failed(f"Agent type '{kind}' not found.")
        asked = use.input.get("run_in_background")
        background = bool(session.profile.backgrounds_agents if asked is None else asked)
        session.subagents.started(kind, asked, background=background)
        run = self._prepare(use, kind, background=background, figures=figures)
        self._engine.tasks.announce(run.task)
        if background:
            run.task.strand = self._engine.loom.spawn(self._in_background(run))
            return self._launched(run)
        starting = self._engine.loom.spawn(self._starts(run))
        await self._engine.loom.breathe()
        self._show_prompt(run)
        try:
            await starting.done
        except Interrupted:
            starting.stop()
            raise
        await self._work(run)
        self._engine.session.subagents.completed += 1
        self._engine.tasks.ended(run.task, "completed", run.text, self._usage(run))
        return self._finished(run)

    def _prepare(self, use: Use, kind: str, *, background: bool, figures: TurnFigures) -> _Run:
        session = self._engine.session
        digits = 16 if session.profile.is_modern else 6
        agent_id = "a" + session.new_id().replace("-", "")[:digits]
        description, prompt = str(use.input.get("description", "")), str(use.input.get("prompt"))
        talk = Conversation(
            id=agent_id,
            parent_tool_use_id=use.id,
            subagent_type=kind,
            description=description,
            is_background=background and session.profile.is_modern,
            model=self._model(kind),
        )
        talk.hear_user([{"type": "text", "text": prompt}])
        task = Task(
            task_id=agent_id,
            run_id=self._engine.tasks.new_run_id(),
            tool_use_id=use.id,
            description=description,
            kind="local_agent",
            output_file=self._engine.tasks.output_file(agent_id),
            is_backgrounded=background,
            subagent_type=kind,
            prompt=prompt,
        )
        own = TurnFigures(denials=figures.denials)
        return _Run(talk=talk, task=task, figures=own, started_at=session.now())

    def _model(self, kind: str) -> str | None:
        """The model of an agent that names one."""
        session = self._engine.session
        asked = session.agents.get(kind, {}).get("model")
        inherits = asked in (None, "inherit")
        return None if inherits else resolve_model(session.profile, str(asked))

    def _show_prompt(self, run: _Run) -> None:
        content = [{"type": "text", "text": run.task.prompt}]
        fields = run.talk.fields(modern=self._engine.session.profile.is_modern)
        said = self._engine.voice.user(content, **fields)
        self._engine.scribe.user(run.talk, content, said)

    async def _starts(self, run: _Run) -> None:
        """The hooks at its beginning; what they add is told to it."""
        kind = run.talk.subagent_type
        fields = {"agent_id": run.talk.id, "agent_type": kind}
        word = await self._engine.hooks.run("SubagentStart", fields, subject=kind)
        for context in word.contexts:
            run.talk.note(context)

    async def _may_stop(self, run: _Run) -> bool:
        """The hooks at its end; one that blocks gives it more to do."""
        word = await self._engine.hooks.agent_stops(run.talk, run.text, again=run.was_held)
        if word.blocks:
            run.was_held = True
            run.talk.note(f"Stop hook feedback:\n{word.reason}")
        return not word.blocks

    async def _work(self, run: _Run) -> None:
        """Requests and tool uses until the subagent has nothing more to do."""
        modern = self._engine.session.profile.is_modern
        for _ in range(MOST_REQUESTS):
            uses: list[dict[str, Any]] = []
            heard = await Listener(
                self._engine, run.talk, on_tool=uses.append, on_announce=self._announcer(run)
            ).listen()
            run.text = heard.text or run.text
            self._count(run, heard)
            if heard.failure is not None or (not uses and await self._may_stop(run)):
                return
            if not modern:
                run.tools += [str(block["name"]) for block in uses]
            await self._run_uses(run, uses)

    def _announcer(self, run: _Run) -> Any:
        def announce(block: dict[str, Any]) -> None:
            if not self._engine.session.profile.is_modern:
                return
            run.tools.append(str(block["name"]))
            described = str(block["input"].get("description") or block["name"])
            self._engine.tasks.progress(
                run.task, block["name"], f"Running {described}", len(run.tools), run.tokens
            )

        return announce

    def _count(self, run: _Run, heard: Heard) -> None:
        run.figures.use = TurnUse()
        run.figures.use.add(self._engine.last_usage)

    async def _run_uses(self, run: _Run, blocks: list[dict[str, Any]]) -> None:
        uses = [Use(id=b["id"], name=b["name"], input=b["input"], talk=run.talk) for b in blocks]
        strands: list[Strand[None]] = []
        for use in uses:
            runner = UseRunner(self._engine, run.talk, use, run.figures)
            strands.append(self._engine.loom.spawn(runner.run()))
        try:
            for strand in strands:
                await strand.done
        except Interrupted:
            for strand in strands:
                strand.stop()
            raise

    async def _in_background(self, run: _Run) -> None:
        try:
            await self._starts(run)
            await self._work(run)
        except Interrupted:
            self._engine.session.subagents.killed += 1
            self._engine.tasks.ended(run.task, "killed", "stopped", self._usage(run))
            return
        self._engine.session.subagents.completed += 1
        self._engine.tasks.ended(run.task, "completed", run.text, self._usage(run))
        self._engine.maybe_exit()

    def _usage(self, run: _Run) -> dict[str, Any]:
        return {
            "total_tokens": run.tokens,
            "tool_uses": len(run.tools),
            "duration_ms": self._duration(run),
        }

    def _duration(self, run: _Run) -> int:
        return round((self._engine.session.now() - run.started_at) * 1000)

    def _launched(self, run: _Run) -> Outcome:
        task, modern = run.task, self._engine.session.profile.is_modern
        text = (
            f"Async agent launched successfully.\nagentId: {task.task_id}\n"
            "The agent works in the background; its end will be told.\n"
            f"output_file: {task.output_file}"
        )
        result: dict[str, Any] = {
            "isAsync": True,
            "status": "async_launched",
            "agentId": task.task_id,
            "description": task.description,
        }
        if modern:
            result["resolvedModel"] = run.talk.model or self._engine.session.model
        result |= {"prompt": task.prompt, "outputFile": task.output_file}
        if modern:
            result |= {"canReadOutputFile": True, "canContinueAgent": True}
        return Outcome(content=[{"type": "text", "text": text}], result=result)

    def _finished(self, run: _Run) -> Outcome:
        modern = self._engine.session.profile.is_modern
        usage = run.figures.use.report(modern=modern)
        told = [{"type": "text", "text": run.text}]
        common = {
            "totalDurationMs": self._duration(run),
            "totalTokens": run.tokens,
            "totalToolUseCount": len(run.tools),
            "usage": usage,
        }
        start = {"status": "completed", "prompt": run.task.prompt, "agentId": run.talk.id}
        tail = f"agentId: {run.talk.id}\n<usage>tool_uses: {len(run.tools)}</usage>"
        if not modern:
            content = [*told, {"type": "text", "text": tail}]
            return Outcome(content=content, result={**start, "content": told, **common})
        note = {"type": "text", "text": f"tools used: {', '.join(run.tools)}\n"}
        result = {
            **start,
            "agentType": run.task.subagent_type,
            "toolsUsed": list(dict.fromkeys(run.tools)),
            "harnessNoteCount": 1,
            "harnessTailCount": 0,
            "harnessSectionHash": run.talk.id,
            "content": [note, *told] if run.tools else told,
            "resolvedModel": run.talk.model or self._engine.session.model,
            **common,
            "toolStats": _stats(run.tools),
            "canContinueAgent": True,
        }
        return Outcome(content=[{"type": "text", "text": f"{run.text}\n{tail}"}], result=result)


def _stats(tools: list[str]) -> dict[str, int]:
    counted = {
        "readCount": ("Read",),
        "searchCount": ("Glob", "Grep"),
        "bashCount": ("Bash",),
        "editFileCount": ("Edit", "Write", "NotebookEdit"),
    }
    stats = {name: sum(tool in group for tool in tools) for name, group in counted.items()}
    others = len(tools) - sum(stats.values())
    return {**stats, "linesAdded": 0, "linesRemoved": 0, "otherToolCount": others}
