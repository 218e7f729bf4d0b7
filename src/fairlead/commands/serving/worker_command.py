"""`fairlead serve --workers N`: the processes of one server, and what each of them runs."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairlead.errors import UsageError
from fairlead.server.access.local_socket import short_path

if TYPE_CHECKING:
    from fairlead.fleet.workers.front import Front
    from fairlead.server.service import Service

__all__ = ["Workers", "run_worker", "worker_count", "workers_of"]

MOST = 16
SOCKET = "bus.sock"


def worker_count(text: str) -> int:
    """The value of `--workers`."""
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:4]) <= MOST):
        raise argparse.ArgumentTypeError(f"a number from 1 to {MOST} is needed, not {text!r}")
    return int(text)


class Workers:
    """The front's side: its socket and its workers' processes."""

    def __init__(self, data: Path, count: int, more: int) -> None:
        """`more` workers have only sessions that were started with a higher number."""
        from fairlead.fleet.bus.memory_bus import MemoryBroker
        from fairlead.fleet.workers.front import Front

        self._data = data
        self._count = count + more
        self._broker = MemoryBroker()
        self.front: Front = Front(self._broker, count, more)

    @asynccontextmanager
    async def running(self, service: Service) -> AsyncIterator[None]:
        """Run the workers, and wait until their sessions are listed."""
        from fairlead.fleet.bus.socket_bus import SocketBroker
        from fairlead.fleet.workers.folders import FOLDER
        from fairlead.fleet.workers.worker_processes import WorkerProcesses

        folder = self._data / FOLDER
        folder.mkdir(mode=0o700, exist_ok=True)
        processes = WorkerProcesses(self._command, self._count, self.front.lost)
        with short_path(folder) as short:
            broker = SocketBroker(Path(short, SOCKET), self._broker)
            await broker.start()
            try:
                async with self.front.running(service), processes.running():
                    await self.front.all_here()
                    yield
            finally:
                await broker.close()

    def _command(self, number: int) -> list[str]:
        # The same options again; the program in argv[0] may be a script of any name.
        program = "from fairlead.commands.main import main; raise SystemExit(main())"
        data = ["--data", str(self._data)]
        return [sys.executable, "-c", program, *sys.argv[1:], *data, "--worker", str(number)]


def workers_of(arguments: argparse.Namespace) -> Workers | None:
    """The workers that a server needs; None if it is one process."""
    from fairlead.fleet.workers.folders import workers_with_sessions

    count: int = arguments.workers
    before = workers_with_sessions(arguments.data)
    if count == 1 and before == 0:
        return None
    if hasattr(arguments, "fleet_role"):
        raise UsageError(
            "fairlead node cannot use workers yet. Start it without --workers, and with a data "
            "folder that no server with workers has used."
        )
    return Workers(arguments.data, count, max(0, before - count))


async def run_worker(data: Path, number: int, count: int, options: dict[str, Any]) -> int:
    """Run one of `count` workers until the front ends or asks for it; returns the exit code."""
    from fairlead.fleet.bus.socket_bus import connect_socket_bus
    from fairlead.fleet.workers.folders import FOLDER
    from fairlead.fleet.workers.worker import limits_of_worker, open_worker
    from fairlead.server.memory.gc_tuning import sweep_forever

    with short_path(data / FOLDER) as short:
        bus = await connect_socket_bus(Path(short, SOCKET))
    ended = asyncio.Event()
    bus.on_connected(lambda connected: None if connected else ended.set())
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    # Ctrl-C reaches all processes of a terminal; the front decides what it means.
    loop.add_signal_handler(signal.SIGINT, lambda: None)
    try:
        limits = limits_of_worker(count)
        async with open_worker(bus, data, number, limits=limits, **options) as service:
            sessions = service.registry.sessions
            sweeping = asyncio.create_task(
                sweep_forever(lambda: sessions.working, lambda: sessions.retired)
            )
            await ended.wait()
            sweeping.cancel()
    finally:
        with contextlib.suppress(Exception):
            await bus.close()
    return 0
