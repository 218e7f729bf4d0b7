"""Documents and intents of the front and its workers, for the sockets of the front.

New sessions go to workers; a session stays with the process that has it in its database. Everything
that names no session is carried out by the front, which has the settings; workers read those again
when they change.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import Awaitable, Callable
from typing import Any, cast

import msgspec
from msgspec import structs

from fairlead.fleet.gateway.documents import joined, note_started
from fairlead.fleet.gateway.intent_routes import Routed, routed, sparse
from fairlead.fleet.gateway.mirrors import Mirrors
from fairlead.fleet.gateway.node_client import NodeClient
from fairlead.fleet.protocol.envelopes import DoAsk, LastIntentAsk
from fairlead.fleet.protocol.names import split_name
from fairlead.fleet.workers.worker_directory import WorkerDirectory
from fairlead.server.intents.registry import Registry
from fairlead.server.protocol.intents import (
    ContinueAtResetByDefault,
    Intent,
    NewSession,
    TrustProject,
)
from fairlead.server.protocol.messages import IntentResult
from fairlead.server.protocol.terminal_intents import CloseTerminal
from fairlead.server.protocol.workbench_intents import (
    FinishWorktree,
    SetWorktreeSetup,
    WorktreeLosses,
)
from fairlead.server.refusal import Refusal
from fairlead.store.tables.devices import Device

__all__ = ["FRONT", "WorkerDocuments"]

FRONT = ""
"""The name of the front among the workers."""


class WorkerDocuments:
    """The documents of all processes of a server (`sockets.DocumentServer`)."""

    def __init__(
        self,
        registry: Registry,
        directory: WorkerDirectory,
        mirrors: Mirrors,
        client: NodeClient,
        *,
        workers: tuple[str, ...],
        introduce: Callable[[Device], Awaitable[None]],
        settings_changed: Callable[[], Awaitable[None]],
    ) -> None:
        """New sessions go to `workers`. `introduce` tells workers about a device."""
        self.hub = registry.hub
        self._registry = registry
        self._directory = directory
        self._mirrors = mirrors
        self._client = client
        self._workers = workers
        self._introduce = introduce
        self._settings_changed = settings_changed

    async def open(self, document: str, device: Device | None = None) -> bool:
        owner = self._directory.owner(document)
        if owner is None:
            return await self._registry.open(document, device)
        if self._directory.is_here(owner[0]):
            return await self._mirrors.follow(*owner, document)
        return self.hub.has(document)  # As it was when its process ended.

    async def load_older(self, document: str, before: str, count: int) -> None:
        owner = self._directory.owner(document)
        if owner is not None:
            await self._mirrors.older(*owner, before, count)

    def arrived(self, device: Device, socket: str) -> None:
        self._registry.arrived(device, socket)

    def left(self, device: Device, socket: str) -> None:
        self._registry.left(device, socket)

    async def last_intent(self, device: Device, client: str) -> int:
        ask = LastIntentAsk(device=device.id, client=client)
        await self._introduce(device)

        async def of(worker: str) -> int:
            with contextlib.suppress(Refusal):
                return await self._client.last_intent(worker, ask)
            return 0

        own = self._registry.last_intent(device, client)
        workers = (of(each) for each in self._directory.here())
        return max(await asyncio.gather(own, *workers))

    async def act(
        self, device: Device, client: str, n: int, intent: Any, node: str = ""
    ) -> IntentResult:
        try:
            parts = self._parts(device, client, n, intent)
            if parts == [FRONT]:
                result = await self._registry.act(device, client, n, intent)
                if result.ok and isinstance(intent, TrustProject | SetWorktreeSetup):
                    await self._settings_changed()
                return result
            await self._introduce(device)
            results = await asyncio.gather(*(self._do(device, client, n, each) for each in parts))
        except Refusal as refusal:
            return IntentResult(n=n, ok=False, code=refusal.code, message=refusal.message)
        note_started(self._directory, parts, results)
        return joined(n, list(zip(parts, results, strict=True)))

    def _parts(self, device: Device, client: str, n: int, intent: Intent) -> list[Any]:
        """The parts of an intent for the workers; `[FRONT]` if the front carries it out alone."""
        if isinstance(intent, ContinueAtResetByDefault):
            return [Routed(each, intent, {}) for each in (FRONT, *self._directory.here())]
        if isinstance(intent, NewSession):
            worker = self._placed(device, client, n, intent)
        elif isinstance(intent, FinishWorktree | WorktreeLosses):
            worker = self._directory.at_folder(intent.cwd) or FRONT
            if isinstance(intent, FinishWorktree):
                self._refuse_busy(intent.cwd, worker)
        elif isinstance(intent, CloseTerminal):
            worker, own = split_name(intent.terminal) or (FRONT, intent.terminal)
            intent = structs.replace(intent, terminal=own)
        elif {"session", "sessions"} & set(type(intent).__struct_fields__):
            parts = routed(intent, "", self._owner, []) or []
            return parts if any(part.node for part in parts) else [FRONT]
        else:
            worker = FRONT
        return [FRONT] if worker == FRONT else [Routed(worker, intent, {})]

    def _refuse_busy(self, worktree: str, worker: str) -> None:
        """The process that ends a worktree sees only its own sessions."""
        for row in self._directory.busy_at(worktree):
            if self._owner(row.id)[0] != worker:
                raise Refusal("conflict", "Stop the session before ending its worktree.")

    def _owner(self, session: str) -> tuple[str, str]:
        return self._directory.owner(session) or (FRONT, session)

    def _placed(self, device: Device, client: str, n: int, intent: NewSession) -> str:
        """The worker of a new session: always the same for (device, client, n), whatever ends."""
        if intent.continue_latest:
            return self._directory.latest_at(intent.cwd) or FRONT
        key = hashlib.sha256(f"{device.id}\0{client}\0{n}".encode()).digest()
        return self._workers[int.from_bytes(key[:4], "big") % len(self._workers)]

    async def _do(self, device: Device, client: str, n: int, part: Routed) -> IntentResult:
        if part.node == FRONT:
            return await self._registry.act(device, client, n, cast(Intent, part.intent))
        ask = DoAsk(device=device.id, client=client, n=n, intent=msgspec.Raw(sparse(part.intent)))
        try:
            return await self._client.do(part.node, ask)
        except Refusal as refusal:
            return IntentResult(n=n, ok=False, code=refusal.code, message=refusal.message)
