"""A server whose agent writes as much as a test wants (`flood`), without a browser in between."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fairlead.server.protocol.intents import NewSession, Send
from fairlead.server.protocol.messages import IntentResult
from fairlead.store.tables.devices import Device
from tests.e2e.browser.app_server import AppServer, open_app_server
from tests.e2e.browser.flood import launcher

__all__ = ["Flooded", "open_flooded"]

PERSON = Device(id="tester", name="tester", role="owner", token_hash="", created=0.0)


class Flooded:
    """A server whose agent writes on demand."""

    def __init__(self, server: AppServer) -> None:
        self.server = server
        self._n = 0

    async def _act(self, intent: NewSession | Send) -> IntentResult:
        self._n += 1
        result = await self.server.service.registry.act(PERSON, "flooding", self._n, intent)
        assert result.ok, result
        return result

    async def session(self, prompt: str) -> str:
        made = await self._act(NewSession(cwd=str(self.server.project), prompt=prompt))
        session = str(made.result["session"])
        await self._rest(session, 1)
        return session

    async def say(self, session: str, prompt: str) -> None:
        """Send a prompt and wait until all that it says has been written."""
        live = await self.server.service.registry.sessions.load(session)
        turns = sum(1 for turn in live.transcript.turns if turn.outcome)
        await self._act(Send(session=session, text=prompt, uuid=str(uuid.uuid4())))
        await self._rest(session, turns + 1)

    async def _rest(self, session: str, turns: int) -> None:
        live = await self.server.service.registry.sessions.load(session)
        async with asyncio.timeout(200):
            while sum(1 for turn in live.transcript.turns if turn.outcome) < turns:  # noqa: ASYNC110
                await asyncio.sleep(0.02)


@asynccontextmanager
async def open_flooded(folder: Path) -> AsyncIterator[Flooded]:
    """Start the server below a folder; it ends with the block."""
    project = folder / "project"
    project.mkdir()
    async with open_app_server(folder, agent=launcher(folder), project=project) as server:
        yield Flooded(server)
