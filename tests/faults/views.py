"""A document as a client has it, reduced to one hash that can be compared with the log's own.

A client holds the end of the items only, so a view says how many it holds; the same end is cut
from the whole before the two are compared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from fairlead.server.view.session_view import SessionView

__all__ = ["View", "view_of_source", "view_of_state"]

_encode = msgspec.json.Encoder(order="sorted").encode


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a client saw at one number."""

    seq: int
    items: int
    """How many items of the end it held."""
    digest: str


def view_of_state(state: dict[str, Any], seq: int) -> View:
    """The view of a client."""
    items = state["items"]
    rest = {name: value for name, value in state.items() if name != "items"}
    return View(seq=seq, items=len(items), digest=_digest(rest, items))


def view_of_source(source: SessionView, seq: int, items: int) -> View:
    """The view of a session that a client with this many items has."""
    sections = {name: source.section(name) for name in source.sections}
    whole = source.transcript.items
    shown = [source.item(entry.id) for entry in whole[len(whole) - items :]]
    return View(seq=seq, items=items, digest=_digest(sections, shown))


def _digest(sections: dict[str, Any], items: Sequence[Any]) -> str:
    text = _encode([msgspec.to_builtins(sections), [msgspec.to_builtins(item) for item in items]])
    return hashlib.sha256(text).hexdigest()
