"""All sessions of one server: which there are, which are loaded, which run, and who ends them.

Loads a session when somebody opens it, starts and restarts its CLI, ends what is idle and lets
go of what nobody needs; `session_book` has their rows. What clients want is carried out
by the intent modules above; the session itself is `live_session`.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, TypeAlias

from msgspec import structs

from fairlead.errors import FairleadError
from fairlead.host import agent
from fairlead.host.environment import child_environment
from fairlead.host.options import Options
from fairlead.server import session_rows
from fairlead.server.checkpoints import Checkpoints
from fairlead.server.decorate import SessionSource
from fairlead.server.hub import Hub
from fairlead.server.limits import Limits
from fairlead.server.live_session import LiveSession
from fairlead.server.loading import Loaded
from fairlead.server.lobby import Lobby
from fairlead.server.policy import MODES, Policy
from fairlead.server.refusal import Refusal
from fairlead.server.restarts import RestartBudget
from fairlead.server.session_book import SessionBook
from fairlead.store.imports import CliSessions
from fairlead.store.log import StoreUnavailable
from fairlead.store.sessions import SessionRow
from fairlead.store.sqlite import SqliteStore
from fairlead.transcript.changes import Change
from fairlead.transcript.facts import ProcessExited, PromptCancelled
from fairlead.transcript.reduce import Fed
from fairlead.wire.blocks import Block

__all__ = ["RUNNING", "Sessions", "Upload"]

Upload: TypeAlias = Callable[[str, str], Awaitable[Block]]
"""An upload, by its id and the name it shall have, as a block of a prompt."""

log = logging.getLogger("fairlead")

RUNNING, STOPPED, INTERRUPTED = "running", "stopped", "interrupted"
"""States of a stored row: what a server that starts must know of the one before it."""

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
        self._checkpoints = Checkpoints(store, limits)
        # Anew with each run: a database put back from a copy has counted differently (F-30).
        self._epoch = f"{store.epoch}.{uuid.uuid4().hex[:12]}"
        self._loaded: dict[str, LiveSession] = {}
        self._sources: dict[str, SessionSource] = {}
        self._loading: dict[str, asyncio.Task[LiveSession]] = {}
        self._budgets: dict[str, RestartBudget] = {}
        self._versions: dict[str, asyncio.Task[Any]] = {}
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
            live.prompts.add(prompt)
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

    # Starting and ending

    def options_for(self, row: SessionRow, **more: Any) -> Options:
        """How to start the CLI of a session: what it had, for a CLI restores neither (TRUTH 1.7)."""
        mode = row.mode if row.mode in MODES and self.policy.allows_mode(row.mode) else None
        chosen = {
            name: row.options[name]
            for name in ("model", "effort", "max_turns", "max_budget_usd")
            if row.options.get(name) is not None
        }
        base = self.options
        rules = replace(
            base.rules,
            allowed=(*base.rules.allowed, *row.options.get("allowed_tools", ())),
            disallowed=(*base.rules.disallowed, *row.options.get("disallowed_tools", ())),
        )
        settings = base.settings
        given = settings.value or {}
        if row.options.get("fast_mode") and isinstance(given, Mapping):
            settings = replace(settings, value={**given, "fastMode": True})
        return replace(
            base,
            cwd=row.cwd,
            rules=rules,
            settings=settings,
            mcp_servers={**base.mcp_servers, **row.options.get("mcp_servers", {})},
            env={**base.env, **self.policy.env},
            inherit_env=self.policy.inherit_env,
            permission_mode=mode or self.policy.mode,
            file_checkpoints=True,
            **{**chosen, **more},
        )

    @asynccontextmanager
    async def expecting(self, live: LiveSession) -> AsyncIterator[None]:
        """Mark a session as running before something is stored that makes it run.

        A server that is killed in between would otherwise leave a prompt that waits for ever.
        """
        before = self.row(live.id)
        if before.state != RUNNING:
            await self.book.save(structs.replace(before, state=RUNNING))
        try:
            yield
        except (Refusal, StoreUnavailable):
            if not live.live:
                self.book.save_soon(structs.replace(self.row(live.id), state=before.state))
            raise

    async def start(self, live: LiveSession, options: Options) -> None:
        """Start the CLI of a session; a failure is in its transcript, and is raised."""
        live.reserve()
        await self._start(live, options)

    def start_soon(self, live: LiveSession, options: Options) -> None:
        """Start the CLI of a session; a failure is in its transcript."""
        live.reserve()
        self.spawn(self._start_quietly(live, options))

    async def _start(self, live: LiveSession, options: Options) -> None:
        try:
            await self.make_room(live)
            row = structs.replace(self.row(live.id), state=RUNNING, last_activity=self.clock())
            await self.book.save(row)
            await self._know_version(options)
            await live.start(options)
        except (Refusal, StoreUnavailable):
            raise
        except FairleadError as problem:
            raise Refusal("agent_failed", str(problem)) from problem
        finally:
            live.release()
            self.book.show(live.id)

    async def _know_version(self, options: Options) -> None:
        """Ask an agent for its version once, however many sessions start at the same time."""
        if options.version is not None:
            return
        env = child_environment(os.environ, options)
        executable = agent.find(str(options.agent), env.get("PATH"))
        asking = self._versions.get(executable)
        if asking is None or asking.done():
            asking = asyncio.create_task(agent.version_of(executable, env))
            asking.add_done_callback(lambda task: task.cancelled() or task.exception())
            self._versions[executable] = asking
        await asyncio.shield(asking)

    async def _start_quietly(self, live: LiveSession, options: Options) -> None:
        try:
            await self._start(live, options)
        except (Refusal, StoreUnavailable) as problem:
            log.warning("session %s did not start: %s", live.id, problem)
            if live.client is None:
                live.note([ProcessExited(stderr=str(problem))])

    def resume_options(self, live: LiveSession) -> Options:
        """How to go on with a session where it stopped."""
        row = self.row(live.id)
        return self.options_for(row, resume=row.cli_session_id)

    def budget(self, session: str) -> RestartBudget:
        """The restarts that a session has left."""
        return self._budgets.setdefault(session, RestartBudget(self.limits))

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
        facts += [PromptCancelled(uuid) for uuid in live.prompts.uuids]
        try:
            await live.record(facts)
        except StoreUnavailable:
            return  # It stays marked as running, and the next start tries again.
        for held in live.prompts.uuids:
            live.prompts.take(held)
        self.book.save_soon(session_rows.refreshed(row, live.transcript, INTERRUPTED))

    async def close(self) -> None:
        """End every session, within the time there is."""
        self._closing = True
        await self._cancel_tasks()
        # A version that is being asked for is a process: it is let end, not left behind.
        asking = [task for task in self._versions.values() if not task.done()]
        closing = [*asking, *[asyncio.create_task(self._end(one)) for one in self._loaded.values()]]
        if closing:
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
            self.spawn(self._restart(live))

    async def _restart(self, live: LiveSession) -> None:
        """A CLI ended that should not have: go on where it stopped, while the budget lasts."""
        await live.journal.flush()
        row = self.rows.get(live.id)
        began = live.transcript.session.id
        if row is None or began is None or live.transcript.status.state != "disconnected":
            return
        delay = self.budget(live.id).take(self.clock())
        if delay is None:
            log.warning("session %s crashes too often and is left ended", live.id)
            return
        await asyncio.sleep(delay)
        if not live.live and self._loaded.get(live.id) is live:
            live.reserve()
            self.rows[live.id] = structs.replace(self.rows[live.id], cli_session_id=began)
            await self._start_quietly(live, self.resume_options(live))
