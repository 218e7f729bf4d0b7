"""A session read back from the log: its transcript, its number, and the prompts that still wait.

Folding is the same work as it was live; it runs in a thread and in parts, so that a long
session does not hold up the others.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from fairlead.server.held_facts import Folded, PromptEdited
from fairlead.server.log_lines import fed_by
from fairlead.store.log import Event
from fairlead.transcript.facts import PromptHeld
from fairlead.transcript.model import PromptItem
from fairlead.wire.inputs import Prompt

__all__ = ["EventReader", "Loaded"]

CHUNK = 2_000
"""Events folded in one stay in the thread: about 100 ms."""


class EventReader(Protocol):
    """The part of a store that is read here."""

    async def read(self, session: str, after: int, limit: int) -> list[Event]:
        """The events that follow a number, in order."""


class Loaded:
    """What the log holds of a session."""

    def __init__(self) -> None:
        self.transcript = Folded()
        self.seq = 0
        self._prompts: dict[str, Prompt] = {}

    @classmethod
    async def from_log(cls, store: EventReader, session: str) -> Loaded:
        """Read and fold all events of a session."""
        loaded = cls()
        while events := await store.read(session, loaded.seq, CHUNK):
            await asyncio.to_thread(loaded.fold, events)
        return loaded

    def fold(self, events: list[Event]) -> None:
        """Take events in, in order."""
        for event in events:
            self.seq = event.seq
            fed = fed_by(event)
            if fed is None:
                continue
            if isinstance(fed, PromptHeld | PromptEdited):
                self._prompts[fed.prompt.uuid] = fed.prompt
            self.transcript.take(fed, event.at)

    def held(self) -> list[Prompt]:
        """The prompts that wait, in order."""
        return [
            self._prompts[item.id]
            for item in self.transcript.items
            if isinstance(item, PromptItem) and item.state == "held" and item.id in self._prompts
        ]
