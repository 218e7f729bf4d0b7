"""The queue of the user's prompts, each with a uuid and a state. Pure.

    held ──► sent ──► started ──► done
      └────────┴─────────┴──────► cancelled

A prompt is held while a turn runs and sent when the CLI is idle, because a CLI merges, folds
or even drops a prompt that it gets during a turn (CLI-517). The echo of a prompt or its
lifecycle message says that it has `started`; a result says that it is `done`. Versions differ in
how well they name prompts, but every prompt must reach an end: a queue that waits for a message
that never comes would block the session forever.

A queue may outlive a process. Held prompts then stay for the next process, while everything that
the old process had accepted is cancelled (`process_ended`). The engine above asks the queue what
to write; this module writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from msgspec import Struct

from fairlead.errors import UsageError
from fairlead.host.engine.costs import CostMeter
from fairlead.wire.events import Result
from fairlead.wire.inputs import Prompt

__all__ = ["PromptMoved", "PromptQueue", "PromptState", "is_command"]


class PromptState(Enum):
    """How far a prompt has come."""

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
"""State -> the states that may follow it. Any other transition comes too late and is ignored."""

DROPPED = "the CLI has seen its uuid before and dropped it"


class PromptMoved(Struct, frozen=True, kw_only=True):
    """A prompt changed its state."""

    prompt: Prompt
    state: PromptState
    result: Result | None = None
    """The result that ended the prompt, if one did."""
    cost_usd: float | None = None
    """The cost of its turn. If several prompts ended together, 0 for all but the first."""
    reason: str = ""
    """Why the prompt was cancelled."""


class PromptQueue:
    """The prompts of one session, in order."""

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
        self.paused = False
        """While True, no prompt is written just because the CLI is idle."""
        self.holds_at_limit = False
        """Whether a usage limit that stops the CLI also stops the queue; set by its owner."""
        self.limited = False
        """While True, a usage limit stops the queue. The owner ends that, at the time of the reset."""
        self.on_resume: Callable[[], None] | None = None
        """Set by the link that writes the prompts."""

    @property
    def busy(self) -> bool:
        """Whether the CLI is working on a prompt or on a turn that it started by itself."""
        return bool(self._under_way) or self._running_unasked

    @property
    def has_next(self) -> bool:
        """Whether a prompt waits and may be written now."""
        return bool(self._held) and not (self.paused or self.limited or self.busy)

    @property
    def held(self) -> tuple[Prompt, ...]:
        """The prompts that are not written yet, the next one first."""
        return tuple(self._prompts[uuid] for uuid in self._held)

    def get(self, uuid: str) -> Prompt | None:
        """A held prompt, or None if there is no held prompt with this uuid."""
        return self._prompts[uuid] if uuid in self._held else None

    def state(self, uuid: str) -> PromptState | None:
        """The state of a prompt, or None if there is no such prompt."""
        return self._states.get(uuid)

    def add(self, prompt: Prompt) -> None:
        """Hold a new prompt at the end of the queue, and report it in `moves`."""
        if prompt.uuid in self._states:
            # A CLI silently drops a uuid that it has seen: no turn, no result (CLI-202).
            raise UsageError(f"the prompt {prompt.uuid} was given to this session before")
        self.restore(prompt)
        self.moves.append(PromptMoved(prompt=prompt, state=PromptState.HELD))

    def restore(self, prompt: Prompt) -> None:
        """Hold a prompt that the owner has already reported; ignored if its uuid is known."""
        if prompt.uuid not in self._states:
            self._prompts[prompt.uuid] = prompt
            self._states[prompt.uuid] = PromptState.HELD
            self._held.append(prompt.uuid)

    def remove(self, uuid: str) -> None:
        """Cancel a held prompt whose cancellation the owner has already reported."""
        if uuid in self._held:
            self._held.remove(uuid)
            self._end(uuid, PromptState.CANCELLED)

    def replace(self, prompt: Prompt) -> bool:
        """Change the content of a held prompt; False if it is not held any more."""
        if prompt.uuid not in self._held:
            return False
        self._prompts[prompt.uuid] = prompt
        return True

    def reorder(self, uuids: tuple[str, ...]) -> bool:
        """Put the held prompts into another order; False unless `uuids` names exactly these."""
        if sorted(uuids) != sorted(self._held):
            return False
        self._held[:] = uuids
        return True

    def take(self, uuid: str | None = None) -> Prompt | None:
        """The next prompt to write if the CLI is idle, or immediately the held one named.

        A slash command waits even if it is named: no version runs it within a turn, and old
        versions pass it to the model as plain text (CLI-519).
        """
        if uuid is None:
            if not self.has_next:
                return None
            uuid = self._held[0]
        elif uuid not in self._held or (self.busy and is_command(self._prompts[uuid])):
            return None
        else:
            self.limited = False  # A new attempt; the CLI reports a limit again.
        self._held.remove(uuid)
        self._under_way.append(uuid)
        self._move(uuid, PromptState.SENT)
        return self._prompts[uuid]

    def pause(self) -> None:
        """Write nothing more by itself, for example while a change of the queue is stored."""
        self.paused = True

    def resume(self) -> None:
        """End the pause, and write the next prompt if a CLI is running and idle."""
        self.paused = False
        if self.on_resume is not None and self.has_next:
            self.on_resume()

    def limit_reported(self, *, stops: bool) -> None:
        """The CLI reported its usage. If a limit stops it, the next prompt would only fail."""
        self.limited = stops and self.holds_at_limit

    def turn_began(self) -> None:
        """An init arrived: a turn is running, for a prompt or started by the CLI itself."""
        self._in_turn = True
        self._running_unasked = not self._under_way

    def started(self, uuid: str) -> None:
        """The CLI has started to work on a prompt."""
        if uuid in self._under_way:
            self._move(uuid, PromptState.STARTED)

    def echoed(self, uuid: str) -> None:
        """The CLI echoed a prompt: it has started it, or it knew the uuid already."""
        # An echo follows the init of its turn. Only two kinds precede it: prompts that go into
        # a turn together with others (seen from 2.1.120 on) and dropped prompts (CLI-202).
        alone = not self._in_turn and self._under_way == [uuid]
        if alone and not self._has_lifecycle:
            self.cancel(uuid, DROPPED)
        else:
            self.started(uuid)

    def lifecycle(self, uuid: str, state: str) -> None:
        """The CLI reported the state of a prompt (`command_lifecycle`)."""
        self._has_lifecycle = True
        if state == "started":
            self.started(uuid)
        elif state != "queued" and uuid in self._under_way:
            if self._in_turn and self._states[uuid] is PromptState.STARTED:
                self._closed.add(uuid)  # Folded prompts are closed right before their result.
            else:
                reason = DROPPED if state == "completed" else f"the CLI {state} it"
                self.cancel(uuid, reason)

    def ended(self, result: Result) -> None:
        """A result arrived: end the prompts that it answers."""
        self._in_turn = self._running_unasked = False
        cost = self._meter.read(result)
        for uuid in self._answered_by(result):
            self._under_way.remove(uuid)
            self._move(uuid, PromptState.DONE, result=result, cost=cost)
            cost = None if cost is None else 0.0
        self._closed.clear()

    def cancel(self, uuid: str, reason: str) -> bool:
        """Cancel a prompt; False if it is unknown or has ended."""
        if uuid in self._held:
            self._held.remove(uuid)
        elif uuid in self._under_way:
            self._under_way.remove(uuid)
        else:
            return False
        self._move(uuid, PromptState.CANCELLED, reason=reason)
        return True

    def cancel_held(self, reason: str) -> None:
        """Cancel every held prompt."""
        for uuid in tuple(self._held):
            self.cancel(uuid, reason)

    def process_ended(self, reason: str) -> None:
        """Cancel what the process had accepted and did not answer; held prompts stay."""
        for uuid in tuple(self._under_way):
            self.cancel(uuid, reason)
        self._in_turn = self._running_unasked = self._has_lifecycle = False
        self._closed.clear()
        self._meter = CostMeter()  # The next process counts its cost from zero.

    def _answered_by(self, result: Result) -> list[str]:
        if result.user_message_uuids:
            named = {*result.user_message_uuids, *self._closed}
            return [uuid for uuid in self._under_way if uuid in named]
        begun = [u for u in self._under_way if self._states[u] is PromptState.STARTED]
        if result.origin is not None:
            return begun  # A background task's own turn (CLI-521), and prompts folded into it.
        # Old CLIs name no prompt, and 2.1.220 names only one of several. Prompts that went into
        # the turn were echoed, so they have started. A local command may have no echo; then the
        # result belongs to the oldest prompt.
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
        if to not in FORWARD[self._states[uuid]]:
            return
        prompt = self._prompts[uuid]
        if FORWARD[to]:
            self._states[uuid] = to
        else:
            self._end(uuid, to)
        self.moves.append(
            PromptMoved(prompt=prompt, state=to, result=result, cost_usd=cost, reason=reason)
        )

    def _end(self, uuid: str, state: PromptState) -> None:
        """Remember that the uuid was used, but not the content, which may be large."""
        self._states[uuid] = state
        del self._prompts[uuid]


def is_command(prompt: Prompt) -> bool:
    """Whether the CLI would run a prompt as a slash command."""
    return not prompt.verbatim and prompt.text.lstrip().startswith("/")
