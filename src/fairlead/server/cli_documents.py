"""The CLI's own sessions in the lobby and as documents: to be looked at, live, and never touched.

A session that another program writes is read again when its file grows; whoever follows it then
gets a new snapshot. Resuming one makes it a session of the server (`session_intents`).
"""

from __future__ import annotations

import asyncio
import uuid

from fairlead.server import lobby_rows
from fairlead.server.decorate import SessionSource
from fairlead.server.session_rows import cli_row
from fairlead.server.sessions import Sessions
from fairlead.store.imports import Changed, CliSession, CliSessions, Progress
from fairlead.transcript.transcript import Transcript

__all__ = ["CliDocuments"]


class CliDocuments:
    """Follows the folder of the CLI's sessions."""

    def __init__(self, sessions: Sessions, cli: CliSessions | None) -> None:
        self._sessions = sessions
        self._cli = cli
        self._epoch = f"cli.{uuid.uuid4().hex[:12]}"
        self._seqs: dict[str, int] = {}
        self._sources: dict[str, SessionSource] = {}
        self._following: dict[str, asyncio.Task[None]] = {}
        self._in_use: set[str] = set()
        """Sessions that are listed as written by another process."""
        self._watching: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to list; the first look may take its time."""
        if self._cli is not None:
            self._watching = asyncio.create_task(self._watch(self._cli))

    async def close(self) -> None:
        """Stop looking."""
        tasks = list(self._following.values())
        if self._watching is not None:
            tasks.append(self._watching)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def open(self, document: str) -> bool:
        """Offer one of the CLI's sessions to the hub; False if there is none."""
        if self._cli is None:
            return False
        if document in self._following and self._sessions.hub.has(document):
            return True
        try:
            self._offer(document, await self._cli.transcript(document))
        except (KeyError, OSError):
            return False
        if document not in self._following:
            task = asyncio.create_task(self._follow(self._cli, document))
            self._following[document] = task
        return True

    def source(self, document: str) -> SessionSource | None:
        """One of the CLI's sessions as its clients see it, if it is open."""
        return self._sources.get(document)

    async def cull(self) -> None:
        """Follow no longer what nobody looks at, and list what has become quiet as that."""
        self._settle()
        hub = self._sessions.hub
        for document in [one for one in self._following if not hub.followers(one)]:
            task = self._following.pop(document)
            task.cancel()
            await asyncio.wait([task])
            hub.detach(document)
            self._sources.pop(document, None)

    def _offer(self, document: str, transcript: Transcript) -> None:
        self._seqs[document] = seq = self._seqs.get(document, 0) + 1
        source = SessionSource(transcript, self._sessions.policy, self._sessions.limits)
        self._sources[document] = source
        self._sessions.hub.attach(
            document,
            source,
            seq=seq,
            epoch=self._epoch,
            item_ids=transcript.item_ids,
            beside=source.turns_of,
        )

    def _show(self, found: CliSession, now: float) -> None:
        live = found.is_live(now)
        (self._in_use.add if live else self._in_use.discard)(found.id)
        self._sessions.lobby.put("sessions", cli_row(found, live))

    def _settle(self) -> None:
        """A process that ends writes nothing, so that its session becomes quiet without a change."""
        now = self._sessions.clock()
        for name in tuple(self._in_use):
            found = self._cli.find(name) if self._cli is not None else None
            if found is None:
                self._in_use.discard(name)
            elif not found.is_live(now):
                self._show(found, now)

    async def _follow(self, cli: CliSessions, document: str) -> None:
        first = True
        async for transcript in cli.follow(document):
            if not first:
                self._offer(document, transcript)
            first = False

    async def _watch(self, cli: CliSessions) -> None:
        async for changed in cli.watch(progress=self._tell):
            self._list(changed)

    def _tell(self, progress: Progress) -> None:
        """How far a long look has come; nothing when it is done."""
        done = progress.done >= progress.total
        told = None if done else lobby_rows.Progress(progress.done, progress.total)
        self._sessions.lobby.set_server(listing=told)

    def _list(self, changed: Changed) -> None:
        own = {row.cli_session_id for row in self._sessions.rows.values()}
        for live in self._sessions.live:  # An id may change within a session (TRUTH 4.30).
            own |= {live.transcript.session.id, *live.transcript.session.previous_ids}
        now = self._sessions.clock()
        for found in changed.sessions:
            if found.id in own:
                self._in_use.discard(found.id)
                self._sessions.lobby.remove("sessions", found.id)
            else:
                self._show(found, now)
        for gone in changed.gone:
            if gone not in self._sessions.rows:
                self._sessions.lobby.remove("sessions", gone)
