"""Listens to the nodes of a fleet: their beats, the frames of their lobbies, and their enrollment."""

from __future__ import annotations

import asyncio
import contextlib
import logging

import msgspec

from fairlead.fleet.bus.bus import Bus, BusError, Entry, Message, Subscription
from fairlead.fleet.bus.rereading import Rereading
from fairlead.fleet.gateway.directory import Directory
from fairlead.fleet.gateway.mirrors import Mirrors
from fairlead.fleet.protocol.envelopes import Beat, UnreadableEnvelope, decode
from fairlead.server.protocol.lobby_rows import ListedSession

__all__ = ["NodesWatch"]

log = logging.getLogger("fairlead.fleet")

CHECK_EVERY_S = 0.25
READ_EVERY_S = 30.0
"""Until the first read succeeds, only sessions that machines have named are known here."""
_decode_row = msgspec.json.Decoder(ListedSession).decode


class NodesWatch:
    """Hands what nodes send to the directory and the mirrors."""

    def __init__(self, bus: Bus, directory: Directory, mirrors: Mirrors) -> None:
        self._bus = bus
        self._directory = directory
        self._mirrors = mirrors
        self._lobbies: set[str] = set()
        self._enrolled: set[str] = set()
        """The machines of the list; others were only heard."""
        self._rereading = Rereading(bus, self._read, READ_EVERY_S)
        self._subscriptions: list[Subscription] = []

    async def start(self) -> None:
        """Begin to listen."""
        self._subscriptions = [
            await self._bus.subscribe("fl.beat.*", self._on_beat),
            await self._bus.subscribe("fl.lobby.*", self._on_lobby),
        ]
        with contextlib.suppress(BusError):
            bucket = self._bus.bucket("nodes")
            self._subscriptions.append(await bucket.listen(self._on_enrolled))
            await self._read()

    async def close(self) -> None:
        """Stop listening."""
        for subscription in self._subscriptions:
            with contextlib.suppress(BusError):
                await subscription.close()

    async def run(self) -> None:
        """Notice which machines fall silent, and read the list of machines from time to time."""
        await asyncio.gather(self._check(), self._rereading.run())

    async def _check(self) -> None:
        while True:
            await asyncio.sleep(CHECK_EVERY_S)
            self._directory.check()

    async def _read(self) -> None:
        entries = await self._bus.bucket("nodes").entries()
        for node in self._enrolled - {entry.key for entry in entries}:
            # The message about its removal was lost. One that beats is in a list that is later
            # than the one that was read.
            if not self._directory.is_here(node):
                self._forget(node)
        for entry in entries:
            self._on_enrolled(entry)
        self._directory.is_listed = True
        await self._read_rows()

    async def _read_rows(self) -> None:
        """List the sessions of machines that were not heard since the gateway started."""
        rows: dict[str, list[ListedSession]] = {}
        for entry in await self._bus.bucket("rows").entries():
            node = entry.key.partition(".")[0]
            known = self._directory.node(node)
            if known is None or known.lobby.is_known or entry.value is None:
                continue
            try:
                rows.setdefault(node, []).append(_decode_row(entry.value))
            except msgspec.DecodeError as problem:
                log.warning("the row of %s cannot be read: %s", entry.key, problem)
        for node, listed in rows.items():
            self._directory.stored(node, listed)

    def _on_beat(self, message: Message) -> None:
        node = _node(message)
        try:
            beat = decode(message.payload, Beat)
        except UnreadableEnvelope as problem:
            log.warning("the beat of %s: %s", node, problem)
            return
        arrived = self._directory.heard(node, beat)
        if node not in self._lobbies:
            entry = self._directory.node(node)
            assert entry is not None
            self._lobbies.add(node)
            self._mirrors.follow_lobby(node, entry.lobby)
        elif arrived:
            self._mirrors.heal_node(node)
        self._mirrors.on_beat(node, beat)

    def _on_lobby(self, message: Message) -> None:
        self._mirrors.lobby_frame(_node(message), message)

    def _on_enrolled(self, entry: Entry) -> None:
        """A machine was enrolled; if its key is deleted, it is gone for good."""
        if entry.value is None:
            self._forget(entry.key)
            return
        try:
            value = msgspec.json.decode(entry.value)
        except msgspec.DecodeError:
            return
        name = value.get("name") if isinstance(value, dict) else None
        self._enrolled.add(entry.key)
        self._directory.enroll(entry.key, name if isinstance(name, str) else "")

    def _forget(self, node: str) -> None:
        self._enrolled.discard(node)
        self._lobbies.discard(node)
        self._mirrors.forget_node(node)
        self._directory.forget(node)


def _node(message: Message) -> str:
    return message.subject.split(".")[2]
