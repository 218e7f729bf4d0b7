"""Devices that came with a valid code and wait for an owner to confirm them.

A code that another device showed may have been photographed (T-34), so it is not sufficient by
itself: the device that uses it is listed with a name, an address and a number that both screens
show. The new device has its token from the start, but the token does not work until an owner
confirms the device. Every step is written to the audit log; nothing outlives the server.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from fairlead.server.limits import Limits
from fairlead.server.refusal import Refusal
from fairlead.store.tables.audit import AuditRecord
from fairlead.store.tables.devices import Device

__all__ = ["AuditStore", "Joiner", "Joining"]


class AuditStore(Protocol):
    """Stores audit records."""

    async def record_audit(self, record: AuditRecord) -> None:
        """Append a record."""


class Joiner(Struct, frozen=True, kw_only=True):
    """A device that asks to join."""

    device: Device
    """The device that is stored once it is confirmed."""
    address: str
    number: str
    """Shown on both screens, so that the owner confirms the intended device."""
    expires: float


class Joining:
    """The devices that wait for confirmation."""

    def __init__(
        self,
        store: AuditStore,
        limits: Limits,
        clock: Callable[[], float],
        ticks: Callable[[], float],
    ) -> None:
        self._store = store
        self._limits = limits
        self._clock = clock
        self._ticks = ticks
        self._waiting: dict[str, Joiner] = {}

    async def ask(self, device: Device, address: str) -> Joiner:
        """Add a device that waits; refuses if too many wait."""
        if len(await self.waiting()) >= self._limits.joiners:
            raise Refusal(
                "too_many", "Too many devices are waiting to join. An owner must answer them first."
            )
        joiner = Joiner(
            device=device,
            address=address,
            number=f"{secrets.randbelow(10_000):04}",
            expires=self._ticks() + self._limits.join_s,
        )
        self._waiting[device.id] = joiner
        await self._write("join_asked", joiner, None)
        return joiner

    async def waiting(self) -> tuple[Joiner, ...]:
        """The waiting devices, the oldest first."""
        now = self._ticks()
        for joiner in [each for each in self._waiting.values() if each.expires <= now]:
            del self._waiting[joiner.device.id]
            await self._write("join_expired", joiner, None)
        return tuple(self._waiting.values())

    async def with_token(self, token_hash: str) -> Joiner | None:
        """The waiting device with this token."""
        joiners = await self.waiting()
        return next((each for each in joiners if each.device.token_hash == token_hash), None)

    async def take(self, device: str, owner: str, *, allow: bool) -> Joiner | None:
        """An owner's answer; None if no device waits under this id."""
        joiner = next((each for each in await self.waiting() if each.device.id == device), None)
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
