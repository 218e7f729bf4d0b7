"""One engine connected to one process: bytes in, bytes out, and observers notified.

All I/O happens in callbacks of the event loop that never wait, so control never queues behind
data: an answer or an interrupt is written while any number of messages are unread. Handlers of
the caller run in their own tasks. Observers are notified last, after the engine has settled:
everything that follows from a batch is written and every state is up to date. An observer may
therefore call the client, and all observers see the same order. Below: `engine`, `process`.
Above: `client`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Protocol

from fairlead.errors import (
    AgentExited,
    ControlError,
    ControlTimeout,
    FairleadError,
    InputBlocked,
    ProcessError,
    SessionClosed,
    UsageError,
)
from fairlead.host.engine.backpressure import Backpressure
from fairlead.host.engine.engine import (
    Answered,
    Asked,
    ControlEvent,
    Engine,
    Outgoing,
    TimedOut,
    Withdrawn,
)
from fairlead.host.engine.prompts import PromptMoved
from fairlead.host.process.exits import hint
from fairlead.host.process.held_output import HeldOutput
from fairlead.host.process.process import STDIN_LIMIT, Graces, Process
from fairlead.host.process.readers import Readers
from fairlead.host.process.turn import OpenTurns
from fairlead.host.requests.deferred import Unanswerable
from fairlead.wire.control import (
    CliRequest,
    ControlCancelRequest,
    ControlRequest,
    ControlResponse,
)
from fairlead.wire.decode import AnyMessage
from fairlead.wire.inputs import Input

__all__ = ["Link", "Observer"]

_CONTROL = frozenset({ControlRequest, ControlResponse, ControlCancelRequest})

log = logging.getLogger("fairlead")

AT_ONCE = Graces(after_eof=0.0, after_term=0.5, after_kill=5.0)

MUTE_S = 5.0
"""How long a CLI may run after it closed its stdout: nothing that it does can be seen."""

TELL_TIMEOUT_S = 60.0
"""How long the engine expects the answer to a request that no caller waits for."""

Answerer = Callable[[str, CliRequest], Coroutine[Any, Any, dict[str, Any]]]


class Observer(Protocol):
    """Is notified of everything a session does, in order. Must not wait and must not raise."""

    def received(self, messages: list[AnyMessage], at: float) -> None:
        """The CLI wrote these messages, control lines included."""

    def sent(self, message: Input, line: bytes, at: float) -> None:
        """The host wrote this message, as this line."""

    def prompt_moved(self, move: PromptMoved, at: float) -> None:
        """A prompt of the queue changed its state."""

    def exited(self, returncode: int, at: float) -> None:
        """The process has ended; nothing follows."""


class Link:
    """The live connection to one CLI process."""

    def __init__(
        self,
        engine: Engine,
        answerer: Answerer,
        on_stderr: Callable[[str], object] | None = None,
        backpressure: Backpressure | None = None,
    ) -> None:
        self.engine = engine
        self.turns = OpenTurns()
        self.observers: list[Observer] = []
        self._notices: list[Callable[[Observer], None]] = []
        self._notifying = False
        self.readers: Readers[AnyMessage] = Readers()
        self.exit_error: ProcessError | None = None
        """Why the process ended, if it should not have."""
        self.closing = False
        self.stopped = ""
        """Why the host ended the CLI on its own, if it did."""
        self._answerer = answerer
        self._backpressure = backpressure or Backpressure()
        self._held = HeldOutput()
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._answers: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._handling: dict[str, asyncio.Task[None]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._mute_timer: asyncio.TimerHandle | None = None
        self._exit_watch: asyncio.Task[None] | None = None
        self._on_stderr_text = on_stderr
        self.process = Process(
            on_stdout=self._on_stdout,
            on_stderr=self._on_stderr,
            on_stdout_end=self._on_stdout_end,
            on_room=self.settle,
        )
        self._prompts_open = False
        engine.takes_prompts = self._takes_prompts

    @property
    def ended(self) -> bool:
        """Whether the process has ended and all observers and readers were notified."""
        return self._exit_watch is not None and self._exit_watch.done()

    async def start(
        self, command: tuple[str, ...], *, cwd: str, env: Mapping[str, str], mark: str
    ) -> None:
        """Start the process."""
        await self.process.start(command, cwd=cwd, env=env, mark=mark)
        self._exit_watch = asyncio.create_task(self._watch_exit())

    async def close(self, graces: Graces) -> None:
        """End the process and wait until all observers and readers were notified."""
        listening = not self.ended and self.process.accepts_input
        if not self.closing and listening and self.engine.prompts.busy:
            # A CLI finishes its turn before it reacts to the end of its input.
            self.tell("interrupt", {}, timeout=graces.after_eof)
        self.closing = True
        if self._exit_watch is not None:
            await self.process.close(graces)
            await self._exit_watch

    async def ask(self, subtype: str, fields: dict[str, Any], timeout: float) -> dict[str, Any]:
        """Send a control request and wait for its answer."""
        self.check_room(f"request {subtype!r}")
        now = self._loop.time()
        request_id = self.engine.request(subtype, fields, now=now, timeout=timeout)
        answer: asyncio.Future[dict[str, Any]] = self._loop.create_future()
        self._answers[request_id] = answer
        self._choose_reading()
        self.settle()
        try:
            return await answer
        finally:
            self._answers.pop(request_id, None)
            self._choose_reading()

    async def interrupt(self, fields: dict[str, Any], graces: Graces, timeout: float) -> Any:
        """Stop the turn. A CLI that does not answer in time is ended, first with SIGINT."""
        limit = min(timeout, graces.after_interrupt)
        try:
            return await self.ask("interrupt", fields, limit)
        except ControlTimeout:
            if not self.engine.prompts.busy:
                raise
        # SIGINT ends every CLI: 2.1.38 at once, 2.1.325 after the result of the turn.
        self.stopped = f"it did not answer an interrupt within {limit:g} s and was stopped"
        self.process.interrupt()
        assert self._exit_watch is not None
        done, _ = await asyncio.wait([self._exit_watch], timeout=graces.after_sigint)
        if not done:
            await self.process.close(graces)
            await asyncio.shield(self._exit_watch)
        raise self._ending("interrupt")

    def handling(self, request_id: str) -> asyncio.Task[None] | None:
        """The task that handles an open request of the CLI."""
        return self._handling.get(request_id)

    def tell(self, subtype: str, fields: dict[str, Any], timeout: float = TELL_TIMEOUT_S) -> None:
        """Send a control request without waiting for its answer."""
        self.check_room(f"request {subtype!r}")
        self.engine.request(subtype, fields, now=self._loop.time(), timeout=timeout)
        self.settle()

    def settle(self) -> None:
        """Write the output, act on the control events, and then notify the observers."""
        engine = self.engine
        engine.write_next_prompt()
        while engine.has_news:
            output = engine.take_output()
            events = engine.take_events()
            for outgoing in output:
                self._write(outgoing)
            for event in events:
                self._act_on(event)
        self._set_timer()
        if self._backpressure.closed:
            self.apply_backpressure()
        self._notify()

    def _notify(self) -> None:
        if self._notifying:
            return  # An observer called the client; the loop below continues with the results.
        self._notifying = True
        bug: Exception | None = None
        while self._notices:
            notice = self._notices.pop(0)  # There are few; a deque would take 760 bytes.
            for observer in tuple(self.observers):
                try:
                    notice(observer)
                except Exception as problem:  # noqa: BLE001 - raised below, for all get the notice
                    bug = bug or problem
        self._notifying = False
        if bug is not None:
            raise bug

    def open_prompts(self) -> None:
        """Write queued prompts from now on, whenever the CLI is idle."""
        self._prompts_open = True
        self.engine.prompts.on_resume = self.settle
        self.settle()

    def _takes_prompts(self) -> bool:
        """A prompt must stay in its queue if this process will not read it any more."""
        return self._prompts_open and not self.closing and self.process.takes_lines

    def apply_backpressure(self) -> None:
        """Read the CLI's output or leave it in its pipe, as the backpressure requires."""
        if self._backpressure.flows(answer_awaited=bool(self.engine.pending_to_cli)):
            self.process.resume_reading()
        else:
            self.process.pause_reading()

    def check_open(self, action: str) -> None:
        """Raise unless something can still be sent."""
        if self.closing or self.ended or self.process.exited.done():
            raise self._ending(action)

    def check_room(self, action: str) -> None:
        """Raise while the CLI does not read its input."""
        if not self.process.accepts_input:
            raise InputBlocked(action, STDIN_LIMIT)

    def hold_output(self) -> None:
        """Collect output that can wait, until `release_output`."""
        self._held.holding = True
        self._choose_reading()

    def release_output(self) -> None:
        """Decode and deliver what was collected, and what comes from now on at once."""
        self._held.holding = False
        self._choose_reading()
        if chunk := self._held.take():
            self._feed(chunk)

    def _choose_reading(self) -> None:
        """Read at intervals while output is held, unless a caller waits for an answer in it."""
        self.process.read_at_intervals(self._held.holding and not self._answers)

    def take_output(self) -> None:
        """Decode and deliver what was collected, and go on collecting."""
        if chunk := self._held.take():
            self._feed(chunk)

    def _on_stdout(self, chunk: bytes) -> None:
        self._backpressure.took(len(chunk))
        if chunk := self._held.add(chunk):
            self._feed(chunk)

    def _feed(self, chunk: bytes) -> None:
        engine = self.engine
        before = engine.control_lines
        try:
            messages = engine.feed(chunk)
            if messages:
                self._deliver(messages, len(chunk), has_control=engine.control_lines != before)
            self.settle()
        except Exception as bug:  # noqa: BLE001 - a bug in Fairlead, reported below
            self._break(bug)

    def _break(self, bug: Exception) -> None:
        """End the session after a bug in Fairlead or in an observer, and report it to readers.

        Otherwise asyncio would only log the exception, and every reader would wait forever.
        """
        log.exception("the session cannot continue")
        if self.exit_error is None:
            self.exit_error = ProcessError(f"Fairlead itself failed: {type(bug).__name__}: {bug}")
            self._ending_task = self._loop.create_task(self.process.close(AT_ONCE))

    def _on_stdout_end(self) -> None:
        if not self.process.exited.done():
            self._mute_timer = self._loop.call_later(MUTE_S, self._end_mute)

    def _end_mute(self) -> None:
        """The CLI closed its stdout and still runs: end it, or its turn would never end."""
        if self.closing or self.process.exited.done():
            return
        if self.exit_error is None:
            self.exit_error = ProcessError(
                f"the CLI closed its output but was still running {MUTE_S:g} s later, so nothing "
                "it does could be seen. It was ended. Resume the session to continue."
            )
        self._ending_task = self._loop.create_task(self.process.close(AT_ONCE))

    def _on_stderr(self, chunk: bytes) -> None:
        if self._on_stderr_text is not None:
            self._on_stderr_text(chunk.decode(errors="replace"))

    def _deliver(self, messages: list[AnyMessage], size: int, *, has_control: bool) -> None:
        at = self._now()
        self._notices.append(lambda observer: observer.received(messages, at))
        data = [m for m in messages if type(m) not in _CONTROL] if has_control else messages
        self.readers.push(data, size)
        self.turns.deliver(data, size, self.engine.prompts.moves)

    def _write(self, outgoing: Outgoing) -> None:
        self.process.write(outgoing.line)
        at = self._now()
        self._notices.append(lambda observer: observer.sent(outgoing.message, outgoing.line, at))

    def _act_on(self, event: ControlEvent) -> None:
        if isinstance(event, PromptMoved):
            at = self._now()
            self._notices.append(lambda observer: observer.prompt_moved(event, at))
            self.turns.moved(event, self.exit_error)
        elif isinstance(event, Asked):
            self._run_handler(event.request_id, event.request)
        elif isinstance(event, Withdrawn):
            handling = self._handling.get(event.request_id)
            if handling is not None:
                handling.cancel()
        elif isinstance(event, Answered):
            self._answered(event)
        else:
            self._timed_out(event)

    def _run_handler(self, request_id: str, request: CliRequest) -> None:
        task = asyncio.create_task(self._answer(request_id, request))
        self._handling[request_id] = task
        task.add_done_callback(lambda _: self._handling.pop(request_id, None))

    async def _answer(self, request_id: str, request: CliRequest) -> None:
        try:
            response = await self._answerer(request_id, request)
            await self.process.wait_for_room()
            self.engine.answer(request_id, response)
        except (Unanswerable, UsageError) as problem:
            self.engine.answer_error(request_id, str(problem))
        self.settle()

    def _answered(self, event: Answered) -> None:
        body = event.body
        if body.subtype == "success":
            waiting = self._answers.get(event.request_id)
            if waiting is not None and not waiting.done():
                waiting.set_result(body.response if isinstance(body.response, dict) else {})
        elif body.subtype == "ended":
            self._fail(event.request_id, self._ending(f"request {event.subtype!r}"))
        else:
            reason = body.error or "no reason given"
            self._fail(event.request_id, ControlError(event.subtype, reason, body.error_code))

    def _timed_out(self, event: TimedOut) -> None:
        self._fail(event.request_id, ControlTimeout(event.subtype, event.seconds))

    def _fail(self, request_id: str, error: FairleadError) -> None:
        waiting = self._answers.get(request_id)
        if waiting is not None and not waiting.done():
            waiting.set_exception(error)

    def _set_timer(self) -> None:
        deadline = self.engine.next_deadline()
        if self._timer is not None:
            if self._timer.when() == deadline:
                return
            self._timer.cancel()
            self._timer = None
        if deadline is not None:
            self._timer = self._loop.call_at(deadline, self._expire)

    def _expire(self) -> None:
        self._timer = None
        self.engine.expire(self._loop.time())
        self.settle()

    async def _watch_exit(self) -> None:
        returncode = await asyncio.shield(self.process.exited)
        if self._mute_timer is not None:
            self._mute_timer.cancel()  # It would keep this session in memory.
        self.release_output()
        rest = self.engine.feed_eof()
        if rest:
            self._deliver(rest, sum(len(message.raw) for message in rest), has_control=True)
        self.settle()
        engine = self.engine
        unfinished = engine.prompts.busy or engine.results == 0 or returncode != 0
        if (unfinished or self.stopped) and not self.closing and self.exit_error is None:
            stderr = str(self.process.stderr)
            last = engine.last_result
            error = last.text if last is not None and not last.ok else ""
            reason = self.stopped or hint(returncode, stderr, error, results=engine.results)
            self.exit_error = AgentExited(returncode, stderr, reason)
        engine.prompts.on_resume = None
        engine.process_ended(f"the CLI ended with {returncode}")
        at = self._now()
        try:
            self.settle()
            self._notices.append(lambda observer: observer.exited(returncode, at))
            self._notify()
        finally:
            self.readers.close(self.exit_error)

    def _ending(self, action: str) -> FairleadError:
        return self.exit_error or SessionClosed(action)

    def _now(self) -> float:
        return self._loop.time() - self._began
