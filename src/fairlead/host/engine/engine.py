"""One CLI's protocol as a state machine, with no I/O, no clock and no randomness.

The caller feeds it bytes, takes messages and control events, takes the lines to write, and asks
for the next deadline. Data and control are separated here, right after decoding: `feed` returns
the messages for readers, while everything about control (requests in both directions, prompts)
becomes a control event that the link acts on at once. Below: `wire`. Above: `process/link`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from msgspec import Struct

from fairlead.errors import UsageError
from fairlead.host.engine.prompts import PromptMoved, PromptQueue
from fairlead.host.engine.verbatim import for_version
from fairlead.wire.control import (
    CliRequest,
    ControlCancelRequest,
    ControlRequest,
    ControlResponse,
    PendingRequest,
    ResponseBody,
)
from fairlead.wire.decode import AnyMessage, decode_lines, decode_object
from fairlead.wire.encode import encode
from fairlead.wire.events import CommandLifecycle, RateLimitEvent, Result, StreamEvent, User
from fairlead.wire.framing import DEFAULT_LINE_LIMIT, LineSplitter
from fairlead.wire.inputs import Answer, AnswerError, Input, Prompt, Request
from fairlead.wire.system import Init
from fairlead.wire.versions import Version

__all__ = ["Answered", "Asked", "ControlEvent", "Engine", "Outgoing", "TimedOut", "Withdrawn"]


class Asked(Struct, frozen=True):
    """The CLI asks the host something; it waits until it is answered."""

    request_id: str
    request: CliRequest


class Withdrawn(Struct, frozen=True):
    """The CLI no longer wants an answer."""

    request_id: str
    request: CliRequest


class Answered(Struct, frozen=True):
    """The CLI answered a request of the host, with a result or with an error."""

    request_id: str
    subtype: str
    body: ResponseBody


class TimedOut(Struct, frozen=True):
    """The CLI did not answer a request of the host in time."""

    request_id: str
    subtype: str
    seconds: float


ControlEvent: TypeAlias = Asked | Withdrawn | Answered | TimedOut | PromptMoved


class Outgoing(Struct, frozen=True):
    """A value to write, with its line: it is encoded once, for the pipe and all observers."""

    message: Input
    line: bytes


class _Waiting(Struct, frozen=True):
    subtype: str
    seconds: float
    deadline: float


class Engine:
    """The host's side of the conversation with one CLI process."""

    def __init__(
        self,
        *,
        id_prefix: str = "host",
        line_limit: int = DEFAULT_LINE_LIMIT,
        prompts: PromptQueue | None = None,
        version: Version | None = None,
        takes_prompts: Callable[[], bool] = lambda: True,
    ) -> None:
        """`prompts` is a queue that outlives the process; without it, held prompts end with it.

        `version` decides how a verbatim prompt is written. Queued prompts are written only
        while `takes_prompts` returns True.
        """
        self._splitter = LineSplitter(line_limit)
        self._id_prefix = id_prefix
        self._ids = 0
        self._to_cli: dict[str, _Waiting] = {}
        self._from_cli: dict[str, CliRequest] = {}
        self._events: list[ControlEvent] = []
        self._output: list[Outgoing] = []
        self._ended = False
        self._owns_prompts = prompts is None
        self._version = version
        self.takes_prompts = takes_prompts
        self.prompts = PromptQueue() if prompts is None else prompts
        self.control_lines = 0
        """How many control lines have come, so that a client need not look for them."""
        self.init: Init | None = None
        """The last init, which contains the session id (it may change: CLI-604)."""
        self.results = 0
        """How many results have come."""
        self.last_result: Result | None = None

    # From the CLI

    def feed(self, data: bytes) -> list[AnyMessage]:
        """Take bytes of stdout; return every message in them, control lines too."""
        return self._take(decode_lines(self._splitter.feed(data)))

    def feed_eof(self) -> list[AnyMessage]:
        """Stdout has ended: return the messages of an unfinished last line."""
        return self._take(decode_lines(self._splitter.finish()))

    def process_ended(self, reason: str) -> None:
        """The process has ended: end everything that waits for it.

        Prompts that are still held in a queue of the caller stay held.
        """
        self._ended = True
        for request_id in list(self._to_cli):
            waiting = self._to_cli.pop(request_id)
            body = ResponseBody(subtype="ended", request_id=request_id, error=reason)
            self._events.append(Answered(request_id, waiting.subtype, body))
        for request_id in list(self._from_cli):
            self._events.append(Withdrawn(request_id, self._from_cli.pop(request_id)))
        self.prompts.process_ended(reason)
        if self._owns_prompts:
            self.prompts.cancel_held(reason)

    @property
    def has_news(self) -> bool:
        """Whether `take_output` or `take_events` would return something."""
        return bool(self._output or self._events or self.prompts.moves)

    def take_events(self) -> list[ControlEvent]:
        """The control events since the last call, in order."""
        events, self._events = self._events, []
        moves, self.prompts.moves = self.prompts.moves, []
        return [*events, *moves]

    # To the CLI

    def take_output(self) -> list[Outgoing]:
        """What to write, in order; each entry is one line and one write."""
        output, self._output = self._output, []
        return output

    def send(self, prompt: Prompt, *, at_once: bool = False) -> None:
        """Queue a prompt; it is written when the CLI is idle, or at once if asked."""
        self._check_open("send a prompt")
        line = self._line_of(prompt)  # If it cannot be encoded, the caller must get the error.
        self.prompts.add(prompt)
        self._write_prompt(prompt.uuid if at_once else None, ready=line)

    def send_now(self, uuid: str) -> bool:
        """Write a held prompt without waiting for the CLI to be idle; False if it is not held."""
        self._check_open("send a prompt")
        return self._write_prompt(uuid)

    def write_next_prompt(self) -> None:
        """Write the next held prompt if the CLI is idle."""
        self._write_prompt()

    def cancel(self, uuid: str, reason: str) -> bool:
        """Cancel a prompt and write the next one; False if it is unknown or has ended."""
        cancelled = self.prompts.cancel(uuid, reason)
        self._write_prompt()
        return cancelled

    def request(self, subtype: str, fields: dict[str, Any], *, now: float, timeout: float) -> str:
        """Ask the CLI something; the answer is an `Answered` or a `TimedOut` with this id."""
        self._check_open(f"request {subtype!r}")
        self._ids += 1
        request_id = f"{self._id_prefix}-{self._ids}"
        message = Request(request_id=request_id, subtype=subtype, fields=fields)
        line = encode(message)
        self._to_cli[request_id] = _Waiting(subtype, timeout, now + timeout)
        self._output.append(Outgoing(message, line))
        return request_id

    def answer(self, request_id: str, response: dict[str, Any]) -> bool:
        """Answer a request of the CLI; False if it was answered or withdrawn before."""
        return self._reply(request_id, Answer(request_id=request_id, response=response))

    def answer_error(self, request_id: str, error: str) -> bool:
        """Fail a request of the CLI; False if it was answered or withdrawn before."""
        return self._reply(request_id, AnswerError(request_id=request_id, error=error))

    # Time

    def next_deadline(self) -> float | None:
        """When `expire` is due, if ever."""
        if not self._to_cli:
            return None
        return min(waiting.deadline for waiting in self._to_cli.values())

    def expire(self, now: float) -> None:
        """Time out the requests whose deadline has passed."""
        for request_id, waiting in list(self._to_cli.items()):
            if waiting.deadline <= now:
                del self._to_cli[request_id]
                self._events.append(TimedOut(request_id, waiting.subtype, waiting.seconds))

    # Views

    @property
    def pending_from_cli(self) -> dict[str, CliRequest]:
        """The CLI's requests that wait for the host, oldest first."""
        return dict(self._from_cli)

    @property
    def pending_to_cli(self) -> tuple[str, ...]:
        """The ids of the host's requests that wait for the CLI."""
        return tuple(self._to_cli)

    def _take(self, messages: list[AnyMessage]) -> list[AnyMessage]:
        for message in messages:
            kind = type(message)
            if kind is not StreamEvent:
                handler = _HANDLERS.get(kind)
                if handler is not None:
                    handler(self, message)
        return messages

    def _check_open(self, action: str) -> None:
        if self._ended:
            raise UsageError(f"cannot {action}: the CLI process has ended")

    def _reply(self, request_id: str, message: Answer | AnswerError) -> bool:
        # The first of two answers wins; the CLI would ignore the second anyway (CLI-210).
        line = encode(message)
        if self._ended or self._from_cli.pop(request_id, None) is None:
            return False
        self._output.append(Outgoing(message, line))
        return True

    def _line_of(self, prompt: Prompt) -> Outgoing:
        written = for_version(prompt, self._version)
        return Outgoing(written, encode(written))

    @staticmethod
    def _is_line_of(ready: Outgoing, prompt: Prompt) -> bool:
        return isinstance(ready.message, Prompt) and ready.message.uuid == prompt.uuid

    def _write_prompt(self, uuid: str | None = None, ready: Outgoing | None = None) -> bool:
        """Write the next prompt, or the one named; `ready` is a prompt that is encoded already."""
        if uuid is None and not self.prompts.has_next:
            return False
        if self._ended or not self.takes_prompts():
            return False
        prompt = self.prompts.take(uuid)
        if prompt is None:
            return False
        if ready is None or not self._is_line_of(ready, prompt):
            ready = self._line_of(prompt)
        self._output.append(ready)
        return True

    def _on_request(self, message: ControlRequest) -> None:
        self.control_lines += 1
        if message.request_id in self._from_cli:
            return  # Repeated in the answer to a second `initialize`.
        self._from_cli[message.request_id] = message.request
        self._events.append(Asked(message.request_id, message.request))

    def _on_cancel(self, message: ControlCancelRequest) -> None:
        self.control_lines += 1
        request = self._from_cli.pop(message.request_id, None)
        if request is not None:
            self._events.append(Withdrawn(message.request_id, request))

    def _on_response(self, message: ControlResponse) -> None:
        self.control_lines += 1
        body = message.response
        for lost in (
            *(body.pending_permission_requests or ()),
            *(body.pending_user_dialog_requests or ()),
            *(body.pending_elicitation_requests or ()),
        ):
            self._recover(lost)
        # 2.1.38 answers set_permission_mode twice: only the first finds an open request.
        waiting = self._to_cli.pop(body.request_id or "", None)
        if waiting is not None:
            self._events.append(Answered(body.request_id or "", waiting.subtype, body))

    def _recover(self, lost: PendingRequest) -> None:
        line = {"type": "control_request", "request_id": lost.request_id, "request": lost.request}
        request = decode_object(line)
        if isinstance(request, ControlRequest):
            self._on_request(request)

    def _on_init(self, message: Init) -> None:
        self.init = message
        self.prompts.turn_began()
        for uuid in message.user_message_uuids or ():
            self.prompts.started(uuid)

    def _on_user(self, message: User) -> None:
        if message.is_replay and message.uuid:
            self.prompts.echoed(message.uuid)
            self._write_prompt()

    def _on_lifecycle(self, message: CommandLifecycle) -> None:
        self.prompts.lifecycle(message.command_uuid, message.state)
        self._write_prompt()

    def _on_limit(self, message: RateLimitEvent) -> None:
        info = message.rate_limit_info
        if info is not None:
            self.prompts.limit_reported(stops=info.status == "rejected")

    def _on_result(self, message: Result) -> None:
        self.results += 1
        self.last_result = message
        self.prompts.ended(message)
        self._write_prompt()


_HANDLERS: dict[type, Callable[[Engine, Any], None]] = {
    ControlRequest: Engine._on_request,
    ControlResponse: Engine._on_response,
    ControlCancelRequest: Engine._on_cancel,
    Init: Engine._on_init,
    User: Engine._on_user,
    CommandLifecycle: Engine._on_lifecycle,
    RateLimitEvent: Engine._on_limit,
    Result: Engine._on_result,
}
