"""A live transcript: feed it what came and went, read what it means.

`Transcript` holds a state and changes it by nothing but the changes it gives back. `reduce` is
the same as a pure function, for tests and proofs: it leaves its argument as it was, at the
price of a copy of the lists. Time comes in as a value.
"""

from __future__ import annotations

from typing import cast

from fairlead.transcript.changes import Change
from fairlead.transcript.fold import Fold
from fairlead.transcript.model import (
    Background,
    File,
    Item,
    Ledger,
    Pending,
    Session,
    Settled,
    Status,
    Task,
    Turn,
)
from fairlead.transcript.reduce import Fed, step
from fairlead.transcript.snapshot import Snapshot, snapshot_of

__all__ = ["Transcript", "reduce"]


class Transcript:
    """The conversation so far, and everything a program would want to ask about it."""

    __slots__ = ("_fold",)

    def __init__(self) -> None:
        self._fold = Fold()

    def feed(self, fed: Fed, at: float) -> list[Change]:
        """Take in a message of the CLI, an input of the host, or a fact; `at` is in seconds."""
        return step(self._fold, fed, at)

    def snapshot(self) -> Snapshot:
        """Everything, as one frozen value."""
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
        """The turns, the running one last."""
        return self._fold.document.all("turns")

    @property
    def turn(self) -> Turn | None:
        """The turn that is running."""
        return self._fold.turn

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

    def fork(self) -> Transcript:
        """A copy that can go its own way; rows are shared."""
        new = Transcript.__new__(Transcript)
        new._fold = self._fold.fork()
        return new


def reduce(state: Transcript, fed: Fed, at: float) -> tuple[Transcript, list[Change]]:
    """The state after one value, and what changed; `state` itself stays as it was."""
    new = state.fork()
    return new, new.feed(fed, at)
