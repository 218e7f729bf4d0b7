"""The prompts of one session that wait in the server: see, edit, reorder, cancel, send now.

The server holds them, not the CLI, so that they can be changed until the moment they are
written, and outlive a CLI that crashes. Pure; `prompt_line` writes them and stores the facts.
"""

from __future__ import annotations

from fairlead.wire.inputs import Prompt

__all__ = ["HeldPrompts"]


class HeldPrompts:
    """A queue whose entries have names."""

    def __init__(self) -> None:
        self._prompts: dict[str, Prompt] = {}

    def __len__(self) -> int:
        return len(self._prompts)

    def __contains__(self, uuid: str) -> bool:
        return uuid in self._prompts

    @property
    def uuids(self) -> tuple[str, ...]:
        """The prompts that wait, the next one first."""
        return tuple(self._prompts)

    def add(self, prompt: Prompt) -> None:
        """The last in the queue."""
        self._prompts[prompt.uuid] = prompt

    def put_back(self, prompt: Prompt) -> None:
        """The first in the queue: it was taken and could not be written."""
        self._prompts = {prompt.uuid: prompt, **self._prompts}

    def edit(self, prompt: Prompt) -> bool:
        """Other words for a prompt that still waits; False if it does not."""
        if prompt.uuid not in self._prompts:
            return False
        self._prompts[prompt.uuid] = prompt
        return True

    def reorder(self, uuids: tuple[str, ...]) -> bool:
        """Another order; False unless it names exactly the prompts that wait."""
        if sorted(uuids) != sorted(self._prompts):
            return False
        self._prompts = {uuid: self._prompts[uuid] for uuid in uuids}
        return True

    def get(self, uuid: str) -> Prompt | None:
        """A prompt that waits."""
        return self._prompts.get(uuid)

    def take(self, uuid: str | None = None) -> Prompt | None:
        """The next prompt, or a given one, out of the queue."""
        if uuid is None:
            uuid = next(iter(self._prompts), None)
        return None if uuid is None else self._prompts.pop(uuid, None)
