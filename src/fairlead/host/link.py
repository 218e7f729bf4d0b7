"""One engine joined to one process: bytes in, bytes out, and everybody told.

All pumping happens in callbacks of the event loop that never wait, so control never queues
behind data: an answer or an interrupt is written while any number of messages lie unread.
Handlers of the caller run in tasks of their own. Below: `engine`, `process`. Above: `client`.
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
    ProcessError,
    SessionClosed,
    UsageError,
)
from fairlead.host.engine import Answered, Asked, Engine, Happening, TimedOut, Withdrawn
from fairlead.host.exits import hint
from fairlead.host.process import Graces, Process
from fairlead.host.prompts import PromptMoved
from fairlead.host.readers import Reader
from fairlead.host.reception import Unanswerable
from fairlead.host.tap import Tap
from fairlead.host.turn import TurnBook
from fairlead.wire.control import (
    CliRequest,
    ControlCancelRequest,
    ControlRequest,
    ControlResponse,
)
from fairlead.wire.decode import AnyMessage
from fairlead.wire.encode import encode
from fairlead.wire.inputs import Input

__all__ = ["Link", "Observer"]

_CONTROL = frozenset({ControlRequest, ControlResponse, ControlCancelRequest})

log = logging.getLogger("fairlead")

AT_ONCE = Graces(after_eof=0.0, after_term=0.5, after_kill=5.0)

TELL_TIMEOUT_S = 60.0
"""How long a request stays on the books whose answer nobody waits for."""

Answerer = Callable[[str, CliRequest], Coroutine[Any, Any, dict[str, Any]]]


class Observer(Protocol):
    """Somebody who sees everything a session does, in order. Must not wait, must not raise."""

    def received(self, messages: list[AnyMessage], at: float) -> None:
        """The CLI wrote these, control lines included."""

    def sent(self, message: Input, line: bytes, at: float) -> None:
        """The host wrote this."""

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
        tap: Tap | None = None,
    ) -> None:
        self.engine = engine
        self.turns = TurnBook()
        self.observers: list[Observer] = []
        self.readers: list[Reader[AnyMessage]] = []
        self.exit_error: ProcessError | None = None
        """Why the process ended, if it should not have."""
        self.closing = False
        self._answerer = answerer
        self._tap = tap or Tap()
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._answers: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._attending: dict[str, asyncio.Task[None]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._exit_watch: asyncio.Task[None] | None = None
        self._told_stderr = on_stderr
        self.process = Process(on_stdout=self._on_stdout, on_stderr=self._on_stderr)

    @property
    def ended(self) -> bool:
        """Whether the process is gone and everybody was told."""
        return self._exit_watch is not None and self._exit_watch.done()

    async def start(
        self, command: tuple[str, ...], *, cwd: str, env: Mapping[str, str], mark: str
    ) -> None:
        """Start the process."""
        await self.process.start(command, cwd=cwd, env=env, mark=mark)
        self._exit_watch = asyncio.create_task(self._watch_exit())

    async def close(self, graces: Graces) -> None:
        """End the process and wait until everybody is told."""
        if not self.closing and not self.ended and self.engine.prompts.busy:
            # A CLI runs a turn to its end before it minds the end of its input.
            self.tell("interrupt", {}, timeout=graces.after_eof)
        self.closing = True
        if self._exit_watch is not None:
            await self.process.close(graces)
            await self._exit_watch

    async def ask(self, subtype: str, fields: dict[str, Any], timeout: float) -> dict[str, Any]:
        """Send a control request and wait for its answer."""
        now = self._loop.time()
        request_id = self.engine.request(subtype, fields, now=now, timeout=timeout)
        answer: asyncio.Future[dict[str, Any]] = self._loop.create_future()
        self._answers[request_id] = answer
        self.settle()
        try:
            return await answer
        finally:
            self._answers.pop(request_id, None)

    def tell(self, subtype: str, fields: dict[str, Any], timeout: float = TELL_TIMEOUT_S) -> None:
        """Send a control request whose answer nobody waits for."""
        self.engine.request(subtype, fields, now=self._loop.time(), timeout=timeout)
        self.settle()

    def settle(self) -> None:
        """Write all that is to be written, and act on all that has happened."""
        engine = self.engine
        while True:
            output = engine.take_output()
            happenings = engine.take_happenings()
            if not happenings and not output:
                break
            for message in output:
                self._write(message)
            for happening in happenings:
                self._act_on(happening)
        self._set_timer()
        if self._tap.closed:
            self.turn_tap()

    def turn_tap(self) -> None:
        """Read the CLI's output or leave it in its pipe, as the tap says."""
        if self._tap.flows(answer_awaited=bool(self.engine.pending_to_cli)):
            self.process.resume_reading()
        else:
            self.process.pause_reading()

    def check_open(self, action: str) -> None:
        """Raise unless something can still be sent."""
        if self.closing or self.ended or self.process.exited.done():
            raise self._ending(action)

    def _on_stdout(self, chunk: bytes) -> None:
        engine = self.engine
        self._tap.took(len(chunk))
        before = engine.control_lines
        try:
            messages = engine.feed(chunk)
            if messages:
                self._deliver(messages, len(chunk), has_control=engine.control_lines != before)
            self.settle()
        except Exception as bug:  # noqa: BLE001 - a bug of ours, told below
            self._break(bug)

    def _break(self, bug: Exception) -> None:
        """A bug of ours, or of an observer: everybody is told, for a half-read line is a lie.

        Left alone, asyncio would write it to its log, and every reader would wait for ever.
        """
        log.exception("the session cannot go on")
        if self.exit_error is None:
            self.exit_error = ProcessError(f"Fairlead itself failed: {type(bug).__name__}: {bug}")
            self._ending_task = self._loop.create_task(self.process.close(AT_ONCE))

    def _on_stderr(self, chunk: bytes) -> None:
        if self._told_stderr is not None:
            self._told_stderr(chunk.decode(errors="replace"))

    def _deliver(self, messages: list[AnyMessage], size: int, *, has_control: bool) -> None:
        at = self._now()
        for observer in self.observers:
            observer.received(messages, at)
        data = [m for m in messages if type(m) not in _CONTROL] if has_control else messages
        for reader in list(self.readers):
            reader.push(data, size)
        self.turns.deliver(data, size, self.engine.prompts.moves)

    def _write(self, message: Input) -> None:
        line = encode(message)
        self.process.write(line)
        for observer in self.observers:
            observer.sent(message, line, self._now())

    def _act_on(self, happening: Happening) -> None:
        if isinstance(happening, PromptMoved):
            for observer in self.observers:
                observer.prompt_moved(happening, self._now())
            self.turns.moved(happening, self.exit_error)
        elif isinstance(happening, Asked):
            self._attend(happening.request_id, happening.request)
        elif isinstance(happening, Withdrawn):
            attending = self._attending.get(happening.request_id)
            if attending is not None:
                attending.cancel()
        elif isinstance(happening, Answered):
            self._answered(happening)
        else:
            self._timed_out(happening)

    def _attend(self, request_id: str, request: CliRequest) -> None:
        task = asyncio.create_task(self._answer(request_id, request))
        self._attending[request_id] = task
        task.add_done_callback(lambda _: self._attending.pop(request_id, None))

    async def _answer(self, request_id: str, request: CliRequest) -> None:
        try:
            response = await self._answerer(request_id, request)
            self.engine.answer(request_id, response)
        except (Unanswerable, UsageError) as problem:
            self.engine.answer_error(request_id, str(problem))
        self.settle()

    def _answered(self, happening: Answered) -> None:
        body = happening.body
        if body.subtype == "success":
            waiting = self._answers.get(happening.request_id)
            if waiting is not None and not waiting.done():
                waiting.set_result(body.response if isinstance(body.response, dict) else {})
        elif body.subtype == "ended":
            self._fail(happening.request_id, self._ending(f"request {happening.subtype!r}"))
        else:
            said = body.error or "no reason given"
            self._fail(happening.request_id, ControlError(happening.subtype, said, body.error_code))

    def _timed_out(self, happening: TimedOut) -> None:
        self._fail(happening.request_id, ControlTimeout(happening.subtype, happening.seconds))

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
        rest = self.engine.feed_eof()
        if rest:
            self._deliver(rest, sum(len(m.raw) for m in rest), has_control=True)
        self.settle()
        engine = self.engine
        unfinished = engine.prompts.busy or engine.results == 0 or returncode != 0
        if unfinished and not self.closing and self.exit_error is None:
            stderr = str(self.process.stderr)
            last = engine.last_result
            said = last.text if last is not None and not last.ok else ""
            why = hint(returncode, stderr, said, results=engine.results)
            self.exit_error = AgentExited(returncode, stderr, why)
        engine.process_ended(f"the CLI ended with {returncode}")
        self.settle()
        for observer in self.observers:
            observer.exited(returncode, self._now())
        for reader in list(self.readers):
            reader.close(self.exit_error)

    def _ending(self, action: str) -> FairleadError:
        return self.exit_error or SessionClosed(action)

    def _now(self) -> float:
        return self._loop.time() - self._began
