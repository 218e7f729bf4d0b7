"""Why an intent was refused: a code of `messages.Problem`, a message, and details."""

from __future__ import annotations

from typing import Any

from fairlead.errors import Refused

__all__ = ["Refusal"]


class Refusal(Refused):
    """An intent cannot or may not be carried out; nothing was changed."""

    def __init__(self, code: str, message: str, **facts: Any) -> None:
        super().__init__(code, message, facts)
        self.code = code
        """A code of `Problem`."""
        self.message = message
        self.facts = facts

    def __str__(self) -> str:
        return self.message
