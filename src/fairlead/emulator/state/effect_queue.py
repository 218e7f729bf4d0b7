"""The queue of effects, and the coroutines that wait for their answers. Pure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from fairlead.emulator.state.effects import Drop, Effect, Sleep, Tell
from fairlead.emulator.state.scheduler import Interrupted, Job, Pending, Scheduler

__all__ = ["EffectQueue"]

T = TypeVar("T")


class EffectQueue:
    """Implements the port `Effects`; the program drains the queue and returns the answers."""

    def __init__(self) -> None:
        self._scheduler = Scheduler()
        self._out: list[Effect] = []
        self._waiting: dict[int, Pending[Any]] = {}
        self._numbers = 0

    def drain(self) -> list[Effect]:
        """The effects to carry out now, in order."""
        out, self._out = self._out, []
        return out

    def finish(self, number: int, value: Any) -> None:
        """Pass on the answer to an effect."""
        pending = self._waiting.pop(number, None)
        if pending is not None:
            pending.settle(value)

    def run(self) -> None:
        """Run until every coroutine waits."""
        self._scheduler.run()

    def spawn(self, work: Coroutine[Any, Any, T]) -> Job[T]:
        return self._scheduler.spawn(work)

    async def yield_now(self) -> None:
        await self._scheduler.yield_now()

    def do(self, effect: Effect) -> None:
        self._out.append(effect)

    def tell(self, text: str) -> None:
        self.do(Tell(text + "\n"))

    async def perform(self, make: Callable[[int], Effect]) -> Any:
        """Queue an effect and wait for its answer."""
        self._numbers += 1
        number = self._numbers
        pending: Pending[Any] = Pending()
        self._waiting[number] = pending
        self.do(make(number))
        try:
            return await pending
        except Interrupted:
            if self._waiting.pop(number, None) is not None:
                self.do(Drop(number))
            raise

    async def sleep(self, seconds: float) -> None:
        await self.perform(lambda number: Sleep(number, seconds))

    async def first_of(self, value: Pending[Any], seconds: float) -> None:
        """Wait for a value, for at most this long."""
        over: Pending[None] = Pending()
        jobs = [
            self.spawn(_settle_after(value, over)),
            self.spawn(_settle_after(self.sleep(seconds), over)),
        ]
        try:
            await over
        finally:
            for job in jobs:
                job.stop()


async def _settle_after(value: Awaitable[Any], over: Pending[None]) -> None:
    try:
        await value
    except Interrupted:
        return
    over.settle(None)
