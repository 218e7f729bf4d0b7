"""The queue of the user's prompts, each with a uuid and a state. Pure.

    held ──► sent ──► started ──► done
      └────────┴─────────┴──────► cancelled

A prompt is held while a turn runs and sent when the CLI is idle, because a CLI merges, folds
or even swallows what it is given during a turn (TRUTH 1.5). `started` is told by the echo of
the prompt or by its lifecycle, `done` by a result. Versions name their prompts more or less
well, and each has to end in every case: a queue that waits for nothing stands still for ever.
The engine above asks what to write; nothing here writes.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from fairlead.errors import UsageError
from fairlead.host.costs import CostMeter
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

DROPPED = "the CLI has seen its uuid before and dropped it"


class PromptMoved(Struct, frozen=True, kw_only=True):
    """A prompt went to a new state."""

    prompt: Prompt
    state: PromptState
    result: Result | None = None
    """The result that ended it, if one did."""
    cost_usd: float | None = None
    """What its turn cost; 0 for all but the first of those that ended together."""
    reason: str = ""
    """Why it was cancelled."""


class PromptQueue:
    """All prompts of one CLI process, in order."""

    def __init__(self) -> None:
        self._prompts: dict[str, Prompt] = {}
        self._states: dict[str, PromptState] = {}
        self._held: list[str] = []
        self._under_way: list[str] = []
        self._in_turn = False
        self._running_unasked = False
        self._has_lifecycle = False
        self._closed: set[str] = set()
        self._meter = CostMeter()
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
        """The next prompt to write if the CLI is idle, or a given held one at once.

        A slash command waits even then: within a turn it runs on no version, and old ones give
        it to the model as plain text (TRUTH 1.5).
        """
        if uuid is None:
            if self.busy or not self._held:
                return None
            uuid = self._held[0]
        elif uuid not in self._held or (self.busy and _is_command(self._prompts[uuid])):
            return None
        self._held.remove(uuid)
        self._under_way.append(uuid)
        self._move(uuid, PromptState.SENT)
        return self._prompts[uuid]

    def turn_began(self) -> None:
        """An init came: a turn runs, be it for a prompt or by itself."""
        self._in_turn = True
        self._running_unasked = not self._under_way

    def started(self, uuid: str) -> None:
        """The CLI took a prompt up."""
        if uuid in self._under_way:
            self._move(uuid, PromptState.STARTED)

    def echoed(self, uuid: str) -> None:
        """The CLI repeated a prompt: it took it up, or knew it already."""
        # The echo follows the init of its turn. Before it come only those that go into a turn
        # together with others (seen from 2.1.120 on), and those that are dropped (TRUTH 1.2).
        lonely = not self._in_turn and self._under_way == [uuid]
        if lonely and not self._has_lifecycle:
            self.cancel(uuid, DROPPED)
        else:
            self.started(uuid)

    def told(self, uuid: str, state: str) -> None:
        """The CLI told the state of a prompt by name (`command_lifecycle`)."""
        self._has_lifecycle = True
        if state == "started":
            self.started(uuid)
        elif state != "queued" and uuid in self._under_way:
            if self._in_turn and self._states[uuid] is PromptState.STARTED:
                self._closed.add(uuid)  # Folded prompts are closed just before their result.
            else:
                reason = DROPPED if state == "completed" else f"the CLI {state} it"
                self.cancel(uuid, reason)

    def ended(self, result: Result) -> None:
        """A result came: which prompts does it end?"""
        self._in_turn = self._running_unasked = False
        cost = self._meter.read(result)
        for uuid in self._answered_by(result):
            self._under_way.remove(uuid)
            self._move(uuid, PromptState.DONE, result=result, cost=cost)
            cost = None if cost is None else 0.0
        self._closed.clear()

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
        if result.user_message_uuids:
            named = {*result.user_message_uuids, *self._closed}
            return [uuid for uuid in self._under_way if uuid in named]
        begun = [u for u in self._under_way if self._states[u] is PromptState.STARTED]
        if result.origin is not None:
            return begun  # A background task's own turn (TRUTH 3), and what was folded into it.
        # Old CLIs name no prompt, and 2.1.220 only one of several. What went into the turn was
        # echoed, so it has started; a local command may have no echo, and then the oldest is
        # meant.
        return begun or self._under_way[:1]

    def _move(
        self,
        uuid: str,
        to: PromptState,
        *,
        result: Result | None = None,
        cost: float | None = None,
        reason: str = "",
    ) -> None:
        if to in FORWARD[self._states[uuid]]:
            self._states[uuid] = to
            prompt = self._prompts[uuid]
            self.moves.append(
                PromptMoved(prompt=prompt, state=to, result=result, cost_usd=cost, reason=reason)
            )


def _is_command(prompt: Prompt) -> bool:
    return prompt.text.lstrip().startswith("/")
