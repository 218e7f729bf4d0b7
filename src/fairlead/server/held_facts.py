"""Facts of the server's own that a transcript is fed: what happened to prompts that wait, plans.

A transcript knows that a prompt is held or cancelled. That its words were edited, that the queue
was put into another order, and what a plan says that had to be fetched, it learns here: `Folded`
is a transcript that takes these too. Pure, like the transcript it extends.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from fairlead.transcript.changes import Change
from fairlead.transcript.content import split
from fairlead.transcript.model import PromptItem
from fairlead.transcript.prompts import command_of
from fairlead.transcript.reduce import Fed
from fairlead.transcript.transcript import Transcript
from fairlead.wire.inputs import Prompt

__all__ = ["Folded", "HeldFact", "PlanShown", "PromptEdited", "PromptsReordered", "ServerFed"]


class PromptEdited(Struct, frozen=True):
    """A prompt that waits has other words now."""

    prompt: Prompt


class PromptsReordered(Struct, frozen=True):
    """The prompts that wait go out in this order."""

    uuids: tuple[str, ...]


class PlanShown(Struct, frozen=True):
    """The text of a plan that somebody must approve; newer CLIs tell it only when asked."""

    request_id: str
    plan: str


HeldFact: TypeAlias = PromptEdited | PromptsReordered | PlanShown
ServerFed: TypeAlias = Fed | HeldFact


class Folded(Transcript):
    """A transcript that also takes the server's own facts."""

    __slots__ = ()

    def take(self, fed: ServerFed, at: float) -> list[Change]:
        """Take in anything that the server's log can hold."""
        if isinstance(fed, PromptEdited | PromptsReordered | PlanShown):
            changes: list[Change] = []
            self._fold.changes = changes
            self._fold.at = at
            if isinstance(fed, PromptEdited):
                self._edit(fed.prompt)
            elif isinstance(fed, PromptsReordered):
                self._reorder(fed.uuids)
            else:
                self._show_plan(fed)
            return changes
        return self.feed(fed, at)

    def line_of(self, item_id: str) -> str | None:
        """The uuid of the last line that had a part in an item: where a fork at it begins."""
        item = self._fold.item(item_id)
        if isinstance(item, PromptItem):
            return item.uuid
        lines = [uuid for uuid, made in self._fold.memory.made.items() if item_id in made]
        return lines[-1] if lines and item is not None else None

    def _edit(self, prompt: Prompt) -> None:
        item = self._held(prompt.uuid)
        if item is not None:
            text, images, files = split(prompt.content)
            self._fold.set(
                "items",
                item.id,
                text=text,
                images=images,
                files=files,
                command=command_of(text),
            )

    def _reorder(self, uuids: tuple[str, ...]) -> None:
        """Each goes to the end in its turn; what was written already stays before them."""
        fold = self._fold
        for uuid in uuids:
            item = self._held(uuid)
            if item is not None:
                fold.remove("items", item.id)
                fold.memory.waiting.remove(item.id)
                fold.add("items", item)
                fold.memory.waiting.append(item.id)

    def _show_plan(self, fact: PlanShown) -> None:
        request = self._fold.get("pending", fact.request_id)
        if request is not None:
            self._fold.set("pending", request.id, details={**request.details, "plan": fact.plan})

    def _held(self, uuid: str) -> PromptItem | None:
        item = self._fold.item(uuid)
        if isinstance(item, PromptItem) and item.state == "held":
            return item
        return None
