"""A recording's lines as what the reducer is fed.

`wire.recorded` knows the forms of an entry. `out` is the CLI, `in` the host, `end` the end of a
process and a `note` with `argv` the start of one. Everything else is for the reader's eyes.
"""

from __future__ import annotations

from typing import Any

from fairlead.transcript.reduce import Fed
from fairlead.transcript.state import plain
from fairlead.transcript.state.facts import ProcessExited, ProcessStarted
from fairlead.wire.decode import decode
from fairlead.wire.encode import decode_input
from fairlead.wire.json_text import NotJson
from fairlead.wire.recorded import line_of

__all__ = ["recorded"]


def recorded(entry: dict[str, Any]) -> tuple[Fed, float] | None:
    """The values that an entry of a recording feeds, and their time; None if there are none."""
    at = float(plain.number(entry.get("t")) or 0.0)
    direction, message = entry.get("dir"), entry.get("msg")
    if direction in ("out", "in"):
        try:
            line = line_of(entry)
        except (ValueError, LookupError, NotJson):
            line = b""
        return (decode(line) if direction == "out" else decode_input(line)), at
    if direction == "end":
        end = plain.mapping(message)
        code = end.get("rc")
        stderr = plain.text(end.get("stderr"))
        return ProcessExited(returncode=code if isinstance(code, int) else None, stderr=stderr), at
    if direction == "note" and "argv" in plain.mapping(message):
        return ProcessStarted(resumed=_resumed(plain.strings(plain.mapping(message)["argv"]))), at
    return None


def _resumed(argv: list[str]) -> str | None:
    """The session that these arguments continue; `latest` if they do not name it."""
    for flag in ("--resume", "-r"):
        if flag in argv[:-1]:
            return argv[argv.index(flag) + 1]
    return "latest" if {"--continue", "-c"} & set(argv) else None
