"""The prompt queue of one session: every change is stored first and then made.

The queue itself is the host's `PromptQueue`. It belongs to the session, not to a CLI process, so
that held prompts survive a crash, a stop and a restart; each process of the session is given the
same queue. `QueuedPrompts` checks what clients want, stores it as a fact, and applies each fact
to the queue once it is stored. Queue, transcript and log therefore never disagree, and loading a
session restores its queue from the transcript.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Protocol

from fairlead.host.client import Client
from fairlead.host.engine.prompts import PromptQueue
from fairlead.server.limits import Limits
from fairlead.server.refusal import Refusal
from fairlead.server.session.running_session import RunningSession
from fairlead.store.tables.intents import IntentOutcome
from fairlead.transcript.reduce import Fed
from fairlead.transcript.state.facts import (
    PromptCancelled,
    PromptEdited,
    PromptHeld,
    PromptsReordered,
    QueueHeld,
    QueueReleased,
)
from fairlead.wire.inputs import Prompt

__all__ = ["Gate", "QueuedPrompts"]

_FACTS = frozenset(
    {PromptHeld, PromptEdited, PromptsReordered, PromptCancelled, QueueHeld, QueueReleased}
)


class Gate(Protocol):
    """Decides whether the next prompt may be written, such as by a budget."""

    @property
    def watches(self) -> bool:
        """Whether it decides about each prompt; if not, the queue continues by itself."""

    @property
    def is_open(self) -> bool:
        """Whether the next prompt may be written now."""


class QueuedPrompts:
    """What clients can do with the prompts of one session that are not written yet."""

    def __init__(self, session: RunningSession, limits: Limits, held: Iterable[Prompt]) -> None:
        self.queue = PromptQueue()
        for prompt in held:
            self.queue.restore(prompt)
        self.queue.pause()  # Until a CLI is ready.
        self.queue.holds_at_limit = True
        self.queue.limited = session.transcript.queue_hold is not None
        self._session = session
        self._limits = limits
        self._storing: set[str] = set()
        """The prompts that are being stored and are not in the queue yet."""
        self._change = asyncio.Lock()
        self.gate: Gate | None = None
        self.closed = False
        """Whether no prompt is written, because the session is being moved to another machine."""

    def __len__(self) -> int:
        return len(self.queue.held) + len(self._storing)

    @property
    def uuids(self) -> tuple[str, ...]:
        """The uuids of the queued prompts, the next one first."""
        return tuple(prompt.uuid for prompt in self.queue.held)

    def get(self, uuid: str) -> Prompt | None:
        """A queued prompt."""
        return self.queue.get(uuid)

    async def add(
        self,
        prompt: Prompt,
        *,
        at_once: bool = False,
        intent: IntentOutcome | None = None,
    ) -> None:
        """Store a prompt and queue it. With `at_once`, write it into the running turn."""
        uuid = prompt.uuid
        known = self._session.transcript.item(uuid) is not None
        if known or uuid in self._storing or self.queue.state(uuid) is not None:
            raise Refusal("conflict", f"Prompt {uuid} was already sent to this session.")
        if len(self) >= self._limits.prompts_held:
            limit = self._limits.prompts_held
            raise Refusal("too_many", f"The queue is full ({limit} prompts). Remove one first.")
        if at_once and self._session.ready:
            _check_reads(self._session.running())
        self._storing.add(uuid)
        try:
            await self._session.record([PromptHeld(prompt)], intent)
        finally:
            self._storing.discard(uuid)
        if at_once and self._session.ready and self._session.running().accepts_input:
            self._session.running().send_now(uuid)

    async def edit(self, prompt: Prompt, intent: IntentOutcome | None = None) -> None:
        """Replace the content of a queued prompt."""
        async with self._changing():
            self._check_queued(prompt.uuid)
            await self._session.record([PromptEdited(prompt)], intent)

    async def reorder(self, uuids: tuple[str, ...], intent: IntentOutcome | None = None) -> None:
        """Put the queued prompts into another order."""
        async with self._changing():
            if sorted(uuids) != sorted(self.uuids):
                raise Refusal("conflict", "The queue has changed; try again.", waiting=self.uuids)
            await self._session.record([PromptsReordered(uuids)], intent)

    async def cancel(self, uuid: str, outcome: Callable[[], IntentOutcome]) -> None:
        """Remove a prompt from the queue, or from the CLI's own queue if the CLI can do that.

        `outcome` is called only if it is stored together with the removal.
        """
        async with self._changing():
            if self.get(uuid) is not None:
                await self._session.record([PromptCancelled(uuid)], outcome())
                return
        if not self._session.ready or not await self._session.running().cancel(uuid):
            raise _too_late(uuid)

    async def cancel_all(self) -> None:
        """Remove all prompts from the queue."""
        async with self._changing():
            facts: list[Fed] = [PromptCancelled(uuid) for uuid in self.uuids]
            if facts:
                await self._session.record(facts)

    async def hold(self, until: float, limit: str, first: Prompt | None) -> None:
        """Write nothing before `until`, when a usage limit has reset; `first` is then written first."""
        async with self._changing():
            facts: list[Fed] = [QueueHeld(until, limit)]
            if first is not None:
                order = PromptsReordered((first.uuid, *self.uuids))
                facts = [PromptHeld(first), order, *facts]
            await self._session.record(facts)

    async def release(self, without: tuple[str, ...] = ()) -> None:
        """End the hold now because a user wants it, and remove the prompts that are named."""
        async with self._changing():
            removed = [PromptCancelled(uuid) for uuid in without if self.get(uuid) is not None]
            await self._session.record([*removed, QueueReleased()])

    def end_hold(self) -> None:
        """The time of the hold has come. It is over in the log when a prompt is written."""
        self.queue.limited = False
        self.write_next()

    async def send_now(self, uuid: str) -> None:
        """Write a queued prompt into the running turn."""
        async with self._changing():
            self._check_queued(uuid)
            client = self._session.running()
            _check_reads(client)
            client.send_now(uuid)  # A slash command stays queued until the CLI is idle.

    def apply(self, batch: Iterable[tuple[Fed, float]]) -> None:
        """Make the changes of a batch of events that is stored now."""
        for fact, _ in batch:
            if type(fact) not in _FACTS:
                continue
            if isinstance(fact, PromptHeld):
                self.queue.restore(fact.prompt)
            elif isinstance(fact, PromptEdited):
                self.queue.replace(fact.prompt)
            elif isinstance(fact, PromptsReordered):
                self.queue.reorder(fact.uuids)
            elif isinstance(fact, PromptCancelled):
                self.queue.remove(fact.uuid)
            else:
                self.queue.limited = isinstance(fact, QueueHeld)

    def pause(self) -> None:
        """Write no more prompts: the session is being stopped."""
        self.queue.pause()

    def write_next(self) -> None:
        """Write the next prompt if a CLI runs and is idle, unless a change is being stored."""
        gate = self.gate
        if self.closed or not self._session.ready or self._change.locked():
            return
        if not (gate is None or gate.is_open):
            return
        self.queue.resume()
        if gate is not None and gate.watches:
            self.queue.pause()  # After this prompt the gate decides again.

    @asynccontextmanager
    async def _changing(self) -> AsyncIterator[None]:
        """One change at a time, and no prompt is written while its change is being stored."""
        try:
            async with self._change:
                self.queue.pause()
                yield
        finally:
            self.write_next()

    def _check_queued(self, uuid: str) -> None:
        if self.get(uuid) is None:
            raise _too_late(uuid)


def _check_reads(client: Client) -> None:
    if not client.accepts_input:
        raise Refusal(
            "agent_failed",
            "The agent does not read its input, so nothing more is written to it. Stop the "
            "session and resume it.",
        )


def _too_late(uuid: str) -> Refusal:
    return Refusal("stale", f"Prompt {uuid} is no longer queued.")
