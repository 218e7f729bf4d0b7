"""Subagents: the Task tool, in the foreground or the background.

A subagent is a conversation of its own with the same player, tools and permissions. Its prompt,
its tool uses and their results are shown with the parent's tool use id; its text only if it
runs in the background (CLI-1102).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct, field, structs

from fairlead.emulator.state.conversation import Conversation
from fairlead.emulator.state.cost import TurnUse, resolve_model
from fairlead.emulator.state.scheduler import Interrupted, Job
from fairlead.emulator.tools.outcome import Outcome, failed
from fairlead.emulator.turn.api_errors import describe
from fairlead.emulator.turn.background import Task
from fairlead.emulator.turn.ending import TurnFigures
from fairlead.emulator.turn.model_call import ModelCall, ReceivedReply
from fairlead.emulator.turn.parts import TurnParts
from fairlead.emulator.turn.tool_call import UseRunner
from fairlead.emulator.turn.use import Use

__all__ = ["Subagents"]

INTERRUPTED = "[Request interrupted by user for tool use]"
START_STEPS = 3
HOOK_STEPS = 3
MOST_REQUESTS = 50
"""A subagent whose script never ends is stopped after this many requests."""


class _Denied(Exception):
    """A denial with `interrupt` ended the subagent."""


class _Run(Struct, kw_only=True):
    conversation: Conversation
    task: Task
    figures: TurnFigures
    started_at: float
    tools: list[str] = field(default_factory=list)
    """The names of all its tool uses."""
    unavailable: list[str] = field(default_factory=list)
    """The names of those that it does not have."""
    known_tools: frozenset[str] = frozenset()
    """The tools that were used in the session before it was started."""
    early: dict[str, tuple[Use, Job[None]]] = field(default_factory=dict)
    """Id -> a use that was started before its line was written."""
    text: str = ""
    failure: str | None = None
    """The API error that ended it."""
    was_held: bool = False
    """Whether a SubagentStop hook has blocked."""
    was_stopped: bool = False
    """A hook returned `continue: false` after a tool: the subagent reports nothing (CLI-1656)."""

    @property
    def tokens(self) -> int:
        counts = self.figures.use.counts
        return counts["input_tokens"] + counts["output_tokens"]


class Subagents:
    """Starts and runs subagents."""

    def __init__(self, parts: TurnParts) -> None:
        self._parts = parts

    async def use(self, use: Use, conversation: Conversation, figures: TurnFigures) -> Outcome:
        """The Task tool."""
        session = self._parts.session
        kind = str(use.input.get("subagent_type") or "general-purpose")
        if kind not in (*session.profile.catalog.agents, *session.agents):
            use.result_events = 1
            return failed(f"Agent type '{kind}' not found.")
        requested = use.input.get("run_in_background")
        background = bool(session.profile.backgrounds_agents if requested is None else requested)
        session.subagents.started(kind, requested, background=background)
        run = self._prepare(use, kind, background=background, figures=figures)
        await use.passes(1)
        self._parts.tasks.announce(run.task)
        if background:
            use.result_events = 2
            run.task.job = self._parts.effects.spawn(self._in_background(run, use))
            return self._launched(run)
        starting = self._parts.effects.spawn(self._starts(run))
        await self._parts.effects.yield_now()
        await use.passes(2)
        self._show_prompt(run)
        try:
            await starting.done
            await use.message_ends()
            await self._work(run)
        except _Denied:
            self._stopped(run)
            use.interrupts = not session.profile.continues_after_agent_denial
            return structs.replace(failed(INTERRUPTED), non_execution_kind="interrupted")
        except Interrupted:
            starting.stop()
            use.after_result = lambda: self._stopped(run)
            raise
        report = self._report_end(run)
        return failed(report) if report is not None else self._finished(run)

    def _report_end(self, run: _Run) -> str | None:
        """Report how a subagent ended; the text if an API error ended it (CLI-1112)."""
        stats, tasks = self._parts.session.subagents, self._parts.tasks
        if run.failure is None or not self._parts.session.profile.fails_subagents:
            stats.completed += 1
            tasks.ended(run.task, "completed", run.text, self._usage(run))
            return None
        stats.failed += 1
        report = f"Agent terminated early due to an API error: {run.failure}"
        tasks.ended(run.task, "failed", report)
        return report

    def _stopped(self, run: _Run) -> None:
        """An interrupt stopped it; reported after the result of its tool (measured)."""
        self._parts.session.subagents.killed += 1
        self._parts.tasks.ended(run.task, "stopped", run.task.description)

    def _prepare(self, use: Use, kind: str, *, background: bool, figures: TurnFigures) -> _Run:
        session = self._parts.session
        digits = 16 if session.profile.long_task_ids else 6
        agent_id = "a" + session.new_id().replace("-", "")[:digits]
        description, prompt = str(use.input.get("description", "")), str(use.input.get("prompt"))
        conversation = Conversation(
            id=agent_id,
            parent_tool_use_id=use.id,
            subagent_type=kind,
            description=description,
            is_background=background and session.profile.writes_background_text,
            model=self._model(kind),
            tools=_tools(session.agents.get(kind, {}).get("tools")),
        )
        conversation.add_prompt([{"type": "text", "text": prompt}])
        task = Task(
            task_id=agent_id,
            run_id=self._parts.tasks.new_run_id(),
            tool_use_id=use.id,
            description=description,
            kind="local_agent",
            output_file=self._parts.tasks.output_file(agent_id),
            is_backgrounded=background,
            subagent_type=kind,
            prompt=prompt,
        )
        own = TurnFigures(denials=figures.denials)
        known = session.conversation.used_tools(before_last_message=True)
        return _Run(
            conversation=conversation,
            task=task,
            figures=own,
            started_at=session.now(),
            known_tools=frozenset(known | session.subagents.tools),
        )

    def _model(self, kind: str) -> str | None:
        """The model of an agent that names one."""
        session = self._parts.session
        requested = session.agents.get(kind, {}).get("model")
        inherits = requested in (None, "inherit")
        return None if inherits else resolve_model(session.profile, str(requested))

    def _show_prompt(self, run: _Run) -> None:
        content = [{"type": "text", "text": run.task.prompt}]
        fields = run.conversation.fields(self._parts.session.profile)
        line = self._parts.output.user(content, **fields)
        self._parts.transcript.user(run.conversation, content, line)

    async def _starts(self, run: _Run) -> None:
        """Run the SubagentStart hooks; the subagent gets their context."""
        kind = run.conversation.subagent_type
        fields = {"agent_id": run.conversation.id, "agent_type": kind}
        report = await self._parts.hooks.run("SubagentStart", fields, subject=kind)
        for context in report.contexts:
            run.conversation.note(context)

    async def _may_end(self, run: _Run) -> bool:
        """Run the SubagentStop hooks; False if one blocks."""
        report = await self._parts.hooks.agent_stops(run.conversation, run.text, again=run.was_held)
        if report.blocks:
            run.was_held = True
            run.conversation.note(f"Stop hook feedback:\n{report.reason}")
        return not report.blocks

    async def _work(self, run: _Run) -> None:
        """Requests and tool uses until the subagent has nothing more to do."""
        profile = self._parts.session.profile
        for _ in range(MOST_REQUESTS):
            uses: list[dict[str, Any]] = []
            received = await ModelCall(
                self._parts,
                run.conversation,
                on_tool=self._taker(run, uses),
                on_announce=self._announcer(run),
            ).listen()
            run.text = received.text or run.text
            self._count(run, received)
            if received.failure is not None:
                run.failure, _ = describe(received.failure, profile)
                return
            if not uses and await self._may_end(run):
                return
            if not profile.reports_subagent_progress:
                run.tools += [str(block["name"]) for block in uses]
            if await self._run_uses(run, uses):
                raise _Denied
            if run.was_stopped:
                return

    def _announcer(self, run: _Run) -> Callable[[dict[str, Any]], Awaitable[None]]:
        async def announce(block: dict[str, Any]) -> None:
            profile = self._parts.session.profile
            if not profile.reports_subagent_progress:
                return
            run.tools.append(str(block["name"]))
            described = str(block["input"].get("description") or block["name"])
            self._parts.tasks.progress(
                run.task, block["name"], f"Running {described}", len(run.tools), run.tokens
            )
            use = _use_of(block, run.conversation)
            if self._parts.hooks.has("PreToolUse", use.hook_name(profile)):
                # The hook is called before the line of the use is written (CLI-1626).
                run.early[use.id] = (use, self._start(run, use))
                for _ in range(HOOK_STEPS):
                    await self._parts.effects.yield_now()

        return announce

    def _taker(self, run: _Run, uses: list[dict[str, Any]]) -> Callable[[dict[str, Any]], None]:
        """Collects the uses of a message; a tool that is missing is reported at once."""
        parts = self._parts

        def take(block: dict[str, Any]) -> None:
            uses.append(block)
            missing = parts.unavailable(block["name"], block["input"], run.conversation)
            if missing is not None and block["id"] not in run.early:
                use = _use_of(block, run.conversation)
                run.early[use.id] = (use, self._start(run, use))

        return take

    def _count(self, run: _Run, received: ReceivedReply) -> None:
        run.figures.use = TurnUse()
        run.figures.use.add(self._parts.session.last_usage)

    def _start(self, run: _Run, use: Use) -> Job[None]:
        runner = UseRunner(self._parts, run.conversation, use, run.figures)
        return self._parts.effects.spawn(runner.run())

    async def _run_uses(self, run: _Run, blocks: list[dict[str, Any]]) -> bool:
        """Run the tools of a message; whether a denial with `interrupt` ends the subagent."""
        uses: list[Use] = []
        jobs: list[Job[None]] = []
        for block in blocks:
            use, job = run.early.pop(block["id"], (None, None))
            use = use or _use_of(block, run.conversation)
            uses.append(use)
            jobs.append(job or self._start(run, use))
        try:
            for job in jobs:
                await job.done
        except Interrupted:
            for job in jobs:
                job.stop()
            for use in uses:
                await use.done  # their results come before the one of the subagent
            raise
        run.unavailable += [use.name for use in uses if use.was_unavailable]
        run.was_stopped = any(use.stops for use in uses)
        return any(use.interrupts for use in uses)

    async def _in_background(self, run: _Run, use: Use) -> None:
        try:
            await self._starts(run)
            # Its first request is made after the result of its tool was written (measured).
            await use.done
            for _ in range(START_STEPS):
                await self._parts.effects.yield_now()
            await self._work(run)
        except _Denied:
            content = [{"type": "text", "text": INTERRUPTED}]
            self._parts.output.user(content, **run.conversation.fields(self._parts.session.profile))
            self._stopped(run)
            return
        except Interrupted:
            self._parts.session.subagents.killed += 1
            self._parts.tasks.ended(run.task, "killed", "stopped", self._usage(run))
            return
        self._report_end(run)
        self._parts.turns.maybe_exit()

    def _usage(self, run: _Run) -> dict[str, Any]:
        return {
            "total_tokens": run.tokens,
            "tool_uses": len(run.tools),
            "duration_ms": self._duration(run),
        }

    def _duration(self, run: _Run) -> int:
        return round((self._parts.session.now() - run.started_at) * 1000)

    def _launched(self, run: _Run) -> Outcome:
        task, profile = run.task, self._parts.session.profile
        text = (
            f"Async agent launched successfully.\nagentId: {task.task_id}\n"
            "The agent works in the background; you will be notified when it ends.\n"
            f"output_file: {task.output_file}"
        )
        result: dict[str, Any] = {
            "isAsync": True,
            "status": "async_launched",
            "agentId": task.task_id,
            "description": task.description,
        }
        if profile.details_subagent_results:
            result["resolvedModel"] = run.conversation.model or self._parts.session.model
        result |= {"prompt": task.prompt, "outputFile": task.output_file}
        if profile.details_subagent_results:
            result |= {"canReadOutputFile": True, "canContinueAgent": True}
        return Outcome(content=[{"type": "text", "text": text}], result=result)

    def _finished(self, run: _Run) -> Outcome:
        profile = self._parts.session.profile
        usage = run.figures.use.report(profile)
        if run.failure is not None:
            usage |= dict.fromkeys(("inference_geo", "iterations", "service_tier"))
        listing = [] if run.was_stopped else [{"type": "text", "text": run.text}]
        common = {
            "totalDurationMs": self._duration(run),
            "totalTokens": run.tokens,
            "totalToolUseCount": len(run.tools),
            "usage": usage,
        }
        start = {"status": "completed", "prompt": run.task.prompt, "agentId": run.conversation.id}
        tail = f"agentId: {run.conversation.id}\n<usage>tool_uses: {len(run.tools)}</usage>"
        if not profile.details_subagent_results:
            content = [*listing, {"type": "text", "text": tail}]
            return Outcome(content=content, result={**start, "content": listing, **common})
        names = [name for name in dict.fromkeys(run.tools) if name not in run.unavailable]
        # Tools that were used before need no note (CLI-1635).
        is_noted = bool(set(names) - run.known_tools) and not run.was_stopped
        self._parts.session.subagents.tools |= set(names)
        note = {"type": "text", "text": f"tools used: {', '.join(names)}\n"}
        used: dict[str, Any] = {"toolsUsed": names} if names else {}
        result = {
            **start,
            "agentType": run.task.subagent_type,
            **used,
            "harnessNoteCount": int(is_noted),
            "harnessTailCount": 0,
            "harnessSectionHash": run.conversation.id,
            "content": [note, *listing] if is_noted else listing,
            "resolvedModel": run.conversation.model or self._parts.session.model,
            **common,
            **({"toolStats": _stats(run.tools)} if run.tools else {}),
            "canContinueAgent": True,
        }
        return Outcome(content=[{"type": "text", "text": f"{run.text}\n{tail}"}], result=result)


def _use_of(block: Mapping[str, Any], conversation: Conversation) -> Use:
    return Use(id=block["id"], name=block["name"], input=block["input"], conversation=conversation)


def _tools(value: Any) -> tuple[str, ...] | None:
    """The tools that the definition of an agent lists, as a list or with commas."""
    if isinstance(value, str):
        value = [name.strip("\"' ") for name in value.strip("[]").split(",")]
    if not isinstance(value, list) or "*" in value:
        return None
    return tuple(str(name) for name in value)


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
