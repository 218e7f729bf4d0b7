"""The base of all intents."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

__all__ = ["BaseIntent"]


class BaseIntent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    """What a client wants. Each kind has the least role that may send it."""

    role: ClassVar[str] = "operator"
    """viewer < approver < operator < owner."""
