"""One prompt and what came of it, and the book of all that are on their way.

A turn is an asynchronous iterator over the messages from the moment its prompt was written to
the result that ended it. It can also just be awaited. Messages and results are not one to one
(TRUTH 1.5): a turn may end together with others, and the session may work on after it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import Any

from fairlead.errors import FairleadError, ProcessError, TurnCancelled
from fairlead.host.prompts import PromptMoved, PromptState
from fairlead.host.readers import Reader
from fairlead.wire.decode import AnyMessage
from fairlead.wire.events import Result
from fairlead.wire.inputs import Prompt

__all__ = ["Turn", "TurnBook"]


class Turn:
    """A prompt on its way; made by `Session.send`."""

    def __init__(self, prompt: Prompt, reader: Reader[AnyMessage]) -> None:
        self.prompt = prompt
        self.state = PromptState.HELD
        self.result: Result | None = None
        """How it ended, once it has."""
        self.cost_usd: float | None = None
        """What it cost, once it has ended."""
        self._reader = reader
        self._over: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        # A turn that nobody waits for may be cancelled without anybody being told twice.
        self._over.add_done_callback(lambda over: over.cancelled() or over.exception())

    @property
    def uuid(self) -> str:
        """The prompt's uuid."""
        return self.prompt.uuid

    @property
    def text(self) -> str:
        """The final answer; empty until there is one."""
        return self.result.text if self.result is not None else ""

    @property
    def ok(self) -> bool:
        """Whether it ended well."""
        return self.result is not None and self.result.ok

    @property
    def structured_output(self) -> Any:
        """The answer in the asked-for schema, if one was asked for and given."""
        return None if self.result is None else self.result.structured_output

    async def wait(self) -> Result:
        """Wait for the result; raises if the turn was cancelled or the process ended."""
        return await asyncio.shield(self._over)

    def __await__(self) -> Generator[Any, None, Result]:
        return self.wait().__await__()

    def __aiter__(self) -> Reader[AnyMessage]:
        return self._reader  # Itself an iterator: a step less for every message.

    async def __anext__(self) -> AnyMessage:
        return await self._reader.__anext__()

    async def batch(self) -> list[AnyMessage]:
        """Several messages at once, waiting for them; empty at the end."""
        return await self._reader.batch()

    def done(self, result: Result, cost_usd: float | None) -> None:
        """The session tells that the result is there."""
        self.state = PromptState.DONE
        self.result = result
        self.cost_usd = cost_usd
        self._reader.close()
        if not self._over.done():
            self._over.set_result(result)

    def failed(self, error: FairleadError) -> None:
        """The session tells that there will be no result."""
        self.state = PromptState.CANCELLED
        self._reader.close(error if isinstance(error, ProcessError) else None)
        if not self._over.done():
            self._over.set_exception(error)


class TurnBook:
    """The turns of one session that have not ended, and what each of them gets to read."""

    def __init__(self) -> None:
        self._turns: dict[str, Turn] = {}
        self._reading: list[Turn] = []

    def add(self, turn: Turn) -> None:
        """Follow a new turn."""
        self._turns[turn.uuid] = turn

    def drop(self, turn: Turn) -> None:
        """Follow a turn no longer."""
        if self._turns.get(turn.uuid) is turn:
            del self._turns[turn.uuid]
        if turn in self._reading:
            self._reading.remove(turn)

    def deliver(self, messages: list[AnyMessage], size: int, moves: list[PromptMoved]) -> None:
        """Give messages to the turns under way; each reads up to its own result."""
        if not self._reading:
            return
        ended = {move.prompt.uuid: move.result for move in moves if move.result is not None}
        for turn in self._reading:
            turn._reader.push(_until(messages, ended.get(turn.uuid)), size)

    def moved(self, move: PromptMoved, process_error: ProcessError | None) -> None:
        """A prompt changed its state; tell its turn."""
        turn = self._turns.get(move.prompt.uuid)
        if turn is None:
            return
        turn.state = move.state
        if move.state is PromptState.SENT:
            self._reading.append(turn)
        elif move.result is not None:
            self.drop(turn)
            turn.done(move.result, move.cost_usd)
        elif move.state is PromptState.CANCELLED:
            self.drop(turn)
            turn.failed(process_error or TurnCancelled(turn.uuid, move.reason))


def _until(messages: list[AnyMessage], result: Result | None) -> list[AnyMessage]:
    """The messages up to a result; what follows it belongs to somebody else."""
    if result is None:
        return messages
    for number, message in enumerate(messages):
        if message is result:
            return messages[: number + 1]
    return messages
