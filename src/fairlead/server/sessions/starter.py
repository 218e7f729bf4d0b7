"""Starts the CLIs of sessions, and restarts them after a crash within the restart budget.

A session is marked as running before anything is stored that makes it run. `sessions` has all
sessions and enforces their limit; `live_session` is one session.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from msgspec import structs

from fairlead.errors import FairleadError
from fairlead.host.options import agent
from fairlead.host.options.environment import child_environment
from fairlead.host.options.options import Options
from fairlead.server.limits import Limits
from fairlead.server.policy import Policy
from fairlead.server.refusal import Refusal
from fairlead.server.session.live_session import LiveSession
from fairlead.server.sessions.catalog import RUNNING, SessionCatalog
from fairlead.server.sessions.restarts import RestartBudget
from fairlead.server.sessions.session_options import options_for, resume_options
from fairlead.store.log import StoreUnavailable
from fairlead.store.tables.sessions import SessionRow
from fairlead.transcript.state.facts import ProcessExited

__all__ = ["Starter"]

log = logging.getLogger("fairlead")


class Starter:
    """Starts and restarts CLIs."""

    def __init__(
        self,
        catalog: SessionCatalog,
        options: Options,
        *,
        policy: Policy,
        limits: Limits,
        clock: Callable[[], float],
        profile_environment: Callable[[str], dict[str, str] | None],
        make_room: Callable[[LiveSession], Awaitable[None]],
        loaded: Callable[[str], LiveSession | None],
        spawn: Callable[[Coroutine[Any, Any, Any]], None],
    ) -> None:
        self._catalog = catalog
        self._options = options
        self._policy = policy
        self._limits = limits
        self._clock = clock
        self._profile_environment = profile_environment
        self._make_room = make_room
        self._loaded = loaded
        self._spawn = spawn
        self._budgets: dict[str, RestartBudget] = {}
        self._versions: dict[str, asyncio.Task[Any]] = {}
        self.budget_left: Callable[[SessionRow], float | None] = lambda row: None
        """How much a session may still spend; the CLI ends a turn between two steps by it."""

    async def options_for(self, row: SessionRow, **more: Any) -> Options:
        """The options to start the CLI of a session; refuses if its project needs a trust answer.

        In a thread, because the check reads the settings and scripts of the project: megabytes
        that a repository chooses, on a file system that may be slow.
        """
        left = self.budget_left(row) if not more.get("resume") else None
        if left is not None:
            own = row.options.get("max_budget_usd")
            more["max_budget_usd"] = left if own is None else min(left, own)
        return await asyncio.to_thread(self._options_for, row, more)

    def _options_for(self, row: SessionRow, more: dict[str, Any]) -> Options:
        variables = self._profile_environment(row.profile)
        if variables is not None:
            # The whole environment, so that nothing of another account is inherited.
            more |= {"env": variables, "inherit_env": False, "pass_env": ()}
        return options_for(self._options, self._policy, row, **more)

    def budget(self, session: str) -> RestartBudget:
        """The restart budget of a session."""
        return self._budgets.setdefault(session, RestartBudget(self._limits))

    def forget(self, session: str) -> None:
        """A session was deleted."""
        self._budgets.pop(session, None)

    @asynccontextmanager
    async def expecting(self, live: LiveSession) -> AsyncIterator[None]:
        """Mark a session as running before something is stored that makes it run.

        Otherwise a server that is killed in between would leave a prompt queued forever.
        """
        before = self._catalog.row(live.id)
        if before.state != RUNNING:
            await self._catalog.save(structs.replace(before, state=RUNNING))
        try:
            yield
        except (Refusal, StoreUnavailable):
            if not live.live:
                self._catalog.save_soon(
                    structs.replace(self._catalog.row(live.id), state=before.state)
                )
            raise

    async def start(self, live: LiveSession, options: Options) -> None:
        """Start the CLI of a session; a failure is in its transcript and is raised."""
        live.reserve()
        await self._start(live, options)

    def start_soon(self, live: LiveSession, options: Options) -> None:
        """Start the CLI of a session; a failure is in its transcript."""
        live.reserve()
        self._spawn(self._start_in_background(live, options))

    def start_after(
        self, live: LiveSession, options: Options, before: Callable[[], Awaitable[None]]
    ) -> None:
        """Like `start_soon`, but `before` ends first; the session counts as starting meanwhile."""
        live.reserve()

        async def run() -> None:
            try:
                await before()
            except BaseException:
                live.release()
                raise
            await self._start_in_background(live, options)

        self._spawn(run())

    async def _start(self, live: LiveSession, options: Options) -> None:
        try:
            self._refuse_moved(live.id)
            await self._make_room(live)
            row = structs.replace(
                self._catalog.row(live.id), state=RUNNING, last_activity=self._clock()
            )
            await self._catalog.save(row)
            await self._detect_version(options)
            await asyncio.to_thread(self._policy.opening.pin, row.cwd)
            await asyncio.to_thread(self._policy.trust.check, row.cwd, row.profile)
            await live.start(options)
        except (Refusal, StoreUnavailable):
            raise
        except FairleadError as problem:
            raise Refusal("agent_failed", str(problem)) from problem
        finally:
            live.release()
            self._catalog.show(live.id)

    def _refuse_moved(self, session: str) -> None:
        """Only one machine runs a session, so nothing may start it here while or after it moves."""
        moved = self._catalog.row(session).moved
        if moved is not None:
            raise Refusal("conflict", f"This session was moved to {moved.name}. Open it there.")
        if session in self._catalog.moving:
            raise Refusal("conflict", "This session is being moved to another machine.")

    @property
    def version(self) -> str:
        """The version of the CLI of new sessions; empty while it is not known."""
        if self._options.version is not None:
            return str(self._options.version)
        done = [task for task in self._versions.values() if task.done() and not task.cancelled()]
        known = [task.result() for task in done if task.exception() is None]
        return str(known[-1] or "") if known else ""

    async def look_up_version(self) -> None:
        """Ask the CLI of new sessions for its version, before one is started."""
        with contextlib.suppress(FairleadError, OSError):
            await self._detect_version(self._options)

    async def _detect_version(self, options: Options) -> None:
        """Detect the version of an agent once, however many sessions start at the same time."""
        if options.version is not None:
            return
        env = child_environment(os.environ, options)
        executable = agent.find(str(options.agent), env.get("PATH"))
        detecting = self._versions.get(executable)
        if detecting is None or detecting.done():
            detecting = asyncio.create_task(agent.version_of(executable, env))
            detecting.add_done_callback(lambda task: task.cancelled() or task.exception())
            self._versions[executable] = detecting
        await asyncio.shield(detecting)

    async def _start_in_background(self, live: LiveSession, options: Options) -> None:
        try:
            await self._start(live, options)
        except (Refusal, StoreUnavailable) as problem:
            log.warning("session %s did not start: %s", live.id, problem)
            if live.client is None:
                live.note([ProcessExited(stderr=str(problem))])

    async def restart(self, live: LiveSession) -> None:
        """Resume a session whose CLI exited unexpectedly, within the budget."""
        await live.journal.flush()
        row = self._catalog.rows.get(live.id)
        cli_session = live.transcript.session.id
        if row is None or live.transcript.status.state != "disconnected":
            return
        if cli_session is None and row.origin is None:
            return
        delay = self.budget(live.id).take(self._clock())
        if delay is None:
            log.warning("session %s crashes too often and is not restarted", live.id)
            return
        await asyncio.sleep(delay)
        if not live.live and self._loaded(live.id) is live:
            row = self._catalog.row(live.id)
            row = structs.replace(row, cli_session_id=cli_session or row.cli_session_id)
            self._catalog.rows[live.id] = row
            try:
                options = await self.options_for(row, **resume_options(row, live.transcript))
            except Refusal as problem:
                log.warning("session %s is not restarted: %s", live.id, problem)
                return
            # While the project's files were read, a user may have started or closed the session.
            if not live.live and self._loaded(live.id) is live:
                live.reserve()
                await self._start_in_background(live, options)

    async def close(self) -> None:
        """Wait for processes that report a version, so that none is left running."""
        detecting = [task for task in self._versions.values() if not task.done()]
        if detecting:
            await asyncio.wait(detecting)
