"""The shape of what carries out one kind of intent; the tables are in the intent modules."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

__all__ = ["Handler", "Handlers", "Result"]

Result: TypeAlias = dict[str, Any]
Handler: TypeAlias = Callable[[Any, Any, Any], Awaitable[Result]]
"""Takes the sessions, the deed and the intent; gives the good result or raises a `Refusal`."""
Handlers: TypeAlias = Mapping[type, Handler]
