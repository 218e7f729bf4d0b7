"""The interface between the bridge and a server: sessions, their full rows, and intents.

`LocalDocuments` is a server whose sessions all run in its process. A gateway and a server with workers
have others, in `fleet/`.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec
from msgspec import Struct

from fairlead.server.hub.hub import Hub
from fairlead.server.intents.registry import Registry
from fairlead.server.protocol.lobby_rows import ListedSession
from fairlead.server.protocol.messages import IntentResult
from fairlead.store.tables.devices import Device

__all__ = ["BridgeDocuments", "Conversation", "LocalDocuments", "SessionFacts"]


class SessionFacts(Struct, frozen=True, kw_only=True):
    """What a client is told about a session that it has started."""

    cwd: str
    mode: str | None = None
    model: str | None = None
    cli_session_id: str | None = None
    profile: str = ""


class Conversation(Struct, frozen=True):
    """All items and turns of a session."""

    items: Any
    turns: Any


class BridgeDocuments(Protocol):
    """The sessions of a server, as the bridge uses them."""

    hub: Hub

    async def open(self, document: str, device: Device) -> bool:
        """Make a document available to the hub; False if there is none."""

    async def act(self, device: Device, client: str, n: int, intent: Any) -> IntentResult:
        """Carry out an intent, once for each (device, client, n)."""

    def sessions(self) -> list[ListedSession]:
        """The rows of the lobby's list."""

    async def facts(self, session: str) -> SessionFacts:
        """What is known of a session that was started just now."""

    def row(self, session: str, section: str, row_id: str) -> Any:
        """A row in full, if this process has it."""

    async def fetch_row(self, device: Device, session: str, section: str, row_id: str) -> Any:
        """A row in full, from the process that has it; None if it no longer exists."""

    async def conversation(self, device: Device, session: str) -> Conversation | None:
        """The whole conversation of an open session."""


class LocalDocuments:
    """The sessions of this process (`BridgeDocuments`)."""

    def __init__(self, registry: Registry) -> None:
        self.hub = registry.hub
        self._registry = registry

    async def open(self, document: str, device: Device) -> bool:
        return await self._registry.open(document, device)

    async def act(self, device: Device, client: str, n: int, intent: Any) -> IntentResult:
        return await self._registry.act(device, client, n, intent)

    def sessions(self) -> list[ListedSession]:
        return self._registry.lobby.sessions()

    async def facts(self, session: str) -> SessionFacts:
        return msgspec.convert(
            self._registry.sessions.row(session), SessionFacts, from_attributes=True
        )

    def row(self, session: str, section: str, row_id: str) -> Any:
        source = self._registry.source(session)
        return None if source is None else source.transcript.row(section, row_id)

    async def fetch_row(self, device: Device, session: str, section: str, row_id: str) -> Any:
        return self.row(session, section, row_id)

    async def conversation(self, device: Device, session: str) -> Conversation | None:
        source = self._registry.source(session)
        if source is None:
            return None
        return Conversation(source.transcript.items, source.transcript.turns)
