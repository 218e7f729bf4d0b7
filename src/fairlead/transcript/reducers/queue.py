"""The queue of prompts that have not started, and which of them a turn takes.

New CLIs say by uuid which prompts they start; for older ones the rules of CLI-518 are used.
Prompts in the queue stay at the end of the items, so that the order of the items is the order
of the work. How a prompt gets here and what it looks like is `prompts`.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import structs

from fairlead.transcript.reducers.opening import open_turn
from fairlead.transcript.reducers.session import does
from fairlead.transcript.state.facts import QueueHeld, QueueReleased
from fairlead.transcript.state.fold import Fold
from fairlead.transcript.state.model import PromptItem
from fairlead.wire.versions import Feature

__all__ = [
    "cancel",
    "foldable",
    "lose_waiting",
    "on_queue_held",
    "on_queue_released",
    "start",
    "start_clear",
    "start_folded",
    "start_for_turn",
    "wait",
    "waiting_among",
]


def wait(fold: Fold, item: PromptItem) -> None:
    """A new prompt joins the queue at the end of the items."""
    if item.id in fold.document.rows["items"]:
        return
    fold.add("items", item)
    fold.memory.waiting.append(item.id)
    if item.uuid is not None:
        fold.memory.made[item.uuid] = (item.id,)


def on_queue_held(fold: Fold, fact: QueueHeld) -> None:
    """The host writes no prompt before the usage limit resets."""
    fold.memory.queue_hold = {"until": fact.until, "limit": fact.limit}


def on_queue_released(fold: Fold, fact: QueueReleased) -> None:
    """A user ended the hold; the limit is no longer a reason to wait."""
    fold.memory.queue_hold = fold.memory.limit = None


def start(fold: Fold, prompt: str) -> None:
    """A waiting prompt becomes part of the running turn."""
    memory = fold.memory
    turn = fold.turn
    assert turn is not None
    first = turn.prompts[0] if turn.prompts else None
    place = memory.waiting.index(prompt)
    memory.held.pop(prompt, None)
    memory.waiting.remove(prompt)
    state = "started" if first is None else "merged"
    if place:
        # It overtook others: it leaves the queue at the end of the items.
        item = structs.replace(fold.item(prompt), state=state, turn=turn.id, into=first)
        fold.remove("items", prompt)
        fold.show(item)
    else:
        fold.set("items", prompt, state=state, turn=turn.id, into=first)
    origin = "user" if turn.origin in ("unknown", "background") else turn.origin
    fold.set("turns", turn.id, prompts=(*turn.prompts, prompt), origin=origin)


def start_for_turn(fold: Fold, named: Iterable[str]) -> None:
    """The prompts a new turn takes: those it names, else the first that waits.

    Prompts that waited together when the last turn ended become one turn (from 2.1.120 on), but
    for slash commands, which have turns of their own.
    """
    for prompt in waiting_among(fold, named):
        start(fold, prompt)
    turn = fold.turn
    if turn is None:
        return
    first = fold.item(turn.prompts[0]) if turn.prompts else None
    for prompt in _unnamed(fold):
        if first is None:
            start(fold, prompt)
            first = fold.item(prompt)
        elif _goes_with(fold, first, fold.item(prompt)):
            start(fold, prompt)
        else:
            break


def foldable(fold: Fold) -> list[str]:
    """Waiting prompts the model sees with its next message, now that a tool has a result.

    From 2.1.120 on, slash commands wait for a turn of their own.
    """
    if not fold.memory.waiting:
        return []
    merges = does(fold, Feature.MERGES_QUEUED_PROMPTS)
    return [prompt for prompt in _unnamed(fold) if not (merges and fold.item(prompt).command)]


def start_clear(fold: Fold, uuid: str | None) -> None:
    """A `/clear` is at work before its turn says so."""
    waiting = fold.memory.waiting
    first = fold.item(waiting[0]) if waiting and fold.memory.turn is None else None
    if first is not None and (first.command == "clear" or first.id == uuid):
        open_turn(fold)
        start(fold, first.id)


def start_folded(fold: Fold) -> None:
    """Prompts sent while a tool ran were given to the model with its result (CLI-518)."""
    if not fold.memory.foldable:
        return
    for prompt in tuple(fold.memory.foldable):
        if prompt in fold.memory.waiting:
            start(fold, prompt)
    fold.memory.foldable.clear()


def waiting_among(fold: Fold, uuids: Iterable[str]) -> list[str]:
    """Those of these prompts that wait, in the order of the queue."""
    wanted = set(uuids)
    return [prompt for prompt in fold.memory.waiting if prompt in wanted]


def cancel(fold: Fold, uuid: str, state: str = "cancelled") -> None:
    """A waiting prompt will not be answered."""
    if uuid in fold.memory.waiting:
        fold.memory.waiting.remove(uuid)
        fold.memory.held.pop(uuid, None)
        fold.set("items", uuid, state=state)


def lose_waiting(fold: Fold) -> None:
    """The process ended without starting these prompts; held prompts stay held."""
    for prompt in tuple(fold.memory.waiting):
        if fold.item(prompt).state == "sent":
            cancel(fold, prompt, "lost")


def _goes_with(fold: Fold, first: PromptItem, other: PromptItem) -> bool:
    queued = fold.memory.queued
    if not does(fold, Feature.MERGES_QUEUED_PROMPTS) or first.command or other.command:
        return False
    return first.id in queued and other.id in queued


def _unnamed(fold: Fold) -> list[str]:
    """Sent prompts the CLI has no other way to announce than by beginning with them."""
    items = [fold.item(prompt) for prompt in fold.memory.waiting]
    names = fold.memory.names_prompts
    return [item.id for item in items if item.state == "sent" and not (names and item.uuid)]
