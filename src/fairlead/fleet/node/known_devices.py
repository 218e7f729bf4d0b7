"""The node's own copy of the fleet's devices: which role a device has is decided here.

A gateway names a device, never a role. So a gateway that was taken over can do nothing that no
device may do, and nothing above `--fleet-role` of this machine. A revocation arrives as a message
and in the bucket; what was lost is found when the bucket is read again.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable

from fairlead.fleet.bus.bus import Bus, BusError, Entry, Message, Subscription
from fairlead.fleet.bus.rereading import Rereading
from fairlead.fleet.protocol import subjects
from fairlead.fleet.protocol.people import Person, decode_person
from fairlead.server.access.roles import ROLES, may
from fairlead.server.refusal import Refusal
from fairlead.store.tables.devices import Device

__all__ = ["KnownDevices"]

READ_S = 1.0
"""How long an intent waits for the present entry of its device after a reconnection."""

NOT_READ = (
    "This machine cannot read the list of devices of its fleet now, so nothing was done. Try again "
    "in a moment."
)


class KnownDevices:
    """The devices of the fleet, with their roles on this machine."""

    def __init__(self, bus: Bus, most: str = "owner") -> None:
        """`most` is the highest role that a device of the fleet gets on this machine."""
        if most not in ROLES:
            raise ValueError(f"{most!r} is not a role")
        self._bus = bus
        self._most = most
        self._people: dict[str, Person] = {}
        self._cut: set[str] = set()
        """Revoked since the start; a late entry of the bucket does not bring them back."""
        self._rereading = Rereading(bus, self._read)
        self._subscriptions: list[Subscription] = []
        self.on_revoked: list[Callable[[str], None]] = []
        """Called with the id of a device that was revoked."""

    async def start(self) -> None:
        """Begin to listen. Until `run` has read the bucket, `find` reads each device by itself."""
        self._subscriptions.append(await self._bus.subscribe(f"{subjects.CUT}.*", self._on_cut))
        with contextlib.suppress(BusError):
            bucket = self._bus.bucket("people")
            self._subscriptions.append(await bucket.listen(self._on_entry))

    async def close(self) -> None:
        """Stop listening."""
        for subscription in self._subscriptions:
            with contextlib.suppress(BusError):
                await subscription.close()

    async def run(self) -> None:
        """Read the bucket now, after every reconnection and from time to time."""
        await self._rereading.run()

    async def find(self, device: str) -> Device:
        """A device with the role that it has here; refuses an unknown or revoked one."""
        person = self._people.get(device)
        if (person is None or not self._rereading.is_current) and _is_token(device):
            try:
                async with asyncio.timeout(None if person is None else READ_S):
                    entry = await self._bus.bucket("people").get(device)
            except (BusError, TimeoutError):
                if person is None:
                    raise Refusal("unavailable", NOT_READ) from None
            else:
                if entry is not None:
                    self._on_entry(entry)
        known = self.known(device)
        if known is None:
            raise Refusal("forbidden", "This machine does not know the device, or it was revoked.")
        return known

    def known(self, device: str) -> Device | None:
        """A device with the role that it has here, as far as is known now; None for a revoked one."""
        person = self._people.get(device)
        if person is None or person.revoked is not None or device in self._cut:
            return None
        role = person.role if may(self._most, person.role) else self._most
        return Device(
            id=person.id, name=person.name, role=role, token_hash="", created=0.0,
            last_seen=time.time(),
        )  # fmt: skip

    async def _read(self) -> None:
        for entry in await self._bus.bucket("people").entries():
            self._on_entry(entry)

    def _on_entry(self, entry: Entry) -> None:
        if entry.value is None:
            self._people.pop(entry.key, None)
            return
        person = decode_person(entry.value)
        if person is not None and person.id == entry.key and person.role in ROLES:
            self._people[person.id] = person
            if person.revoked is not None:
                self._revoke(person.id)

    def _on_cut(self, message: Message) -> None:
        self._revoke(message.subject.rpartition(".")[2])

    def _revoke(self, device: str) -> None:
        if device not in self._cut:
            self._cut.add(device)
            for handler in self.on_revoked:
                handler(device)


def _is_token(text: str) -> bool:
    try:
        subjects.check_token(text)
    except ValueError:
        return False
    return True
