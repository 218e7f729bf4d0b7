"""Why a stopped session cannot be resumed: its file or its folder does not exist.

The lobby shows this in the session's row, so that clients do not offer to resume it. It is a
hint that may be a few seconds old; `intents/resume_check` decides when a client resumes.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable

from fairlead.server.profiles.profiles import missing_words
from fairlead.server.sessions.session_options import branches_from
from fairlead.store.cli_files.folders import CliFolders
from fairlead.store.cli_files.imports import CliSession
from fairlead.store.tables.sessions import RECORDING, SessionRow
from fairlead.transcript.transcript import Transcript

__all__ = ["ResumeProblems"]

NO_FILE = "The session file was deleted. You can read the session here, but not resume it."
DAMAGED = "The session file is damaged: it does not name the folder in which the session worked."
IMPORTED = "This session is an imported recording. It can be read and played back, not resumed."

LISTED_AFTER_S = 20.0
"""A file that the CLI wrote before it exited is listed after this time at the latest."""


class ResumeProblems:
    """The known problems of the files and folders of sessions."""

    def __init__(self, cli: CliFolders | None, has_profile: Callable[[str], bool]) -> None:
        self._cli = cli
        self._has_profile = has_profile
        self._gone: frozenset[str] = frozenset()

    async def look(self, folders: Iterable[str]) -> None:
        """Check in a thread which of these folders do not exist."""
        wanted = set(folders)
        self._gone = await asyncio.to_thread(_missing, wanted)

    def of_own(self, row: SessionRow, transcript: Transcript | None, now: float) -> str | None:
        """The problem of a stopped session of this server; None if none is known."""
        if row.source == RECORDING:
            return IMPORTED
        if row.moved is not None:
            return f"This session was moved to {row.moved.name}. Open it there."
        if not self._has_profile(row.profile):
            return missing_words(row.profile)
        turns = row.turns if transcript is None else transcript.count("turns")
        if not turns:
            return None  # It starts as a new session, which needs no file.
        origin = row.origin if transcript is None else branches_from(row, transcript)
        past = row.cli_session_id if origin is None else origin.cli_session_id
        ended = row.last_activity if transcript is None else transcript.status.since
        folder = None if self._cli is None else self._cli.of(row.profile)
        if folder is not None and folder.complete and now - ended > LISTED_AFTER_S:
            file = folder.find(past or "")
            if file is None:
                return NO_FILE
            if not file.cwd:
                return DAMAGED
        return self._folder(row.cwd)

    def of_cli(self, session: CliSession) -> str | None:
        """The problem of a session of the CLI."""
        return self._folder(session.cwd) if session.cwd else DAMAGED

    def _folder(self, folder: str) -> str | None:
        if folder not in self._gone:
            return None
        return f"The folder {folder!r} no longer exists. Restore it to resume the session."


def _missing(folders: set[str]) -> frozenset[str]:
    return frozenset(folder for folder in folders if folder and not os.path.isdir(folder))
