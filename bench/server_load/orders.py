"""What a prompt tells an agent of the benchmark to do."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

__all__ = ["Orders"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """How fast to speak, for how long, and whether to ask before every tool call."""

    lines_per_s: float
    seconds: float
    asks: bool = False

    def text(self) -> str:
        """The prompt."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> Orders:
        """What a prompt says."""
        return cls(**json.loads(text))
