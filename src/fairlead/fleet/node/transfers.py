"""Exchanges that take several messages: each step is carried out once, however often it is asked for.

The asker numbers the steps of a transfer. A step that is asked for again, because its answer was
lost, gets the same answer; only the last one is kept. A transfer ends when its asker stops asking.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable

from fairlead.fleet.protocol.envelopes import PIECE_BYTES, Answer, encode
from fairlead.server.refusal import Refusal

__all__ = ["Transfer", "Transfers"]

EXPIRES_S = 60.0
"""How long the asker of a transfer may be silent."""

MOST = 256
"""Transfers at the same time."""

MOST_BYTES = 64 * 1024 * 1024
"""Bytes of all stored answers together."""

Step = Callable[[bytes, bool], Awaitable[bytes]]
"""Carries out the next step with the body of a request, which may be the last; returns the answer."""


class Transfer:
    """One exchange."""

    def __init__(self, step: Step, close: Callable[[], None], size: int = 0) -> None:
        self.size = size
        """Bytes that it holds."""
        self.expires = time.monotonic() + EXPIRES_S
        self._step = step
        self._close = close
        self._index = -1
        self._task: asyncio.Task[bytes] | None = None

    async def answer(self, index: int, body: bytes, last: bool) -> bytes:
        """The answer to a step; the step before it cannot be asked for any more."""
        self.expires = time.monotonic() + EXPIRES_S
        if index == self._index + 1 and (self._task is None or self._task.done()):
            self._index = index
            self._task = asyncio.ensure_future(self._step(body, last))
        if index != self._index or self._task is None:
            raise Refusal("stale", "This piece of a transfer was already sent. Begin again.")
        return await asyncio.shield(self._task)

    def close(self) -> None:
        """End it."""
        if self._task is not None:
            self._task.cancel()
        self._close()


class Transfers:
    """All transfers of one node."""

    def __init__(self) -> None:
        self._transfers: dict[str, Transfer] = {}

    def __len__(self) -> int:
        return len(self._transfers)

    def begin(self, name: str, make: Callable[[], Transfer]) -> Transfer:
        """The transfer of this name, which is made if it does not exist."""
        transfer = self._transfers.get(name)
        if transfer is None:
            self.cull()
            if len(self._transfers) >= MOST:
                raise Refusal("too_many", "This machine answers too many requests. Try again.")
            transfer = self._transfers[name] = make()
        return transfer

    async def answer(self, name: str, index: int, body: bytes, last: bool) -> bytes:
        """The answer to a step of a transfer."""
        transfer = self._transfers.get(name)
        if transfer is None:
            raise Refusal("stale", "This transfer has ended. Begin again.")
        return await transfer.answer(index, body, last)

    async def offer(self, content: bytes, answer: Answer) -> bytes:
        """The first piece of an answer; the others can be asked for."""
        if len(content) <= PIECE_BYTES:
            return encode(answer, content)
        held = sum(each.size for each in self._transfers.values())
        if held + len(content) > MOST_BYTES:
            self.cull()
            raise Refusal("too_many", "This machine sends too many documents. Try again.")
        name = uuid.uuid4().hex
        transfer = self.begin(name, lambda: _stored(name, content, answer))
        return await transfer.answer(0, b"", True)

    def cull(self) -> None:
        """End the transfers whose askers are silent."""
        now = time.monotonic()
        for name in [name for name, each in self._transfers.items() if each.expires <= now]:
            self._transfers.pop(name).close()

    def close(self) -> None:
        """End all transfers."""
        for transfer in self._transfers.values():
            transfer.close()
        self._transfers.clear()


def _stored(name: str, content: bytes, answer: Answer) -> Transfer:
    start = 0

    async def step(_: bytes, __: bool) -> bytes:
        nonlocal start
        piece = content[start : start + PIECE_BYTES]
        start += len(piece)
        header = Answer(v=answer.v, transfer=name, more=start < len(content), packed=answer.packed)
        return encode(header, piece)

    return Transfer(step, lambda: None, len(content))
