"""What hypothesis draws for the wire: any JSON value, almost-messages, and damaged recordings."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from tests.matrix import examples
from tests.wire.kinds import KINDS, carrier_of
from tests.wire.recorded import VERSIONS, stdout

__all__ = ["LAW", "SHORT_LAW", "almost_messages", "damaged_recordings", "json_values"]

LAW = settings(max_examples=examples(200), deadline=None)
"""Enough to meet every rung of the ladder in a second or two; no deadline, machines are busy."""
SHORT_LAW = settings(max_examples=examples(40), deadline=None)
"""For laws about many values at once."""

_scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text(max_size=12)
)


def json_values() -> st.SearchStrategy[Any]:
    """Any value that JSON can hold."""
    return st.recursive(
        _scalars,
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
        ),
        max_leaves=12,
    )


@cache
def _names() -> tuple[str, ...]:
    """The words of the protocol: all tags and all wire names of fields, at every level."""
    text = {"content", "id", "index", "text", "input"}
    for kind, member in KINDS.items():
        text |= set(kind.split("."))
        text |= set(member.__struct_encode_fields__)  # type: ignore[attr-defined]
    return tuple(sorted(text))


@st.composite
def almost_messages(draw: st.DrawFn) -> Any:
    """Objects that look like messages: valid names in wrong places, with any values."""
    text = st.sampled_from(_names())
    value = st.recursive(
        _scalars | text,
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(text | st.just("type"), inner, max_size=5)
        ),
        max_leaves=14,
    )
    put, _ = carrier_of(draw(st.sampled_from(sorted(KINDS))))
    return put(draw(value))


@cache
def _specimens() -> tuple[Any, ...]:
    """One recorded line of each shape: lines with the same paths teach the same."""
    shapes: dict[frozenset[Any], Any] = {}
    for version in VERSIONS:
        for entry in stdout(version):
            if not entry.is_text and len(entry.line) < 8_000:
                shapes.setdefault(frozenset(map(str, _paths(entry.message))), entry.message)
    return tuple(shapes.values())


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of everything in a value, except the value itself."""
    inner: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    matches = [path] if path else []
    for key, item in inner:
        matches += _paths(item, (*path, key))
    return matches


@st.composite
def damaged_recordings(draw: st.DrawFn) -> Any:
    """A recorded line in which one to three things are dropped, renamed or of another type."""
    message = copy.deepcopy(draw(st.sampled_from(_specimens())))
    for _ in range(draw(st.integers(1, 3))):
        paths = _paths(message)
        if paths:
            _damage(draw, message, draw(st.sampled_from(paths)))
    return message


def _damage(draw: st.DrawFn, message: Any, path: tuple[Any, ...]) -> None:
    *above, last = path
    parent = message
    for key in above:
        parent = parent[key]
    how = draw(st.sampled_from(("drop", "rename", "retype")))
    if how == "drop":
        del parent[last]
    elif how == "rename" and isinstance(parent, dict):
        parent[draw(st.sampled_from(_names()) | st.text(max_size=5))] = parent.pop(last)
    else:
        parent[last] = draw(json_values())
