"""What `/bridge` uses where sessions run elsewhere: at a gateway, and in the front of workers.

Documents are mirrors, which have the last items and only the beginning of long rows. The rest is read
from the process that runs the session, by the routes of its HTTP API.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from fairlead.fleet.gateway.directory import Directory
from fairlead.fleet.gateway.node_client import NodeClient
from fairlead.fleet.protocol.envelopes import HttpAsk
from fairlead.server.bridge.documents import BridgeDocuments, Conversation, SessionFacts
from fairlead.server.protocol.lobby_rows import ListedSession
from fairlead.server.protocol.messages import IntentResult
from fairlead.server.refusal import Refusal
from fairlead.server.sockets.sockets import DocumentServer
from fairlead.server.view.lobby import Lobby
from fairlead.store.tables.devices import Device

__all__ = ["RemoteBridgeDocuments"]

LISTED_S = 5.0
"""How long the row of a new session is waited for; it arrives after the result of its intent."""
LISTED_CHECK_S = 0.02


async def _known(device: Device) -> None:
    """Every machine of a fleet knows the devices."""


class RemoteBridgeDocuments:
    """The sessions of other processes, in addition to those of this one (`BridgeDocuments`)."""

    def __init__(
        self,
        documents: DocumentServer,
        lobby: Lobby,
        directory: Directory,
        client: NodeClient,
        *,
        own: BridgeDocuments | None = None,
        introduce: Callable[[Device], Awaitable[None]] = _known,
    ) -> None:
        """`own` are the sessions of this process. `introduce` tells the others about a device."""
        self.hub = documents.hub
        self._documents = documents
        self._lobby = lobby
        self._directory = directory
        self._client = client
        self._own = own
        self._introduce = introduce

    async def open(self, document: str, device: Device) -> bool:
        return await self._documents.open(document, device)

    async def act(self, device: Device, client: str, n: int, intent: Any) -> IntentResult:
        return await self._documents.act(device, client, n, intent)

    def sessions(self) -> list[ListedSession]:
        return self._lobby.sessions()

    async def facts(self, session: str) -> SessionFacts:
        if self._own is not None and self._directory.owner(session) is None:
            return await self._own.facts(session)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LISTED_S):
                while self._lobby.session(session) is None:  # noqa: ASYNC110
                    await asyncio.sleep(LISTED_CHECK_S)
        row = self._lobby.session(session)
        if row is None:
            return SessionFacts(cwd="")
        return msgspec.convert(row, SessionFacts, from_attributes=True)

    def row(self, session: str, section: str, row_id: str) -> Any:
        if self._own is None or self._directory.owner(session) is not None:
            return None
        return self._own.row(session, section, row_id)

    async def fetch_row(self, device: Device, session: str, section: str, row_id: str) -> Any:
        query = urlencode({"id": row_id, "of": section})
        return await self._get(device, session, "item", query)

    async def conversation(self, device: Device, session: str) -> Conversation | None:
        if self._own is not None and self._directory.owner(session) is None:
            return await self._own.conversation(device, session)
        whole = await self._get(device, session, "export", "form=json")
        return Conversation(whole["items"], whole["turns"])

    async def _get(self, device: Device, session: str, what: str, query: str) -> Any:
        """The answer of a session's process to a request of the device."""
        owner = self._directory.owner(session)
        if owner is None:
            raise Refusal("not_found", "Session not found.")
        node, own = owner
        await self._introduce(device)
        ask = HttpAsk(
            transfer="",
            device=device.id,
            method="GET",
            path=f"/api/sessions/{quote(own)}/{what}",
            query=query,
        )
        response = await self._client.http(node, ask, _nothing())
        content = await response.read()
        if response.status != 200:
            raise Refusal("unavailable", "The machine of this session failed to answer. Try again.")
        return msgspec.json.decode(content)


async def _nothing() -> AsyncIterator[bytes]:
    yield b""
