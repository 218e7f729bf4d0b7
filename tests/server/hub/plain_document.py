"""A plain document for tests of the hub, which can be changed at random by the five operations."""

from __future__ import annotations

import random
from typing import Any

from fairlead.transcript.state.changes import (
    Add,
    Append,
    Change,
    Remove,
    Replace,
    Set,
    apply,
    units,
)

WORDS = ("a", "ä", "😀", "one two", "\n", "日本", "")


class PlainDocument:
    """A document as plain values; the `Source` of a hub's document."""

    sections = ("status", "pending", "turns")

    def __init__(self, items: int = 0) -> None:
        self.state: dict[str, Any] = {
            "status": {"state": "idle", "n": 0},
            "pending": [],
            "turns": [],
            "items": [{"id": f"i{n}", "text": "", "n": n} for n in range(items)],
        }
        self.made = items
        self.seq = 0

    def section(self, name: str) -> Any:
        """A part or a list."""
        return self.state[name]

    def item(self, item_id: str) -> Any:
        """A row, looked for from the end."""
        return next(row for row in reversed(self.state["items"]) if row["id"] == item_id)

    @property
    def ids(self) -> list[str]:
        """The ids of the items, in order."""
        return [row["id"] for row in self.state["items"]]

    def change(self, rng: random.Random) -> list[Change]:
        """Do a few things at random; gives the changes."""
        changes: list[Change] = []
        for _ in range(rng.choice((0, 1, 1, 1, 2, 4))):
            one = self._one(rng)
            self.state = apply(self.state, [one])
            changes.append(one)
        self.seq += 1
        return changes

    def _one(self, rng: random.Random) -> Change:
        items = self.state["items"]
        what = rng.random()
        recent = rng.choice(items[-8:] if rng.random() < 0.9 else items) if items else None
        if what < 0.5 and recent is not None:
            offset = units(recent["text"]) if rng.random() < 0.95 else 0
            return Append("items", recent["id"], "text", offset, rng.choice(WORDS))
        if what < 0.62 and recent is not None:
            return Set("items", recent["id"], {"n": rng.randrange(9)})
        if what < 0.66 and recent is not None and len(items) > 3:
            return Remove("items", recent["id"])
        if what < 0.75:
            return Set("status", None, {"n": rng.randrange(5)})
        if what < 0.78:
            return Replace("pending", [{"id": f"p{rng.randrange(3)}"}])
        if what < 0.785 and items:
            return Replace("items", rng.sample(items, len(items) - 1))
        if what < 0.8:
            return Add("turns", {"id": f"t{self.made}-{self.seq}-{len(self.state['turns'])}"})
        self.made += 1
        before = None if recent is None or rng.random() < 0.6 else recent["id"]
        return Add("items", {"id": f"i{self.made}", "text": "", "n": 0}, before)
