"""The CLI's own sessions in the folders of several profiles.

Each profile has its own `CliSessions`. An id that is in two folders, because one was copied, is the
session of the profile that comes first; the default profile (an empty name) is the first.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from fairlead.store.cli_files.imports import CliSession, CliSessions
from fairlead.store.cli_files.session_files import ReadSession
from fairlead.transcript.transcript import Transcript

__all__ = ["CliFolders"]


class CliFolders:
    """The sessions of all profiles, and those of one."""

    def __init__(self, default: CliSessions) -> None:
        self._folders = {default.profile: default}

    @property
    def profiles(self) -> dict[str, CliSessions]:
        """The folders by profile."""
        return dict(self._folders)

    def of(self, profile: str) -> CliSessions | None:
        """The sessions of one profile."""
        return self._folders.get(profile)

    def put(self, folder: CliSessions) -> None:
        """Add the folder of a profile, or replace it."""
        self._folders[folder.profile] = folder

    def drop(self, profile: str) -> None:
        """Forget the folder of a profile; its files stay."""
        self._folders.pop(profile, None)

    @property
    def complete(self) -> bool:
        """Whether all files were checked once."""
        return all(folder.complete for folder in self._folders.values())

    async def refresh(self) -> None:
        """Check all files."""
        await asyncio.gather(*(folder.refresh() for folder in self._folders.values()))

    def sessions(self) -> list[CliSession]:
        """All sessions as of the last refresh, the last active first."""
        listed: dict[str, CliSession] = {}
        for folder in self._folders.values():
            for session in folder.sessions():
                listed.setdefault(session.id, session)
        return sorted(listed.values(), key=lambda session: (-session.last_activity, session.id))

    def find(self, session: str) -> CliSession | None:
        """One session by its id, in any folder."""
        sessions = (folder.find(session) for folder in self._folders.values())
        return next((session for session in sessions if session is not None), None)

    async def transcript(self, session: str) -> Transcript:
        """A session and its subagents; raises `KeyError` and `OSError`."""
        return await self._with(session).transcript(session)

    async def read(self, session: str) -> ReadSession:
        """The same, and the usage of the session according to its files."""
        return await self._with(session).read(session)

    def follow(self, session: str) -> AsyncGenerator[Transcript, None]:
        """The transcript now, and again whenever another process has added to it."""
        return self._with(session).follow(session)

    async def remove(self, session: str, profile: str) -> list[str]:
        """Delete all files of a session of a profile; return the paths of those that existed."""
        folder = self._folders.get(profile)
        return [] if folder is None else await folder.remove(session)

    def _with(self, session: str) -> CliSessions:
        entry = self.find(session)
        if entry is None:
            raise KeyError(session)
        return self._folders[entry.profile]
