"""Devices that came with a good code and wait at the door for an owner's word.

A code that another device showed may have been photographed (T-34), so it opens nothing by
itself: whoever brings it is listed with a name, an address and a number that both screens show.
The token is the newcomer's from the first, and good for nothing until an owner lets it in. All of
it is written to the audit; nothing outlives the server.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from fairlead.server.limits import Limits
from fairlead.server.refusal import Refusal
from fairlead.store.audit import AuditRecord
from fairlead.store.devices import Device

__all__ = ["AuditStore", "Joiner", "Joining"]


class AuditStore(Protocol):
    """Where it is written down."""

    async def record_audit(self, record: AuditRecord) -> None:
        """Append a record."""


class Joiner(Struct, frozen=True, kw_only=True):
    """A device that asks to join."""

    device: Device
    """As it will be, once it is let in."""
    address: str
    number: str
    """On both screens: that the one who asks is the one who is meant."""
    expires: float


class Joining:
    """Who waits at the door."""

    def __init__(self, store: AuditStore, limits: Limits, clock: Callable[[], float]) -> None:
        self._store = store
        self._limits = limits
        self._clock = clock
        self._waiting: dict[str, Joiner] = {}

    async def ask(self, device: Device, address: str) -> Joiner:
        """Let a device wait; refuses if too many do."""
        if len(await self.waiting()) >= self._limits.joiners:
            raise Refusal("too_many", "too many devices ask to join; an owner has to answer first")
        joiner = Joiner(
            device=device,
            address=address,
            number=f"{secrets.randbelow(10_000):04}",
            expires=self._clock() + self._limits.join_s,
        )
        self._waiting[device.id] = joiner
        await self._write("join_asked", joiner, None)
        return joiner

    async def waiting(self) -> tuple[Joiner, ...]:
        """Those who wait, the first one first."""
        now = self._clock()
        for joiner in [one for one in self._waiting.values() if one.expires <= now]:
            del self._waiting[joiner.device.id]
            await self._write("join_expired", joiner, None)
        return tuple(self._waiting.values())

    async def with_token(self, token_hash: str) -> Joiner | None:
        """Whoever waits with this token."""
        found = (one for one in await self.waiting() if one.device.token_hash == token_hash)
        return next(found, None)

    async def take(self, device: str, owner: str, *, allow: bool) -> Joiner | None:
        """An owner's word; None if nobody waits under this id any more."""
        joiner = next((one for one in await self.waiting() if one.device.id == device), None)
        if joiner is not None and self._waiting.pop(device, None) is not None:
            await self._write("join_allowed" if allow else "join_refused", joiner, owner)
            return joiner
        return None

    async def _write(self, action: str, joiner: Joiner, owner: str | None) -> None:
        newcomer = joiner.device
        details = {
            "device": newcomer.id,
            "name": newcomer.name,
            "role": newcomer.role,
            "address": joiner.address,
        }
        record = AuditRecord(at=self._clock(), action=action, device=owner, details=details)
        await self._store.record_audit(record)
