"""The types of the functions that handle intents; the tables are in the intent modules."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

__all__ = ["Handler", "Handlers", "Result"]

Result: TypeAlias = dict[str, Any]
Handler: TypeAlias = Callable[[Any, Any, Any], Awaitable[Result]]
"""Takes the sessions, the context and the intent; returns the result or raises a `Refusal`."""
Handlers: TypeAlias = Mapping[type, Handler]
