"""The emulated CLI without its pipes: lines of stdin in, effects out.

Feed it lines with `feed`, the end of stdin with `end_input`, answers of effects with `finish`, and
carry out what `drain` gives. No I/O, no clock, no randomness: time and ids come from the session.
Parts that act on the engine's state live in their own files and reach each other through here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from fairlead.emulator.background import BackgroundTasks
from fairlead.emulator.controls import Controls
from fairlead.emulator.conversation import Conversation
from fairlead.emulator.cost import Spending
from fairlead.emulator.effects import Drop, Effect, Exit, SaveSettings, Sleep, Tell, Write
from fairlead.emulator.hook_calls import Hooks
from fairlead.emulator.host_line import HostLine
from fairlead.emulator.inbox import Inbox, Prompt
from fairlead.emulator.introduction import Introduction
from fairlead.emulator.mcp_client import McpClient
from fairlead.emulator.mcp_resources import McpResources
from fairlead.emulator.permission_desk import PermissionDesk
from fairlead.emulator.player import Played, Player
from fairlead.emulator.scribe import Scribe
from fairlead.emulator.setup import Setup
from fairlead.emulator.slash import SlashCommands
from fairlead.emulator.special_tools import special_tools
from fairlead.emulator.strands import Interrupted, Loom, Pending, Strand
from fairlead.emulator.tool_call import Use
from fairlead.emulator.turn import Turn
from fairlead.emulator.voice import Voice
from fairlead.permissions.updates import ModeUpdate, UnknownUpdate, apply_update, from_wire

__all__ = ["Engine"]

T = TypeVar("T")

TERMINATED = 143
"""The exit code after SIGTERM."""
STREAM_CLOSED = "Tool permission stream closed before response received"


class Engine:
    """One running session."""

    def __init__(self, setup: Setup) -> None:
        self.session = session = setup.session
        self._out: list[Effect] = []
        self._waiting: dict[int, Pending[Any]] = {}
        self._numbers = 0
        self._messages = 0
        self._inputs = 0
        self._input_waiters: list[tuple[int, Pending[None]]] = []
        self._use_waiters: dict[str, Pending[None]] = {}
        self._turn: Turn | None = None
        self._turn_strand: Strand[None] | None = None
        self._has_ended = False
        self._is_leaving = False
        self._exits_after_turn: int | None = None
        self._state = "idle"
        self.is_first_turn = True
        self.pending_note: str | None = None
        self.prompt_id = session.new_id()
        self.last_usage: Mapping[str, Any] = {}
        self.hook_notes: list[str] = []
        self.loom = Loom()
        self.voice = Voice(session, self._say)
        self.host = HostLine(self._say, session.new_id)
        self.inbox = Inbox(merges=session.profile.merges_queue, seen=setup.seen)
        self.talk = Conversation(messages=list(setup.history))
        self.player = Player(setup.scenario)
        self.scribe = Scribe(session, self.do, setup.parent)
        self.hooks = Hooks(self)
        self.tasks = BackgroundTasks(self)
        self.mcp = McpClient(self, setup.servers)
        self.mcp.problems = [dict(p) for p in setup.server_problems]
        self.resources = McpResources(self)
        self.desk = PermissionDesk(self, setup.book, setup.permission_place)
        self.slash = SlashCommands(self)
        self.special_tools = special_tools(self)
        self._introduction = Introduction(session)
        self._controls = Controls(self)

    # What the program does

    def feed(self, lines: Iterable[bytes]) -> None:
        """Lines of stdin that came at once."""
        for line in lines:
            if self._has_ended:
                return
            self._inputs += 1
            self._hear(line)
            self._wake_input_waiters()
            if not self.session.profile.is_modern:
                # The old version deals with each line before it looks at the next
                # (rec 2.1.38/interrupt_twice); the new one reads all first.
                self.loom.run()
        self.loom.run()

    def end_input(self) -> None:
        """The end of stdin: what is queued still runs, nobody answers any more."""
        self.host.close(STREAM_CLOSED)
        for _, waiter in self._input_waiters:
            waiter.settle(None)
        self._input_waiters = []
        self.maybe_exit()
        self.loom.run()

    def finish(self, number: int, value: Any) -> None:
        """The answer of an effect."""
        pending = self._waiting.pop(number, None)
        if pending is not None:
            pending.settle(value)
        self.loom.run()

    def interrupted_by_signal(self) -> None:
        """SIGINT: the new version ends its turn properly first (TRUTH 1.5)."""
        if not self.session.profile.is_modern:
            self._exit(0)
        elif self.is_busy:
            self._exits_after_turn = 0
            self.withdraw()
            self.stop_turn()
        else:
            self._leave(0)
        self.loom.run()

    def terminated(self) -> None:
        """SIGTERM: no word more, but the hooks are run (measured)."""
        self._leave(TERMINATED)
        self.loom.run()

    def drain(self) -> list[Effect]:
        """What to do now, in order."""
        out, self._out = self._out, []
        return out

    # Input

    def _hear(self, line: bytes) -> None:
        tolerant = self.session.profile.tolerates_unknown_input
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if not text.strip() and tolerant:
            return
        try:
            message = json.loads(text)
        except ValueError:
            self._die(self._parse_error(text, "SyntaxError"))
            return
        if message is None:
            self._die(self._parse_error(text, "TypeError"))
            return
        kind = message.get("type") if isinstance(message, dict) else None
        if kind == "user":
            self._hear_user(message, text)
        elif kind == "control_request":
            self._hear_request(message)
        elif kind == "control_response":
            response = message.get("response")
            self.host.answered(response if isinstance(response, dict) else {})
        elif kind not in ("keep_alive", "update_environment_variables") and not tolerant:
            word = "undefined" if kind is None else kind
            self._die(f"Error: Expected message type 'user' or 'control', got '{word}'")

    def _parse_error(self, text: str, kind: str) -> str:
        if self.session.profile.is_modern:
            return f"Error parsing streaming input line (type=unknown, {len(text)} chars): {kind}"
        return f"Error parsing streaming input line: {text}: {kind}"

    def _hear_user(self, message: dict[str, Any], text: str) -> None:
        body = message.get("message")
        if not isinstance(body, dict) or body.get("role") != "user":
            role = body.get("role") if isinstance(body, dict) else None
            self._die(f"Error: Expected message role 'user', got '{role or 'undefined'}'")
            return
        content = body.get("content")
        uuid = message.get("uuid")
        prompt = Prompt(
            content=content if isinstance(content, str | list) else [],
            uuid=uuid if isinstance(uuid, str) else None,
            priority=str(message.get("priority") or "next"),
            should_query=message.get("shouldQuery") is not False,
        )
        if self.inbox.is_repeated(prompt):
            self._drop_repeated(prompt)
            return
        self.voice.lifecycle(prompt.uuid, "queued")
        self.receive(prompt)
        waits = self.is_busy and prompt.uuid in [None, *self.inbox.uuids()]
        if prompt.priority == "now" and self.session.profile.is_modern and waits:
            if self._turn is not None:
                self._turn.is_preempted = True
            self.withdraw()
            self.stop_turn()

    def _drop_repeated(self, prompt: Prompt) -> None:
        if self.session.replays:
            self.voice.user(prompt.content, isReplay=True, uuid=prompt.uuid, stamp=False)
        if prompt.uuid in self.inbox.from_transcript:
            self.voice.lifecycle(prompt.uuid, "completed")

    def _hear_request(self, message: dict[str, Any]) -> None:
        request = message.get("request")
        if not isinstance(request, dict):
            self._die("Error: Missing request on control_request")
            return
        request_id = message.get("request_id")
        self._controls.answer(request_id if isinstance(request_id, str) else None, request)

    def receive(self, prompt: Prompt) -> None:
        """A prompt: begins a turn, or waits for one."""
        self.scribe.queue("enqueue", prompt.text)
        if self.is_busy:
            self.inbox.put(prompt)
        else:
            self._begin((prompt,))

    # Turns

    @property
    def turn_uuid(self) -> str:
        """The uuid of the prompt whose turn runs; empty if it had none."""
        uuids = self._turn.figures.uuids if self._turn is not None else []
        return uuids[0] if uuids else ""

    @property
    def is_busy(self) -> bool:
        return self._turn is not None

    def _begin(self, prompts: tuple[Prompt, ...]) -> None:
        self.scribe.queue("dequeue")
        self.prompt_id = self.session.new_id()
        self.state_changed("running")
        self._turn = Turn(self, prompts)
        self._turn_strand = self.loom.spawn(self._turn.run())

    def turn_over(self) -> None:
        """A turn has said its result: the next one begins, or nothing is left to do."""
        self._turn, self._turn_strand = None, None
        if self._exits_after_turn is not None:
            self._leave(self._exits_after_turn)
            return
        prompts = self.inbox.take()
        if prompts:
            self._begin(prompts)
            return
        self.state_changed("idle")
        self.maybe_exit()

    def withdraw(self) -> None:
        """Take back what the turn has asked of the host; comes before an interrupt's answer."""
        if self.is_busy:
            self.mcp.cancel_calls()
            for subtype in ("can_use_tool", "hook_callback"):
                self.host.withdraw_all(subtype)

    def stop_turn(self) -> None:
        """Interrupt the turn that runs, if one does."""
        if self._turn_strand is not None:
            self._turn_strand.stop()

    def maybe_exit(self) -> None:
        """Leave when stdin is at its end and nothing is left to do."""
        waits = len(self.tasks) > 0 and self.session.profile.announces_tasks
        if self.host.is_closed and not self.is_busy and not len(self.inbox) and not waits:
            self._leave(1 if self.session.last_was_error else 0)

    def state_changed(self, state: str) -> None:
        """Tell the state where the environment asks for it (TRUTH 6)."""
        wanted = self.session.place.environment.get("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS") == "1"
        if state == self._state:
            return
        self._state = state
        if wanted and self.session.profile.is_modern:
            self.voice.system("session_state_changed", state=state)

    def clear(self, uuid: str | None) -> None:
        """/clear: a new session with nothing in it."""
        session = self.session
        self.voice.reset(uuid or session.new_id())
        session.session_id = session.new_id()
        session.spending = Spending(session.profile)
        self.talk = Conversation()
        self.scribe.restart()
        self.tasks.list_all()

    def note_model(self) -> None:
        """The line by which a changed model is told outside any turn."""
        text = f"<local-command-stdout>Set model to `{self.session.model}`</local-command-stdout>"
        self.voice.user(text, isReplay=True)
        self.pending_note = text

    # Tools and permissions

    def offered_tools(self) -> list[str]:
        return self.resources.beside(self.session.tools, self.mcp.tool_names())

    def unavailable(self, use: Use) -> str | None:
        """Why a tool cannot be used; None if it can."""
        name, offered = use.name, self.offered_tools()
        skill = use.input.get("skill")
        if name == "Skill" and skill in self.session.profile.catalogue.skills:
            return f"Skill {skill} cannot be used with Skill tool due to disable-model-invocation"
        if name in offered or (name == "Agent" and "Task" in offered):
            return None
        return f"Error: No such tool available: {name}"

    def keep_plan(self, text: str) -> None:
        """The plan that is up for approval; `get_plan` tells it."""
        session = self.session
        session.plan_text = text
        session.plan_file = f"{session.place.config}/plans/{session.session_id[:8]}.md"

    def want_structure(self, schema: Any) -> None:
        """The host wants a structured answer."""
        self.session.structured_schema = schema
        if "StructuredOutput" not in self.session.tools:
            self.session.tools = (*self.session.tools, "StructuredOutput")

    def apply_updates(self, updates: Iterable[Any]) -> None:
        """Permission updates of an answer: in force at once, kept where they are to be kept."""
        for raw in updates:
            update = from_wire(raw) if isinstance(raw, dict) else UnknownUpdate({})
            if isinstance(update, UnknownUpdate) or not update.destination.is_destination:
                continue
            if isinstance(update, ModeUpdate):
                self.session.mode = update.mode.value
                self.voice.mode_changed()
            else:
                self.desk.book = apply_update(self.desk.book, update)
            if not update.destination.in_memory:
                self.do(SaveSettings(update))

    async def when_done(self, use: Use) -> None:
        """Wait for another use."""
        while not use.is_done:
            await self._use_waiters.setdefault(use.id, Pending())

    def use_done(self, use: Use) -> None:
        waiter = self._use_waiters.pop(use.id, None)
        if waiter is not None:
            waiter.settle(None)

    # Waiting

    async def perform(self, make: Callable[[int], Effect]) -> Any:
        """Have something done outside, and wait for its answer."""
        self._numbers += 1
        number = self._numbers
        pending: Pending[Any] = Pending()
        self._waiting[number] = pending
        self.do(make(number))
        try:
            return await pending
        except Interrupted:
            if self._waiting.pop(number, None) is not None:
                self.do(Drop(number))
            raise

    async def sleep(self, seconds: float) -> None:
        await self.perform(lambda number: Sleep(number, seconds))

    async def more_inputs(self, count: int) -> None:
        """Wait until the host has written so many more lines."""
        waiter: Pending[None] = Pending()
        if self.host.is_closed:
            return
        self._input_waiters.append((self._inputs + count, waiter))
        await waiter

    async def for_ever(self) -> None:
        never: Pending[None] = Pending()
        await never

    def _wake_input_waiters(self) -> None:
        for wanted, waiter in self._input_waiters:
            if self._inputs >= wanted:
                waiter.settle(None)
        self._input_waiters = [w for w in self._input_waiters if self._inputs < w[0]]

    # Output

    def do(self, effect: Effect) -> None:
        self._out.append(effect)

    def tell(self, text: str) -> None:
        self.do(Tell(text + "\n"))

    def _say(self, message: dict[str, Any]) -> None:
        self.do(Write(message))

    def _die(self, text: str) -> None:
        self.tell(text)
        self._exit(1)

    def _leave(self, code: int) -> None:
        """End the session in order: its hooks are run first."""
        if not self._is_leaving:
            self._is_leaving = True
            self.loom.spawn(self._end_session(code))

    async def _end_session(self, code: int) -> None:
        await self.hooks.run("SessionEnd", {"reason": "other"}, subject="other")
        self._exit(code)

    def _exit(self, code: int) -> None:
        if not self._has_ended:
            self._has_ended = True
            self.do(Exit(code))

    # Figures and lists

    def message_id(self, played: Played) -> str:
        self._messages += 1
        return played.message_id or f"msg_{self._messages:04d}"

    def spent(self, talk: Conversation, usage: Mapping[str, Any]) -> None:
        """Tokens of a reply."""
        self.last_usage = dict(usage)
        if not usage:
            return
        self.session.spending.add(talk.model or self.session.model, usage)
        if talk.is_main:
            counted = ("input_tokens", "cache_read_input_tokens", "output_tokens")
            self.session.spending.context_tokens = sum(int(usage.get(n) or 0) for n in counted)

    def introduction(self) -> dict[str, Any]:
        return self._introduction.whole(self._state)

    def models(self) -> list[dict[str, Any]]:
        return self._introduction.models()

    def commands(self, *, skills: bool = False) -> list[dict[str, Any]]:
        return self._introduction.commands(skills=skills)

    def agents(self) -> list[dict[str, Any]]:
        return self._introduction.agents()
