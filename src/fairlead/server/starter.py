"""Starts the CLIs of sessions, and starts them again when they crash, while the budget lasts.

A session is marked as running before anything is stored that makes it run. `sessions` has them
all and makes room for one more; the session itself is `live_session`.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from msgspec import structs

from fairlead.errors import FairleadError
from fairlead.host import agent
from fairlead.host.environment import child_environment
from fairlead.host.options import Options
from fairlead.server.limits import Limits
from fairlead.server.live_session import LiveSession
from fairlead.server.policy import Policy
from fairlead.server.refusal import Refusal
from fairlead.server.restarts import RestartBudget
from fairlead.server.session_book import RUNNING, SessionBook
from fairlead.server.session_options import going_on, options_for
from fairlead.store.log import StoreUnavailable
from fairlead.store.sessions import SessionRow
from fairlead.transcript.facts import ProcessExited

__all__ = ["Starter"]

log = logging.getLogger("fairlead")


class Starter:
    """Who starts what."""

    def __init__(
        self,
        book: SessionBook,
        options: Options,
        *,
        policy: Policy,
        limits: Limits,
        clock: Callable[[], float],
        make_room: Callable[[LiveSession], Awaitable[None]],
        loaded: Callable[[str], LiveSession | None],
        spawn: Callable[[Coroutine[Any, Any, Any]], None],
    ) -> None:
        self._book = book
        self._options = options
        self._policy = policy
        self._limits = limits
        self._clock = clock
        self._make_room = make_room
        self._loaded = loaded
        self._spawn = spawn
        self._budgets: dict[str, RestartBudget] = {}
        self._versions: dict[str, asyncio.Task[Any]] = {}

    def options_for(self, row: SessionRow, **more: Any) -> Options:
        """How to start the CLI of a session."""
        return options_for(self._options, self._policy, row, **more)

    def budget(self, session: str) -> RestartBudget:
        """The restarts that a session has left."""
        return self._budgets.setdefault(session, RestartBudget(self._limits))

    @asynccontextmanager
    async def expecting(self, live: LiveSession) -> AsyncIterator[None]:
        """Mark a session as running before something is stored that makes it run.

        A server that is killed in between would otherwise leave a prompt that waits for ever.
        """
        before = self._book.row(live.id)
        if before.state != RUNNING:
            await self._book.save(structs.replace(before, state=RUNNING))
        try:
            yield
        except (Refusal, StoreUnavailable):
            if not live.live:
                self._book.save_soon(structs.replace(self._book.row(live.id), state=before.state))
            raise

    async def start(self, live: LiveSession, options: Options) -> None:
        """Start the CLI of a session; a failure is in its transcript, and is raised."""
        live.reserve()
        await self._start(live, options)

    def start_soon(self, live: LiveSession, options: Options) -> None:
        """Start the CLI of a session; a failure is in its transcript."""
        live.reserve()
        self._spawn(self._start_quietly(live, options))

    async def _start(self, live: LiveSession, options: Options) -> None:
        try:
            await self._make_room(live)
            row = structs.replace(
                self._book.row(live.id), state=RUNNING, last_activity=self._clock()
            )
            await self._book.save(row)
            await self._know_version(options)
            await live.start(options)
        except (Refusal, StoreUnavailable):
            raise
        except FairleadError as problem:
            raise Refusal("agent_failed", str(problem)) from problem
        finally:
            live.release()
            self._book.show(live.id)

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

    async def restart(self, live: LiveSession) -> None:
        """A CLI ended that should not have: go on where it stopped, while the budget lasts."""
        await live.journal.flush()
        row = self._book.rows.get(live.id)
        began = live.transcript.session.id
        if row is None or live.transcript.status.state != "disconnected":
            return
        if began is None and row.origin is None:
            return
        delay = self.budget(live.id).take(self._clock())
        if delay is None:
            log.warning("session %s crashes too often and is left ended", live.id)
            return
        await asyncio.sleep(delay)
        if not live.live and self._loaded(live.id) is live:
            live.reserve()
            row = self._book.row(live.id)
            row = structs.replace(row, cli_session_id=began or row.cli_session_id)
            self._book.rows[live.id] = row
            await self._start_quietly(live, self.options_for(row, **going_on(row, live.transcript)))

    async def close(self) -> None:
        """A version that is being asked for is a process: it is let end, not left behind."""
        asking = [task for task in self._versions.values() if not task.done()]
        if asking:
            await asyncio.wait(asking)
