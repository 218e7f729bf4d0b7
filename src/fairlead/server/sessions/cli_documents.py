"""The CLI's own sessions in the lobby and as documents: clients read them live, without changes.

A session that another program writes is read again when its file grows; its subscribers then get
a new snapshot. Resuming it makes it a session of the server (`intents.session`).
"""

from __future__ import annotations

import asyncio
import logging
import uuid

from msgspec import structs

from fairlead.server.protocol import lobby_rows
from fairlead.server.sessions.sessions import Sessions
from fairlead.server.view.session_rows import cli_row
from fairlead.server.view.session_view import SessionView
from fairlead.store.cli_files.folders import CliFolders
from fairlead.store.cli_files.imports import Changed, CliSession, CliSessions, Progress
from fairlead.transcript.transcript import Transcript

__all__ = ["CliDocuments"]

log = logging.getLogger("fairlead")

RETRY_S = 5.0
"""The delay before a retry after listing the CLI's sessions failed."""


class CliDocuments:
    """Follows the folders of the CLI's sessions, one for each profile."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._cli = sessions.cli
        self._epoch = f"cli.{uuid.uuid4().hex[:12]}"
        self._seqs: dict[str, int] = {}
        self._sources: dict[str, SessionView] = {}
        self._following: dict[str, asyncio.Task[None]] = {}
        self._in_use: set[str] = set()
        """Sessions that are listed as in use by another process."""
        self._watching: dict[CliSessions, asyncio.Task[None]] = {}
        self._progress: dict[str, Progress] = {}
        """The progress of each profile's listing, while it runs."""

    def start(self) -> None:
        """Begin to list the sessions; the first time may take long."""
        for folder in [] if self._cli is None else self._cli.profiles.values():
            if folder not in self._watching:
                self._watching[folder] = asyncio.create_task(self._watch(folder))

    async def use_folders(self) -> None:
        """List the sessions of the present profiles, and no longer those of others."""
        current = [] if self._cli is None else list(self._cli.profiles.values())
        for folder in [each for each in self._watching if each not in current]:
            task = self._watching.pop(folder)
            task.cancel()
            await asyncio.wait([task])
            self._show_progress(folder.profile, None)
            for session in folder.sessions():
                self.list_again(session.id)
        self.start()

    async def close(self) -> None:
        """Stop listing and following."""
        tasks = [*self._following.values(), *self._watching.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def open(self, document: str) -> bool:
        """Attach one of the CLI's sessions to the hub; False if there is none."""
        if self._cli is None:
            return False
        if document in self._following and self._sessions.hub.has(document):
            return True
        try:
            transcript = await self._cli.transcript(document)
            self._attach(document, transcript)
        except (KeyError, OSError):
            return False
        except Exception:
            log.exception("the session file %s cannot be shown", document)
            return False
        if document not in self._following:
            task = asyncio.create_task(self._follow(self._cli, document))
            self._following[document] = task
        return True

    def source(self, document: str) -> SessionView | None:
        """One of the CLI's sessions as its clients see it, if it is open."""
        return self._sources.get(document)

    async def cull(self) -> None:
        """Stop following documents without clients, and update sessions that are not in use now."""
        self._update_in_use()
        await self.look_for_folders()
        hub = self._sessions.hub
        for document in [name for name in self._following if not hub.followers(name)]:
            task = self._following.pop(document)
            task.cancel()
            await asyncio.wait([task])
            hub.detach(document)
            self._sources.pop(document, None)

    def _attach(self, document: str, transcript: Transcript) -> None:
        self._seqs[document] = seq = self._seqs.get(document, 0) + 1
        source = SessionView(
            transcript,
            self._sessions.policy,
            self._sessions.limits,
            self._sessions.environment_of(self._profile_of(document)),
        )
        self._sources[document] = source
        self._sessions.hub.attach(
            document,
            source,
            seq=seq,
            epoch=self._epoch,
            item_ids=transcript.item_ids,
            beside=source.turns_of,
        )

    def _profile_of(self, document: str) -> str:
        file = None if self._cli is None else self._cli.find(document)
        return "" if file is None else file.profile

    def _show(self, session: CliSession, now: float) -> None:
        live = session.is_live(now)
        (self._in_use.add if live else self._in_use.discard)(session.id)
        problem = None if live else self._sessions.catalog.resume_problems.of_cli(session)
        row = cli_row(session, live, problem)
        deleting = self._sessions.catalog.deleting.get(session.id)
        self._sessions.lobby.put("sessions", structs.replace(row, deleting=deleting))

    def list_again(self, name: str) -> None:
        """List a session of the CLI as it is now, or no longer; the server's own are not changed."""
        session = self._cli.find(name) if self._cli is not None else None
        self._list(Changed(gone=(name,)) if session is None else Changed((session,)))

    def _update_in_use(self) -> None:
        """Update sessions whose process ended, because its end does not change their file."""
        now = self._sessions.clock()
        for name in tuple(self._in_use):
            session = self._cli.find(name) if self._cli is not None else None
            if session is None:
                self._in_use.discard(name)
            elif not session.is_live(now):
                self._show(session, now)

    async def look_for_folders(self) -> None:
        """Mark the sessions that cannot be resumed because their folder does not exist."""
        catalog, lobby = self._sessions.catalog, self._sessions.lobby
        await catalog.resume_problems.look(row.cwd for row in lobby.sessions())
        catalog.show_resume_problems()
        now = self._sessions.clock()
        for row in lobby.sessions():
            if row.source == "cli" and self._cli is not None:
                session = self._cli.find(row.id)
                if session is not None and row.id not in self._sessions.rows:
                    self._show(session, now)

    async def _follow(self, cli: CliFolders, document: str) -> None:
        first = True
        try:
            async for transcript in cli.follow(document):
                if not first:
                    self._attach(document, transcript)
                first = False
        except Exception:
            log.exception("the session file %s cannot be followed any longer", document)

    async def _watch(self, cli: CliSessions) -> None:
        """List present and new sessions. A failure is retried and shown to clients."""
        lobby = self._sessions.lobby
        while True:
            try:
                async for changed in cli.watch(
                    progress=lambda progress: self._show_progress(cli.profile, progress)
                ):
                    self._list(changed)
                    lobby.set_server(listing_problem=None)
            except Exception as problem:
                log.exception("the sessions of the CLI could not be listed; trying again")
                self._show_progress(cli.profile, None)
                lobby.set_server(
                    listing_problem=f"Some sessions of the CLI may be missing: {problem}",
                )
            await asyncio.sleep(RETRY_S)

    def _show_progress(self, profile: str, progress: Progress | None) -> None:
        """Show how far long listings have come; nothing when all are complete."""
        self._progress.pop(profile, None)
        if progress is not None and progress.done < progress.total:
            self._progress[profile] = progress
        running = self._progress.values()
        listing = lobby_rows.Progress(
            sum(each.done for each in running), sum(each.total for each in running)
        )
        self._sessions.lobby.set_server(listing=listing if running else None)

    def _list(self, changed: Changed) -> None:
        own = {row.cli_session_id for row in self._sessions.rows.values()}
        own |= self._sessions.elsewhere()
        for live in self._sessions.live:  # An id may change within a session (CLI-604).
            own |= {live.transcript.session.id, *live.transcript.session.previous_ids}
        now = self._sessions.clock()
        for session in changed.sessions:
            if session.id in own:
                self._in_use.discard(session.id)
                self._sessions.lobby.remove("sessions", session.id)
            elif self._profile_of(session.id) == session.profile:
                self._show(session, now)
        self._sessions.catalog.show_resume_problems()
        for gone in changed.gone:
            if gone in self._sessions.rows:
                continue
            # A copy in the folder of another profile takes its place.
            other = None if self._cli is None else self._cli.find(gone)
            if other is None or other.id in own:
                self._sessions.lobby.remove("sessions", gone)
            else:
                self._show(other, now)
