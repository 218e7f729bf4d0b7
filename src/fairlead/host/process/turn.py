"""One prompt and what came of it, and the book of all that are on their way.

A turn is an asynchronous iterator over the messages from the moment its prompt was written to
the result that ended it. It can also just be awaited. Messages and results are not one to one
(CLI-518): a turn may end together with others, and the session may work on after it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Generator
from typing import Any

from fairlead.errors import FairleadError, ProcessError, TurnCancelled, TurnFailed
from fairlead.host.engine.prompts import PromptMoved, PromptState
from fairlead.host.engine.text_pieces import TextPieces
from fairlead.host.process.readers import Reader
from fairlead.wire.decode import AnyMessage
from fairlead.wire.events import Assistant, Result, StreamEvent
from fairlead.wire.inputs import Prompt
from fairlead.wire.stream import ContentBlockDelta, TextDelta

__all__ = ["OpenTurns", "Turn"]


NO_OUTPUT = "the model gave no structured output, though the options ask for it (json_schema)"


class Turn:
    """One prompt and its result, returned by `Session.send`.

    Iterate over it for its messages, iterate over `text_stream()` for the text, or await it for
    the result.
    """

    def __init__(
        self, prompt: Prompt, reader: Reader[AnyMessage], *, wants_output: bool = False
    ) -> None:
        self.prompt = prompt
        self.state = PromptState.HELD
        self.result: Result | None = None
        """How it ended, once it has."""
        self.cost_usd: float | None = None
        """What it cost, once it has ended."""
        self._reader = reader
        self._wants_output = wants_output
        self._texts: list[str] = []
        self._unfinished: list[str] = []
        self._over: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        # If no task waits for this turn, asyncio must not log its exception.
        self._over.add_done_callback(lambda over: over.cancelled() or over.exception())

    @property
    def uuid(self) -> str:
        """The prompt's uuid."""
        return self.prompt.uuid

    @property
    def text(self) -> str:
        """The final answer; empty until the turn is over.

        Of a turn that was interrupted or cut short it is the text of the model until then.
        What went wrong is in `errors`.
        """
        if self.result is None:
            return ""
        if self.result.result is not None:
            return self.result.result
        return "\n\n".join([*self._texts, "".join(self._unfinished)]).strip()

    @property
    def ok(self) -> bool:
        """Whether it ended well, with the structured output if that was asked for."""
        return self.result is not None and self.result.ok and not self._lacks_output

    @property
    def errors(self) -> tuple[str, ...]:
        """What went wrong, in the words of the CLI; empty if nothing did."""
        if self.result is None:
            return ()
        if self._lacks_output:
            return (NO_OUTPUT,)
        if self.result.ok:
            return ()
        if self.result.errors or not self.result.result:
            return self.result.errors
        return (self.result.result,)

    def raise_for_error(self) -> None:
        """Raise `TurnFailed` if the turn is over and is not `ok`."""
        if self.result is not None and not self.ok:
            raise TurnFailed(self.result.subtype, self.errors, self.text)

    @property
    def _lacks_output(self) -> bool:
        result = self.result
        return (
            self._wants_output
            and result is not None
            and result.ok
            and result.structured_output is None
            and result.local_command is None
        )

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

    async def text_stream(self) -> AsyncIterator[str]:
        """The text of the model as it arrives, without that of subagents.

            async for piece in turn.text_stream():
                print(piece, end="", flush=True)

        Pieces are parts of words with `partial_messages` (the default), else whole texts.
        Between two texts of one turn, as before and after a tool, there is an empty line.
        """
        shown = TextPieces()
        async for message in self._reader:
            for piece in shown.of(message):
                yield piece

    def _heard(self, messages: list[AnyMessage]) -> None:
        """Note what the model says; the reader may be far behind, or not read at all."""
        for message in messages:
            if type(message) is StreamEvent:
                # What `delta_of` does, without a call for every message.
                event = message.event
                if (
                    type(event) is ContentBlockDelta
                    and type(event.delta) is TextDelta
                    and message.parent_tool_use_id is None
                ):
                    self._unfinished.append(event.delta.text)
            elif type(message) is Assistant and message.parent_tool_use_id is None:
                text = message.text
                if text:
                    self._texts.append(text)
                    self._unfinished.clear()

    def _done(self, result: Result, cost_usd: float | None) -> None:
        """The result has arrived."""
        self.state = PromptState.DONE
        self.result = result
        self.cost_usd = cost_usd
        self._reader.close()
        if not self._over.done():
            self._over.set_result(result)

    def _failed(self, error: FairleadError) -> None:
        """There will be no result."""
        self.state = PromptState.CANCELLED
        self._reader.close(error)
        if not self._over.done():
            self._over.set_exception(error)


class OpenTurns:
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
            own = _until(messages, ended.get(turn.uuid))
            turn._heard(own)
            turn._reader._push(own, size)

    def moved(self, move: PromptMoved, process_error: ProcessError | None) -> None:
        """A prompt changed its state; update its turn."""
        turn = self._turns.get(move.prompt.uuid)
        if turn is None:
            return
        turn.state = move.state
        if move.state is PromptState.SENT:
            self._reading.append(turn)
        elif move.result is not None:
            self.drop(turn)
            turn._done(move.result, move.cost_usd)
        elif move.state is PromptState.CANCELLED:
            self.drop(turn)
            turn._failed(process_error or TurnCancelled(turn.uuid, move.reason))


def _until(messages: list[AnyMessage], result: Result | None) -> list[AnyMessage]:
    """The messages up to a result; what follows belongs to other turns."""
    if result is None:
        return messages
    for number, message in enumerate(messages):
        if message is result:
            return messages[: number + 1]
    return messages
