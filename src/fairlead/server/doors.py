"""Tokens and codes over the store: who is at the door, and how somebody new gets in.

The only place where tokens are made. Keeps a cache of devices by token hash, so that a request
does not wait for the database; a revoked device is out of it at once.
"""

from __future__ import annotations

import asyncio
import secrets
import time
import uuid
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct, structs

from fairlead.errors import UsageError
from fairlead.server.auth import Codes, Throttle, hash_token
from fairlead.server.joining import AuditStore, Joiner, Joining
from fairlead.server.limits import Limits
from fairlead.server.roles import ROLES
from fairlead.store.devices import Device

__all__ = ["AtTheDoor", "DeviceStore", "Doors", "Paired"]

SEEN_EVERY_S = 60.0
"""How often the time a device was last seen is written down."""


GUESS_S = 1.0
"""How long somebody who guesses waits for each further no."""


class DeviceStore(AuditStore, Protocol):
    """What the doors need of the store."""

    async def device_by_token_hash(self, token_hash: str) -> Device | None:
        """The device with this token."""

    async def devices(self) -> list[Device]:
        """All devices, revoked ones too."""

    async def put_device(self, device: Device) -> None:
        """Keep a device."""

    async def revoke_device(self, device: str, at: float | None = None) -> bool:
        """Take a device's token away."""


class Paired(Struct, frozen=True, kw_only=True):
    """A new device and its token, which is shown this once."""

    token: str
    device: str
    role: str


class AtTheDoor(Struct, frozen=True, kw_only=True):
    """A token that is good for nothing until an owner has seen the same number and says yes."""

    token: str
    number: str
    seconds: float
    """How long an owner has."""


class Doors:
    """Who may come in."""

    def __init__(
        self, store: DeviceStore, limits: Limits, clock: Callable[[], float] = time.time
    ) -> None:
        self._store = store
        self._limits = limits
        self._clock = clock
        self._codes = Codes(limits)
        self._invitations = Codes(limits)
        """The codes that devices show, which bring nobody further than to the door."""
        self.joining = Joining(store, limits, clock)
        self._throttle = Throttle(limits)
        self._known: dict[str, Device] = {}
        self.announce: Callable[[Device], None] = _tell_nobody
        """Told of each device that was paired, so that it is listed before it first connects."""

    def issue_code(self, role: str = "owner", user: int | None = None) -> str:
        """A one-time code for a link or a QR code, for one user of this machine if named."""
        code = secrets.token_urlsafe(24)
        self._codes.issue(code, role, self._clock(), user)
        return code

    def invite(self, role: str) -> str:
        """A one-time code for another device, which then waits for an owner's word."""
        code = secrets.token_urlsafe(24)
        self._invitations.issue(code, role, self._clock())
        return code

    async def pair(
        self, code: str, name: str, source: str, user: Callable[[], int | None] = lambda: None
    ) -> Paired | AtTheDoor | None:
        """Turn a code into a device with a token; None if the code is not good.

        A good code is never held up: whoever guesses on this machine has the owner's address.
        """
        now = self._clock()
        role = self._codes.redeem(code, now, user)
        if role is not None:
            paired = await self.make_device(name, role)
            self.announce(self._known[hash_token(paired.token)])
            return paired
        role = self._invitations.redeem(code, now)
        if role is None:
            await self._wrong(source, now)
            return None
        token = secrets.token_urlsafe(32)
        return self._shown(await self.joining.ask(self._device(name, role, token), source), token)

    async def joined(self, token: str, source: str) -> Paired | AtTheDoor | None:
        """What became of somebody at the door; None if they were refused or came too late."""
        joiner = await self.joining.with_token(hash_token(token))
        if joiner is not None:
            return self._shown(joiner, token)
        device = await self.device_of(token, source)
        if device is None:
            return None
        return Paired(token=token, device=device.id, role=device.role)

    async def let_in(self, device: str, owner: str, *, allow: bool) -> bool:
        """An owner's word on somebody at the door; False if nobody is there any more."""
        joiner = await self.joining.take(device, owner, allow=allow)
        if joiner is not None and allow:
            await self._keep(joiner.device)
            self.announce(joiner.device)
        return joiner is not None

    async def make_device(self, name: str, role: str) -> Paired:
        """A new device; the token is not kept."""
        if role not in ROLES:
            raise UsageError(f"role {role!r} is not one of {', '.join(ROLES)}")
        token = secrets.token_urlsafe(32)
        device = self._device(name, role, token)
        await self._keep(device)
        return Paired(token=token, device=device.id, role=role)

    def _device(self, name: str, role: str, token: str) -> Device:
        now = self._clock()
        return Device(
            id=str(uuid.uuid4()),
            name=_name(name),
            role=role,
            token_hash=hash_token(token),
            created=now,
            last_seen=now,
        )

    async def _keep(self, device: Device) -> None:
        await self._store.put_device(device)
        self._known[device.token_hash] = device

    def _shown(self, joiner: Joiner, token: str) -> AtTheDoor:
        left = max(0.0, joiner.expires - self._clock())
        return AtTheDoor(token=token, number=joiner.number, seconds=left)

    async def device_of(self, token: str, source: str) -> Device | None:
        """The device with this token, unless it is unknown, revoked or too long idle.

        Only a wrong token is ever held up, so that nobody can lock an owner out by guessing.
        """
        now = self._clock()
        digest = hash_token(token)
        device = self._known.get(digest) or await self._store.device_by_token_hash(digest)
        if not self._is_good(device, now):
            await self._wrong(source, now)
            return None
        assert device is not None
        if device.last_seen < now - SEEN_EVERY_S:
            device = structs.replace(device, last_seen=now)
            await self._store.put_device(device)
        self._known[digest] = device
        return device

    async def rename(self, device: str, name: str) -> str | None:
        """Give a device another name; what it is called now, or None if there is none."""
        found = next((one for one in await self._store.devices() if one.id == device), None)
        if found is None or found.revoked is not None:
            return None
        renamed = structs.replace(found, name=_name(name))
        await self._store.put_device(renamed)
        known = self._known.get(found.token_hash)
        if known is not None:
            self._known[found.token_hash] = structs.replace(known, name=renamed.name)
        return renamed.name

    async def revoke(self, device: str) -> bool:
        """Take a device's token away; it is out from now on."""
        self._known = {k: d for k, d in self._known.items() if d.id != device}
        return await self._store.revoke_device(device, self._clock())

    async def _wrong(self, source: str, now: float) -> None:
        self._throttle.failed(source, now)
        if self._throttle.too_many(source, now):
            await asyncio.sleep(GUESS_S)

    def _is_good(self, device: Device | None, now: float) -> bool:
        if device is None or device.revoked is not None:
            return False
        return device.last_seen >= now - self._limits.token_idle_s


def _tell_nobody(device: Device) -> None:
    return


def _name(name: str) -> str:
    return " ".join(name.split())[:80] or "unnamed device"
