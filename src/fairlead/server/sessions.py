"""All sessions of one server: which there are, which are loaded, which run, and who ends them.

Loads a session when somebody opens it, ends what is idle and lets go of what nobody needs.
`starter` starts and restarts their CLIs, `session_book` has their rows, `live_session` is one of
them. What clients want is carried out by the intent modules above.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, TypeAlias

from fairlead.host.options import Options
from fairlead.server import session_rows
from fairlead.server.checkpoints import Checkpoints
from fairlead.server.decorate import SessionSource
from fairlead.server.hub import Hub
from fairlead.server.limits import Limits
from fairlead.server.live_session import LiveSession
from fairlead.server.loading import Loaded
from fairlead.server.lobby import Lobby
from fairlead.server.policy import Policy
from fairlead.server.refusal import Refusal
from fairlead.server.session_book import INTERRUPTED, RUNNING, STOPPED, SessionBook
from fairlead.server.starter import Starter
from fairlead.store.imports import CliSessions
from fairlead.store.log import StoreUnavailable
from fairlead.store.sessions import SessionRow
from fairlead.store.sqlite import SqliteStore
from fairlead.transcript.changes import Change
from fairlead.transcript.facts import ProcessExited, PromptCancelled
from fairlead.transcript.reduce import Fed
from fairlead.wire.blocks import Block

__all__ = ["Sessions", "Upload"]

Upload: TypeAlias = Callable[[str, str], Awaitable[Block]]
"""An upload, by its id and the name it shall have, as a block of a prompt."""

DOUBTFUL = 500
"""Items at the end of a session that was cut off; those of its last turn were never indexed."""

CUT_OFF = "The server ended while this session ran. It can be resumed."


class Sessions:
    """The sessions, and everything that they share."""

    def __init__(
        self,
        store: SqliteStore,
        hub: Hub,
        lobby: Lobby,
        options: Options,
        *,
        policy: Policy,
        limits: Limits,
        cli: CliSessions | None = None,
        upload: Upload | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.store = store
        self.hub = hub
        self.lobby = lobby
        self.options = options
        """What every session starts with."""
        self.policy = policy
        self.limits = limits
        self.cli = cli
        """The CLI's own sessions, if the server looks at them."""
        self.upload = upload
        self.clock = clock
        self.book = SessionBook(store, lobby, self.loaded, self.spawn)
        self.starter = Starter(
            self.book,
            options,
            policy=policy,
            limits=limits,
            clock=clock,
            make_room=self.make_room,
            loaded=self.loaded,
            spawn=self.spawn,
        )
        self._checkpoints = Checkpoints(store, limits)
        # Anew with each run: a database put back from a copy has counted differently (F-30).
        self._epoch = f"{store.epoch}.{uuid.uuid4().hex[:12]}"
        self._loaded: dict[str, LiveSession] = {}
        self._sources: dict[str, SessionSource] = {}
        self._loading: dict[str, asyncio.Task[LiveSession]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closing = False

    # Finding and loading

    @property
    def rows(self) -> dict[str, SessionRow]:
        """The rows of all sessions."""
        return self.book.rows

    def row(self, session: str) -> SessionRow:
        """The row of a session; refuses if there is none."""
        return self.book.row(session)

    def loaded(self, session: str) -> LiveSession | None:
        """A session, if it is in memory."""
        return self._loaded.get(session)

    @property
    def live(self) -> list[LiveSession]:
        """The sessions that run."""
        return [one for one in self._loaded.values() if one.live]

    @property
    def working(self) -> bool:
        """Whether any session is at work."""
        return any(one.busy for one in self._loaded.values())

    def source(self, session: str) -> SessionSource:
        """A loaded session as its clients see it."""
        return self._sources[session]

    async def load(self, session: str) -> LiveSession:
        """A session in memory and offered by the hub; refuses if there is none."""
        self.row(session)
        found = self._loaded.get(session)
        if found is not None:
            return found
        if session not in self._loading:
            task = asyncio.create_task(self._load(session))
            self._loading[session] = task
            task.add_done_callback(lambda _: self._loading.pop(session, None))
        return await asyncio.shield(self._loading[session])

    async def _load(self, session: str) -> LiveSession:
        return self.adopt(session, await Loaded.from_log(self.store, session))

    def adopt(self, session: str, loaded: Loaded) -> LiveSession:
        """Offer a session that was read, or is new."""
        live = LiveSession(
            session,
            self.store,
            self.limits,
            transcript=loaded.transcript,
            seq=loaded.seq,
            published=self._published,
            settled=self._settled,
            exited=self._exited,
            clock=self.clock,
            guard=self.policy.guard,
        )
        for prompt in live.transcript.held:
            live.prompts.held.add(prompt)
        self._loaded[session] = live
        self._checkpoints.begin(session, loaded.kept)
        source = self._sources[session] = SessionSource(live.transcript, self.policy, self.limits)
        self.hub.attach(
            session,
            source,
            seq=live.seq,
            epoch=self._epoch,
            item_ids=live.transcript.item_ids,
            beside=source.turns_of,
        )
        self.book.show(session)
        if self._checkpoints.is_due(live):
            self.spawn(self._checkpoints.keep(live))
        return live

    # Ending

    async def make_room(self, newcomer: LiveSession | None = None) -> None:
        """Refuse one more running session if there are too many, unless an idle one can end."""
        if self._closing:
            raise Refusal("unavailable", "the server is ending")
        live = [one for one in self.live if one is not newcomer]
        if len(live) < self.limits.sessions_live:
            return
        idle = [one for one in live if not one.busy and not self.hub.followers(one.id)]
        if not idle:
            limit = self.limits.sessions_live
            raise Refusal("too_many", f"{limit} sessions run already; stop one first")
        await min(idle, key=lambda one: one.active).stop()

    async def cull(self) -> None:
        """End what is idle and not looked at; let go of what nobody needs in memory."""
        now = self.clock()
        for live in self.live:
            looked_at = self.hub.followers(live.id, looking=True)
            if not live.busy and not looked_at and now - live.active > self.limits.idle_s:
                await live.stop()
        resting = [
            one
            for one in self._loaded.values()
            if not one.live and not self.hub.followers(one.id) and not one.journal.bytes
        ]
        resting.sort(key=lambda one: one.active)
        for live in resting[: max(0, len(resting) - self.limits.transcripts_loaded)]:
            await self._let_go(live)

    async def _let_go(self, live: LiveSession) -> None:
        del self._loaded[live.id]
        self._sources.pop(live.id, None)
        self.hub.detach(live.id)
        await live.close()
        await self._checkpoints.let_go(live)

    # Beginning and end of the server

    async def recover(self) -> None:
        """List the sessions; those that a server before this one left running are over now."""
        for row in await self.store.sessions():
            self.rows[row.id] = row
            self.book.show(row.id)
        for row in tuple(self.rows.values()):
            if row.state == RUNNING:
                await self._bury(row)

    async def _bury(self, row: SessionRow) -> None:
        live = await self.load(row.id)
        self.book.doubt(row.id, live.transcript.last_ids("items", DOUBTFUL))
        facts: list[Fed] = [ProcessExited(stderr=CUT_OFF)]
        facts += [PromptCancelled(uuid) for uuid in live.prompts.held.uuids]
        try:
            await live.record(facts)
        except StoreUnavailable:
            return  # It stays marked as running, and the next start tries again.
        for held in live.prompts.held.uuids:
            live.prompts.held.take(held)
        self.book.save_soon(session_rows.refreshed(row, live.transcript, INTERRUPTED))

    async def close(self) -> None:
        """End every session, within the time there is."""
        self._closing = True
        await self._cancel_tasks()
        closing = [asyncio.create_task(self._end(one)) for one in self._loaded.values()]
        closing.append(asyncio.create_task(self.starter.close()))
        await asyncio.wait(closing, timeout=self.limits.stop_s)
        await self.book.save_all()
        await self._cancel_tasks()

    async def _end(self, live: LiveSession) -> None:
        await live.close()
        await self._checkpoints.let_go(live)

    async def _cancel_tasks(self) -> None:
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def store_changed(self) -> None:
        """The store may be well again: try what had to wait."""
        for live in self._loaded.values():
            live.journal.try_again()
        self.spawn(self.book.save_all())

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        """Do something beside everything else."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # What sessions tell

    def _published(self, live: LiveSession, seq: int, changes: Sequence[Change]) -> None:
        source = self._sources.get(live.id)
        if source is None:
            return
        self.hub.publish(live.id, seq, source.changes(changes))
        self.book.touched(live.id, changes)

    def _settled(self, live: LiveSession) -> None:
        """A batch of events was stored and shown."""
        self.book.refresh(live)
        if self._checkpoints.is_due(live):
            self.spawn(self._checkpoints.keep(live))
        if live.transcript.turn is None:
            self.book.turn_over(live, RUNNING if live.live else STOPPED)

    def _exited(self, live: LiveSession, fact: ProcessExited) -> None:
        if not fact.expected and not self._closing:
            self.spawn(self.starter.restart(live))
