"""A live transcript: feed it what came and went, read what it means.

`Transcript` holds a state and changes it by nothing but the changes it gives back. `reduce` is
the same as a pure function, for tests and proofs: it leaves its argument as it was, at the
price of a copy of the lists. Time comes in as a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from fairlead.transcript.checkpoint import Checkpoint, checkpoint, restore
from fairlead.transcript.reduce import Fed, step, step_all, take_moment
from fairlead.transcript.snapshot import Snapshot, snapshot_of
from fairlead.transcript.state.changes import Change
from fairlead.transcript.state.fold import Fold
from fairlead.transcript.state.model import (
    Background,
    File,
    Item,
    Ledger,
    Pending,
    PromptItem,
    Session,
    Settled,
    Status,
    Task,
    Turn,
)
from fairlead.wire.encode import decode_input
from fairlead.wire.inputs import Prompt
from fairlead.wire.json_text import write

__all__ = ["Transcript", "reduce"]


class Transcript:
    """The conversation so far, and everything a program would want to ask about it."""

    __slots__ = ("_fold",)

    def __init__(self) -> None:
        self._fold = Fold()

    def feed(self, fed: Fed, at: float) -> list[Change]:
        """Take in a message of the CLI, an input of the host, or a fact; `at` is in seconds."""
        return step(self._fold, fed, at)

    def feed_all(self, batch: Iterable[tuple[Fed, float]]) -> list[Change]:
        """Take in several values with their times; returns what they changed together."""
        return step_all(self._fold, batch)

    def take(self, values: Iterable[Fed], at: float) -> None:
        """Take in values of one moment; faster than `feed_all`, because no changes are made."""
        take_moment(self._fold, values, at)

    def snapshot(self) -> Snapshot:
        """The whole state as one immutable value."""
        return snapshot_of(self._fold.document)

    @property
    def session(self) -> Session:
        """Id, model, mode, tools and the rest of what an init says."""
        return self._fold.session

    @property
    def status(self) -> Status:
        """What the session is doing, and since when."""
        return self._fold.status

    @property
    def ledger(self) -> Ledger:
        """Money, tokens, context and lines."""
        return self._fold.ledger

    @property
    def items(self) -> tuple[Item, ...]:
        """The conversation in its order."""
        return self._fold.document.all("items")

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns in order; the running turn is the last."""
        return self._fold.document.all("turns")

    @property
    def turn(self) -> Turn | None:
        """The turn that is running."""
        return self._fold.turn

    @property
    def in_turn(self) -> bool:
        """Whether a turn is running."""
        return self._fold.memory.turn is not None

    @property
    def pending(self) -> tuple[Pending, ...]:
        """What a person must answer."""
        return self._fold.document.all("pending")

    @property
    def settled(self) -> tuple[Settled, ...]:
        """How each request that is no longer pending ended."""
        return self._fold.document.all("settled")

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The model's own list of things to do."""
        return self._fold.document.all("tasks")

    @property
    def background(self) -> tuple[Background, ...]:
        """Subagents and background commands."""
        return self._fold.document.all("background")

    @property
    def files(self) -> tuple[File, ...]:
        """The files that tools changed."""
        return self._fold.document.all("files")

    def item(self, item_id: str) -> Item | None:
        """One item by its id."""
        return cast("Item | None", self._fold.item(item_id))

    @property
    def item_ids(self) -> tuple[str, ...]:
        """The ids of the conversation in its order; cheap, also where `items` is not."""
        return self._fold.ids("items")

    def count(self, section: str) -> int:
        """How many rows a list has."""
        return len(self._fold.document.order[section])

    def first_ids(self, section: str, count: int) -> tuple[str, ...]:
        """The ids of the first rows of a list, in order."""
        return tuple(self._fold.document.order[section][:count])

    def last_ids(self, section: str, count: int) -> tuple[str, ...]:
        """The ids of the last rows of a list, in order."""
        order = self._fold.document.order[section]
        return tuple(order[max(0, len(order) - count) :])

    def last(self, section: str, count: int) -> tuple[Any, ...]:
        """The last rows of a list, in order."""
        return self._fold.document.some(section, self.last_ids(section, count))

    def newest(self) -> Iterator[Item]:
        """The items, the last first."""
        for item_id in reversed(self.item_ids):
            yield self._fold.item(item_id)

    @property
    def held(self) -> tuple[Prompt, ...]:
        """The prompts that wait in the host's own queue, in order."""
        memory = self._fold.memory
        lines = [memory.held[uuid] for uuid in memory.waiting if uuid in memory.held]
        read = (decode_input(write(line)) for line in lines)
        return tuple(prompt for prompt in read if isinstance(prompt, Prompt))

    @property
    def limit(self) -> dict[str, Any] | None:
        """The usage limit that stops the session, as the CLI reported it last: `kind`, `resets_at`."""
        return self._fold.memory.limit

    @property
    def queue_hold(self) -> dict[str, Any] | None:
        """Until when the host holds its queue for a usage limit: `until`, `limit`."""
        return self._fold.memory.queue_hold

    @property
    def denied_rules(self) -> tuple[dict[str, Any], ...]:
        """What a user denied for the rest of the session, as permission updates on the wire."""
        return tuple(self._fold.memory.denied_rules)

    def line_of(self, item_id: str) -> str | None:
        """The uuid of the last line that had a part in an item: where a fork at it begins."""
        item = self._fold.item(item_id)
        if isinstance(item, PromptItem):
            return item.uuid
        lines = [uuid for uuid, made in self._fold.memory.made.items() if item_id in made]
        return lines[-1] if lines and item is not None else None

    def checkpoint(self) -> Checkpoint:
        """The whole state, so that it can be stored and continued; `Checkpoint.parts` writes it."""
        return checkpoint(self._fold)

    @classmethod
    def restored(cls, parts: Sequence[bytes]) -> Transcript:
        """The transcript of a checkpoint; raises `Unreadable`."""
        new = cls.__new__(cls)
        new._fold = restore(parts)
        return new

    def row(self, section: str, row_id: str) -> Any:
        """One row of a list by its id, or None."""
        return self._fold.get(section, row_id)

    def fork(self) -> Transcript:
        """A copy that can go its own way; rows are shared."""
        new = Transcript.__new__(Transcript)
        new._fold = self._fold.fork()
        return new


def reduce(state: Transcript, fed: Fed, at: float) -> tuple[Transcript, list[Change]]:
    """The state after a value, and the changes; `state` itself is not modified."""
    new = state.fork()
    return new, new.feed(fed, at)
