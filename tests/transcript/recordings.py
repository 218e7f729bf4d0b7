"""The recordings of real CLIs, and real sessions with the files the CLI wrote about them.

`tests/recordings` has streams only. `tests/transcript/sessions` has, for each of five versions,
the stream of a session with partial messages and echoes, and the transcript files that the same
process left behind; records of whole prompts (`api-request…`) are left out and attachments cut
to their type, because they are large and nobody reads them.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from fairlead.transcript import Transcript
from fairlead.transcript.history.reader import Subagent, history
from fairlead.transcript.recording import recorded
from fairlead.transcript.reduce import Fed

__all__ = [
    "RECORDINGS",
    "SESSIONS",
    "all_streams",
    "fold",
    "plain",
    "session_files",
    "stream",
]

TESTS = Path(__file__).parents[1]
RECORDINGS = TESTS / "recordings"
SESSIONS = Path(__file__).parent / "sessions"

TimedEvent = tuple[Fed, float]


@cache
def all_streams() -> tuple[str, ...]:
    """The names of everything that can be folded: `2.1.38/ask`, `sessions/2.1.38/tools`."""
    recordings = sorted(RECORDINGS.glob("*/*.ndjson"))
    sessions = sorted(SESSIONS.glob("*/*.json"))
    return (
        *(f"{path.parent.name}/{path.stem}" for path in recordings),
        *(f"sessions/{path.parent.name}/{path.stem}" for path in sessions),
    )


@cache
def stream(name: str) -> tuple[TimedEvent, ...]:
    """What one of them feeds."""
    if name.startswith("sessions/"):
        entries = _session(name.removeprefix("sessions/"))["stream"]
    else:
        text = (RECORDINGS / f"{name}.ndjson").read_text()
        entries = [json.loads(line) for line in text.splitlines()]
    found = (recorded(entry) for entry in entries)
    return tuple(entry for entry in found if entry is not None)


def session_files(name: str) -> tuple[list[dict[str, Any]], list[Subagent]]:
    """The records of a session's own file, and those of its subagents."""
    files = _session(name)["files"]
    (main,) = (records for path, records in files.items() if path.count("/") == 1)
    subagents = [
        Subagent(
            agent=Path(path).stem.removeprefix("agent-"),
            records=tuple(records),
            tool_use_id=files.get(path.replace(".jsonl", ".meta.json"), {}).get("toolUseId"),
        )
        for path, records in files.items()
        if "/subagents/" in path and path.endswith(".jsonl")
    ]
    return main, subagents


def fold(events: Any) -> Transcript:
    """A transcript of these events."""
    transcript = Transcript()
    for fed, at in events:
        transcript.feed(fed, at)
    return transcript


def plain(transcript: Transcript) -> dict[str, Any]:
    """The snapshot as a client gets it: through JSON."""
    values: dict[str, Any] = json.loads(transcript.snapshot().json())
    return values


def from_files(name: str) -> Transcript:
    """A session's transcript as its files tell it."""
    return fold(history(*session_files(name)))


def _session(name: str) -> dict[str, Any]:
    values: dict[str, Any] = json.loads((SESSIONS / f"{name}.json").read_text())
    return values
