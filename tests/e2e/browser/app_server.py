"""A complete server for browser tests: any agent, in the test's own folders.

    async with open_app_server(tmp_path, agent=claude.executable, project=claude.project) as server:
        await page.goto(server.link())

It runs in this process and on the tests' own event loop, so that a test can also inspect the store,
the registry and what the agent received.
"""

from __future__ import annotations

import asyncio
import random
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairlead.host.options.options import Options
from fairlead.host.process.process import Graces
from fairlead.server.limits import Limits
from fairlead.server.policy import Policy
from fairlead.server.service import Address, Service, open_service

__all__ = ["AppServer", "open_app_server"]

QUICK = Graces(after_eof=2.0, after_term=2.0, after_kill=5.0)

PATIENT = Limits(analysis_s=30.0)
"""An overloaded machine needs longer to compute the "always" choices of a request."""


@dataclass(frozen=True, slots=True)
class AppServer:
    """A running server."""

    service: Service
    project: Path

    @property
    def base(self) -> str:
        return self.service.base_url

    def link(self, role: str = "owner") -> str:
        """A link that lets one browser in, once."""
        return self.service.launch_link(role)

    def process(self, session: str) -> int:
        """The number of the process that a session's agent has."""
        live = self.service.registry.sessions.loaded(session)
        assert live is not None
        assert live.client is not None
        pid = live.client.pid
        assert pid is not None
        return pid

    def command_line(self, session: str) -> list[str]:
        """How the agent of a session was started."""
        given = Path("/proc", str(self.process(session)), "cmdline").read_bytes()
        return given.decode().split("\0")


class _Port:
    """One port of this process for one server after another.

    Browsers keep files and their compiled code by address, which includes the port. It is below those
    that Linux gives to connections, so no connection can have it when a server wants it again. The
    UDP port of the same number says to other processes of the tests that it is taken.
    """

    _RANGE = range(20_000, 32_000)

    def __init__(self) -> None:
        self._number = 0
        self._reserved: socket.socket | None = None
        self._taken = False

    @contextmanager
    def take(self) -> Iterator[int]:
        """The port, or 0 for any other while a server has it."""
        if self._taken:
            yield 0
            return
        if not self._is_free(self._number):
            self._number = next(filter(self._reserve, random.sample(self._RANGE, 100)), 0)
        self._taken = True
        try:
            yield self._number
        finally:
            self._taken = False

    def _reserve(self, number: int) -> bool:
        """Keep other processes of the tests from the port, if none of them has it."""
        reserved = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            reserved.bind(("127.0.0.1", number))
        except OSError:
            reserved.close()
            return False
        if self._reserved is not None:
            self._reserved.close()
        self._reserved = reserved
        return self._is_free(number)

    @staticmethod
    def _is_free(number: int) -> bool:
        """Whether a server can listen there; 0 is no port of its own."""
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind(("127.0.0.1", number))
            except OSError:
                return False
        return number != 0


_port = _Port()


@asynccontextmanager
async def open_app_server(
    folder: Path,
    *,
    agent: Path,
    project: Path,
    env: Mapping[str, str] | None = None,
    home: Path | None = None,
    limits: Limits | None = None,
    port: int | None = None,
    names: tuple[str, ...] = (),
    public_url: str | None = None,
    trusted_proxies: tuple[str, ...] = (),
    terminal: bool = False,
    **more: Any,
) -> AsyncIterator[AppServer]:
    """Serve until the end of the block; `env` is the agent's whole environment where it is given.

    `more` are further `Options` of every session, such as `rules=` for tools.
    """
    options = Options(
        agent=agent,
        cwd=project,
        env=dict(env or {}),
        inherit_env=env is None,
        graces=QUICK,
        **more,
    )
    policy = Policy(
        roots=(project,),
        env=dict(env or {}),
        inherit_env=env is None,
    )
    with ExitStack() as stack:
        listening = stack.enter_context(_port.take()) if port is None else port
        async with open_service(
            data=folder / "data",
            options=options,
            agent="demo",
            address=Address(
                port=listening, names=names, public_url=public_url, trusted_proxies=trusted_proxies
            ),
            policy=policy,
            limits=limits or PATIENT,
            projects=home / ".claude" / "projects" if home is not None else None,
            push_to_loopback=True,
            terminal=terminal,
        ) as service:
            running = asyncio.create_task(service.run())
            try:
                yield AppServer(service, project)
            finally:
                service.stop()
                await asyncio.wait_for(running, 30)
