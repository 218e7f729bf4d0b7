"""A real server with a scripted CLI, in one process with its clients; the proxy is in front of
it."""

from __future__ import annotations

import asyncio
import json
import random
import shlex
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairlead.host.options.options import Options
from fairlead.host.process.process import Graces
from fairlead.server.limits import Limits
from fairlead.server.policy import Policy
from fairlead.server.protocol.intents import NewSession
from fairlead.server.service import Service, open_service
from tests.faults.faulty_client import FaultyClient
from tests.launching import executable, python_launcher
from tests.waiting import until

__all__ = ["FaultHarness", "open_fault_harness", "read_log", "scripted_agent", "teed_agent"]

AGENT = Path(__file__).parents[1] / "server" / "agent.py"
QUICK = Graces(after_eof=0.5, after_term=0.5, after_kill=5.0)
RESTLESS = Limits(ping_s=0.3, dead_s=2.0, slow_s=2.0, restart_delays_s=(0.0,))
"""Keepalives often enough for a client to soon tell a dead network from a quiet one."""


def scripted_agent(folder: Path, log: Path, files: Path | None = None) -> Path:
    """The CLI that does what its prompt says, as an executable file."""
    kept = f"export AGENT_FILES={shlex.quote(str(files))}\n" if files else ""
    return python_launcher(folder / "claude-scripted", AGENT, log, before=kept)


def teed_agent(folder: Path, log: Path, agent: Path) -> Path:
    """Another CLI whose stdin is written down on its way."""
    tee = f"tee -a {shlex.quote(str(log))} | {shlex.quote(str(agent))}"
    probe = f'[ "$1" = --version ] && exec {shlex.quote(str(agent))} --version'
    return executable(folder / "claude-teed", f'{probe}\n{tee} "$@"')


def read_log(log: Path) -> list[dict[str, Any]]:
    """What CLIs received on stdin; a last line that a kill cut short is omitted."""
    entries: list[dict[str, Any]] = []
    for line in log.read_text().splitlines() if log.exists() else ():
        try:
            entries.append(json.loads(line))
        except ValueError:
            continue
    return entries


@dataclass(slots=True, kw_only=True)
class FaultHarness:
    """A running server, and what a test needs to connect faulty clients to it."""

    service: Service
    folder: Path
    policy: Policy
    log: Path
    running: asyncio.Task[None]

    @property
    def authority(self) -> str:
        """What clients call the server."""
        return f"127.0.0.1:{self.service.port}"

    async def session(self) -> str:
        """A new session."""
        owner = await self.service.devices.make_device("test owner", "owner")
        device = await self.service.devices.device_of(owner.token, "")
        assert device is not None
        intent = NewSession(cwd=str(self.folder / "project"))
        result = await self.service.registry.act(device, owner.device, 1, intent)
        assert result.ok, result
        return str(result.result["session"])

    async def client(self, session: str, port: int, seed: int, **more: Any) -> FaultyClient:
        """A client with its own device."""
        name = f"robot-{seed}"
        paired = await self.service.devices.make_device(name, "operator")
        return FaultyClient(
            name=name,
            server=self.authority,
            port=port,
            token=paired.token,
            session=session,
            rng=random.Random(seed),
            **more,
        )

    async def until(self, what: Callable[[], Any], patience_s: float = 100.0) -> None:
        """Wait for something to become true, within bounds."""
        await until(what, patience_s)

    def unstored(self, session: str) -> int:
        """Bytes that a session has read of its CLI and not stored."""
        live = self.service.registry.sessions.loaded(session)
        return live.journal.bytes if live is not None else 0

    def at_rest(self, session: str) -> bool:
        """Whether a session has nothing left to do, and all of it is stored."""
        live = self.service.registry.sessions.loaded(session)
        return live is not None and not live.busy and not live.journal.bytes

    async def stop(self) -> None:
        """End the server."""
        self.service.stop()
        await asyncio.wait_for(self.running, 30)


@asynccontextmanager
async def open_fault_harness(
    folder: Path, *, limits: Limits = RESTLESS, agent: Path | None = None, **options: Any
) -> AsyncIterator[FaultHarness]:
    """Start a server below a folder; it ends with the block."""
    (folder / "project").mkdir(exist_ok=True)
    log = folder / "agent.log"
    policy = Policy(roots=(folder,))
    launcher = agent or scripted_agent(folder, log)
    async with open_service(
        data=folder / "data",
        options=Options(agent=launcher, graces=QUICK, **options),
        agent="scripted",
        limits=limits,
        policy=policy,
    ) as service:
        running = asyncio.create_task(service.run())
        made = FaultHarness(service=service, folder=folder, policy=policy, log=log, running=running)
        await until(lambda: service._server.started)  # uvicorn has no event for it
        yield made
        if not running.done():
            await made.stop()
