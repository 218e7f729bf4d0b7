"""One CLI's protocol as a state machine, with no I/O, no clock and no randomness.

Four verbs: feed it bytes, take the messages and the happenings, take what is to be written,
ask for the next deadline. Two planes are split here, right after decoding: `feed` returns the
messages for readers, while everything about control (requests both ways, prompts) becomes a
happening that the client acts on at once. Below: `wire`. Above: `client`, which only pumps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from msgspec import Struct

from fairlead.errors import UsageError
from fairlead.host.prompts import PromptMoved, PromptQueue
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
from fairlead.wire.events import CommandLifecycle, Result, StreamEvent, User
from fairlead.wire.framing import DEFAULT_LINE_LIMIT, LineSplitter
from fairlead.wire.inputs import Answer, AnswerError, Input, Prompt, Request
from fairlead.wire.system import Init

__all__ = ["Answered", "Asked", "Engine", "Happening", "TimedOut", "Withdrawn"]


class Asked(Struct, frozen=True):
    """The CLI asks the host something; it waits until it is answered."""

    request_id: str
    request: CliRequest


class Withdrawn(Struct, frozen=True):
    """The CLI no longer wants an answer."""

    request_id: str
    request: CliRequest


class Answered(Struct, frozen=True):
    """The CLI answered a request of the host, well or with an error."""

    request_id: str
    subtype: str
    body: ResponseBody


class TimedOut(Struct, frozen=True):
    """The CLI did not answer a request of the host in time."""

    request_id: str
    subtype: str
    seconds: float


Happening: TypeAlias = Asked | Withdrawn | Answered | TimedOut | PromptMoved


class _Waiting(Struct, frozen=True):
    subtype: str
    seconds: float
    deadline: float


class Engine:
    """The host's side of the conversation with one CLI process."""

    def __init__(self, *, id_prefix: str = "host", line_limit: int = DEFAULT_LINE_LIMIT) -> None:
        self._splitter = LineSplitter(line_limit)
        self._id_prefix = id_prefix
        self._ids = 0
        self._to_cli: dict[str, _Waiting] = {}
        self._from_cli: dict[str, CliRequest] = {}
        self._happenings: list[Happening] = []
        self._output: list[Input] = []
        self._ended = False
        self.prompts = PromptQueue()
        self.control_lines = 0
        """How many control lines have come, so that a client need not look for them."""
        self.init: Init | None = None
        """The last init, which tells the session id (it may change: TRUTH 4.30)."""
        self.results = 0
        """How many results have come."""
        self.last_result: Result | None = None

    # What comes from the CLI

    def feed(self, data: bytes) -> list[AnyMessage]:
        """Take bytes of stdout; return every message in them, control lines too."""
        return self._take(decode_lines(self._splitter.feed(data)))

    def feed_eof(self) -> list[AnyMessage]:
        """Stdout has ended: return what stood there without a line end."""
        return self._take(decode_lines(self._splitter.finish()))

    def process_ended(self, reason: str) -> None:
        """The process is gone: everything that waits ends now, each in its own way."""
        self._ended = True
        for request_id in list(self._to_cli):
            waiting = self._to_cli.pop(request_id)
            body = ResponseBody(subtype="ended", request_id=request_id, error=reason)
            self._happenings.append(Answered(request_id, waiting.subtype, body))
        for request_id in list(self._from_cli):
            self._happenings.append(Withdrawn(request_id, self._from_cli.pop(request_id)))
        self.prompts.cancel_all(reason)

    def take_happenings(self) -> list[Happening]:
        """What has happened since the last call, in order."""
        happenings, self._happenings = self._happenings, []
        moves, self.prompts.moves = self.prompts.moves, []
        return [*happenings, *moves]

    # What goes to the CLI

    def take_output(self) -> list[Input]:
        """The values to write, in order; each is one line and one write."""
        output, self._output = self._output, []
        return output

    def send(self, prompt: Prompt, *, at_once: bool = False) -> None:
        """Queue a prompt; it is written when the CLI is idle, or at once if asked."""
        self._check_open("send a prompt")
        encode(prompt)  # What cannot be written must fail here, in the caller's hands.
        self.prompts.add(prompt)
        self._write_prompts(prompt.uuid if at_once else None)

    def send_now(self, uuid: str) -> bool:
        """Write a held prompt without waiting for the CLI to be idle."""
        self._check_open("send a prompt")
        before = len(self._output)
        self._write_prompts(uuid)
        return len(self._output) > before

    def cancel(self, uuid: str, reason: str) -> bool:
        """Give a prompt up and go on with the next; False if it is unknown or over."""
        cancelled = self.prompts.cancel(uuid, reason)
        self._write_prompts()
        return cancelled

    def request(self, subtype: str, fields: dict[str, Any], *, now: float, timeout: float) -> str:
        """Ask the CLI something; the answer is an `Answered` or a `TimedOut` with this id."""
        self._check_open(f"request {subtype!r}")
        self._ids += 1
        request_id = f"{self._id_prefix}-{self._ids}"
        message = Request(request_id=request_id, subtype=subtype, fields=fields)
        encode(message)
        self._to_cli[request_id] = _Waiting(subtype, timeout, now + timeout)
        self._output.append(message)
        return request_id

    def answer(self, request_id: str, response: dict[str, Any]) -> bool:
        """Answer a request of the CLI; False if it was answered or withdrawn before."""
        message = Answer(request_id=request_id, response=response)
        encode(message)
        return self._reply(request_id, message)

    def answer_error(self, request_id: str, error: str) -> bool:
        """Fail a request of the CLI; False if it was answered or withdrawn before."""
        return self._reply(request_id, AnswerError(request_id=request_id, error=error))

    # Time

    def next_deadline(self) -> float | None:
        """When `expire` is due, if ever."""
        return min((waiting.deadline for waiting in self._to_cli.values()), default=None)

    def expire(self, now: float) -> None:
        """Give up the requests whose time is over."""
        for request_id, waiting in list(self._to_cli.items()):
            if waiting.deadline <= now:
                del self._to_cli[request_id]
                self._happenings.append(TimedOut(request_id, waiting.subtype, waiting.seconds))

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
        # The first of two answers wins; the CLI would ignore the second anyway (TRUTH 1.2).
        if self._ended or self._from_cli.pop(request_id, None) is None:
            return False
        self._output.append(message)
        return True

    def _write_prompts(self, uuid: str | None = None) -> None:
        prompt = self.prompts.take(uuid)
        if prompt is not None:
            self._output.append(prompt)

    def _on_request(self, message: ControlRequest) -> None:
        self.control_lines += 1
        if message.request_id in self._from_cli:
            return  # Told again by a second `initialize`.
        self._from_cli[message.request_id] = message.request
        self._happenings.append(Asked(message.request_id, message.request))

    def _on_cancel(self, message: ControlCancelRequest) -> None:
        self.control_lines += 1
        request = self._from_cli.pop(message.request_id, None)
        if request is not None:
            self._happenings.append(Withdrawn(message.request_id, request))

    def _on_response(self, message: ControlResponse) -> None:
        self.control_lines += 1
        body = message.response
        for lost in (
            *(body.pending_permission_requests or ()),
            *(body.pending_user_dialog_requests or ()),
            *(body.pending_elicitation_requests or ()),
        ):
            self._recover(lost)
        # 2.1.38 answers set_permission_mode twice: only the first finds somebody waiting.
        waiting = self._to_cli.pop(body.request_id or "", None)
        if waiting is not None:
            self._happenings.append(Answered(body.request_id or "", waiting.subtype, body))

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
            self._write_prompts()

    def _on_lifecycle(self, message: CommandLifecycle) -> None:
        self.prompts.told(message.command_uuid, message.state)
        self._write_prompts()

    def _on_result(self, message: Result) -> None:
        self.results += 1
        self.last_result = message
        self.prompts.ended(message)
        self._write_prompts()


_HANDLERS: dict[type, Callable[[Engine, Any], None]] = {
    ControlRequest: Engine._on_request,
    ControlResponse: Engine._on_response,
    ControlCancelRequest: Engine._on_cancel,
    Init: Engine._on_init,
    User: Engine._on_user,
    CommandLifecycle: Engine._on_lifecycle,
    Result: Engine._on_result,
}
