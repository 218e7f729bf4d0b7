"""A registry on a real store with a real agent process, and clients that watch it."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Self

import msgspec

from fairlead.host.options.options import Options
from fairlead.host.process.process import Graces
from fairlead.server.intents.registry import Registry
from fairlead.server.limits import Limits
from fairlead.server.policy import Policy
from fairlead.server.profiles.profile import Profile
from fairlead.server.profiles.profiles import Profiles
from fairlead.server.protocol.intents import Intent, NewSession, Send
from fairlead.server.protocol.messages import LOBBY, IntentResult
from fairlead.server.session.live_session import LiveSession
from fairlead.store.cli_files.imports import CliSessions
from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables.devices import Device
from tests.launching import python_launcher
from tests.server.hub.hub_clients import HubClient
from tests.waiting import until

AGENT = Path(__file__).with_name("agent.py")
VERSION = "2.1.325"
"""What the scripted agent reports."""

QUICK = Graces(after_eof=0.5, after_term=0.5, after_kill=5.0)
PATIENCE_S = 60.0


def device(role: str = "owner", name: str = "desk") -> Device:
    return Device(id=f"id-{name}", name=name, role=role, token_hash=f"hash-{name}", created=0.0)


class ServerHarness:
    """One server without sockets."""

    def __init__(
        self,
        folder: Path,
        *,
        limits: Limits | None = None,
        policy: Policy | None = None,
        agent: Path | None = None,
        cli: bool = False,
        profiles: Iterable[Profile] = (),
        store: SqliteStore | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.project.mkdir(exist_ok=True)
        self.log = folder / "agent.log"
        self.projects = folder / "cli-projects"
        self.store = store or SqliteStore(folder / "data")
        self.limits = limits or Limits(restart_delays_s=(0.0,), store_retry_s=0.1, analysis_s=30.0)
        self.policy = policy or Policy(roots=(folder,))
        self.agent = agent or python_launcher(folder / "claude-scripted", AGENT, self.log)
        # Known, so that no process is started to ask for it.
        self.version = VERSION if agent is None else None
        self.cli = CliSessions(self.projects) if cli else None
        self.clock = clock
        self.profiles = Profiles(profiles)
        self.registry: Registry
        self.owner = device()
        self._n = 0
        self._client = uuid.uuid4().hex

    async def __aenter__(self) -> Self:
        await self.store.start()
        options = Options(
            agent=self.agent, graces=QUICK, control_timeout=30.0, version=self.version
        )
        self.registry = Registry(
            self.store,
            limits=self.limits,
            policy=self.policy,
            options=options,
            profiles=self.profiles,
            cli=self.cli,
            clock=self.clock,
        )
        await self.prepare()
        await self.registry.start()
        return self

    async def prepare(self) -> None:
        """For subclasses: add what listens to sessions, before they are recovered."""

    async def __aexit__(self, *exc_info: object) -> None:
        await self.registry.close()
        await self.store.close()

    async def act(self, intent: Intent, who: Device | None = None) -> IntentResult:
        """Do something as a device, under the next number."""
        self._n += 1
        who = who or self.owner
        async with asyncio.timeout(PATIENCE_S):
            return await self.registry.act(who, f"{self._client}-{who.id}", self._n, intent)

    async def new(self, **fields: Any) -> str:
        """A new session; gives its id."""
        result = await self.act(NewSession(cwd=str(self.project), **fields))
        assert result.ok, result
        return str(result.result["session"])

    async def say(self, session: str, *steps: dict[str, Any], text: str = "") -> str:
        """Send a prompt; gives its uuid."""
        prompt = str(uuid.uuid4())
        words = text or json.dumps(list(steps))
        result = await self.act(Send(session=session, text=words, uuid=prompt))
        assert result.ok, result
        return prompt

    def live(self, session: str) -> LiveSession:
        found = self.registry.sessions.loaded(session)
        assert found is not None
        return found

    async def until(self, what: Callable[[], Any]) -> Any:
        """Wait for something to become true, within bounds."""
        return await until(what, PATIENCE_S)

    async def state(self, session: str, *states: str) -> LiveSession:
        """Wait until a session is in one of some states."""
        live = await self.registry.sessions.load(session)
        await self.until(lambda: live.transcript.status.state in states)
        return live

    async def pending(self, session: str, count: int = 1) -> list[dict[str, Any]]:
        """Wait for requests; gives them as a client sees them."""
        live = await self.registry.sessions.load(session)
        await self.until(lambda: len(live.transcript.pending) >= count)
        source = self.registry.sessions.source(session)
        rows: list[dict[str, Any]] = msgspec.json.decode(
            msgspec.json.encode(source.section("pending"))
        )
        return rows

    def told(self, kind: str | None = None) -> list[dict[str, Any]]:
        """What the agent received on stdin, or its starts."""
        if not self.log.exists():
            return []
        entries = [json.loads(line) for line in self.log.read_text().splitlines()]
        if kind == "argv":
            return [each for each in entries if "argv" in each]
        return [each for each in entries if kind is None or each.get("type") == kind]

    def answers(self) -> dict[str, dict[str, Any]]:
        """The answers the agent got, by request."""
        return {
            each["response"]["request_id"]: each["response"].get("response", {})
            for each in self.told("control_response")
        }

    def prompts(self) -> list[str]:
        """The prompts the agent got, as texts."""
        return [each["message"]["content"][0]["text"] for each in self.told("user")]

    async def hub_client(self, document: str, name: str = "robot", window: int = 500) -> HubClient:
        """A client that follows a document."""
        assert await self.registry.open(document)
        hub_client = HubClient(self.registry.hub, name, document, window)
        hub_client.open(0.0)
        return hub_client

    def lobby(self, to: str) -> dict[str, dict[str, Any]]:
        """The rows of a list of the lobby."""
        rows = msgspec.json.decode(msgspec.json.encode(self.registry.lobby.section(to)))
        return {row["id"]: row for row in rows}


__all__ = ["AGENT", "LOBBY", "PATIENCE_S", "ServerHarness", "device"]
