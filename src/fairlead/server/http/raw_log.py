"""The stored lines of one session: lines of the CLI, lines to it, and facts.

They are read in windows, forwards or backwards from a number, with filters. A query that matches
few lines stops after a limit and reports how far it came. Raw lines may contain what a transcript
never shows (the settings of MCP servers, tokens in them), so the route requires the operator role.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec
from msgspec import UNSET, Struct, UnsetType

from fairlead.store.log import FACT, IN, OUT, Event

__all__ = ["EventReader", "LogQuery", "read_log"]

MOST_LINES = 500
SCANNED = 20_000
"""Most lines that one query looks through."""
CHUNK = 2_000
LINE_CHARS = 8_000
"""Most characters of a line in a list; `whole` sends all of them."""


class EventReader(Protocol):
    """The part of the store that the log uses."""

    async def read(self, session: str, after: int, limit: int) -> list[Event]:
        """The events that follow a number, in order."""

    async def last_seq(self, session: str) -> int:
        """The number of the last event."""


class LogQuery(Struct, frozen=True, kw_only=True):
    """Which lines to return: those after a number, or the last ones before one."""

    after: int | None = None
    before: int | None = None
    limit: int = 200
    directions: tuple[str, ...] = ()
    """out, in and fact; empty means all."""
    kinds: tuple[str, ...] = ()
    """Kinds as `kind_of` returns them; empty means all."""
    text: str = ""
    whole: bool = False


class _Head(Struct):
    """The few fields of a line that determine its kind."""

    type: Any = None
    subtype: Any = None
    fact: Any = None
    request: Any | UnsetType = UNSET
    response: Any | UnsetType = UNSET
    event: Any | UnsetType = UNSET


_head = msgspec.json.Decoder(_Head).decode


async def read_log(store: EventReader, session: str, query: LogQuery) -> dict[str, Any]:
    """Lines in order, how far the query came, and the number of the last line in the log."""
    last = await store.last_seq(session)
    limit = max(1, min(query.limit, MOST_LINES))
    if query.after is not None:
        matches, reached = await _forwards(store, session, query, last, limit)
    else:
        matches, reached = await _backwards(store, session, query, last, limit)
    lines = [_shown(event, kind, query.whole) for event, kind in matches]
    return {"lines": lines, "reached": reached, "last": last}


Matches = list[tuple[Event, str]]


async def _forwards(
    store: EventReader, session: str, query: LogQuery, last: int, limit: int
) -> tuple[Matches, int]:
    at = max(query.after or 0, 0)
    end = min(last, at + SCANNED)
    matches: Matches = []
    while at < end:
        for event in await store.read(session, at, min(CHUNK, end - at)):
            at = event.seq
            if (kind := _match(event, query)) is not None:
                matches.append((event, kind))
                if len(matches) >= limit:
                    return matches, at
    return matches, at


async def _backwards(
    store: EventReader, session: str, query: LogQuery, last: int, limit: int
) -> tuple[Matches, int]:
    """`reached` is the lowest number that was read."""
    at = last + 1 if query.before is None else max(1, min(query.before, last + 1))
    end = max(1, at - SCANNED)
    matches: Matches = []
    while at > end:
        start = max(end, at - CHUNK)
        for event in reversed(await store.read(session, start - 1, at - start)):
            at = event.seq
            if (kind := _match(event, query)) is not None:
                matches.append((event, kind))
                if len(matches) >= limit:
                    return matches[::-1], at
        at = start
    return matches[::-1], at


def _match(event: Event, query: LogQuery) -> str | None:
    """The kind of a line if the query matches it."""
    if query.directions and event.direction not in query.directions:
        return None
    if query.text and query.text.lower() not in event.line.decode(errors="replace").lower():
        return None
    kind = kind_of(event)
    if query.kinds and not any(
        kind == wanted or kind.startswith(f"{wanted}/") for wanted in query.kinds
    ):
        return None
    return kind


def kind_of(event: Event) -> str:
    """`assistant`, `system/init`, `control_request/can_use_tool`, `fact/process_started`, …"""
    try:
        head = _head(event.line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
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
