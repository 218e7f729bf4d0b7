"""Which devices there are, and which of them are here, as rows of the lobby."""

from __future__ import annotations

from collections.abc import Callable

from fairlead.server.lobby import Lobby
from fairlead.server.lobby_rows import DeviceRow
from fairlead.store.devices import Device

__all__ = ["Presence"]


class Presence:
    """The devices of one server; a device may be here several times."""

    def __init__(self, lobby: Lobby, clock: Callable[[], float]) -> None:
        self._lobby = lobby
        self._clock = clock
        self._sockets: dict[str, set[str]] = {}
        self._names: dict[str, str] = {}
        """Of devices that were renamed: a socket keeps the one it came with."""

    def known(self, device: Device) -> None:
        """A device that may come."""
        self._show(device, device.last_seen)

    def arrived(self, device: Device, socket: str) -> None:
        """A device is connected."""
        self._sockets.setdefault(device.id, set()).add(socket)
        self._show(device, self._clock())

    def left(self, device: Device, socket: str) -> None:
        """One connection of a device is gone."""
        sockets = self._sockets.get(device.id)
        if sockets is None:
            return
        sockets.discard(socket)
        if not sockets:
            del self._sockets[device.id]
        if device.id in self._lobby.ids("devices"):
            self._show(device, self._clock())

    def renamed(self, device: str, name: str) -> None:
        """A device goes by another name from now on."""
        self._names[device] = name
        self._lobby.update("devices", device, name=name)

    def revoked(self, device: str) -> None:
        """A device that may come no more."""
        self._lobby.remove("devices", device)

    def _show(self, device: Device, seen: float) -> None:
        self._lobby.put(
            "devices",
            DeviceRow(
                id=device.id,
                name=self._names.get(device.id, device.name),
                role=device.role,
                last_seen=seen,
                connected=device.id in self._sockets,
            ),
        )
