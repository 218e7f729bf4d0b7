"""Splits recordings of a real CLI into processes and the lines that each read and wrote."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

RECORDINGS = Path(__file__).parent.parent / "recordings"


@dataclass(frozen=True, slots=True)
class Event:
    direction: str
    """in, out, api or note"""
    message: Any


@dataclass(slots=True)
class RecordedProcess:
    """One start of the CLI."""

    argv: list[str]
    environment: dict[str, str | None]
    events: list[Event] = field(default_factory=list)
    exit_code: Any = None

    def written(self) -> list[Any]:
        return [event.message for event in self.events if event.direction == "out"]


def scenarios(version: str) -> list[str]:
    """The names of the scenarios that were recorded on a version."""
    return sorted(path.stem for path in (RECORDINGS / version).glob("*.ndjson"))


def processes(version: str, name: str) -> list[RecordedProcess]:
    """The processes of a recording, in order."""
    matches: list[RecordedProcess] = []
    for line in (RECORDINGS / version / f"{name}.ndjson").read_text().splitlines():
        entry = json.loads(line)
        kind, message = entry["dir"], entry["msg"]
        if kind == "note" and isinstance(message, dict) and "argv" in message:
            matches.append(RecordedProcess(message["argv"][1:], message["env"]))
        elif kind == "end":
            matches[-1].exit_code = message["rc"]
        elif matches:
            matches[-1].events.append(Event(kind, message))
    return matches
