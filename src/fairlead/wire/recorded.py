"""One line of a recording: the line, its time and its direction.

Two forms are read: `{"t", "dir", "line"}` with the exact text (or `base64` if it is not
UTF-8), which Fairlead writes, and `{"t", "dir", "msg"}` with the object, which the golden
recordings have. `out` is the CLI, `in` the host; other directions are notes. Pure.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from msgspec import Struct

from fairlead.errors import UsageError
from fairlead.wire.json_text import NotJson, parse, write

__all__ = ["Recorded", "line_of", "read_recorded", "write_recorded"]


class Recorded(Struct, frozen=True):
    """An entry of a recording."""

    at: float
    direction: str
    """`out`, `in`, or the kind of a note."""
    line: bytes
    """The exact line for `out` and `in`, else empty."""
    note: Any = None


def read_recorded(text: bytes) -> Recorded:
    """Parse a line of a recording; raises `UsageError` for anything else."""
    try:
        entry = parse(text)
        at, direction = float(entry["t"]), str(entry["dir"])
        if direction not in ("out", "in"):
            return Recorded(at, direction, b"", entry.get("msg"))
        return Recorded(at, direction, line_of(entry))
    except (NotJson, ValueError, LookupError, TypeError, AttributeError) as problem:
        raise UsageError(f"this is not a line of a recording: {problem}") from None


def write_recorded(at: float, direction: str, line: bytes) -> str:
    """The entry for a line, with its line end."""
    try:
        content = {"line": line.decode()}
    except UnicodeDecodeError:
        content = {"base64": base64.b64encode(line).decode()}
    return json.dumps({"t": round(at, 6), "dir": direction, **content}, ensure_ascii=False) + "\n"


def line_of(entry: dict[str, Any]) -> bytes:
    """The bytes of the line; `_raw` and `_hex` contain lines that are not JSON objects."""
    if "line" in entry:
        return str(entry["line"]).encode("utf-8", "replace")
    if "base64" in entry:
        return base64.b64decode(entry["base64"])
    message = entry["msg"]
    if isinstance(message, str):
        return message.encode("utf-8", "replace")
    if isinstance(message, dict) and "_hex" in message:
        return bytes.fromhex(str(message["_hex"]))
    if isinstance(message, dict) and "_raw" in message:
        return str(message["_raw"]).encode("utf-8", "replace")
    return write(message)
