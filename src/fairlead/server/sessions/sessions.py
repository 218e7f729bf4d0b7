"""All sessions of one server: loading, running and ending them.

Loads a session when a client opens it, ends idle sessions and unloads those that are not needed.
`starter` starts and restarts their CLIs, `catalog` has their rows, `live_session` is one session.
The intent modules above carry out what clients request.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from fairlead.host.options.options import Options
from fairlead.server.hub.hub import Hub
from fairlead.server.limits import Limits
from fairlead.server.policy import Policy
from fairlead.server.profiles.profiles import Profiles
from fairlead.server.protocol.lobby_rows import DeviceRow
from fairlead.server.refusal import Refusal
from fairlead.server.session.append_rate import AppendRate
from fairlead.server.session.checkpoints import Checkpoints
from fairlead.server.session.effect import Effect
from fairlead.server.session.live_session import LiveSession
from fairlead.server.session.loading import Loaded
from fairlead.server.session.queued_prompts import Gate
from fairlead.server.sessions.catalog import INTERRUPTED, RUNNING, STOPPED, SessionCatalog
from fairlead.server.sessions.deletions import Deletions
from fairlead.server.sessions.resume_problems import ResumeProblems
from fairlead.server.sessions.starter import Starter
from fairlead.server.view import session_rows
from fairlead.server.view.lobby import Lobby
from fairlead.server.view.session_view import SessionView
from fairlead.store.cli_files.folders import CliFolders
from fairlead.store.cli_files.imports import CliSessions
from fairlead.store.log import StoreUnavailable
from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables.devices import Device
from fairlead.store.tables.sessions import SessionRow
from fairlead.transcript.reduce import Fed
from fairlead.transcript.state.changes import Change
from fairlead.transcript.state.facts import HostStopping, ProcessExited, PromptCancelled
from fairlead.transcript.state.model import Pending
from fairlead.wire.blocks import Block
from fairlead.wire.events import RateLimitInfo

__all__ = ["Sessions", "Upload"]

Upload: TypeAlias = Callable[[str, str], Awaitable[Block]]
"""Returns an upload as a block of a prompt, by its id and its file name."""

MAYBE_UNINDEXED = 500
"""Items at the end of an interrupted session; those of its last turn were never indexed."""

INTERRUPTED_TEXT = "The server stopped while this session was running. You can resume it."


class Sessions:
    """The sessions and the parts that they share."""

    def __init__(
        self,
        store: SqliteStore,
        hub: Hub,
        lobby: Lobby,
        options: Options,
        *,
        policy: Policy,
        limits: Limits,
        profiles: Profiles | None = None,
        cli: CliSessions | None = None,
        upload: Upload | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.store = store
        self.hub = hub
        self.lobby = lobby
        self.options = options
        """The options of every session."""
        self.policy = policy
        self.profiles = profiles or Profiles()
        policy.trust.environment = self.environment_of
        policy.trust.profiles = self._profile_names
        self.limits = limits
        self.cli = None if cli is None else CliFolders(cli)
        """The CLI's own sessions in the folders of all profiles, if the server lists them."""
        self.upload = upload
        self.clock = clock
        self.catalog = SessionCatalog(
            store,
            lobby,
            self.loaded,
            self.spawn,
            ResumeProblems(self.cli, self.has_profile),
            self._hashes_of,
            clock,
        )
        self.starter = self._make_starter()
        self.deletions = self._make_deletions()
        self._checkpoints = Checkpoints(store, limits)
        self._append_rate = AppendRate(limits.appends_per_s)
        # New in each run: a database that was restored from a backup counts differently (F-30).
        self._epoch = f"{store.epoch}.{uuid.uuid4().hex[:12]}"
        self._loaded: dict[str, LiveSession] = {}
        self._sources: dict[str, SessionView] = {}
        self._loading: dict[str, asyncio.Task[LiveSession]] = {}
        self._unloading: dict[str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closing = False
        self.retired = 0
        """How many CLI processes ended and how many sessions were unloaded, so far."""
        self.on_settled: list[Callable[[LiveSession], None]] = []
        """Called after each batch of events that was stored and published, unless the running turn
        only continued (`Effect.WORKED`): nothing else is derived from that."""
        self.on_deleted: list[Callable[[str], object]] = [self.starter.forget]
        """Called with the id of each session that is erased, so that nothing is kept of it."""
        self.device_elsewhere: Callable[[str], Device | None] = _not_found
        """Finds a device that connects to another process or machine of the fleet."""
        self.elsewhere: Callable[[], set[str | None]] = set
        """The CLI's ids of the sessions that other processes of this server run."""
        self.gate_of: Callable[[LiveSession], Gate] | None = None
        """Gives the gate of a session's prompt queue."""
        self.on_limit: Callable[[LiveSession, RateLimitInfo, float], None] | None = None
        """Called when a CLI reported the usage of its account."""
        self.keeps_queue: Callable[[LiveSession], bool] = lambda live: False
        """Whether the queue of an interrupted session is kept for a later time."""

    def _make_starter(self) -> Starter:
        """Starts CLIs; each gets the variables of its session's profile."""
        return Starter(
            self.catalog,
            self.options,
            policy=self.policy,
            limits=self.limits,
            clock=self.clock,
            profile_environment=lambda name: self.profiles.for_start(name, self._common_options),
            make_room=self.make_room,
            loaded=self.loaded,
            spawn=self.spawn,
        )

    def _make_deletions(self) -> Deletions:
        """Erases sessions; one that is loaded is unloaded first."""
        return Deletions(
            self.store,
            self.catalog,
            self.cli,
            limits=self.limits,
            clock=self.clock,
            unload=self._unload_deleted,
            spawn=self.spawn,
        )

    # Finding and loading

    @property
    def _common_options(self) -> Options:
        """The options of every session, with the variables that the policy adds."""
        return replace(
            self.options,
            env={**self.options.env, **self.policy.env},
            inherit_env=self.policy.inherit_env,
        )

    def environment_of(self, profile: str) -> dict[str, str]:
        """The environment variables of the CLIs of a profile; an empty name is the default one."""
        return self.profiles.environment(profile, self._common_options)

    def has_profile(self, profile: str) -> bool:
        """Whether a session with this profile can be started."""
        return not profile or self.profiles.find(profile) is not None

    def _profile_names(self) -> tuple[str, ...]:
        return ("", *(profile.name for profile in self.profiles.all()))

    @property
    def rows(self) -> dict[str, SessionRow]:
        """The rows of all sessions."""
        return self.catalog.rows

    def device(self, device: str) -> DeviceRow | Device | None:
        """A device that may connect, to this server or to the fleet that it is part of."""
        rows = self.lobby.section("devices")
        own: DeviceRow | None = next((row for row in rows if row.id == device), None)
        return self.device_elsewhere(device) if own is None else own

    def row(self, session: str) -> SessionRow:
        """The row of a session; refuses if there is none."""
        return self.catalog.row(session)

    def account_of(self, session: str) -> str:
        """The profile that a session uses; empty for the default one."""
        return self.row(session).profile

    def loaded(self, session: str) -> LiveSession | None:
        """A session, if it is in memory."""
        return self._loaded.get(session)

    @property
    def live(self) -> list[LiveSession]:
        """The running sessions."""
        return [live for live in self._loaded.values() if live.live]

    @property
    def working(self) -> bool:
        """Whether any session is in a turn."""
        return any(live.busy for live in self._loaded.values())

    def source(self, session: str) -> SessionView:
        """A loaded session as its clients see it."""
        return self._sources[session]

    def _hashes_of(self, session: str, request: Pending) -> tuple[str, str]:
        return self._sources[session].pending_offers.hashes(request)

    async def load(self, session: str) -> LiveSession:
        """A session in memory and offered by the hub; refuses if there is none."""
        self.row(session)
        live = self._loaded.get(session)
        if live is not None:
            return live
        if session not in self._loading:
            task = asyncio.create_task(self._load(session))
            self._loading[session] = task
            task.add_done_callback(lambda _: self._loading.pop(session, None))
        return await asyncio.shield(self._loading[session])

    async def _load(self, session: str) -> LiveSession:
        return self.adopt(session, await Loaded.from_log(self.store, session))

    def adopt(self, session: str, loaded: Loaded) -> LiveSession:
        """Attach a session to the hub that was read from the log, or is new."""
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
            suggestions=self.policy.suggestions,
            rate=self._append_rate,
        )
        self._loaded[session] = live
        if self.gate_of is not None:
            live.prompts.gate = self.gate_of(live)
        live.on_limit = self.on_limit
        self._checkpoints.begin(session, loaded.checkpoint_seq)
        source = self._sources[session] = SessionView(
            live.transcript,
            self.policy,
            self.limits,
            self.environment_of(self.account_of(session)),
        )
        live.prepare = source.pending_offers.prepare
        self.hub.attach(
            session,
            source,
            seq=live.seq,
            epoch=self._epoch,
            item_ids=live.transcript.item_ids,
            beside=source.turns_of,
        )
        self.catalog.show(session)
        if self._checkpoints.is_due(live):
            self.spawn(self._checkpoints.keep(live))
        return live

    # Ending

    async def make_room(self, newcomer: LiveSession | None = None) -> None:
        """Refuse another running session at the limit, unless an idle one can be ended."""
        if self._closing:
            raise Refusal("unavailable", "The server is stopping.")
        live = [each for each in self.live if each is not newcomer]
        if len(live) < self.limits.sessions_live:
            return
        idle = [each for each in live if not each.busy and not self.hub.followers(each.id)]
        if not idle:
            limit = self.limits.sessions_live
            raise Refusal("too_many", f"{limit} sessions are already running. Stop one first.")
        await min(idle, key=lambda each: each.active).stop()

    async def cull(self) -> None:
        """End idle sessions that no client views, and unload sessions that are not needed."""
        now = self.clock()
        for live in self.live:
            viewed = self.hub.followers(live.id, looking=True)
            if not live.busy and not viewed and now - live.active > self.limits.idle_s:
                await live.stop()
        unused = [live for live in self._loaded.values() if self._is_unused(live)]
        unused.sort(key=lambda live: live.active)
        for live in unused[: max(0, len(unused) - self.limits.transcripts_loaded)]:
            # While another one was unloaded, it may have been opened, started or deleted.
            if self._is_unused(live):
                await self.unload(live.id)

    def _is_unused(self, live: LiveSession) -> bool:
        """Whether a session is in memory although nothing needs it there."""
        needed = live.live or self.hub.followers(live.id) or live.journal.bytes
        return not needed and self._loaded.get(live.id) is live

    async def unload(self, session: str) -> None:
        """Remove a session from memory; it is read from its log when it is next opened.

        `cull`, a deletion and a move may want this at the same time: each of them returns when
        nothing more is stored of the session.
        """
        while (unloading := self._unloading.get(session)) is not None:
            await asyncio.wait([unloading])
        live = self._loaded.pop(session, None)
        if live is None:
            return
        self._sources.pop(session, None)
        self.hub.detach(session)
        unloading = self._unloading[session] = asyncio.create_task(self._release(live))
        unloading.add_done_callback(lambda _: self._unloading.pop(session, None))
        await asyncio.shield(unloading)

    async def _release(self, live: LiveSession) -> None:
        await live.close()
        await self._checkpoints.let_go(live)
        self.retired += 1

    async def _unload_deleted(self, session: str) -> None:
        """A session is erased now: end its process, and disconnect its clients from it."""
        row = self.rows.pop(session, None)
        live = self._loaded.get(session)
        if live is not None:
            await live.stop()
        await self.unload(session)  # Also if `cull` is unloading it now.
        if row is not None and all(other.cwd != row.cwd for other in self.rows.values()):
            self.policy.opening.unpin(row.cwd)
        for forget in self.on_deleted:
            forget(session)

    # Start and end of the server

    async def recover(self) -> None:
        """List the sessions, and end those that an earlier server left marked as running."""
        for row in await self.store.sessions():
            self.rows[row.id] = row
        await self.deletions.recover()
        for session in self.rows:
            self.catalog.show(session)
        for row in tuple(self.rows.values()):
            if row.state == RUNNING:
                await self._mark_interrupted(row)

    async def _mark_interrupted(self, row: SessionRow) -> None:
        live = await self.load(row.id)
        self.catalog.index_again(row.id, live.transcript.last_ids("items", MAYBE_UNINDEXED))
        facts: list[Fed] = [ProcessExited(stderr=INTERRUPTED_TEXT, host_stopped=True)]
        if not self.keeps_queue(live):
            facts += [PromptCancelled(uuid) for uuid in live.prompts.uuids]
        # The process ended with the server, at an unknown time after the last event.
        ended = live.transcript.status.last_event or row.last_activity
        try:
            await live.journal.record(facts, ended)
        except StoreUnavailable:
            return  # It stays marked as running, and the next start retries.
        row = self.row(row.id)  # A hold that began with these facts is noted in it.
        self.catalog.save_soon(session_rows.refreshed(row, live.transcript, INTERRUPTED))

    async def close(self) -> None:
        """End every session within the time limit."""
        self._closing = True
        await self._cancel_tasks()
        closing = [asyncio.create_task(self._end(live)) for live in self._loaded.values()]
        closing += [*self._unloading.values(), asyncio.create_task(self.starter.close())]
        await asyncio.wait(closing, timeout=self.limits.stop_s)
        await self.catalog.save_all()
        await self._cancel_tasks()

    async def _end(self, live: LiveSession) -> None:
        if live.live:
            live.journal.note([HostStopping()], self.clock())
        await live.close()
        await self._checkpoints.let_go(live)

    async def _cancel_tasks(self) -> None:
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def store_changed(self) -> None:
        """The store may be available again: retry what could not be stored."""
        for live in self._loaded.values():
            live.journal.try_again()
        self.spawn(self.catalog.save_all())

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run something in the background."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # Notifications of sessions

    def _published(self, live: LiveSession, seq: int, changes: Sequence[Change]) -> None:
        source = self._sources.get(live.id)
        if source is None:
            return
        self.hub.publish(live.id, seq, source.changes(changes))
        self.catalog.touched(live.id, changes)

    def _settled(self, live: LiveSession, effect: Effect) -> None:
        """A batch of events was stored and published."""
        if self._checkpoints.is_due(live):
            self.spawn(self._checkpoints.keep(live))
        if effect is Effect.GREW:
            return
        self.catalog.refresh(live)
        if effect is Effect.WORKED and live.transcript.in_turn:
            return
        # Before the row is stored: what a listener stores is then durable when the row is.
        for listener in self.on_settled:
            listener(live)
        if not live.transcript.in_turn:
            self.catalog.turn_over(live, RUNNING if live.live else STOPPED)

    def _exited(self, live: LiveSession, fact: ProcessExited) -> None:
        self.retired += 1
        if not fact.expected and not self._closing:
            self.spawn(self.starter.restart(live))


def _not_found(device: str) -> Device | None:
    return None
