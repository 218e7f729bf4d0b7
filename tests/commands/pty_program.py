"""A program in a real terminal: type, and wait for text on the screen."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.forked_programs import program

LIMIT_S = 60.0
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x01\x02]")


class Terminal:
    """What a person has in front of them."""

    def __init__(self, process: subprocess.Popen[bytes], screen: int) -> None:
        self.process = process
        self._screen = screen
        self.raw = ""
        self._seen = 0

    @property
    def shown(self) -> str:
        """All text so far, without colors."""
        return ESCAPES.sub("", self.raw).replace("\r\n", "\n")

    def type(self, keys: str) -> None:
        os.write(self._screen, keys.encode())

    def wait_for(self, words: str) -> str:
        """Wait until the text appears after the text that was waited for before."""
        until = time.monotonic() + LIMIT_S
        while words not in self.shown[self._seen :]:
            left = until - time.monotonic()
            assert left > 0, f"no {words!r} within {LIMIT_S} s on:\n{self.shown}"
            if not self._take(left):
                raise AssertionError(f"it ended without {words!r}:\n{self.shown}")
        passed = self.shown[self._seen :]
        end = passed.index(words) + len(words)
        self._seen += end
        return passed[:end]

    def wait_for_end(self) -> int:
        """Read to the end; the exit code."""
        until = time.monotonic() + LIMIT_S
        while self._take(until - time.monotonic()):
            pass
        return self.process.wait(max(1.0, until - time.monotonic()))

    def _take(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._screen], [], [], max(0.0, seconds))
        if not ready:
            return False
        try:
            piece = os.read(self._screen, 65536)
        except OSError:  # Linux says so when the other side is closed.
            return False
        self.raw += piece.decode(errors="replace")
        return bool(piece)


@contextmanager
def in_terminal(
    *arguments: str, folder: Path, env: Mapping[str, str] | None = None
) -> Iterator[Terminal]:
    """`fairlead` in a terminal of 100 by 40, with this folder as its home."""
    screen, keyboard = pty.openpty()
    fcntl.ioctl(keyboard, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    surroundings = {"HOME": str(folder), "PATH": os.environ["PATH"], "TERM": "xterm-256color"}
    process = subprocess.Popen(
        [*program("fairlead.commands.main"), *arguments],
        stdin=keyboard,
        stdout=keyboard,
        stderr=keyboard,
        cwd=folder,
        env={**surroundings, "LANG": "C.UTF-8", **(env or {})},
    )
    os.close(keyboard)
    try:
        yield Terminal(process, screen)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait()
        os.close(screen)
