"""Instructions for an agent of the benchmark, as the text of a prompt."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

__all__ = ["Instructions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Instructions:
    """How fast to write, for how long, and whether to ask before every tool call."""

    lines_per_s: float
    seconds: float
    asks: bool = False

    def text(self) -> str:
        """The prompt."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> Instructions:
        """The instructions in a prompt."""
        return cls(**json.loads(text))
