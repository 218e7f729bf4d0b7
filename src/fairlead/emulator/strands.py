"""Coroutines without an event loop: what lets the engine wait without doing any I/O.

A `Strand` is a coroutine that the `Loom` runs until it waits for a `Pending` value; it goes on in
the next round after somebody settled that value. Nothing here knows the clock, a file or asyncio:
the order of all steps follows from the order of the calls alone, so a run can be repeated.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Coroutine, Generator
from typing import Any, Generic, TypeVar

__all__ = ["Interrupted", "Loom", "Pending", "Strand"]

T = TypeVar("T")


class Interrupted(Exception):
    """Raised inside a strand that somebody stopped."""


class Pending(Generic[T]):
    """A value that is not there yet; any number of strands may wait for it."""

    def __init__(self) -> None:
        self.is_settled = False
        self._value: T | None = None
        self._problem: BaseException | None = None
        self._waiters: list[Strand[Any]] = []

    def settle(self, value: T) -> None:
        """Give the value; a second one is ignored."""
        if not self.is_settled:
            self.is_settled, self._value = True, value
            self._wake()

    def fail(self, problem: BaseException) -> None:
        """Raise a problem in whoever waits."""
        if not self.is_settled:
            self.is_settled, self._problem = True, problem
            self._wake()

    def _wake(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            waiter.go_on()

    def join(self, strand: Strand[Any]) -> None:
        """Wake this strand when the value is there."""
        self._waiters.append(strand)

    def leave(self, strand: Strand[Any]) -> None:
        """This strand waits no longer."""
        if strand in self._waiters:
            self._waiters.remove(strand)

    def __await__(self) -> Generator[Pending[T], None, T]:
        if not self.is_settled:
            yield self
        if self._problem is not None:
            raise self._problem
        return self._value  # type: ignore[return-value]


class Strand(Generic[T]):
    """A running coroutine; await `done` for what it returns."""

    def __init__(self, loom: Loom, work: Coroutine[Any, Any, T]) -> None:
        self._loom = loom
        self._work = work
        self._waits_for: Pending[Any] | None = None
        self._is_ready = False
        self._is_stopping = False
        self._has_begun = False
        self.done: Pending[T] = Pending()
        self.go_on()

    def go_on(self) -> None:
        if not self._is_ready:
            self._is_ready = True
            self._loom.enqueue(self)

    def stop(self) -> None:
        """Raise `Interrupted` where the strand waits."""
        if self.done.is_settled or self._is_stopping:
            return
        self._is_stopping = True
        if self._waits_for is not None:
            self._waits_for.leave(self)
        self.go_on()

    def step(self) -> None:
        """Run until the next wait."""
        self._is_ready, self._waits_for = False, None
        try:
            if self._is_stopping and self._has_begun:
                waits_for = self._work.throw(Interrupted())
            else:
                waits_for = self._work.send(None)
                if self._is_stopping:
                    # It was stopped before it began: its own handlers tell the end.
                    waits_for = self._work.throw(Interrupted())
            self._has_begun, self._is_stopping = True, False
        except StopIteration as end:
            self.done.settle(end.value)
        except Interrupted as stopped:
            self.done.fail(stopped)
        else:
            self._waits_for = waits_for
            waits_for.join(self)


class Loom:
    """Runs strands in turn, first come, first served."""

    def __init__(self) -> None:
        self._ready: deque[Strand[Any]] = deque()

    def spawn(self, work: Coroutine[Any, Any, T]) -> Strand[T]:
        """Start a coroutine; its first step comes with the next `run`."""
        return Strand(self, work)

    def enqueue(self, strand: Strand[Any]) -> None:
        self._ready.append(strand)

    def run(self) -> None:
        """Step until every strand waits."""
        while self._ready:
            self._ready.popleft().step()

    async def breathe(self) -> None:
        """Let every other strand that is ready take a step."""
        pause: Pending[None] = Pending()
        self.spawn(_settle(pause))
        await pause


async def _settle(pause: Pending[None]) -> None:
    pause.settle(None)
