"""The recordings of real CLIs, line by line: tests/recordings/VERSION/NAME.ndjson.

An entry is `{"t", "dir", "msg"}`: `out` is a line of stdout (`{"_raw": text}` if it was no JSON),
`in` a line of stdin (a string if it was no JSON object, `{"_hex": digits}` for the bytes of a write
that was not one whole line), `end` the exit code.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

__all__ = ["VERSIONS", "Entry", "exit_code", "scenario", "stdin", "stdout"]

FOLDER = Path(__file__).parents[1] / "recordings"
VERSIONS = ("2.1.29", "2.1.38", "2.1.120", "2.1.220", "2.1.325")


class Entry(Struct, frozen=True):
    """One entry of a recording, and its position."""

    where: str
    direction: str
    message: Any

    @property
    def line(self) -> bytes:
        """The line as it went through the pipe, without its line end."""
        if isinstance(self.message, str):
            return self.message.encode()
        if "_raw" in self.message:
            return bytes(self.message["_raw"].encode())
        if "_hex" in self.message:
            return bytes.fromhex(self.message["_hex"])
        return json.dumps(self.message, separators=(",", ":")).encode()

    @property
    def is_text(self) -> bool:
        """Whether the line was no JSON object."""
        return isinstance(self.message, str) or not {"_raw", "_hex"}.isdisjoint(self.message)


@cache
def scenario(version: str, name: str) -> tuple[Entry, ...]:
    """All entries of one recording."""
    lines = (FOLDER / version / f"{name}.ndjson").read_text().splitlines()
    return tuple(
        Entry(f"{version}/{name}:{number}", entry["dir"], entry["msg"])
        for number, entry in enumerate(map(json.loads, lines), 1)
    )


@cache
def _all(version: str, direction: str) -> tuple[Entry, ...]:
    return tuple(
        entry
        for path in sorted((FOLDER / version).glob("*.ndjson"))
        for entry in scenario(version, path.stem)
        if entry.direction == direction
    )


def stdout(version: str) -> tuple[Entry, ...]:
    """Every line that a version was recorded to write."""
    return _all(version, "out")


def stdin(version: str) -> tuple[Entry, ...]:
    """Every line that was written to a version."""
    return _all(version, "in")


def exit_code(version: str, name: str) -> int:
    """How the process of a recording ended."""
    (end,) = (e for e in scenario(version, name) if e.direction == "end")
    return int(end.message["rc"])
