"""A session from its start, as the frames that lead from one state of the transcript to the next.

A frame has the changes that the reducer made for some events in a row. A client begins with the
empty transcript and applies frame after frame, with the same function as for live changes; so
each state is the reducer's own. A frame begins where something begins for the reader: an item, a
request for approval, the end of a turn. A request for approval is open at the end of its frame, no
matter how soon it was answered. Long answers are divided by time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from fairlead.server.http.routes import Parameter, Route
from fairlead.server.intents.registry import Registry
from fairlead.server.refusal import Refusal
from fairlead.server.session.log_lines import fed_by
from fairlead.server.sessions.copying import read_history
from fairlead.store.log import StoreUnavailable
from fairlead.store.sqlite import SqliteStore
from fairlead.transcript.reduce import Fed
from fairlead.transcript.state.changes import Add, Change, Remove, Replace, Set
from fairlead.transcript.state.coalesce import coalesce
from fairlead.transcript.transcript import Transcript

__all__ = ["Frame", "Frames", "PlaybackRoutes"]

PART_S = 1.0
"""A frame that lasts longer is divided, so that an answer can be seen growing."""
PAGE_FRAMES = 2_000
PAGE_BYTES = 4 * 1024 * 1024
CHUNK = 1_000
CACHED = 16
"""Devices whose last position is in memory, so that the next page need not fold from the start."""


class Frame(Struct, frozen=True, kw_only=True):
    """The changes of some events in a row."""

    seq: int
    """The number of its last event."""
    at: float
    """The time of its first event."""
    kind: str
    """What begins with it: `message`, `approval`, `turn` (the end of one), or `part`."""
    changes: list[Change]


class Frames:
    """Divides the changes of a transcript into frames."""

    def __init__(self, transcript: Transcript | None = None, seq: int = 0) -> None:
        self.transcript = transcript or Transcript()
        self.seq = seq
        self._changes: list[Change] = []
        self._kind = "part"
        self._at = 0.0
        self._last = seq

    def feed(self, seq: int, fed: Fed | None, at: float) -> Frame | None:
        """Take an event in; returns the frame that ended before it."""
        changes = self.transcript.feed(fed, at) if fed is not None else []
        kind = _kind(changes)
        divides = kind is not None or at - self._at >= PART_S or self._answers(changes)
        done = self.end() if divides and changes else None
        if changes and not self._changes:
            self._kind, self._at = kind or "part", at
        self._changes += changes
        self._last = seq
        return done

    def _answers(self, changes: Iterable[Change]) -> bool:
        """Whether a request is no longer open whose frame has not ended yet."""
        return self._kind == "approval" and any(
            isinstance(change, Remove | Replace) and change.to == "pending" for change in changes
        )

    def end(self) -> Frame | None:
        """The frame of what was fed since the last one ended."""
        self.seq = self._last
        if not self._changes:
            return None
        changes = list(coalesce(self._changes))
        self._changes = []
        return Frame(seq=self._last, at=self._at, kind=self._kind, changes=changes)


def _kind(changes: Iterable[Change]) -> str | None:
    """What begins with an event's changes; the most important if there are several."""
    kinds = set()
    for change in changes:
        if isinstance(change, Add) and change.to in ("items", "pending"):
            kinds.add("message" if change.to == "items" else "approval")
        elif isinstance(change, Set) and change.to == "turns" and change.fields.get("outcome"):
            kinds.add("turn")
    return next((kind for kind in ("approval", "turn", "message") if kind in kinds), None)


class PlaybackRoutes:
    """The handler, and where each device was."""

    def __init__(self, registry: Registry, store: SqliteStore) -> None:
        self._registry = registry
        self._store = store
        self._positions: dict[tuple[str, str, int], Transcript] = {}
        self.routes = (
            Route(
                method="GET", path="/api/sessions/{session}/frames", role="viewer",
                about="A session from its start, as changes of the transcript.",
                handler=self._frames,
                parameters=(
                    Parameter(name="session", where="path", about="The session's id."),
                    Parameter(name="after", where="query", needed=False,
                              about="The number of the last frame that the client has."),
                ),
            ),
        )  # fmt: skip

    async def _frames(self, request: Request) -> Response:
        session, device = request.path_params["session"], request.state.device
        parameter = request.query_params.get("after", "0")
        after = (
            int(parameter)
            if parameter.isascii() and parameter.isdigit() and len(parameter) < 12
            else 0
        )
        try:
            body = await self._page(device, session, after)
        except StoreUnavailable as problem:
            raise Refusal("unavailable", f"The log cannot be read now: {problem.reason}.") from None
        return Response(body, media_type="application/json")

    async def _page(self, device: str, session: str, after: int) -> bytes:
        known = self._positions.pop((device, session, after), None)
        frames = Frames(known, after if known is not None else 0)
        parts: list[bytes] = []
        size = 0
        done = True
        async for chunk in self._events(session, frames.seq):
            new = await asyncio.to_thread(_cut, frames, chunk, after)
            parts += new
            size += sum(map(len, new))
            if len(parts) >= PAGE_FRAMES or size >= PAGE_BYTES:
                done = False
                break
        last = frames.end()
        if last is not None and last.seq > after:
            parts.append(msgspec.json.encode(last))
        while len(self._positions) >= CACHED:
            del self._positions[next(iter(self._positions))]
        if not done:
            self._positions[device, session, frames.seq] = frames.transcript
        start = b'"snapshot":' + Transcript().snapshot().json() + b"," if after == 0 else b""
        end = b'"last":%d,"done":%s}' % (frames.seq, b"true" if done else b"false")
        return b"{" + start + b'"frames":[' + b",".join(parts) + b"]," + end

    async def _events(
        self, session: str, after: int
    ) -> AsyncIterator[list[tuple[int, Fed | None, float]]]:
        """The events of a session in chunks: from its log, or from the CLI's file."""
        sessions = self._registry.sessions
        if session in sessions.rows:
            while events := await self._store.read(session, after, CHUNK):
                after = events[-1].seq
                yield [(event.seq, fed_by(event), event.at) for event in events]
            return
        file = sessions.cli.find(session) if sessions.cli is not None else None
        if file is None:
            raise Refusal("not_found", "Session not found.")
        entries = await asyncio.to_thread(read_history, Path(file.path))
        numbered = [(place, fed, at) for place, (fed, at) in enumerate(entries, 1) if place > after]
        for start in range(0, len(numbered), CHUNK):
            yield list(numbered[start : start + CHUNK])


def _cut(frames: Frames, events: list[tuple[int, Fed | None, float]], after: int) -> list[bytes]:
    """The frames that end within these events and that the client does not have."""
    ended = (frames.feed(*event) for event in events)
    return [
        msgspec.json.encode(frame) for frame in ended if frame is not None and frame.seq > after
    ]
