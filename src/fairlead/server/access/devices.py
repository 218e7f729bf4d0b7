"""Devices: their tokens and keys, and how a new device is paired.

Tokens are created only here. A cache of devices by token hash avoids a database read for each
request; a revoked device is removed from it immediately.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hmac
import secrets
import time
import uuid
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct, structs

from fairlead.errors import UsageError
from fairlead.server.access.access_tokens import AccessTokens
from fairlead.server.access.codes import UNKNOWABLE, Codes, hash_token
from fairlead.server.access.device_keys import DeviceKeys
from fairlead.server.access.joining import AuditStore, Joiner, Joining
from fairlead.server.access.names import plain_name
from fairlead.server.access.proofs import LoginExchange, proof_of
from fairlead.server.access.revocations import Revocations, Revoked
from fairlead.server.access.roles import ROLES
from fairlead.server.access.throttle import Throttle
from fairlead.server.limits import Limits
from fairlead.server.ticks import ticks as steady
from fairlead.store.log import StoreUnavailable
from fairlead.store.revocations import RevocationFile
from fairlead.store.tables.devices import Device

__all__ = [
    "DeviceRegistry",
    "DeviceStore",
    "Paired",
    "PendingPairing",
    "SharedCodes",
    "WaitingDevices",
]

SEEN_EVERY_S = 60.0
"""How often the time at which a device was last seen is stored."""


GUESS_S = 1.0
"""The delay of each further refusal for a client that guesses."""


LINK, INVITATION = "link", "invitation"
"""The kinds of shared codes: the holder of a link is paired, an invited device must be confirmed."""


class DeviceStore(AuditStore, Protocol):
    """The part of the store that the registry uses."""

    async def device_by_token_hash(self, token_hash: str) -> Device | None:
        """The device with this token."""

    async def devices(self) -> list[Device]:
        """All devices, revoked ones too."""

    async def put_device(self, device: Device) -> None:
        """Store a device."""

    async def revoke_device(self, device: str, at: float | None = None) -> bool:
        """Revoke a device's token."""


class SharedCodes(Protocol):
    """One-time codes that several servers accept, of which one redeems each."""

    async def issue(self, kind: str, code: str, role: str, valid_s: float) -> None:
        """Accept a code of a kind once."""

    async def redeem(self, kind: str, code: str) -> str | None:
        """Use up a code and return its role; None if it is unknown, used or expired."""


class WaitingDevices(Protocol):
    """The devices that wait for confirmation (`joining.Joining`)."""

    async def ask(self, device: Device, address: str) -> Joiner:
        """Add a device that waits; refuses if too many wait."""

    async def waiting(self) -> tuple[Joiner, ...]:
        """The waiting devices, the oldest first."""

    async def with_token(self, token_hash: str) -> Joiner | None:
        """The waiting device with this token."""

    async def take(self, device: str, owner: str, *, allow: bool) -> Joiner | None:
        """An owner's answer; None if no device waits under this id."""


class Paired(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A new device and its token or its key, which is shown only once."""

    device: str
    role: str
    token: str = ""
    key: str = ""
    """In base64, instead of a token, for a device that proves its identity with it."""


class PendingPairing(Struct, frozen=True, kw_only=True):
    """A token that does not work until an owner has compared the number and confirmed."""

    token: str
    number: str
    seconds: float
    """The time that is left for an owner to confirm."""


class DeviceRegistry:
    """The devices that may connect."""

    def __init__(
        self,
        store: DeviceStore,
        limits: Limits,
        clock: Callable[[], float] = time.time,
        ticks: Callable[[], float] = steady,
        *,
        revocation_file: RevocationFile | None = None,
        keys: DeviceKeys | None = None,
        shared_codes: SharedCodes | None = None,
        joining: WaitingDevices | None = None,
    ) -> None:
        """`clock` dates stored values; `ticks` measures how long codes and requests are valid.

        With `shared_codes` and `joining` several servers pair devices for each other.
        """
        self._store = store
        self._limits = limits
        self._clock = clock
        self._ticks = ticks
        self._started = clock(), ticks()
        self._codes = Codes(limits)
        self._invitations = Codes(limits)
        """The codes that devices show; a device that uses one must still be confirmed."""
        self._shared_codes = shared_codes
        self.joining: WaitingDevices = joining or Joining(store, limits, clock, ticks)
        self._throttle = Throttle(limits)
        self._keys = keys or DeviceKeys()
        self.access = AccessTokens()
        self._known: dict[str, Device] = {}
        self.revocations = Revocations(
            store, revocation_file, clock=clock, retry_s=limits.store_retry_s
        )
        self.disconnect: Callable[[str], None] = _ignore_device_id
        """Closes every connection of a device."""
        self.announce: Callable[[Device], None] = _ignore_device
        """Called for each device that was paired, so that it is listed before it first connects."""

    def issue_code(self, role: str = "owner", user: int | None = None) -> str:
        """A one-time code for a link on this machine, limited to one of its users if named."""
        code = secrets.token_urlsafe(24)
        self._codes.issue(code, role, self._ticks(), user, self._limits.launch_code_s)
        return code

    def invite(self, role: str) -> str:
        """A one-time code for another device, which then waits for an owner to confirm it."""
        code = secrets.token_urlsafe(24)
        self._invitations.issue(code, role, self._ticks())
        return code

    async def share_code(self, role: str = "owner") -> str:
        """A one-time code for a link, which any server with these codes accepts."""
        if self._shared_codes is None:
            return self.issue_code(role)
        code = secrets.token_urlsafe(24)
        await self._shared_codes.issue(LINK, code, role, self._limits.launch_code_s)
        return code

    async def share_invitation(self, role: str) -> str:
        """A code as of `invite`, which any server with these codes accepts."""
        if self._shared_codes is None:
            return self.invite(role)
        if role not in ROLES:
            raise UsageError(f"role {role!r} is not one of {', '.join(ROLES)}")
        code = secrets.token_urlsafe(24)
        await self._shared_codes.issue(INVITATION, code, role, self._limits.code_s)
        return code

    async def pair(
        self,
        code: str,
        name: str,
        source: str,
        user: Callable[[], int | None] = lambda: UNKNOWABLE,
        *,
        keyed: bool = False,
    ) -> Paired | PendingPairing | None:
        """Exchange a code for a device with a token or a key; None if the code is invalid.

        A valid code is never delayed: a guesser on this machine has the owner's address.
        """
        now = self._ticks()
        role = self._codes.redeem(code, now, user) or await self._redeem_shared(LINK, code)
        if role is not None:
            paired = await self.make_device(name, role)
            self.announce(self._known[hash_token(paired.token)])
            return self._with_key(paired.device, role) if keyed else paired
        role = self._invitations.redeem(code, now) or await self._redeem_shared(INVITATION, code)
        if role is None:
            await self._delay_failure(source)
            return None
        token = secrets.token_urlsafe(32)
        return self._pending(await self.joining.ask(self._device(name, role, token), source), token)

    async def _redeem_shared(self, kind: str, code: str) -> str | None:
        return None if self._shared_codes is None else await self._shared_codes.redeem(kind, code)

    async def joined(
        self, token: str, source: str, *, keyed: bool = False
    ) -> Paired | PendingPairing | None:
        """The state of a device that waits for confirmation; None if it was rejected or expired.

        A device with a key needs its token no longer, so its token is invalidated here.
        """
        joiner = await self.joining.with_token(hash_token(token))
        if joiner is not None:
            return self._pending(joiner, token)
        device = await self.device_of(token, source)
        if device is None:
            return None
        if keyed:
            await self._end_token(device)
            return self._with_key(device.id, device.role)
        return Paired(token=token, device=device.id, role=device.role)

    def _with_key(self, device: str, role: str) -> Paired:
        key = base64.b64encode(self._keys.key_of(device)).decode()
        return Paired(key=key, device=device, role=role)

    async def _end_token(self, device: Device) -> None:
        """Replace the hash of the token by a hash that belongs to no token."""
        await self._put(structs.replace(device, token_hash=hash_token(secrets.token_urlsafe(32))))
        self._known.pop(device.token_hash, None)

    # Devices with a key

    def prove(self, exchange: LoginExchange) -> str:
        """Proof that this server has the key of a device. Any client may have it: it reveals nothing."""
        return proof_of(self._keys.key_of(exchange.device), "server", exchange)

    async def device_with_proof(
        self, exchange: LoginExchange, proof: str, source: str
    ) -> Device | None:
        """The device that proved to have its key, unless it is revoked or was idle too long."""
        wanted = proof_of(self._keys.key_of(exchange.device), "client", exchange)
        if not hmac.compare_digest(wanted.encode(), proof.encode("utf-8", "surrogatepass")):
            await self._delay_failure(source)
            return None
        devices = await self._store.devices()
        device = next((each for each in devices if each.id == exchange.device), None)
        return None if device is None else await self._mark_seen(device)

    async def confirm(self, device: str, owner: str, *, allow: bool) -> bool:
        """An owner's answer to a waiting device; False if it no longer waits."""
        joiner = await self.joining.take(device, owner, allow=allow)
        if joiner is not None and allow:
            await self._put(joiner.device)
            self.announce(joiner.device)
        return joiner is not None

    async def make_device(self, name: str, role: str) -> Paired:
        """Create a device; the server does not store the token."""
        if role not in ROLES:
            raise UsageError(f"role {role!r} is not one of {', '.join(ROLES)}")
        token = secrets.token_urlsafe(32)
        device = self._device(name, role, token)
        await self._put(device)
        return Paired(token=token, device=device.id, role=role)

    def _device(self, name: str, role: str, token: str) -> Device:
        now = self._clock()
        return Device(
            id=str(uuid.uuid4()),
            name=plain_name(name),
            role=role,
            token_hash=hash_token(token),
            created=now,
            last_seen=now,
        )

    async def _put(self, device: Device) -> None:
        await self._store.put_device(device)
        self._known[device.token_hash] = device

    def _pending(self, joiner: Joiner, token: str) -> PendingPairing:
        left = max(0.0, joiner.expires - self._ticks())
        return PendingPairing(token=token, number=joiner.number, seconds=left)

    async def device_of(self, token: str, source: str) -> Device | None:
        """The device with this token, unless it is unknown, revoked or was idle too long.

        Only wrong tokens are delayed, so that a client that guesses cannot lock an owner out.
        """
        digest = hash_token(token)
        digest = self.access.holder(digest) or digest
        device = self._known.get(digest) or await self._store.device_by_token_hash(digest)
        seen = None if device is None else await self._mark_seen(device)
        if seen is None:
            await self._delay_failure(source)
        return seen

    async def _mark_seen(self, device: Device) -> Device | None:
        """The device, recorded as seen now; None if it may no longer connect."""
        now = self._clock()
        if not self._is_valid(device, self._idle_now()):
            return None
        if device.last_seen < now - SEEN_EVERY_S:
            device = structs.replace(device, last_seen=now)
            with contextlib.suppress(StoreUnavailable):  # A full disk locks no device out.
                await self._store.put_device(device)
            if not self.is_allowed(device):  # It was revoked in the meantime.
                return None
        self._known[device.token_hash] = device
        return device

    async def find(self, device: str) -> Device | None:
        """A device by its id, unless it is unknown, revoked or was idle too long."""
        match = next((each for each in await self._store.devices() if each.id == device), None)
        return match if match is not None and self._is_valid(match, self._idle_now()) else None

    async def rename(self, device: str, name: str) -> str | None:
        """Rename a device; return its new name, or None if there is no such device."""
        stored = next((each for each in await self._store.devices() if each.id == device), None)
        if stored is None or stored.revoked is not None:
            return None
        renamed = structs.replace(stored, name=plain_name(name))
        await self._store.put_device(renamed)
        known = self._known.get(stored.token_hash)
        if known is not None:
            self._known[stored.token_hash] = structs.replace(known, name=renamed.name)
        return renamed.name

    async def revoke(self, device: str) -> Revoked:
        """Revoke a device: it is disconnected at once, and that is stored as soon as possible."""
        self.cut(device)
        return await self.revocations.store(device)

    def cut(self, device: str) -> None:
        """Disconnect a revoked device at once, and let it do nothing any more."""
        self.revocations.begin(device)
        self._known = {k: d for k, d in self._known.items() if d.id != device}
        self.disconnect(device)

    def is_allowed(self, device: Device) -> bool:
        """Whether a connected device may still act; checked for each of its messages."""
        return device.id not in self.revocations

    async def _delay_failure(self, source: str) -> None:
        """Count a wrong token, code or proof, and delay the refusal of a client that guesses."""
        now = self._ticks()
        self._throttle.failed(source, now)
        if self._throttle.too_many(source, now):
            await asyncio.sleep(GUESS_S)

    def _idle_now(self) -> float:
        """The date for expiring idle devices: the date of the start plus the time since then.

        So a system clock that is set ahead while the server runs expires no device, and one that
        is set back keeps none longer. Only the clock knows how long no server was running.
        """
        date, ticks = self._started
        return date + (self._ticks() - ticks)

    def _is_valid(self, device: Device, now: float) -> bool:
        if device.revoked is not None or device.id in self.revocations:
            return False
        return device.last_seen >= now - self._limits.token_idle_s


def _ignore_device(device: Device) -> None:
    return


def _ignore_device_id(device: str) -> None:
    return
