"""Codes and waiting devices in a bucket that all gateways share, so that any of them can answer.

A code is claimed by an update of its key at the revision that was read: of several gateways one
succeeds. The bucket has only the hash of a code. Times are those of the gateways' clocks, which
must agree within seconds; a code is valid for a minute or more.
"""

from __future__ import annotations

import contextlib
import hashlib
import secrets
import time
from collections.abc import Callable

import msgspec
from msgspec import Struct

from fairlead.fleet.bus.bus import Bus, BusError, Conflict, Entry
from fairlead.fleet.bus.bus_refusals import refused_without_bus
from fairlead.server.access.joining import AuditStore, Joiner
from fairlead.server.limits import Limits
from fairlead.server.refusal import Refusal
from fairlead.server.ticks import ticks as steady
from fairlead.store.tables.audit import AuditRecord
from fairlead.store.tables.devices import Device

__all__ = ["FleetCodes", "FleetJoining"]

USED = b"used"
UNAVAILABLE = "Devices cannot be paired now, because the gateway has no connection. Try again."


class _Code(Struct, frozen=True, kw_only=True):
    kind: str
    role: str
    expires: float


class FleetCodes:
    """One-time codes that any gateway redeems, once (`SharedCodes`)."""

    def __init__(self, bus: Bus, clock: Callable[[], float] = time.time) -> None:
        self._bucket = bus.bucket("access")
        self._clock = clock

    async def issue(self, kind: str, code: str, role: str, valid_s: float) -> None:
        """Accept a code of a kind once."""
        value = _Code(kind=kind, role=role, expires=self._clock() + valid_s)
        try:
            await self._remove_expired()
            await self._bucket.create(_key(code), msgspec.json.encode(value))
        except BusError as problem:
            raise Refusal("unavailable", UNAVAILABLE) from problem

    async def redeem(self, kind: str, code: str) -> str | None:
        """Use up a code and return its role; None if it is unknown, used or expired."""
        try:
            entry = await self._bucket.get(_key(code))
            known = None if entry is None else _code(entry)
            if entry is None or known is None or known.kind != kind:
                return None
            await self._bucket.update(entry.key, USED, entry.revision)
            await self._bucket.delete(entry.key)
        except Conflict:
            return None  # Another gateway redeemed it.
        except BusError as problem:
            raise Refusal("unavailable", UNAVAILABLE) from problem
        return known.role if known.expires > self._clock() else None

    async def _remove_expired(self) -> None:
        for entry in await self._bucket.entries("code"):
            known = _code(entry)
            if known is None or known.expires <= self._clock():
                await self._bucket.delete(entry.key)


def _key(code: str) -> str:
    return f"code.{hashlib.sha256(code.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _code(entry: Entry) -> _Code | None:
    try:
        return msgspec.json.decode(entry.value or b"", type=_Code)
    except msgspec.DecodeError:
        return None


class _Waiting(Struct, frozen=True, kw_only=True):
    device: Device
    address: str
    number: str
    expires: float
    """By the clock, because gateways share it."""


class FleetJoining:
    """The devices that wait for confirmation at any gateway (`WaitingDevices`)."""

    def __init__(
        self,
        bus: Bus,
        audit: AuditStore,
        limits: Limits,
        clock: Callable[[], float] = time.time,
        ticks: Callable[[], float] = steady,
    ) -> None:
        self._bucket = bus.bucket("access")
        self._audit = audit
        self._limits = limits
        self._clock = clock
        self._ticks = ticks

    async def ask(self, device: Device, address: str) -> Joiner:
        """Add a device that waits; refuses if too many wait."""
        if len(await self.waiting()) >= self._limits.joiners:
            raise Refusal(
                "too_many", "Too many devices are waiting to join. An owner must answer them first."
            )
        waiting = _Waiting(
            device=device,
            address=address,
            number=f"{secrets.randbelow(10_000):04}",
            expires=self._clock() + self._limits.join_s,
        )
        with refused_without_bus(UNAVAILABLE):
            await self._bucket.create(f"join.{device.id}", msgspec.json.encode(waiting))
        joiner = self._joiner(waiting)
        await self._write("join_asked", joiner, None)
        return joiner

    async def waiting(self) -> tuple[Joiner, ...]:
        """The waiting devices, the oldest first."""
        entries = sorted(
            (each for each, _ in await self._entries()), key=lambda each: each.device.created
        )
        return tuple(self._joiner(each) for each in entries)

    async def with_token(self, token_hash: str) -> Joiner | None:
        """The waiting device with this token."""
        joiners = await self.waiting()
        return next((each for each in joiners if each.device.token_hash == token_hash), None)

    async def take(self, device: str, owner: str, *, allow: bool) -> Joiner | None:
        """An owner's answer; None if no device waits under this id. One gateway succeeds."""
        for waiting, entry in await self._entries():
            if waiting.device.id != device:
                continue
            with refused_without_bus(UNAVAILABLE):
                try:
                    await self._bucket.update(entry.key, USED, entry.revision)
                except Conflict:
                    return None
                await self._bucket.delete(entry.key)
            joiner = self._joiner(waiting)
            await self._write("join_allowed" if allow else "join_refused", joiner, owner)
            return joiner
        return None

    async def _entries(self) -> list[tuple[_Waiting, Entry]]:
        with refused_without_bus(UNAVAILABLE):
            entries = await self._bucket.entries("join")
        unexpired: list[tuple[_Waiting, Entry]] = []
        for entry in entries:
            try:
                waiting = msgspec.json.decode(entry.value or b"", type=_Waiting)
            except msgspec.DecodeError:
                continue
            if waiting.expires > self._clock():
                unexpired.append((waiting, entry))
            else:
                await self._expire(waiting, entry)
        return unexpired

    async def _expire(self, waiting: _Waiting, entry: Entry) -> None:
        with contextlib.suppress(BusError):
            await self._bucket.update(entry.key, USED, entry.revision)
            await self._bucket.delete(entry.key)
            await self._write("join_expired", self._joiner(waiting), None)

    def _joiner(self, waiting: _Waiting) -> Joiner:
        left = waiting.expires - self._clock()
        return Joiner(
            device=waiting.device,
            address=waiting.address,
            number=waiting.number,
            expires=self._ticks() + left,
        )

    async def _write(self, action: str, joiner: Joiner, owner: str | None) -> None:
        newcomer = joiner.device
        details = {
            "device": newcomer.id,
            "name": newcomer.name,
            "role": newcomer.role,
            "address": joiner.address,
        }
        record = AuditRecord(at=self._clock(), action=action, device=owner, details=details)
        await self._audit.record_audit(record)
