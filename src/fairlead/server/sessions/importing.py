"""Imports a recording as a session that can only be read.

The lines become events of a new log, as if the session had run here, and so the transcript comes
from the same reducer. The session has no folder and no id of the CLI: a recording must neither
open a folder of this machine nor claim one of its sessions.
"""

from __future__ import annotations

import asyncio
import uuid

from fairlead.errors import UsageError
from fairlead.server.refusal import Refusal
from fairlead.server.session.loading import Loaded
from fairlead.server.session.log_lines import event_of
from fairlead.server.sessions.sessions import Sessions
from fairlead.server.view.session_rows import title_of
from fairlead.store.log import Event, NewEvent
from fairlead.store.tables.sessions import RECORDING, SessionRow
from fairlead.transcript.recording import recorded
from fairlead.transcript.state.facts import ProcessExited
from fairlead.wire.json_text import NotJson, parse
from fairlead.wire.recorded import read_recorded

__all__ = ["import_recording"]

CHUNK = 2_000
EPOCH_S = 1_000_000_000.0
"""Smaller times of a recording count from its start."""


async def import_recording(sessions: Sessions, body: bytes, name: str) -> str:
    """Store a recording as a session; returns its id. Refuses anything that is no recording."""
    now = sessions.clock()
    events = await asyncio.to_thread(_events, body, now)
    session = f"{RECORDING}-{uuid.uuid4().hex}"
    loaded = Loaded()
    for start in range(0, len(events), CHUNK):
        part = events[start : start + CHUNK]
        last = await sessions.store.append(session, part)
        numbered = [
            Event(last - len(part) + place, event.direction, event.line, event.at)
            for place, event in enumerate(part, 1)
        ]
        await asyncio.to_thread(loaded.fold, numbered)
    transcript = loaded.transcript
    line = " ".join(name.split())[: sessions.limits.title_chars]
    row = SessionRow(
        id=session,
        title=title_of(transcript) or line or "Recording",
        model=transcript.session.model,
        source=RECORDING,
        cost_usd=transcript.ledger.cost_usd,
        created=events[0].at,
        last_activity=now,
        items=transcript.count("items"),
        turns=transcript.count("turns"),
    )
    await sessions.catalog.save(row)
    live = sessions.adopt(session, loaded)
    sessions.catalog.index_again(session, live.transcript.item_ids)
    return session


def _events(body: bytes, now: float) -> list[NewEvent]:
    """The events of a recording, which ends as if its process had been ended."""
    events: list[NewEvent] = []
    for number, line in enumerate(body.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            event = _event(line)
        except (UsageError, NotJson, UnicodeError) as problem:
            raise Refusal(
                "bad_message", f"Line {number} is not part of a recording: {problem}."
            ) from None
        if event is not None:
            events.append(event)
    if not events:
        raise Refusal("bad_message", "The file has no lines of a recording.")
    events.append(event_of(ProcessExited(expected=True), events[-1].at))
    # A time that does not count from 1970 counts from the start: let the recording end now.
    shift = now - events[-1].at if events[0].at < EPOCH_S else 0.0
    return [NewEvent(event.direction, event.line, event.at + shift) for event in events]


def _event(line: bytes) -> NewEvent | None:
    entry = read_recorded(line)
    if not 0.0 <= entry.at < 10 * EPOCH_S:
        raise UsageError("its time is out of range")
    if entry.direction in ("out", "in"):
        return NewEvent(entry.direction, entry.line, entry.at)
    fed = recorded(parse(line))
    return None if fed is None else event_of(fed[0], fed[1])
