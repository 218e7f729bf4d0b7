"""Both pipes of a session in a file, line by line, and back.

`wire.recorded` knows the form of an entry; this opens the file, writes whole lines to it as a
session's observer, and reads it back.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from fairlead.errors import UsageError
from fairlead.host.engine.prompts import PromptMoved
from fairlead.wire.decode import AnyMessage
from fairlead.wire.inputs import Input
from fairlead.wire.recorded import Recorded, read_recorded, write_recorded

__all__ = ["Recorder", "read_recording"]


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
        self._write("".join(write_recorded(at, "out", message.raw) for message in messages))

    def sent(self, message: Input, line: bytes, at: float) -> None:
        """Keep what the host wrote."""
        self._write(write_recorded(at, "in", line.rstrip(b"\n")))

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


def read_recording(path: str | os.PathLike[str]) -> Iterator[Recorded]:
    """The lines that went over the pipes, in order; notes are passed by."""
    with Path(path).open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                entry = read_recorded(line)
            except UsageError as problem:
                raise UsageError(f"{path}:{number}: {problem}") from None
            if entry.direction in ("out", "in"):
                yield entry
