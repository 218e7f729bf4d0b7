"""The past of a session written into the log of another: a fork's, or that of a CLI's own file.

A CLI that resumes says nothing of what was before (TRUTH 1.7), so a session that begins with a
history must bring it along. It is copied as events, and so becomes a transcript in the same way
as everything else.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Protocol

from fairlead.server.journal import EventStore
from fairlead.server.log_lines import event_of, fed_by
from fairlead.store.imports import CliSession
from fairlead.store.log import FACT, Event, NewEvent
from fairlead.store.session_files import subagent_files
from fairlead.store.transcript_file import read_object, read_records
from fairlead.transcript import plain
from fairlead.transcript.facts import ProcessExited
from fairlead.transcript.history import Subagent, history
from fairlead.transcript.reduce import Fed
from fairlead.wire.events import Assistant, Result, User
from fairlead.wire.inputs import Prompt
from fairlead.wire.message import SessionMessage
from fairlead.wire.system import Init

__all__ = ["History", "copy_session", "import_session"]

CHUNK = 2_000
"""Events read and written at once."""


class History(EventStore, Protocol):
    """A store that can also be read."""

    async def read(self, session: str, after: int, limit: int) -> list[Event]:
        """The events that follow a number, in order."""


async def copy_session(
    store: History, source: str, target: str, at: str | None, when: float
) -> int:
    """Copy a session's events, up to the last one about the line `at`; returns the last number.

    What was under way there is over here: the copy ends as if its process had been ended.
    """
    stop = None if at is None else await _last_about(store, source, at)
    after, last = 0, 0
    while events := await store.read(source, after, CHUNK):
        if stop is not None:
            events = [event for event in events if event.seq <= stop]
        if not events:
            break
        new = [NewEvent(one.direction, one.line, one.at) for one in events]
        last = await store.append(target, new)
        after = events[-1].seq
    return await store.append(target, [event_of(ProcessExited(expected=True), when)]) or last


async def import_session(
    store: EventStore, found: CliSession, target: str, at: str | None = None
) -> int:
    """Write what a CLI's own file tells into the log, up to the last of it about the line `at`.

    Returns the last number.
    """
    told = await asyncio.to_thread(_read, Path(found.path))
    if at is not None:
        end = _End(at)
        for place, (fed, _) in enumerate(told):
            end.look(place, fed)
        told = told if end.place is None else told[: end.place + 1]
    last = 0
    for start in range(0, len(told), CHUNK):
        new = [event_of(fed, when) for fed, when in told[start : start + CHUNK]]
        last = await store.append(target, new)
    return last


class _End:
    """Finds the last that is about a line: a prompt's echo rather than the prompt.

    If nothing more was said in its turn, the turn's result belongs to it.
    """

    def __init__(self, uuid: str) -> None:
        self._uuid = uuid
        self.place: int | None = None
        self.goes_on = False
        """Whether what follows may still belong to it."""

    def look(self, place: int, fed: object) -> None:
        """What stands at a place; places come in order."""
        if isinstance(fed, SessionMessage | Prompt) and fed.uuid == self._uuid:
            self.place, self.goes_on = place, True
        elif self.goes_on and isinstance(fed, Assistant | User | Init | Result):
            self.place = place if isinstance(fed, Result) else self.place
            self.goes_on = False


async def _last_about(store: History, source: str, uuid: str) -> int | None:
    """The number of the last event that is about a line."""
    after, end, needle = 0, _End(uuid), uuid.encode()
    while events := await store.read(source, after, CHUNK):
        for event in events:
            named = event.direction != FACT and needle in event.line
            if named or end.goes_on:
                end.look(event.seq, fed_by(event))
        after = events[-1].seq
    return end.place


def _read(path: Path) -> list[tuple[Fed, float]]:
    sides = [
        Subagent(
            agent=one.stem.removeprefix("agent-"),
            records=tuple(read_records(one)),
            tool_use_id=plain.text(read_object(one.with_suffix(".meta.json")).get("toolUseId"))
            or None,
        )
        for one in subagent_files(path)
    ]
    return list(history(read_records(path), sides))
