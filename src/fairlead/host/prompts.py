"""The queue of the user's prompts, each with a uuid and a state. Pure.

    held ──► sent ──► started ──► done
      └────────┴─────────┴──────► cancelled

A prompt is held while a turn runs and sent when the CLI is idle, because a CLI merges, folds
or even swallows what it is given during a turn (TRUTH 1.5). `started` is told by the echo of
the prompt, `done` by a result. The engine above asks what to write; nothing here writes.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from fairlead.errors import UsageError
from fairlead.wire.events import Result
from fairlead.wire.inputs import Prompt

__all__ = ["PromptMoved", "PromptQueue", "PromptState"]


class PromptState(Enum):
    """Where a prompt is on its way."""

    HELD = "held"
    SENT = "sent"
    STARTED = "started"
    DONE = "done"
    CANCELLED = "cancelled"


FORWARD: dict[PromptState, tuple[PromptState, ...]] = {
    PromptState.HELD: (PromptState.SENT, PromptState.CANCELLED),
    PromptState.SENT: (PromptState.STARTED, PromptState.DONE, PromptState.CANCELLED),
    PromptState.STARTED: (PromptState.DONE, PromptState.CANCELLED),
    PromptState.DONE: (),
    PromptState.CANCELLED: (),
}
"""State -> the states it may go to; anything else is late news and is ignored."""


class PromptMoved(Struct, frozen=True, kw_only=True):
    """A prompt went to a new state."""

    prompt: Prompt
    state: PromptState
    result: Result | None = None
    """The result that ended it, if one did."""
    reason: str = ""
    """Why it was cancelled."""


class PromptQueue:
    """All prompts of one CLI process, in order."""

    def __init__(self) -> None:
        self._prompts: dict[str, Prompt] = {}
        self._states: dict[str, PromptState] = {}
        self._held: list[str] = []
        self._under_way: list[str] = []
        self._running_unasked = False
        self.moves: list[PromptMoved] = []

    @property
    def busy(self) -> bool:
        """Whether the CLI works on something: a prompt, or a turn nobody asked for."""
        return bool(self._under_way) or self._running_unasked

    @property
    def held(self) -> tuple[Prompt, ...]:
        """The prompts that wait in the host, next one first."""
        return tuple(self._prompts[uuid] for uuid in self._held)

    def state(self, uuid: str) -> PromptState | None:
        """The state of a prompt, or None if there is no such prompt."""
        return self._states.get(uuid)

    def add(self, prompt: Prompt) -> None:
        """Hold a new prompt, last in the queue."""
        if prompt.uuid in self._states:
            # A CLI drops a uuid it has seen without a word: no turn, no result (TRUTH 1.2).
            raise UsageError(f"the prompt {prompt.uuid} was given to this session before")
        self._prompts[prompt.uuid] = prompt
        self._states[prompt.uuid] = PromptState.HELD
        self._held.append(prompt.uuid)
        self.moves.append(PromptMoved(prompt=prompt, state=PromptState.HELD))

    def replace(self, prompt: Prompt) -> bool:
        """Change the words of a prompt that is still held."""
        if prompt.uuid not in self._held:
            return False
        self._prompts[prompt.uuid] = prompt
        return True

    def reorder(self, uuids: tuple[str, ...]) -> bool:
        """Put the held prompts into another order; False unless it names exactly these."""
        if sorted(uuids) != sorted(self._held):
            return False
        self._held[:] = uuids
        return True

    def take(self, uuid: str | None = None) -> Prompt | None:
        """The next prompt to write if the CLI is idle, or a given held one at once."""
        if uuid is None:
            if self.busy or not self._held:
                return None
            uuid = self._held[0]
        elif uuid not in self._held:
            return None
        self._held.remove(uuid)
        self._under_way.append(uuid)
        self._move(uuid, PromptState.SENT)
        return self._prompts[uuid]

    def turn_began(self) -> None:
        """An init came: a turn runs, be it for a prompt or by itself."""
        self._running_unasked = not self._under_way

    def started(self, uuid: str) -> None:
        """The CLI took a prompt up."""
        if uuid in self._under_way:
            self._move(uuid, PromptState.STARTED)

    def ended(self, result: Result) -> None:
        """A result came: which prompts does it end?"""
        self._running_unasked = False
        for uuid in self._answered_by(result):
            self._under_way.remove(uuid)
            self._move(uuid, PromptState.DONE, result=result)

    def cancel(self, uuid: str, reason: str) -> bool:
        """Give a prompt up; False if it is unknown or over."""
        if uuid in self._held:
            self._held.remove(uuid)
        elif uuid in self._under_way:
            self._under_way.remove(uuid)
        else:
            return False
        self._move(uuid, PromptState.CANCELLED, reason=reason)
        return True

    def cancel_all(self, reason: str) -> None:
        """The process has ended: nothing that waits will be answered."""
        for uuid in [*self._under_way, *self._held]:
            self.cancel(uuid, reason)
        self._running_unasked = False

    def _answered_by(self, result: Result) -> list[str]:
        if result.answers:
            return [uuid for uuid in self._under_way if uuid in result.answers]
        if result.origin is not None:
            return []  # A background task's own turn: TRUTH 3.
        begun = [u for u in self._under_way if self._states[u] is PromptState.STARTED]
        # Old CLIs name no prompts. What was folded into the turn was echoed, so it has
        # started; a local command may have no echo, and then the oldest one is meant.
        return begun or self._under_way[:1]

    def _move(
        self, uuid: str, to: PromptState, *, result: Result | None = None, reason: str = ""
    ) -> None:
        if to in FORWARD[self._states[uuid]]:
            self._states[uuid] = to
            prompt = self._prompts[uuid]
            self.moves.append(PromptMoved(prompt=prompt, state=to, result=result, reason=reason))
