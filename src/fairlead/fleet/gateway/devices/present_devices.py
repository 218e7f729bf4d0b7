"""Which devices are connected to any gateway of the fleet, as rows of the lobby.

Every gateway sends the devices that are connected to it every five seconds. A gateway that falls
silent is forgotten after three times that.
"""

from __future__ import annotations

import asyncio
import contextlib
import time

from fairlead.fleet.bus.bus import Bus, BusError, Message, Subscription
from fairlead.fleet.protocol import subjects
from fairlead.fleet.protocol.envelopes import Present, UnreadableEnvelope, decode, encode
from fairlead.server.view.lobby import Lobby
from fairlead.server.view.presence import Presence
from fairlead.store.tables.devices import Device

__all__ = ["PresentDevices"]

EVERY_S = 5.0
SILENT_S = 15.0


class PresentDevices:
    """The devices of a fleet and whether they are connected."""

    def __init__(self, lobby: Lobby, bus: Bus, gateway: str) -> None:
        self._presence = Presence(lobby, time.time)
        self._bus = bus
        self._gateway = gateway
        self._known: dict[str, Device] = {}
        self._here: dict[str, set[str]] = {}
        """Device -> its sockets at this gateway."""
        self._others: dict[str, tuple[set[str], float]] = {}
        """Gateway -> the devices connected to it, and when that was received."""
        self._subscription: Subscription | None = None
        self._wake = asyncio.Event()

    async def start(self) -> None:
        """Begin to listen to other gateways."""
        self._subscription = await self._bus.subscribe("fl.here.*", self._on_present)

    async def close(self) -> None:
        """Tell the others that no device is connected here any more."""
        with contextlib.suppress(BusError):
            await self._bus.publish(subjects.present(self._gateway), encode(Present()))
            if self._subscription is not None:
                await self._subscription.close()

    async def run(self) -> None:
        """Tell the others which devices are connected here."""
        while True:
            with contextlib.suppress(BusError):
                present = Present(devices=tuple(self._here))
                await self._bus.publish(subjects.present(self._gateway), encode(present))
            self._forget_silent()
            self._wake.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(EVERY_S):
                    await self._wake.wait()

    def gateways(self) -> set[str]:
        """The other gateways that were heard in the last seconds."""
        return set(self._others)

    def known(self, device: Device) -> None:
        """List a device that may connect."""
        before = self._known.get(device.id)
        self._known[device.id] = device
        if before is not None and before.name != device.name:
            self._presence.renamed(device.id, device.name)
        if before is None:
            self._presence.known(device)

    def arrived(self, device: Device, socket: str) -> None:
        """A device connected to this gateway."""
        self._known.setdefault(device.id, device)
        self._here.setdefault(device.id, set()).add(socket)
        self._presence.arrived(device, socket)
        self._wake.set()

    def left(self, device: Device, socket: str) -> None:
        """One connection of a device to this gateway closed."""
        sockets = self._here.get(device.id, set())
        sockets.discard(socket)
        if not sockets:
            self._here.pop(device.id, None)
        self._presence.left(device, socket)
        self._wake.set()

    def renamed(self, device: str, name: str) -> None:
        """A device was renamed."""
        self._presence.renamed(device, name)

    def revoked(self, device: str) -> None:
        """List a device no longer."""
        self._known.pop(device, None)
        self._presence.revoked(device)

    def _on_present(self, message: Message) -> None:
        gateway = message.subject.rpartition(".")[2]
        if gateway == self._gateway:
            return
        try:
            devices = set(decode(message.payload, Present).devices)
        except UnreadableEnvelope:
            return
        self._set_others(gateway, devices)

    def _set_others(self, gateway: str, devices: set[str]) -> None:
        before = self._others.get(gateway, (set(), 0.0))[0]
        self._others[gateway] = devices, time.monotonic()
        for device in devices - before:
            if device in self._known:
                self._presence.arrived(self._known[device], f"gateway:{gateway}")
        for device in before - devices:
            if device in self._known:
                self._presence.left(self._known[device], f"gateway:{gateway}")

    def _forget_silent(self) -> None:
        now = time.monotonic()
        for gateway, (_, at) in list(self._others.items()):
            if now - at > SILENT_S:
                self._set_others(gateway, set())
                del self._others[gateway]
