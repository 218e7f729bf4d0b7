"""Where new worktrees are made, and what prepares them: a command and files to copy, by repository.

An owner sets the command and the files; they are stored in the data folder, not in the repository,
so that no clone can bring a command with it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from fairlead.server.refusal import Refusal

__all__ = ["WorktreeSettings"]

BELOW = (".claude", "worktrees")
"""Where the CLI itself makes its worktrees, below the repository."""

COMMAND_CHARS, FILES, FILE_CHARS = 4_000, 50, 400


class WorktreeSettings:
    """The settings of one server; in memory only until `load` names a file for them."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        """The folder for worktrees of all repositories; None means below each repository."""
        self._file: Path | None = None
        self._settings: dict[str, tuple[str, tuple[str, ...]]] = {}

    def load(self, file: Path) -> None:
        """Read the stored settings from this file, and write changes to it from now on."""
        self._file = file
        try:
            stored = json.loads(file.read_text("utf-8"))
            self._settings = {
                str(top): (str(entry["setup"]), tuple(map(str, entry["copy"])))
                for top, entry in stored.items()
            }
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return  # None yet, or a damaged file: nothing is run and nothing copied.

    def read_again(self) -> None:
        """Read the settings again: another process of the server changed them."""
        if self._file is not None:
            self.load(self._file)

    def below(self, top: Path) -> Path:
        """The folder for the worktrees of a repository."""
        return top.joinpath(*BELOW) if self.folder is None else self.folder / top.name

    def setup(self, top: str) -> str:
        """The command that prepares a worktree of this repository; empty if there is none."""
        return self._settings.get(top, ("", ()))[0]

    def copied(self, top: str) -> tuple[str, ...]:
        """The files that are copied into a new worktree, as paths below the repository."""
        return self._settings.get(top, ("", ()))[1]

    def put(self, top: str, setup: str, copy: tuple[str, ...]) -> None:
        """Set both for a repository, and store them."""
        names = tuple(dict.fromkeys(name.strip() for name in copy if name.strip()))
        if len(setup) > COMMAND_CHARS or len(names) > FILES:
            raise Refusal(
                "too_large",
                f"A command can have at most {COMMAND_CHARS:,} characters, and at most {FILES} files can be "
                "copied.",
            )
        for name in names:
            parts = name.split("/")
            if len(name) > FILE_CHARS or any(part in ("", ".", "..", ".git") for part in parts):
                raise Refusal(
                    "bad_message", f"{name!r:.80} is not the path of a file below the repository."
                )
        self._settings[top] = (setup.strip(), names)
        self._write()

    def _write(self) -> None:
        if self._file is None:
            return
        part = self._file.with_name(f"{self._file.name}.part")
        entries = {
            top: {"setup": setup, "copy": list(copy)}
            for top, (setup, copy) in self._settings.items()
        }
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(part, flags, 0o600), "w", encoding="utf-8") as file:
                json.dump(entries, file)
                file.flush()
                os.fsync(file.fileno())
            part.replace(self._file)
        except OSError as problem:
            raise Refusal(
                "unavailable",
                f"This applies until the server stops, but could not be stored: {problem.strerror}.",
            ) from problem
