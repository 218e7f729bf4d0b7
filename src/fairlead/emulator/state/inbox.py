"""The queue of prompts.

A uuid that was seen before is dropped (CLI-202). Depending on the version, queued prompts become
one turn or one turn each; a running turn may take them between two requests. Pure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

__all__ = ["Inbox", "Prompt", "content_of", "text_of"]


PRIORITIES = {"now": 0, "next": 1, "later": 2}
"""The order of queued prompts; a priority that the CLI does not know counts as `next`."""


class Prompt(Struct, frozen=True, kw_only=True):
    """A message of the user, or a report of a background task."""

    content: Any
    uuid: str | None = None
    priority: str = "next"
    should_query: bool = True
    is_verbatim: bool = False
    """The client composed it: a leading slash is plain text and runs no command."""
    origin: Mapping[str, Any] | None = None
    """Set for a turn that the CLI starts by itself."""
    is_synthetic: bool = False
    """The host marked it as not written by the user (CLI-1639)."""

    @property
    def reported_origin(self) -> Mapping[str, Any] | None:
        """The origin as results and replays name it."""
        return {"kind": "unclassified"} if self.is_synthetic else self.origin

    @property
    def text(self) -> str:
        return text_of(self.content)

    @property
    def is_slash(self) -> bool:
        written = self.origin is None and not self.is_verbatim
        return written and self.text.lstrip().startswith("/")


def text_of(content: Any) -> str:
    """The text of a message content."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(
        str(block.get("text", ""))
        for block in blocks
        if isinstance(block, dict) and block.get("type") == "text"
    )


def content_of(prompts: Iterable[Prompt]) -> Any:
    """The content of prompts that are sent as one message."""
    parts = list(prompts)
    if len(parts) == 1:
        return parts[0].content
    blocks: list[dict[str, Any]] = []
    for number, prompt in enumerate(parts):
        content = prompt.content
        own = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
        if number < len(parts) - 1 and own and _is_text(own[-1]):
            own[-1] = {**own[-1], "text": own[-1]["text"] + "\n"}
        blocks += own
    return blocks


def _is_text(block: Any) -> bool:
    return (
        isinstance(block, dict)
        and block.get("type") == "text"
        and isinstance(block.get("text"), str)
    )


class Inbox:
    """The queued prompts."""

    def __init__(self, *, merges: bool, seen: Iterable[str] = ()) -> None:
        self._merges = merges
        self._waiting: deque[Prompt] = deque()
        self._seen = set(seen)
        self.from_transcript = frozenset(self._seen)

    def __len__(self) -> int:
        return len(self._waiting)

    def is_repeated(self, prompt: Prompt) -> bool:
        """Whether its uuid was seen before; records it."""
        if prompt.uuid is None:
            return False
        repeated = prompt.uuid in self._seen
        self._seen.add(prompt.uuid)
        return repeated

    def put(self, prompt: Prompt) -> None:
        """Add a prompt behind all of the same or of a higher priority."""
        rank = PRIORITIES.get(prompt.priority, 1)
        ahead = [p for p in self._waiting if PRIORITIES.get(p.priority, 1) <= rank]
        self._waiting.insert(len(ahead), prompt)

    def take(self) -> tuple[Prompt, ...]:
        """Remove and return the prompts of the next turn."""
        if not self._waiting:
            return ()
        first = self._waiting.popleft()
        if not self._merges or first.is_slash or first.reported_origin is not None:
            return (first,)
        taken = [first]
        while self._waiting and _merges(self._waiting[0], first):
            taken.append(self._waiting.popleft())
        return tuple(taken)

    def fold(self) -> tuple[Prompt, ...]:
        """Remove and return what a running turn takes between two requests to the model.

        The old version takes slash commands as plain text, the new one leaves them, and what
        asked to come later (CLI-519).
        """
        taken = [p for p in self._waiting if not self._merges or _folds(p)]
        self._waiting = deque(p for p in self._waiting if p not in taken)
        return tuple(taken)

    def uuids(self) -> list[str]:
        return [prompt.uuid for prompt in self._waiting if prompt.uuid]

    def remove(self, uuid: str | None) -> bool:
        """Remove a prompt by its uuid."""
        remaining = [p for p in self._waiting if p.uuid != uuid or uuid is None]
        removed = len(remaining) < len(self._waiting)
        self._waiting = deque(remaining)
        return removed

    def clear(self) -> list[str]:
        """Remove all and return their uuids."""
        uuids = self.uuids()
        self._waiting.clear()
        return uuids


def _merges(prompt: Prompt, first: Prompt) -> bool:
    """Only prompts of the same priority become one turn (CLI-1654)."""
    is_plain = not prompt.is_slash and prompt.reported_origin is None
    return is_plain and prompt.priority == first.priority


def _folds(prompt: Prompt) -> bool:
    return not prompt.is_slash and prompt.priority != "later"
