"""A clock that counts the events of one message, for tools that start while it streams.

2.1.325 starts a tool as soon as its block is complete, while the message still streams. What the
tool writes then comes between the last events of the message: at once, or as many events later as
its preparation takes (measured). After the message nothing waits for the clock.
"""

from __future__ import annotations

from fairlead.emulator.state.ports import Effects
from fairlead.emulator.state.scheduler import Pending

__all__ = ["StreamClock"]

MOST_EVENTS = 1_000_000_000
"""More than any message has."""


class StreamClock:
    """Counts the events of a message."""

    def __init__(self, effects: Effects) -> None:
        self._effects = effects
        self._events = 0
        self._is_over = False
        self._waiting: list[tuple[int, Pending[None]]] = []

    @property
    def events(self) -> int:
        """The number of events so far."""
        return self._events

    def tick(self) -> None:
        """An event was written."""
        self._events += 1
        due = [pending for at, pending in self._waiting if at <= self._events]
        self._waiting = [entry for entry in self._waiting if entry[0] > self._events]
        for pending in due:
            pending.settle(None)

    def end(self) -> None:
        """The message is complete: wake all waiting coroutines."""
        self._is_over = True
        waiting, self._waiting = self._waiting, []
        for _, pending in waiting:
            pending.settle(None)

    async def until(self, event: int) -> None:
        """Wait for an event by its number, or for the end of the message."""
        if self._is_over or event <= self._events:
            return
        pending: Pending[None] = Pending()
        self._waiting.append((event, pending))
        await pending

    async def ends(self) -> None:
        """Wait for the end of the message."""
        if not self._is_over:
            pending: Pending[None] = Pending()
            self._waiting.append((MOST_EVENTS, pending))
            await pending

    async def pass_time(self, start: int, events: int) -> None:
        """Wait for some events after a start; after the message, let other jobs run first."""
        if self._is_over:
            for _ in range(events):
                await self._effects.yield_now()
        else:
            await self.until(start + events)
