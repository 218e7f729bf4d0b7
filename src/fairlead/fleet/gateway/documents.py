"""What the sockets of a gateway use instead of a registry: mirrors of documents, and nodes that act.

An intent is sent to its machine with the client's own number, again and again while the machine
beats; the machine carries it out once. An intent for a machine that is away is refused at once and
not kept: a decision that is carried out an hour later could surprise its sender.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

import msgspec

from fairlead.fleet.bus.bus import Bucket, BusError, Conflict
from fairlead.fleet.gateway.devices.present_devices import PresentDevices
from fairlead.fleet.gateway.directory import Directory
from fairlead.fleet.gateway.highest_intents import HighestIntents, client_token
from fairlead.fleet.gateway.http.uploads import GatewayUploads
from fairlead.fleet.gateway.intent_routes import Routed, merged_result, routed, sparse
from fairlead.fleet.gateway.mirrors import Mirrors
from fairlead.fleet.gateway.node_client import NodeClient
from fairlead.fleet.protocol.envelopes import DoAsk, LastIntentAsk
from fairlead.server.access.roles import require
from fairlead.server.hub.hub import Hub
from fairlead.server.intents.context import check_number
from fairlead.server.protocol.intent import BaseIntent
from fairlead.server.protocol.intents import NewSession, RevokeDevice, Send
from fairlead.server.protocol.messages import LOBBY, IntentResult
from fairlead.server.refusal import Refusal
from fairlead.store.tables.devices import Device

__all__ = ["FleetDocuments", "joined", "note_started"]

log = logging.getLogger("fairlead.fleet")

NO_MACHINE = "No machine is connected that could do this. Start one, or try again later."

NO_ANSWER = "does not answer now, so this session cannot be shown. Try again in a moment."

NO_COPY = (
    "is away, and there is no copy of this session. It can be read when the machine is connected."
)

Replica = Callable[[str, str, str], Awaitable[bool]]
"""Offers the copy of a session of a node that is away, under a name; False if there is none."""


SETTLE_S = 10.0
"""How long a session is waited for after the start of a gateway; usually a second is enough."""
SETTLE_CHECK_S = 0.05


class FleetDocuments:
    """The documents of all nodes (`sockets.DocumentServer`)."""

    def __init__(
        self,
        hub: Hub,
        *,
        directory: Directory,
        mirrors: Mirrors,
        client: NodeClient,
        presence: PresentDevices,
        uploads: GatewayUploads,
        placements: Bucket,
        highest: HighestIntents,
        revoke: Callable[[str], Awaitable[dict[str, Any]]],
    ) -> None:
        """`placements` has the machine that was chosen for each new session."""
        self.hub = hub
        self.replica: Replica | None = None
        self._directory = directory
        self._mirrors = mirrors
        self._client = client
        self._presence = presence
        self._uploads = uploads
        self._placements = placements
        self._highest = highest
        self._revoke = revoke

    # Documents

    async def open(self, document: str, device: Device | None = None) -> bool:
        """Make a document available to the hub; False or a `Refusal` if there is none."""
        if document == LOBBY:
            return True
        await self._wait_for((document,))
        node, session = self._directory.owner_of(document)
        until = time.monotonic() + SETTLE_S
        while self._directory.is_here(node):
            if await self._mirrors.follow(node, session, document):
                return True
            # The machine may have been killed a moment ago: that is no reason to say that its
            # sessions do not exist. It is soon back, or known to be away.
            if self._directory.owner(document) is None:
                return False
            if time.monotonic() > until:
                raise Refusal("unavailable", f"{self._directory.label(node)} {NO_ANSWER}")
            await asyncio.sleep(SETTLE_CHECK_S)
        if self.hub.has(document):
            return True  # The mirror shows what was last heard of the machine.
        if self.replica is not None and await self.replica(node, session, document):
            return True
        raise Refusal("unavailable", f"{self._directory.label(node)} {NO_COPY}")

    async def _wait_for(self, sessions: Iterable[str]) -> None:
        """Wait for sessions that a gateway cannot know yet, because it has just started."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SETTLE_S):
                for session in sessions:
                    while self._directory.owner(session) is None:
                        if self._directory.is_settled:
                            return
                        await asyncio.sleep(SETTLE_CHECK_S)

    async def load_older(self, document: str, before: str, count: int) -> None:
        """Get older items from the machine of a session."""
        owner = self._directory.owner(document)
        if owner is not None:
            await self._mirrors.older(*owner, before, count)

    def arrived(self, device: Device, socket: str) -> None:
        """A device connected."""
        self._presence.arrived(device, socket)

    def left(self, device: Device, socket: str) -> None:
        """One connection of a device closed."""
        self._presence.left(device, socket)

    # Intents

    async def act(
        self, device: Device, client: str, n: int, intent: BaseIntent, node: str = ""
    ) -> IntentResult:
        """Have an intent carried out by its machine, once for each (device, client, n)."""
        try:
            check_number(client, n)
            require(device.role, type(intent).role, str(intent.__struct_config__.tag))
            if isinstance(intent, RevokeDevice):
                return IntentResult(n=n, ok=True, result=await self._revoke(intent.device))
            await self._wait_for(_sessions_of(intent))
            here = self._directory.here()
            parts = routed(intent, node, self._directory.owner_of, here)
            if parts is None:
                chosen = await self._place(device, client, n, intent)
                parts = [Routed(chosen, intent, {})]
            if not parts:
                raise Refusal("unavailable", NO_MACHINE)
            results = await asyncio.gather(*(self._do(device, client, n, part) for part in parts))
        except Refusal as refusal:
            return IntentResult(
                n=n, ok=False, code=refusal.code, message=refusal.message, result=refusal.facts
            )
        note_started(self._directory, parts, results)
        if any(result.ok for result in results):
            self._highest.note(device.id, client, n)
        return joined(n, list(zip(parts, results, strict=True)))

    async def last_intent(self, device: Device, client: str) -> int:
        """The highest n of a device's client that any machine has carried out.

        Machines that are away cannot be asked, so gateways also keep the numbers in a bucket.
        """
        ask = LastIntentAsk(device=device.id, client=client)

        async def of(node: str) -> int:
            with contextlib.suppress(Refusal):
                return await self._client.last_intent(node, ask)
            return 0

        numbers = await asyncio.gather(
            self._highest.of(device.id, client), *(of(node) for node in self._directory.here())
        )
        return max(numbers)

    async def _do(self, device: Device, client: str, n: int, part: Routed) -> IntentResult:
        intent = part.intent
        if isinstance(intent, Send) and intent.attachments:
            intent = await self._uploads.sent_along(part.node, device, intent)
        raw = msgspec.Raw(sparse(intent))
        try:
            return await self._client.do(
                part.node, DoAsk(device=device.id, client=client, n=n, intent=raw)
            )
        except Refusal as refusal:
            return IntentResult(n=n, ok=False, code=refusal.code, message=refusal.message)

    async def _place(self, device: Device, client: str, n: int, intent: BaseIntent) -> str:
        """The machine for an intent about a folder that names none; always the same for (client, n)."""
        chosen = self._choose(str(getattr(intent, "cwd", "")))
        if not isinstance(intent, NewSession):
            return chosen
        key = f"place.{client_token(device.id, client)}.{n}"
        try:
            await self._placements.create(key, chosen.encode())
        except Conflict:
            entry = await self._placements.get(key)
            if entry is not None and entry.value is not None:
                return entry.value.decode()
        except BusError:
            raise Refusal(
                "unavailable", "The gateway has no connection to its machines now. Try again."
            ) from None
        return chosen

    def _choose(self, cwd: str) -> str:
        """A machine with sessions in this folder, or the one with the fewest running sessions."""
        nodes = [
            node
            for node in self._directory.nodes()
            if node.here and not (node.beat is not None and node.beat.draining)
        ]
        if not nodes:
            raise Refusal("unavailable", NO_MACHINE)
        with_folder = set(self._directory.with_folder(cwd))
        rooted = {
            node.id
            for node in nodes
            if any(_is_below(cwd, root) for root in node.lobby.server().roots)
        }
        best = min(
            nodes,
            key=lambda node: (
                node.id not in with_folder,
                node.id not in rooted,
                sum(1 for row in node.sessions().values() if row.live),
                node.id,
            ),
        )
        return best.id


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")


def note_started(
    directory: Directory, parts: Sequence[Routed], results: Sequence[IntentResult]
) -> None:
    """Note the machines of sessions that were started just now."""
    for part, result in zip(parts, results, strict=True):
        session = result.result.get("session") if result.ok else None
        if isinstance(session, str) and part.node:
            directory.started(part.node, session)


def joined(n: int, results: list[tuple[Routed, IntentResult]]) -> IntentResult:
    """The results of all machines as one; the first failure if nothing succeeded."""
    done = [(part, result.result) for part, result in results if result.ok]
    failed = next((result for _, result in results if not result.ok), None)
    if not done and failed is not None:
        return failed
    merged = merged_result(done)
    if failed is not None:
        merged["incomplete"] = failed.message
    return IntentResult(n=n, ok=True, result=merged)


def _sessions_of(intent: BaseIntent) -> tuple[str, ...]:
    several = getattr(intent, "sessions", None)
    if isinstance(several, tuple):
        return several
    session = getattr(intent, "session", "")
    return (session,) if isinstance(session, str) and session else ()
