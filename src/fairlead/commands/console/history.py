"""Line editing by readline, and a persistent history of prompts.

The history file has its own format, one prompt per line, because those of GNU readline and libedit
differ. Only its owner can read it. Without readline there is no history.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from types import ModuleType

__all__ = ["History", "history_file", "state_folder"]

MOST_LINES = 1_000

ESCAPES = re.compile(r"(\x1b\[[0-9;]*m)")


def history_file() -> Path:
    """The file with the prompts of `fairlead chat`."""
    return state_folder() / "chat_history"


def state_folder() -> Path:
    """The folder for persistent state of the commands."""
    base = os.environ.get("XDG_STATE_HOME")
    state = Path(base) if base else Path(os.path.expanduser("~/.local/state"))
    return state / "fairlead"


class History:
    """The lines that the arrow keys recall."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file or history_file()
        self._readline: ModuleType | None = None

    def load(self) -> None:
        """Enable line editing and load the lines of earlier chats."""
        try:
            import readline
        except ImportError:
            return
        self._readline = readline
        readline.set_auto_history(False)
        try:
            lines = self._file.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return
        for line in lines[-MOST_LINES:]:
            readline.add_history(line)
        if len(lines) > 2 * MOST_LINES:
            self._write("\n".join(lines[-MOST_LINES:]) + "\n", os.O_TRUNC)

    def add(self, line: str) -> None:
        """Remember a line, now and in later chats."""
        if self._readline is not None:
            self._readline.add_history(line)
            self._write(line + "\n", os.O_APPEND)

    def line_is_begun(self) -> bool:
        """Whether the line that is being edited is not empty."""
        return self._readline is not None and bool(self._readline.get_line_buffer())

    def as_prompt(self, prompt: str) -> str:
        """The prompt with its color codes marked, so that readline does not count them as columns."""
        return ESCAPES.sub("\x01\\1\x02", prompt) if self._readline is not None else prompt

    def _write(self, text: str, flags: int) -> None:
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(self._file, os.O_WRONLY | os.O_CREAT | flags, 0o600)
        except OSError:
            return  # A chat works without a persistent history.
        with open(file, "w", encoding="utf-8", errors="replace") as opened:
            os.fchmod(file, 0o600)
            opened.write(text)
