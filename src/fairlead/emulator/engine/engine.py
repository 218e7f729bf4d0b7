"""The emulated CLI without its pipes: lines of stdin in, effects out.

Pass it lines with `feed`, the end of stdin with `end_input` and answers of effects with `finish`,
and carry out the effects that `drain` returns. No I/O, no clock, no randomness: time and ids come
from the session. It creates the parts of the emulator and passes each the ports that it needs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from fairlead.emulator.engine.controls import Controls
from fairlead.emulator.engine.setup import Setup
from fairlead.emulator.mcp.client import McpClient
from fairlead.emulator.mcp.resources import McpResources
from fairlead.emulator.protocol.host_line import HostLine
from fairlead.emulator.protocol.output import Output
from fairlead.emulator.protocol.transcript_writer import TranscriptWriter
from fairlead.emulator.script.player import Player
from fairlead.emulator.state.conversation import Conversation
from fairlead.emulator.state.cost import Spending
from fairlead.emulator.state.effect_queue import EffectQueue
from fairlead.emulator.state.effects import Effect, Exit, Write
from fairlead.emulator.state.inbox import Inbox, Prompt
from fairlead.emulator.state.input_count import InputCount
from fairlead.emulator.state.scheduler import Job
from fairlead.emulator.state.subagent_stats import SubagentStats
from fairlead.emulator.turn.background import BackgroundTasks
from fairlead.emulator.turn.hook_calls import Hooks
from fairlead.emulator.turn.parts import TurnParts
from fairlead.emulator.turn.permissions import Permissions
from fairlead.emulator.turn.slash import SlashCommands
from fairlead.emulator.turn.special_tools import special_tools
from fairlead.emulator.turn.turn import Turn

__all__ = ["Engine"]

TERMINATED = 143
"""The exit code after SIGTERM."""
IDLE_AFTER_S = 0.005
"""The CLI reports that it is idle some milliseconds after the result (CLI-525)."""
STREAM_CLOSED = "Tool permission stream closed before response received"


class Engine:
    """One running session."""

    def __init__(self, setup: Setup) -> None:
        self.session = session = setup.session
        session.prompt_id = session.new_id()
        session.conversation = Conversation(messages=list(setup.history))
        self._turn: Turn | None = None
        self._turn_job: Job[None] | None = None
        self._has_ended = False
        self._is_leaving = False
        self._exits_after_turn: int | None = None
        self._idle_report: Job[None] | None = None
        self._is_starting = False
        self._late_echo: dict[str, Any] | None = None
        self._early: list[bytes] = []
        """Lines that arrived while the hooks at the start of the session ran."""
        self._effects = EffectQueue()
        self._output = Output(session, self._write)
        self._host = HostLine(self._write, session.new_id)
        self._inputs = InputCount()
        self._inbox = Inbox(merges=session.profile.merges_queue, seen=setup.seen)
        self._transcript = TranscriptWriter(session, self._effects.do, setup.parent)
        self._parts = self._put_together(setup)
        self.mcp = self._parts.mcp
        self._slash = SlashCommands(self._parts)
        self._controls = Controls(
            self._parts, self, output=self._output, effects=self._effects, host=self._host
        )

    def _put_together(self, setup: Setup) -> TurnParts:
        session, output, effects, host = self.session, self._output, self._effects, self._host
        tasks = BackgroundTasks(session, output, effects, self)
        hooks = Hooks(session, output, effects, host, tasks)
        mcp = McpClient(session, effects, host, setup.servers)
        mcp.problems = [dict(p) for p in setup.server_problems]
        mcp.unused_servers = setup.unused_servers
        permissions = Permissions(
            session,
            output,
            effects,
            host,
            hooks,
            mcp,
            book=setup.book,
            path_context=setup.path_context,
        )
        parts = TurnParts(
            session=session,
            output=output,
            effects=effects,
            ask=host,
            turns=self,
            inbox=self._inbox,
            inputs=self._inputs,
            player=Player(setup.scenario),
            transcript=self._transcript,
            hooks=hooks,
            tasks=tasks,
            mcp=mcp,
            resources=McpResources(session, mcp),
            permissions=permissions,
        )
        parts.special_tools.update(special_tools(parts))
        return parts

    # The interface to the program

    def feed(self, lines: Iterable[bytes]) -> None:
        """Process lines of stdin that arrived together."""
        for line in lines:
            if self._has_ended:
                return
            self._inputs.add()
            if self._starts_session():
                self._is_starting = True
                self._effects.spawn(self._start_session())
            if self._is_starting:
                self._early.append(line)
                continue
            self._read_line(line)
            self._inputs.wake()
            if not self.session.profile.reads_all_input_first:
                # The old version handles each line before it reads the next
                # (rec 2.1.38/interrupt_twice); the new one reads all first.
                self._effects.run()
        self._effects.run()

    def end_input(self) -> None:
        """The end of stdin: queued prompts still run, and open requests fail."""
        self._host.close(STREAM_CLOSED)
        self._inputs.close()
        self.maybe_exit()
        self._effects.run()

    def finish(self, number: int, value: Any) -> None:
        """Pass on the answer to an effect."""
        self._effects.finish(number, value)
        self._effects.run()

    def interrupted_by_signal(self) -> None:
        """SIGINT: the new version ends its turn with a result first (CLI-509)."""
        if not self.session.profile.ends_turn_on_sigint:
            self.exit(0)
        elif self.is_busy:
            self._exits_after_turn = 0
            self.withdraw()
            self.stop_turn()
        else:
            self._exit_with_hooks(0)
        self._effects.run()

    def terminated(self) -> None:
        """SIGTERM: only the ends of background tasks are written, and the hooks run (measured)."""
        self._parts.tasks.die()
        self._exit_with_hooks(TERMINATED)
        self._effects.run()

    def drain(self) -> list[Effect]:
        """The effects to carry out now, in order."""
        return self._effects.drain()

    # Input

    def _read_line(self, line: bytes) -> None:
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
            self._read_prompt(message, text)
        elif kind == "control_request":
            self._read_request(message)
        elif kind == "control_response":
            response = message.get("response")
            response = response if isinstance(response, dict) else {}
            is_greeting = self._host.is_greeting(str(response.get("request_id")))
            report = self._host.answered(response)
            body = response.get("response")
            updates = isinstance(body, dict) and body.get("updatedPermissions")
            if not (report and self.session.replays):
                return
            # Not only prompts are replayed, but answers of the host as well (measured). The old
            # version first writes the line that such an answer causes (CLI-534).
            if (is_greeting or updates) and not self.session.profile.reads_all_input_first:
                self._late_echo = message
                self._effects.run()
                self._flush_echo()
            else:
                self._write(message)
        elif kind not in ("keep_alive", "update_environment_variables") and not tolerant:
            type_name = "undefined" if kind is None else kind
            self._die(f"Error: Expected message type 'user' or 'control', got '{type_name}'")

    def _parse_error(self, text: str, kind: str) -> str:
        if self.session.profile.hides_bad_input:
            return f"Error parsing streaming input line (type=unknown, {len(text)} chars): {kind}"
        return f"Error parsing streaming input line: {text}: {kind}"

    def _read_prompt(self, message: dict[str, Any], text: str) -> None:
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
            is_verbatim=(
                message.get("client_composed") is True
                and self.session.profile.honors_client_composed
            ),
            is_synthetic=(
                message.get("isSynthetic") is True and self.session.profile.honors_synthetic_marks
            ),
        )
        if self._inbox.is_repeated(prompt):
            self._drop_repeated(prompt)
            return
        self._queue(prompt)

    def _starts_session(self) -> bool:
        """Whether the hooks at the start of a session have to run now."""
        session = self.session
        early = session.profile.starts_session_before_prompt and session.is_first_turn
        return early and not self._is_starting and self._parts.hooks.has("SessionStart", "startup")

    async def _start_session(self) -> None:
        self.session.is_first_turn = False
        await self._parts.hooks.run("SessionStart", {"source": "startup"}, subject="startup")
        self._is_starting = False
        early, self._early = self._early, []
        for line in early:
            if not self._has_ended:
                self._read_line(line)
                self._inputs.wake()
        if self._host.is_closed:
            self.end_input()

    def _queue(self, prompt: Prompt) -> None:
        if not self.is_busy:
            self._report_idle_now()
            if not len(self._parts.tasks):
                # While a command runs in the background, the prompt is queued first (CLI-1611).
                self._output.state_changed("running")
        comes_first = prompt.priority == "now" and self.session.profile.honors_priority
        preempts = comes_first and self._turn is not None
        if preempts and self._turn is not None:
            self._turn.figures.is_preempted = True
            if not self._turn.runs_command:
                # The open request is withdrawn before the prompt is reported (CLI-1629).
                self.withdraw()
        self._output.lifecycle(prompt.uuid, "queued")
        self.receive(prompt)
        if preempts:
            self.stop_turn()

    def _drop_repeated(self, prompt: Prompt) -> None:
        if self.session.replays:
            self._output.user(prompt.content, isReplay=True, uuid=prompt.uuid, stamp=False)
        if prompt.uuid in self._inbox.from_transcript:
            self._output.lifecycle(prompt.uuid, "completed")

    def _read_request(self, message: dict[str, Any]) -> None:
        request = message.get("request")
        if not isinstance(request, dict):
            self._die("Error: Missing request on control_request")
            return
        self._report_idle_now()
        request_id = message.get("request_id")
        self._controls.answer(request_id if isinstance(request_id, str) else None, request)

    def receive(self, prompt: Prompt) -> None:
        """Begin a turn with a prompt, or queue it."""
        self._transcript.queue("enqueue", prompt.text)
        if self.is_busy:
            self._inbox.put(prompt)
        else:
            self._begin((prompt,))

    # Turns

    @property
    def is_busy(self) -> bool:
        return self._turn is not None

    def _begin(self, prompts: tuple[Prompt, ...]) -> None:
        self._transcript.queue("dequeue")
        self.session.prompt_id = self.session.new_id()
        self.session.turns_begun += 1
        self.session.awaits_suggestion = False
        self._report_idle_now()
        self._output.state_changed("running")
        self._turn = Turn(self._parts, self._slash, prompts)
        self.session.turn_uuids = self._turn.figures.uuids
        self.session.checkpoints += self.session.turn_uuids[:1]
        at_once = self.session.profile.changes_model_at_once
        self.session.turn_model = None if at_once else self.session.model
        if not (self.mcp.is_connecting and self.session.profile.reports_lifecycle):
            self._turn.report_started()
        self._turn_job = self._effects.spawn(self._turn.run())

    def turn_over(self) -> None:
        """A turn has written its result: begin the next one, if prompts are queued."""
        self._turn, self._turn_job = None, None
        self.session.turn_uuids = []
        if self._exits_after_turn is not None:
            self._exit_with_hooks(self._exits_after_turn)
            return
        prompts = self._inbox.take()
        if prompts:
            self._begin(prompts)
            return
        if self._parts.tasks.has_agents:
            pass  # the session counts as running until its background agents have ended (CLI-1105)
        elif self._output.reports_state:
            self._idle_report = self._effects.spawn(self._report_idle_later())
        else:
            self._output.state = "idle"
        self.maybe_exit()

    async def _report_idle_later(self) -> None:
        await self._effects.sleep(IDLE_AFTER_S)
        self._idle_report = None
        self._output.state_changed("idle")
        self.maybe_exit()

    def _report_idle_now(self) -> None:
        """A prompt or request came before the report: it is written before they are handled."""
        if self._idle_report is not None:
            self._idle_report.stop()
            self._idle_report = None
            self._output.state_changed("idle")

    def withdraw(self) -> None:
        """Withdraw the open requests of the turn; precedes the answer to an interrupt."""
        if self.is_busy and not self._waits_for_command:
            self.mcp.cancel_calls()
            for subtype in ("can_use_tool", "hook_callback"):
                self._host.withdraw_all(subtype)

    def stop_turn(self) -> None:
        """Interrupt the running turn, if there is one."""
        if self._turn_job is not None and not self._waits_for_command:
            self._turn_job.stop()

    @property
    def _waits_for_command(self) -> bool:
        """A prompt with the priority `now` ends the turn when its command has ended (CLI-1654)."""
        turn = self._turn
        return turn is not None and turn.figures.is_preempted and turn.runs_command

    def maybe_exit(self) -> None:
        """Exit if stdin has ended and nothing is left to do."""
        # After an interrupted turn, background tasks are stopped instead (CLI-1617).
        waits = len(self._parts.tasks) > 0 and not self.session.last_was_interrupted
        waits = waits and self.session.profile.announces_tasks
        waits = waits or self._idle_report is not None or self._is_starting
        waits = waits or self.session.awaits_suggestion
        if self._host.is_closed and not self.is_busy and not len(self._inbox) and not waits:
            self._parts.tasks.stop_all()
            self._exit_with_hooks(1 if self.session.last_was_error else 0)

    def offered_tools(self) -> list[str]:
        return self._parts.offered_tools()

    def clear(self, uuid: str | None) -> None:
        """/clear: a new session with nothing in it."""
        session = self.session
        self._output.reset(uuid or session.new_id())
        session.session_id = session.new_id()
        session.spending = Spending(session.profile)
        session.subagents = SubagentStats()
        self.session.conversation = Conversation()
        self._transcript.restart()
        self._parts.tasks.list_all()

    # Output

    def _write(self, message: dict[str, Any]) -> None:
        request = message.get("request")
        is_server = isinstance(request, dict) and request.get("subtype") == "mcp_message"
        if not (is_server or message.get("subtype") == "status"):
            self._flush_echo()
        self._effects.do(Write(message))
        self._flush_echo()

    def _flush_echo(self) -> None:
        echo, self._late_echo = self._late_echo, None
        if echo is not None:
            self._effects.do(Write(echo))

    def _die(self, text: str) -> None:
        self._effects.tell(text)
        self.exit(1)

    def _exit_with_hooks(self, code: int) -> None:
        """Run the hooks at the end of the session, then exit."""
        if not self._is_leaving:
            self._is_leaving = True
            self._effects.spawn(self._end_session(code))

    async def _end_session(self, code: int) -> None:
        await self._parts.hooks.run("SessionEnd", {"reason": "other"}, subject="other")
        self.exit(code)

    def exit(self, code: int) -> None:
        """End the process at once, without the hooks of the session."""
        if not self._has_ended:
            self._has_ended = True
            self._effects.do(Exit(code))
