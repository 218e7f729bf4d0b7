"""A recording's lines as what the reducer is fed.

Two forms are read: `{"t", "dir", "line"}` with the exact text, which Fairlead writes, and
`{"t", "dir", "msg"}` with the object. `out` is the CLI, `in` the host, `end` the end of a
process and a `note` with `argv` the start of one. Everything else is for the reader's eyes.
"""

from __future__ import annotations

from typing import Any

from fairlead.transcript import plain
from fairlead.transcript.facts import ProcessExited, ProcessStarted
from fairlead.transcript.reduce import Fed
from fairlead.wire.decode import decode
from fairlead.wire.encode import decode_input
from fairlead.wire.json_text import write

__all__ = ["recorded"]


def recorded(entry: dict[str, Any]) -> tuple[Fed, float] | None:
    """What one entry of a recording feeds, and when; None if it feeds nothing."""
    at = float(plain.number(entry.get("t")) or 0.0)
    direction, said = entry.get("dir"), entry.get("msg")
    if direction == "out":
        return decode(_line(entry)), at
    if direction == "in":
        return decode_input(_line(entry)), at
    if direction == "end":
        end = plain.mapping(said)
        code = end.get("rc")
        stderr = plain.text(end.get("stderr"))
        return ProcessExited(returncode=code if isinstance(code, int) else None, stderr=stderr), at
    if direction == "note" and "argv" in plain.mapping(said):
        return ProcessStarted(resumed=_resumed(plain.strings(plain.mapping(said)["argv"]))), at
    return None


def _line(entry: dict[str, Any]) -> bytes:
    """The bytes that went over the pipe; `_raw` and `_hex` stand for what was no JSON object."""
    line = entry.get("line", entry.get("msg"))
    if isinstance(line, dict) and "_hex" in line:
        try:
            return bytes.fromhex(plain.text(line["_hex"]))
        except ValueError:
            return b""
    if isinstance(line, dict) and "_raw" in line:
        line = plain.text(line["_raw"])
    return line.encode("utf-8", "replace") if isinstance(line, str) else write(line)


def _resumed(argv: list[str]) -> str | None:
    """The session that these arguments go on with; `latest` if they do not name it."""
    for flag in ("--resume", "-r"):
        if flag in argv[:-1]:
            return argv[argv.index(flag) + 1]
    return "latest" if {"--continue", "-c"} & set(argv) else None
