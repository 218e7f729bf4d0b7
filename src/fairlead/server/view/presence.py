"""The devices and whether they are connected, as rows of the lobby."""

from __future__ import annotations

from collections.abc import Callable

from fairlead.server.protocol.lobby_rows import DeviceRow
from fairlead.server.view.lobby import Lobby
from fairlead.store.tables.devices import Device

__all__ = ["Presence"]


class Presence:
    """The devices of one server; a device may have several connections."""

    def __init__(self, lobby: Lobby, clock: Callable[[], float]) -> None:
        self._lobby = lobby
        self._clock = clock
        self._sockets: dict[str, set[str]] = {}
        self._names: dict[str, str] = {}
        """New names of renamed devices: a socket has the name from when it connected."""

    def known(self, device: Device) -> None:
        """List a device that may connect."""
        self._show(device, device.last_seen)

    def arrived(self, device: Device, socket: str) -> None:
        """A device connected."""
        self._sockets.setdefault(device.id, set()).add(socket)
        self._show(device, self._clock())

    def left(self, device: Device, socket: str) -> None:
        """One connection of a device closed."""
        sockets = self._sockets.get(device.id)
        if sockets is None:
            return
        sockets.discard(socket)
        if not sockets:
            del self._sockets[device.id]
        if device.id in self._lobby.ids("devices"):
            self._show(device, self._clock())

    def renamed(self, device: str, name: str) -> None:
        """A device was renamed."""
        self._names[device] = name
        self._lobby.update("devices", device, name=name)

    def revoked(self, device: str) -> None:
        """Remove a device that may no longer connect."""
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
