"""Merging of settings, as the CLI merges its sources. Pure."""

from __future__ import annotations

from typing import Any

__all__ = ["merged"]


def merged(earlier: Any, later: Any) -> Any:
    """Two settings as one: objects are merged key by key, lists are joined, otherwise the later
    value wins.

    The hooks of both therefore run.
    """
    if isinstance(earlier, dict) and isinstance(later, dict):
        both = {key: merged(earlier[key], later[key]) for key in earlier if key in later}
        return {**earlier, **later, **both}
    if isinstance(earlier, list) and isinstance(later, list):
        return [*earlier, *(item for item in later if item not in earlier)]
    return later
