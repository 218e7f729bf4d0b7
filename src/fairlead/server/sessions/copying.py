"""Copies the history of a session into the log of another: for a fork, or from a file of the CLI.

A CLI that resumes a session does not print its history (CLI-704), so a session that begins with a
history must copy it. It is copied as events and becomes a transcript in the same way as all others.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Protocol

from fairlead.server.session.journal import EventStore
from fairlead.server.session.log_lines import event_of, fed_by
from fairlead.store.cli_files.imports import CliSession
from fairlead.store.cli_files.session_files import subagent_files
from fairlead.store.cli_files.transcript_file import read_object, read_records
from fairlead.store.log import FACT, Event, NewEvent
from fairlead.transcript.history.reader import Subagent, history
from fairlead.transcript.reduce import Fed
from fairlead.transcript.state import plain
from fairlead.transcript.state.facts import ProcessExited
from fairlead.wire.events import Assistant, Result, User
from fairlead.wire.inputs import Prompt
from fairlead.wire.message import SessionMessage
from fairlead.wire.system import Init

__all__ = ["History", "copy_session", "import_session", "read_history"]

CHUNK = 2_000
"""Most events that are read and written at once."""


class History(EventStore, Protocol):
    """A store with events that can be read."""

    async def read(self, session: str, after: int, limit: int) -> list[Event]:
        """The events that follow a number, in order."""


async def copy_session(
    store: History, source: str, target: str, at: str | None, when: float
) -> int:
    """Copy a session's events, up to the last one about the line `at`; return the last number.

    The copy ends as if its process had been ended, because a running turn of the source continues only there.
    """
    stop = None if at is None else await _last_about(store, source, at)
    after, last = 0, 0
    while events := await store.read(source, after, CHUNK):
        if stop is not None:
            events = [event for event in events if event.seq <= stop]
        if not events:
            break
        new = [NewEvent(event.direction, event.line, event.at) for event in events]
        last = await store.append(target, new)
        after = events[-1].seq
    return await store.append(target, [event_of(ProcessExited(expected=True), when)]) or last


async def import_session(
    store: EventStore, file: CliSession, target: str, at: str | None = None
) -> int:
    """Write the history in a file of the CLI to the log, up to the last entry about the line `at`.

    Returns the last number.
    """
    entries = await asyncio.to_thread(read_history, Path(file.path))
    if at is not None:
        end = _End(at)
        for position, (fed, _) in enumerate(entries):
            end.look(position, fed)
        entries = entries if end.position is None else entries[: end.position + 1]
    last = 0
    for start in range(0, len(entries), CHUNK):
        new = [event_of(fed, when) for fed, when in entries[start : start + CHUNK]]
        last = await store.append(target, new)
    return last


class _End:
    """Finds the last entry about a line: a prompt's echo rather than the prompt.

    If no other message follows in its turn, the turn's result belongs to the line.
    """

    def __init__(self, uuid: str) -> None:
        self._uuid = uuid
        self.position: int | None = None
        self.is_open = False
        """Whether the next entry may still belong to the line."""

    def look(self, position: int, fed: object) -> None:
        """Examine the entry at a position; positions are given in order."""
        if isinstance(fed, SessionMessage | Prompt) and fed.uuid == self._uuid:
            self.position, self.is_open = position, True
        elif self.is_open and isinstance(fed, Assistant | User | Init | Result):
            self.position = position if isinstance(fed, Result) else self.position
            self.is_open = False


async def _last_about(store: History, source: str, uuid: str) -> int | None:
    """The number of the last event about a line."""
    after, end, needle = 0, _End(uuid), uuid.encode()
    while events := await store.read(source, after, CHUNK):
        for event in events:
            named = event.direction != FACT and needle in event.line
            if named or end.is_open:
                end.look(event.seq, fed_by(event))
        after = events[-1].seq
    return end.position


def read_history(path: Path) -> list[tuple[Fed, float]]:
    """What a file of the CLI feeds to a transcript, with the times. Blocks: call it in a thread."""
    subagents = [
        Subagent(
            agent=file.stem.removeprefix("agent-"),
            records=tuple(read_records(file)),
            tool_use_id=plain.text(read_object(file.with_suffix(".meta.json")).get("toolUseId"))
            or None,
        )
        for file in subagent_files(path)
    ]
    return list(history(read_records(path), subagents))
