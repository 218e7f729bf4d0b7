"""Both pipes of a session in a file, line by line, and back.

One JSON object a line: `{"t": seconds, "dir": "out"|"in", "line": "<exact text>"}`, where `out`
is what the CLI wrote. A line that is not UTF-8 stands as `"base64"` instead. Reading also takes
`{"t", "dir", "msg": {…}}`, the form of the golden recordings, and passes other directions by.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from msgspec import Struct

from fairlead.errors import UsageError
from fairlead.host.prompts import PromptMoved
from fairlead.wire.decode import AnyMessage
from fairlead.wire.inputs import Input

__all__ = ["RecordedLine", "Recorder", "read_recording"]


class RecordedLine(Struct, frozen=True):
    """One line that went over a pipe."""

    at: float
    from_cli: bool
    line: bytes


class Recorder:
    """Writes what goes over the pipes; whole lines only, so that a kill leaves a good file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        try:
            # Open as long as the session is, so no `with`.
            self._file: IO[str] | None = Path(path).open("a", encoding="utf-8")  # noqa: SIM115
        except OSError as problem:
            raise UsageError(f"cannot record to {str(path)!r}: {problem.strerror}") from None

    def received(self, messages: list[AnyMessage], at: float) -> None:
        """Keep what the CLI wrote."""
        self._write("".join(_entry(at, "out", message.raw) for message in messages))

    def sent(self, message: Input, line: bytes, at: float) -> None:
        """Keep what the host wrote."""
        self._write(_entry(at, "in", line.rstrip(b"\n")))

    def prompt_moved(self, move: PromptMoved, at: float) -> None:
        """The queue is the host's own affair and not on the wire."""

    def exited(self, returncode: int, at: float) -> None:
        """The pipes are closed."""
        self.close()

    def close(self) -> None:
        """Write no more."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, text: str) -> None:
        if self._file is not None:
            self._file.write(text)
            self._file.flush()


def read_recording(path: str | os.PathLike[str]) -> Iterator[RecordedLine]:
    """The lines of a recording, in order."""
    with Path(path).open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                recorded = _read_entry(line, f"{path}:{number}")
                if recorded is not None:
                    yield recorded


def _read_entry(line: bytes, where: str) -> RecordedLine | None:
    try:
        entry = json.loads(line)
        direction = entry["dir"]
        if direction not in ("out", "in"):
            return None
        return RecordedLine(float(entry["t"]), direction == "out", _line_of(entry))
    except (ValueError, LookupError, TypeError, AttributeError) as problem:
        raise UsageError(f"{where} is not a line of a recording: {problem}") from None


def _line_of(entry: dict[str, Any]) -> bytes:
    if "line" in entry:
        return str(entry["line"]).encode("utf-8", "surrogatepass")
    if "base64" in entry:
        return base64.b64decode(entry["base64"])
    message = entry["msg"]
    if isinstance(message, dict) and set(message) == {"_raw"}:
        return str(message["_raw"]).rstrip("\n").encode()
    return json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _entry(at: float, direction: str, line: bytes) -> str:
    try:
        content = {"line": line.decode()}
    except UnicodeDecodeError:
        content = {"base64": base64.b64encode(line).decode()}
    return json.dumps({"t": round(at, 6), "dir": direction, **content}, ensure_ascii=False) + "\n"
