"""The stored lines of one session as they are: what the CLI said, what it was told, what was noted.

Read in windows, forwards or backwards from a number, with filters; a question that finds little
stops after so many lines and says how far it came. Raw lines may hold what a transcript never
shows (the settings of MCP servers, tokens in them), so the route takes the role operator.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec
from msgspec import UNSET, Struct, UnsetType

from fairlead.store.log import FACT, IN, OUT, Event

__all__ = ["Asked", "EventReader", "read_log"]

MOST_LINES = 500
SCANNED = 20_000
"""Lines looked through for one question."""
CHUNK = 2_000
LINE_CHARS = 8_000
"""How much of a line is sent in a list; `whole` sends all of it."""


class EventReader(Protocol):
    """What this needs of the store."""

    async def read(self, session: str, after: int, limit: int) -> list[Event]:
        """The events that follow a number, in order."""

    async def last_seq(self, session: str) -> int:
        """The number of the last event."""


class Asked(Struct, frozen=True, kw_only=True):
    """Which lines are wanted: those after a number, or the last ones before one."""

    after: int | None = None
    before: int | None = None
    limit: int = 200
    directions: tuple[str, ...] = ()
    """Of out, in and fact; empty is all."""
    kinds: tuple[str, ...] = ()
    """Of what `type` says of each line; empty is all."""
    text: str = ""
    whole: bool = False


class _Head(Struct):
    """The few fields of a line that say what it is."""

    type: Any = None
    subtype: Any = None
    fact: Any = None
    request: Any | UnsetType = UNSET
    response: Any | UnsetType = UNSET
    event: Any | UnsetType = UNSET


_head = msgspec.json.Decoder(_Head).decode


async def read_log(store: EventReader, session: str, asked: Asked) -> dict[str, Any]:
    """Lines in order, how far the question came, and the number of the last line there is."""
    last = await store.last_seq(session)
    limit = max(1, min(asked.limit, MOST_LINES))
    if asked.after is not None:
        found, reached = await _forwards(store, session, asked, last, limit)
    else:
        found, reached = await _backwards(store, session, asked, last, limit)
    lines = [_shown(event, kind, asked.whole) for event, kind in found]
    return {"lines": lines, "reached": reached, "last": last}


Found = list[tuple[Event, str]]


async def _forwards(
    store: EventReader, session: str, asked: Asked, last: int, limit: int
) -> tuple[Found, int]:
    at = max(asked.after or 0, 0)
    end = min(last, at + SCANNED)
    found: Found = []
    while at < end:
        for event in await store.read(session, at, min(CHUNK, end - at)):
            at = event.seq
            if (kind := _fits(event, asked)) is not None:
                found.append((event, kind))
                if len(found) >= limit:
                    return found, at
    return found, at


async def _backwards(
    store: EventReader, session: str, asked: Asked, last: int, limit: int
) -> tuple[Found, int]:
    """`reached` is the lowest number that was looked at."""
    at = last + 1 if asked.before is None else max(1, min(asked.before, last + 1))
    end = max(1, at - SCANNED)
    found: Found = []
    while at > end:
        start = max(end, at - CHUNK)
        for event in reversed(await store.read(session, start - 1, at - start)):
            at = event.seq
            if (kind := _fits(event, asked)) is not None:
                found.append((event, kind))
                if len(found) >= limit:
                    return found[::-1], at
        at = start
    return found[::-1], at


def _fits(event: Event, asked: Asked) -> str | None:
    """What kind of line it is, if it is wanted."""
    if asked.directions and event.direction not in asked.directions:
        return None
    if asked.text and asked.text.lower() not in event.line.decode(errors="replace").lower():
        return None
    kind = kind_of(event)
    if asked.kinds and not any(kind == one or kind.startswith(f"{one}/") for one in asked.kinds):
        return None
    return kind


def kind_of(event: Event) -> str:
    """`assistant`, `system/init`, `control_request/can_use_tool`, `fact/process_started`, …"""
    try:
        head = _head(event.line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return "unreadable"
    if event.direction == FACT:
        return f"fact/{head.fact}" if isinstance(head.fact, str) else "fact"
    if not isinstance(head.type, str):
        return "unknown"
    inner = {"control_request": head.request, "control_response": head.response}.get(head.type)
    if head.type == "stream_event":
        inner = head.event
    more = head.subtype if inner is None else _inner(inner)
    return f"{head.type}/{more}" if isinstance(more, str) else head.type


def _inner(value: Any) -> Any:
    if not isinstance(value, dict):
        return None
    return value.get("subtype", value.get("type"))


def _shown(event: Event, kind: str, whole: bool) -> dict[str, Any]:
    text = event.line.decode(errors="replace")
    cut = not whole and len(text) > LINE_CHARS
    return {
        "seq": event.seq,
        "at": event.at,
        "direction": event.direction if event.direction in (OUT, IN, FACT) else "unknown",
        "kind": kind,
        "size": len(event.line),
        "text": text[:LINE_CHARS] if cut else text,
        "cut": cut,
    }
