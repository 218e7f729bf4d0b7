"""The prompts of one session on their way to its CLI: stored, shown as held, given when it is idle.

What somebody wants of a prompt is stored first and only then done. A prompt that was given to the
client and not written when the CLI ends comes back, and is the first to go out again. `prompts`
is the queue itself; `live_session` has the CLI.
"""

from __future__ import annotations

import asyncio

from fairlead.errors import FairleadError
from fairlead.host.client import Client
from fairlead.host.prompts import PromptMoved, PromptState
from fairlead.server.limits import Limits
from fairlead.server.prompts import HeldPrompts
from fairlead.server.refusal import Refusal
from fairlead.server.running_session import RunningSession
from fairlead.store.intents import IntentOutcome
from fairlead.store.log import StoreUnavailable
from fairlead.transcript.facts import PromptCancelled, PromptEdited, PromptHeld, PromptsReordered
from fairlead.wire.inputs import Prompt

__all__ = ["PromptLine"]


class PromptLine:
    """The line in which prompts wait."""

    def __init__(self, session: RunningSession, limits: Limits) -> None:
        self.held = HeldPrompts()
        """Those that wait in the server."""
        self._session = session
        self._limits = limits
        self._given: dict[str, Prompt] = {}
        """Those that the client was given and has not written."""

    async def hold(
        self,
        prompt: Prompt,
        *,
        at_once: bool = False,
        intent: IntentOutcome | None = None,
    ) -> None:
        """Take a prompt: stored, shown as held, and written as soon as may be."""
        known = self._session.transcript.item(prompt.uuid) is not None
        if known or prompt.uuid in self.held or prompt.uuid in self._given:
            raise Refusal("conflict", f"the prompt {prompt.uuid} was given to this session before")
        if len(self.held) >= self._limits.prompts_held:
            raise Refusal("too_many", f"{self._limits.prompts_held} prompts wait already")
        self.held.add(prompt)
        try:
            await self._session.record([PromptHeld(prompt)], intent)
        except StoreUnavailable:
            self.held.take(prompt.uuid)
            raise
        if at_once and self._session.ready:
            self.give(prompt.uuid, at_once=True)
        self.pump()

    async def edit(self, prompt: Prompt, intent: IntentOutcome | None = None) -> None:
        """Other words for a prompt that waits."""
        before = self.held.get(prompt.uuid)
        if before is None or not self.held.edit(prompt):
            raise _too_late(prompt.uuid)
        try:
            await self._session.record([PromptEdited(prompt)], intent)
        except StoreUnavailable:
            self.held.edit(before)
            raise

    async def reorder(self, uuids: tuple[str, ...], intent: IntentOutcome | None = None) -> None:
        """Another order for the prompts that wait."""
        before = self.held.uuids
        if not self.held.reorder(uuids):
            raise Refusal("conflict", "other prompts wait than the ones you named", waiting=before)
        try:
            await self._session.record([PromptsReordered(uuids)], intent)
        except StoreUnavailable:
            self.held.reorder(before)
            raise

    async def cancel(self, uuid: str, intent: IntentOutcome | None = None) -> None:
        """Take a prompt back that waits here, or, where a CLI can, inside it."""
        prompt = self.held.take(uuid)
        if prompt is None:
            if self._session.ready and await self._session.running().cancel(uuid):
                return
            raise _too_late(uuid)
        try:
            await self._session.record([PromptCancelled(uuid)], intent)
        except StoreUnavailable:
            self.held.put_back(prompt)
            raise

    def give(self, uuid: str, *, at_once: bool) -> bool:
        """Give a waiting prompt to the client."""
        prompt = self.held.take(uuid)
        if prompt is None:
            return False
        client = self._session.running()
        self._given[uuid] = prompt
        self._session.spawn(self._send(client, prompt, at_once))
        return True

    def pump(self) -> None:
        """Give the next prompt to a CLI that is idle."""
        if not self._session.ready or self._given:
            return
        client = self._session.running()
        if not client.busy and len(self.held):
            self.give(self.held.uuids[0], at_once=False)

    async def _send(self, client: Client, prompt: Prompt, at_once: bool) -> None:
        try:
            await client.send(
                list(prompt.content), at_once=at_once, uuid=prompt.uuid, priority=prompt.priority
            )
        except FairleadError:
            if self._given.pop(prompt.uuid, None) is not None:
                self.held.put_back(prompt)  # The CLI ended; it goes with the next one.

    def moved(self, move: PromptMoved) -> None:
        """The client's own queue moved; `witness` tells."""
        uuid = move.prompt.uuid
        if move.state is PromptState.SENT:
            self._given.pop(uuid, None)
        elif move.state is PromptState.CANCELLED and uuid in self._given:
            # If the process ends, `came_back` follows at once and keeps the prompt.
            asyncio.get_running_loop().call_soon(self._taken_back, uuid)

    def _taken_back(self, uuid: str) -> None:
        if self._given.pop(uuid, None) is not None:
            self._session.note([PromptCancelled(uuid)])

    def came_back(self) -> None:
        """The CLI is gone: what was not written goes first when one runs again."""
        for prompt in reversed(self._given.values()):
            self.held.put_back(prompt)
        self._given.clear()


def _too_late(uuid: str) -> Refusal:
    return Refusal("stale", f"the prompt {uuid} does not wait any more")
