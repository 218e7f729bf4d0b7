"""Plain JSON values of unknown shape, read without ever raising.

Some fields of the wire are `Any`, because CLI versions disagree about them. These readers give
back a value of the wanted type or its empty form, so that the reducer is total. Know nothing of
messages.
"""

from __future__ import annotations

from typing import Any

__all__ = ["field_of", "integer", "mapping", "number", "rows", "strings", "text"]


def text(value: Any) -> str:
    """The value if it is a string, else an empty string."""
    return value if isinstance(value, str) else ""


def mapping(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty object."""
    return value if isinstance(value, dict) else {}


def rows(value: Any) -> list[dict[str, Any]]:
    """The objects of a list, everything else left out."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def strings(value: Any) -> list[str]:
    """The texts of a list, everything else left out."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def number(value: Any) -> float | None:
    """The value if it is a number, else None."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return None


def integer(value: Any) -> int:
    """The value if it is a whole number, else zero."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def field_of(value: Any, *names: str) -> Any:
    """The first of these fields that an object holds with a value."""
    if isinstance(value, dict):
        for name in names:
            if value.get(name) is not None:
                return value[name]
    return None
