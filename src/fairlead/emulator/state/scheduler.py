"""Coroutines without an event loop: they let the engine wait without doing any I/O.

A `Job` is a coroutine that the `Scheduler` runs until it waits for a `Pending` value; it resumes in
the next round after that value was settled. There is no clock, no file and no asyncio here: the
order of all steps follows from the order of the calls alone, so a run can be repeated.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Coroutine, Generator
from typing import Any, Generic, TypeVar

__all__ = ["Crashed", "Interrupted", "Job", "Pending", "Scheduler"]

T = TypeVar("T")


class Interrupted(Exception):
    """Raised inside a job that was stopped."""


class Crashed(Exception):
    """The emulated CLI ends because of an internal error."""


class Pending(Generic[T]):
    """A value that does not exist yet; any number of jobs may wait for it."""

    def __init__(self) -> None:
        self.is_settled = False
        self._value: T | None = None
        self._problem: BaseException | None = None
        self._waiters: list[Job[Any]] = []

    def settle(self, value: T) -> None:
        """Set the value; a second call is ignored."""
        if not self.is_settled:
            self.is_settled, self._value = True, value
            self._wake()

    def fail(self, problem: BaseException) -> None:
        """Raise an exception in all waiting jobs."""
        if not self.is_settled:
            self.is_settled, self._problem = True, problem
            self._wake()

    def _wake(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            waiter.wake()

    def add_waiter(self, job: Job[Any]) -> None:
        """Wake this job when the value is set."""
        self._waiters.append(job)

    def remove_waiter(self, job: Job[Any]) -> None:
        """This job no longer waits."""
        if job in self._waiters:
            self._waiters.remove(job)

    def __await__(self) -> Generator[Pending[T], None, T]:
        if not self.is_settled:
            yield self
        if self._problem is not None:
            raise self._problem
        return self._value  # type: ignore[return-value]


class Job(Generic[T]):
    """A running coroutine; await `done` for what it returns."""

    def __init__(self, scheduler: Scheduler, work: Coroutine[Any, Any, T]) -> None:
        self._scheduler = scheduler
        self._work = work
        self._waits_for: Pending[Any] | None = None
        self._is_ready = False
        self._is_stopping = False
        self._has_begun = False
        self.done: Pending[T] = Pending()
        self.wake()

    def wake(self) -> None:
        if not self._is_ready:
            self._is_ready = True
            self._scheduler.enqueue(self)

    def stop(self) -> None:
        """Raise `Interrupted` where the job waits."""
        if self.done.is_settled or self._is_stopping:
            return
        self._is_stopping = True
        if self._waits_for is not None:
            self._waits_for.remove_waiter(self)
        self.wake()

    def step(self) -> None:
        """Run until the next wait."""
        self._is_ready, self._waits_for = False, None
        try:
            if self._is_stopping and self._has_begun:
                waits_for = self._work.throw(Interrupted())
            else:
                waits_for = self._work.send(None)
                if self._is_stopping:
                    # It was stopped before it began: its own handlers report the end.
                    waits_for = self._work.throw(Interrupted())
            self._has_begun, self._is_stopping = True, False
        except StopIteration as end:
            self.done.settle(end.value)
        except Interrupted as stopped:
            self.done.fail(stopped)
        else:
            self._waits_for = waits_for
            waits_for.add_waiter(self)


class Scheduler:
    """Runs jobs in the order in which they become ready."""

    def __init__(self) -> None:
        self._ready: deque[Job[Any]] = deque()

    def spawn(self, work: Coroutine[Any, Any, T]) -> Job[T]:
        """Start a coroutine; its first step comes with the next `run`."""
        return Job(self, work)

    def enqueue(self, job: Job[Any]) -> None:
        self._ready.append(job)

    def run(self) -> None:
        """Run until every job waits."""
        while self._ready:
            self._ready.popleft().step()

    async def yield_now(self) -> None:
        """Let every other job that is ready take a step."""
        pause: Pending[None] = Pending()
        self.spawn(_settle(pause))
        await pause


async def _settle(pause: Pending[None]) -> None:
    pause.settle(None)
