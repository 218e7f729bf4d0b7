"""Searches of clients: one at a time for each device, none for longer than a deadline.

A search may take seconds on a large store. A new search of a device stops its previous one, whose
result the client no longer needs, and the deadline stops a search that is too broad. The error
message states which of them happened.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

from fairlead.server.limits import Limits
from fairlead.server.refusal import Refusal
from fairlead.store.tables.search import Filters, SearchStopped

__all__ = ["Searches"]

Search = Callable[[str, Filters, Callable[[], bool]], Awaitable[list[Any]]]
"""Query, filters, and whether to stop -> hits."""


class Searches:
    """The searches that are running, by device."""

    def __init__(self, search: Search, limits: Limits) -> None:
        self._search = search
        self._limits = limits
        self._running: dict[str, threading.Event] = {}

    async def run(self, device: str, query: str, filters: Filters) -> list[Any]:
        """The hits; refuses a search that took too long or that a newer one replaced."""
        replaced = threading.Event()
        previous = self._running.get(device)
        if previous is not None:
            previous.set()
        elif len(self._running) >= self._limits.searches:
            raise Refusal(
                "too_many", "The server already runs too many searches. Try again in a moment."
            )
        self._running[device] = replaced
        started: list[float] = []

        def stop() -> bool:
            if not started:
                started.append(time.monotonic())  # Waiting for a thread does not count.
            return replaced.is_set() or time.monotonic() - started[0] > self._limits.search_s

        try:
            return await self._search(query, filters, stop)
        except SearchStopped:
            if replaced.is_set():
                raise Refusal(
                    "conflict", "A newer search of this device replaced this one."
                ) from None
            seconds = f"{self._limits.search_s:g}"
            raise Refusal(
                "unavailable",
                f"The search was stopped after {seconds} s. Use fewer or rarer words, or search "
                "one session or folder.",
            ) from None
        finally:
            if self._running.get(device) is replaced:
                del self._running[device]
