"""The front of a server with workers: serves their sessions in addition to its own.

    front = Front(broker, workers=2)
    async with open_service(…, extend=front.extend) as service, front.running(service):
        await service.run()

The front is a whole server: it has the devices, the settings, the CLI's own sessions, and the sessions
that were started without workers. Workers are nodes on a bus within the machine, and the front is
their gateway.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from fairlead.fleet.bus.bus import BusError
from fairlead.fleet.bus.memory_bus import MemoryBroker
from fairlead.fleet.gateway.bridge_documents import RemoteBridgeDocuments
from fairlead.fleet.gateway.mirrors import Mirrors
from fairlead.fleet.gateway.node_client import NodeClient
from fairlead.fleet.gateway.nodes_watch import NodesWatch
from fairlead.fleet.gateway.notices.intake import NoticeIntake
from fairlead.fleet.gateway.terminals import FleetTerminals
from fairlead.fleet.protocol import subjects
from fairlead.fleet.protocol.names import split_name
from fairlead.fleet.protocol.people import Person, encode_person
from fairlead.fleet.workers.shared_budgets import FrontBudgets
from fairlead.fleet.workers.worker_api import WorkerApi
from fairlead.fleet.workers.worker_directory import WorkerDirectory
from fairlead.fleet.workers.worker_documents import WorkerDocuments
from fairlead.server.access.devices import DeviceRegistry
from fairlead.server.app import GuardedRoutes
from fairlead.server.background import report_failure, run_until_closed
from fairlead.server.bridge.documents import BridgeDocuments
from fairlead.server.http.api import Api
from fairlead.server.intents.registry import Registry
from fairlead.server.limits import Limits
from fairlead.server.notices.rules.notice import Notice
from fairlead.server.protocol.terminal_messages import TerminalList, TerminalMessage
from fairlead.server.service import Service
from fairlead.server.terminal.channel import Channel, OpenChannel, ToClient
from fairlead.store.tables.devices import Device

__all__ = ["Front", "worker_id"]

log = logging.getLogger("fairlead.fleet")

HERE_S = 60.0
"""How long the workers are waited for at the start."""


def worker_id(number: int) -> str:
    """The id of a worker; the first is number 1."""
    return f"worker{number}"


class Front:
    """Connects a server with its workers (`service.Extension`)."""

    documents: WorkerDocuments
    worker_api: WorkerApi

    def __init__(self, broker: MemoryBroker, workers: int, more: int = 0) -> None:
        """New sessions go to `workers` processes; `more` others only have sessions from before."""
        self._bus = broker.connect()
        self._workers = tuple(worker_id(number + 1) for number in range(workers))
        self._all = tuple(worker_id(number + 1) for number in range(workers + more))
        self._introduced: dict[str, tuple[str, str]] = {}
        self._budgets: FrontBudgets | None = None
        self.directory: WorkerDirectory
        self.mirrors: Mirrors

    def extend(self, registry: Registry, devices: DeviceRegistry, limits: Limits) -> Front:
        """Add the workers to a server (`service.Extend`)."""
        self._devices = devices
        self._lobby = registry.lobby
        self.directory = WorkerDirectory(registry.lobby)
        self._client = NodeClient(self._bus, self.directory.is_here, self.directory.away)
        self.mirrors = Mirrors(registry.hub, self._bus, self._client, "front")
        self._watch = NodesWatch(self._bus, self.directory, self.mirrors)
        self._terminals = FleetTerminals(self._bus, self._client, self.directory.owner)
        registry.sessions.elsewhere = self.directory.cli_sessions
        self.documents = WorkerDocuments(
            registry,
            self.directory,
            self.mirrors,
            self._client,
            workers=self._workers,
            introduce=self._introduce,
            settings_changed=self._settings_changed,
        )
        return self

    @asynccontextmanager
    async def running(self, service: Service) -> AsyncIterator[None]:
        """Serve the sessions of the workers, when those that are started meanwhile are here."""
        outbox = service.notices.outbox

        async def take(worker: str, session: str, notice: Notice) -> bool:
            viewed = self.documents.hub.followers(session, looking=True) > 0
            await outbox.put(session, notice, viewed=viewed)
            return True

        async with AsyncExitStack() as stack:
            intake = NoticeIntake(self._bus, self._client, self.directory, take)
            stack.push_async_callback(intake.close)
            await intake.start()
            stack.push_async_callback(self._terminals.close)
            stack.push_async_callback(self.mirrors.close)
            stack.push_async_callback(self._watch.close)
            await self._watch.start()
            for device in await service.store.devices():
                if device.revoked is None:  # Others may ask who wrote a draft or a comment.
                    await self._introduce(device)
            self._budgets = FrontBudgets(self._bus, self.directory, service.budgets)
            stack.push_async_callback(self._budgets.close)
            await self._budgets.start()
            for work in (self._watch.run(), self.mirrors.run(), self._budgets.run()):
                run_until_closed(stack, work)
            yield

    async def all_here(self) -> None:
        """Wait until every worker was heard, and its sessions are listed."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(HERE_S):
                while not all(map(self._is_listed, self._all)):  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
                return
        log.warning("not all workers have started within %g s", HERE_S)

    def _is_listed(self, worker: str) -> bool:
        entry = self.directory.node(worker)
        return entry is not None and entry.here and entry.lobby.is_known

    def lost(self, worker: str) -> None:
        """The process of a worker ended: nothing is asked of it until it beats again."""
        self.directory.lost(worker)

    # service.Extension

    def api(self, own: Api) -> GuardedRoutes:
        self.worker_api = WorkerApi(
            own,
            self.directory,
            self._client,
            introduce=self._introduce_id,
            settings_changed=self._settings_changed,
            budgets_changed=self._budgets_changed,
        )
        return self.worker_api

    def channels(self, own: OpenChannel | None) -> OpenChannel | None:
        if own is None:
            return None

        def open_channel(socket: str, device: Device, send: Callable[[ToClient], None]) -> Channel:
            workers = self._terminals.open(socket, device, send)
            return _Channels(own(socket, device, send), workers, self.directory)

        return open_channel

    def bridge(self, own: BridgeDocuments) -> BridgeDocuments:
        return RemoteBridgeDocuments(
            self.documents,
            self._lobby,
            self.directory,
            self._client,
            own=own,
            introduce=self._introduce,
        )

    def disconnect(self, device: str) -> None:
        """A device was revoked."""
        self._introduced.pop(device, None)
        task = asyncio.get_running_loop().create_task(self._cut(device))
        task.add_done_callback(report_failure)

    async def _cut(self, device: str) -> None:
        with contextlib.suppress(BusError):
            await self._bus.publish(f"{subjects.CUT}.{device}", b"")

    # Within

    async def _introduce_id(self, device: str) -> None:
        if device in self._introduced:
            return
        known = await self._devices.find(device)
        if known is not None:
            await self._introduce(known)

    async def _introduce(self, device: Device) -> None:
        """Tell the workers about a device, before the first thing that they do for it."""
        known = device.name, device.role
        if self._introduced.get(device.id) != known:
            self._introduced[device.id] = known
            person = Person(id=device.id, name=device.name, role=device.role)
            await self._bus.bucket("people").put(device.id, encode_person(person))

    async def _budgets_changed(self) -> None:
        """Tell the workers which budgets there are."""
        if self._budgets is not None:
            await self._budgets.exchange()

    async def _settings_changed(self) -> None:
        """Have the workers read the settings again."""
        for worker in self.directory.here():
            with contextlib.suppress(BusError):
                await self._bus.request(subjects.ask(worker, "settings"), b"{}", 5.0)


class _Channels:
    """The terminals of the front and of the workers, for one socket (`Channel`)."""

    def __init__(self, own: Channel, workers: Channel, directory: WorkerDirectory) -> None:
        self._own = own
        self._workers = workers
        self._directory = directory

    def handle(self, message: TerminalMessage) -> None:
        if isinstance(message, TerminalList):
            elsewhere = self._directory.owner(message.session) is not None
        else:
            elsewhere = split_name(message.terminal) is not None
        (self._workers if elsewhere else self._own).handle(message)

    def close(self) -> None:
        self._own.close()
        self._workers.close()
