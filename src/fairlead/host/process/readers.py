"""Independent readers of one stream of messages, each at its own pace.

The session pushes whole batches (one per chunk of stdout) to every reader; no reader waits for
another. A reader that does not read costs only memory, up to its limit in bytes; then it alone
is ended with `ReaderOverrun`. Iterating does not touch the event loop while messages wait.

A session refers to its readers weakly (`Readers`): one that the program has dropped, for
example by breaking out of `async for message in session.messages()`, no longer collects anything.
"""

from __future__ import annotations

import asyncio
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Generic, Self, TypeVar

from fairlead.errors import ReaderOverrun

__all__ = ["Reader", "Readers"]

T = TypeVar("T")


class Reader(Generic[T]):
    """An asynchronous iterator over messages, from when it was made until it is closed.

    Use it with `async for`, or `async with` to close it at the end of a block.
    """

    def __init__(self, limit: int, on_close: Callable[[Reader[Any]], None] | None = None) -> None:
        self._limit = limit
        self._on_close = on_close
        self._batches: deque[tuple[list[T], int]] = deque()
        self._current: Iterator[T] = iter(())
        self._unread = 0
        self._closed = False
        self._error: BaseException | None = None
        self._woken: asyncio.Future[None] | None = None

    def _push(self, batch: list[T], size: int) -> None:
        """Give the reader a batch of `size` bytes; it must not be changed afterwards."""
        if self._closed:
            return
        self._unread += size
        if self._unread > self._limit:
            self._batches.clear()
            self._current = iter(())
            self.close(ReaderOverrun(self._unread, self._limit))
            return
        self._batches.append((batch, size))
        self._wake()

    def close(self, error: BaseException | None = None) -> None:
        """No more will come: the reader ends after what it has, or raises `error` there."""
        if self._closed:
            return
        self._closed = True
        self._error = error
        if self._on_close is not None:
            self._on_close(self)
        self._wake()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        for message in self._current:
            return message
        while batch := await self._next_batch():
            self._current = iter(batch)
            for message in self._current:
                return message
        raise StopAsyncIteration

    async def batch(self) -> list[T]:
        """All messages of the next chunk at once, waiting for it; empty at the end."""
        rest = list(self._current)
        return rest or await self._next_batch()

    async def _next_batch(self) -> list[T]:
        while True:
            while self._batches:
                batch, size = self._batches.popleft()
                self._unread -= size
                if batch:
                    return batch
            if self._closed:
                if self._error is not None:
                    error, self._error = self._error, None
                    raise error
                return []
            self._woken = asyncio.get_running_loop().create_future()
            try:
                await self._woken
            finally:
                self._woken = None

    async def aclose(self) -> None:
        """Stop reading."""
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self.close()

    def _wake(self) -> None:
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)


class Readers(Generic[T]):
    """The readers of one stream that the program still refers to."""

    def __init__(self) -> None:
        self._readers: list[weakref.ref[Reader[T]]] = []

    def __len__(self) -> int:
        return len(self._readers)

    def open(self, limit: int) -> Reader[T]:
        """A new reader of all that is pushed from now on."""
        reader: Reader[T] = Reader(limit, on_close=self._remove)
        self._readers.append(weakref.ref(reader, self._forget))
        return reader

    def push(self, batch: list[T], size: int) -> None:
        """Give every reader a batch of `size` bytes; it must not be changed afterwards."""
        for reference in list(self._readers):
            reader = reference()
            if reader is not None:
                reader._push(batch, size)

    def close(self, error: BaseException | None = None) -> None:
        """End every reader after what it has, or with `error` there."""
        for reference in list(self._readers):
            reader = reference()
            if reader is not None:
                reader.close(error)

    def _forget(self, reference: weakref.ref[Reader[T]]) -> None:
        self._readers = [known for known in self._readers if known is not reference]

    def _remove(self, reader: Reader[T]) -> None:
        self._readers = [known for known in self._readers if known() is not reader]
