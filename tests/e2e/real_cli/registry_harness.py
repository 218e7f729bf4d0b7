"""A registry with the real CLI."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from fairlead.server.intents.registry import Registry
from fairlead.server.limits import Limits
from fairlead.server.policy import Policy
from fairlead.server.profiles.profile import Profile
from fairlead.server.profiles.profiles import Profiles
from fairlead.server.protocol.intents import Intent, Send
from fairlead.server.protocol.messages import IntentResult
from fairlead.server.session.live_session import LiveSession
from fairlead.store.cli_files.imports import CliSessions
from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables.devices import Device
from tests.e2e.real_cli.cli_harness import TURN_S, CliHarness

__all__ = ["OWNER", "RegistryHarness", "open_registry"]


OWNER = Device(id="d", name="desk", role="owner", token_hash="h", created=0.0)


class RegistryHarness:
    """A registry whose sessions run a real CLI."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self._n = 0

    async def act(self, intent: Intent) -> IntentResult:
        self._n += 1
        async with asyncio.timeout(2 * TURN_S):
            return await self.registry.act(OWNER, "client", self._n, intent)

    async def say(self, session: str, text: str) -> None:
        result = await self.act(Send(session=session, text=text, uuid=str(uuid.uuid4())))
        assert result.ok, result

    def live(self, session: str) -> LiveSession:
        found = self.registry.sessions.loaded(session)
        assert found is not None
        return found

    async def until(self, what: Callable[[], Any]) -> Any:
        async with asyncio.timeout(2 * TURN_S):
            while not (found := what()):  # noqa: ASYNC110 - the CLI is another process
                await asyncio.sleep(0.02)
        return found

    async def turns(self, session: str, count: int) -> LiveSession:
        """Wait for this many turns to be over."""
        live = self.live(session)
        await self.until(
            lambda: [t.outcome for t in live.transcript.turns].count("success") == count
        )
        return live


@asynccontextmanager
async def open_registry(
    harness: CliHarness,
    *,
    env: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    profiles: Iterable[Profile] = (),
    clock: Callable[[], float] = time.time,
) -> AsyncIterator[RegistryHarness]:
    """A registry in the folder of the harness; `env` replaces the CLI's whole environment."""
    folder = harness.project.parent
    async with SqliteStore(folder / "data") as store:
        registry = Registry(
            store,
            options=harness.options() if env is None else replace(harness.options(), env=dict(env)),
            limits=limits or Limits(restart_delays_s=(0.0,)),
            clock=clock,
            profiles=Profiles(profiles),
            policy=Policy(roots=(folder,), inherit_env=False),
            cli=CliSessions(harness.home / ".claude" / "projects"),
        )
        async with registry:
            yield RegistryHarness(registry)
