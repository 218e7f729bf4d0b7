"""Four small ports through which the parts of the emulator reach the outside.

A part gets the ports that it needs in its constructor and does not know their implementations:
`Output` writes lines, `Effects` has work done outside and waits, `Ask` sends requests to the host,
`Turns` begins and ends turns. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from fairlead.emulator.state.effects import Effect
from fairlead.emulator.state.inbox import Prompt
from fairlead.emulator.state.scheduler import Job, Pending

__all__ = ["Ask", "Effects", "HostAnswer", "Message", "OpenRequest", "Output", "Turns"]

T = TypeVar("T")
Message = dict[str, Any]


class HostAnswer(Struct, frozen=True):
    """The host's answer: a body, or the text of an error."""

    body: Mapping[str, Any] | None
    error: str | None = None


class OpenRequest(Struct, frozen=True):
    """An open request."""

    request_id: str
    request: Mapping[str, Any]
    answer: Pending[HostAnswer]


class Output(Protocol):
    """Writes lines to stdout, in the form of the version."""

    def raw(self, message: Message) -> None: ...

    def system(self, subtype: str, **fields: Any) -> None: ...

    def status(self, status: str | None = None, **fields: Any) -> None: ...

    def mode_changed(self) -> None: ...

    def state_changed(self, state: str, *, repeats: bool = False) -> None: ...

    def lifecycle(self, command_uuid: str | None, state: str) -> None: ...

    def init(
        self,
        servers: Sequence[Mapping[str, Any]],
        tools: Sequence[str],
        *,
        uuids: Sequence[str] = (),
        problems: Sequence[Mapping[str, Any]] = (),
    ) -> None: ...

    def assistant(self, message: Mapping[str, Any], **fields: Any) -> Message: ...

    def user(self, content: Any, **fields: Any) -> Message: ...

    def stream_event(
        self, event: Mapping[str, Any], api_message_id: str, **fields: Any
    ) -> None: ...


class Effects(Protocol):
    """Queues effects, and lets coroutines wait for their answers."""

    def do(self, effect: Effect) -> None:
        """Start an effect without waiting for its answer."""

    def tell(self, text: str) -> None:
        """Write a line to stderr."""

    async def perform(self, make: Callable[[int], Effect]) -> Any:
        """Queue an effect and wait for its answer."""

    async def sleep(self, seconds: float) -> None: ...

    async def first_of(self, value: Pending[Any], seconds: float) -> None:
        """Wait for a value, for at most this long."""

    def spawn(self, work: Coroutine[Any, Any, T]) -> Job[T]:
        """Start a coroutine."""

    async def yield_now(self) -> None:
        """Let every other coroutine that is ready take a step."""


class Ask(Protocol):
    """Sends control requests to the host."""

    def ask(self, subtype: str, **fields: Any) -> OpenRequest: ...

    def withdraw(self, open_request: OpenRequest) -> None:
        """Cancel a request and write `control_cancel_request`."""

    def forget(self, open_request: OpenRequest) -> None:
        """Stop waiting for a request without a line."""

    def pending(self, subtype: str) -> list[dict[str, Any]]:
        """The open requests of a subtype, as they were sent."""


class Turns(Protocol):
    """Begins turns, and is notified when one ends."""

    def receive(self, prompt: Prompt) -> None:
        """Begin a turn with a prompt, or queue it."""

    def turn_over(self) -> None: ...

    def maybe_exit(self) -> None:
        """Exit if stdin is at its end and nothing is left to do."""

    def exit(self, code: int) -> None:
        """End the process at once."""

    def clear(self, uuid: str | None) -> None:
        """Begin a new session in the same process (/clear)."""
