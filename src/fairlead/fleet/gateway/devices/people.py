"""The devices of a fleet, in buckets that all gateways share (`DeviceStore`).

`people` has the name and the role of each device, which nodes read too. `access` has the hashes of
tokens, and is for gateways only. A gateway answers from its own copy, which it updates by messages
and reads again from time to time; so devices can sign in while the bus is away, and see what the
gateway had. A revocation is sent to all machines at once (`fl.cut`), repeated for some seconds, and
written to the bucket.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import time
from collections.abc import Callable, Iterator

import msgspec
from msgspec import Struct, structs

from fairlead.fleet.bus.bus import Bus, BusError, Conflict, Entry, Message, Subscription
from fairlead.fleet.bus.rereading import Rereading
from fairlead.fleet.gateway.devices.cuts import RepeatedCuts
from fairlead.fleet.protocol import subjects
from fairlead.fleet.protocol.people import Person, decode_person, encode_person
from fairlead.store.log import StoreUnavailable
from fairlead.store.tables.audit import AuditRecord
from fairlead.store.tables.devices import Device

__all__ = ["FleetPeople", "device_secret"]

log = logging.getLogger("fairlead.fleet")

TRIES = 20
"""How often a write is tried while other gateways write the same key."""

SECRET_KEY = "secret"
DEVICES = "device"
"""Keys of the bucket `access`; those of devices are followed by the device's id."""


class _Access(Struct, frozen=True, kw_only=True):
    """What only gateways know of a device."""

    token_hash: str
    created: float
    last_seen: float = 0.0


async def device_secret(bus: Bus) -> bytes:
    """The secret from which the keys of devices are derived; the first gateway makes it."""
    bucket = bus.bucket("access")
    entry = await bucket.get(SECRET_KEY)
    if entry is None:
        with contextlib.suppress(Conflict):
            await bucket.create(SECRET_KEY, secrets.token_bytes(32).hex().encode())
        entry = await bucket.get(SECRET_KEY)
    if entry is None or entry.value is None:
        raise StoreUnavailable("The secret of the fleet cannot be read.", code="damaged")
    return bytes.fromhex(entry.value.decode())


class FleetPeople:
    """The devices of a fleet."""

    def __init__(self, bus: Bus, clock: Callable[[], float] = time.time) -> None:
        self._bus = bus
        self._clock = clock
        self._people: dict[str, Person] = {}
        self._access: dict[str, _Access] = {}
        self._cut: set[str] = set()
        """Revoked at any gateway since the start."""
        self._cuts = RepeatedCuts(bus)
        self._rereading = Rereading(bus, self._read_and_complete)
        self._subscriptions: list[Subscription] = []
        self.on_known: Callable[[Device], None] = _ignore_device
        """Called for each device that was paired or changed at any gateway."""
        self.on_revoked: Callable[[str], None] = _ignore_id
        """Called for each device that was revoked at any gateway."""

    async def start(self) -> None:
        """Read the devices and begin to listen."""
        self._subscriptions.append(await self._bus.subscribe(f"{subjects.CUT}.*", self._on_cut))
        for name, handler in (("people", self._on_person), ("access", self._on_access)):
            self._subscriptions.append(await self._bus.bucket(name).listen(handler))
        await self.read()

    async def close(self) -> None:
        """Stop listening."""
        await self._cuts.close()
        for subscription in self._subscriptions:
            with contextlib.suppress(BusError):
                await subscription.close()

    async def run(self) -> None:
        """Read the buckets after a reconnection and from time to time."""
        await self._rereading.run()

    async def read(self) -> None:
        """Read all devices."""
        for entry in await self._bus.bucket("access").entries(DEVICES):
            self._on_access(entry)
        for entry in await self._bus.bucket("people").entries():
            self._on_person(entry)

    async def _read_and_complete(self) -> None:
        """Read all devices, and store the revocations that their gateway could not store: it may have
        been lost. Only gateways can send a revocation."""
        await self.read()
        for device in tuple(self._cut):
            known = self._people.get(device)
            if known is not None and known.revoked is None:
                await self._put_person(structs.replace(known, revoked=self._clock()))

    # As a store of devices

    async def record_audit(self, record: AuditRecord) -> None:
        """Append a record to the fleet's audit log."""
        subject = f"fl.audit.{subjects.check_token(record.action)}"
        with _stored():
            await self._bus.stream(subjects.AUDIT_STREAM).append(
                subject, msgspec.json.encode(record)
            )

    async def device_by_token_hash(self, token_hash: str) -> Device | None:
        """The device with this token, unless it was revoked."""
        device = self._with_hash(token_hash)
        if device is None:
            with contextlib.suppress(BusError):  # It may have been paired a moment ago elsewhere.
                await self.read()
            device = self._with_hash(token_hash)
        return device

    async def devices(self) -> list[Device]:
        """All devices, revoked ones too."""
        devices = [self._device(device) for device in self._people]
        return sorted((each for each in devices if each is not None), key=lambda each: each.created)

    async def put_device(self, device: Device) -> None:
        """Store a device; a revoked one stays revoked."""
        access = _Access(
            token_hash=device.token_hash, created=device.created, last_seen=device.last_seen
        )
        person = Person(id=device.id, name=device.name, role=device.role, revoked=device.revoked)
        with _stored():
            await self._bus.bucket("access").put(
                f"{DEVICES}.{device.id}", msgspec.json.encode(access)
            )
            self._access[device.id] = access
            if self._people.get(device.id) != person:
                await self._put_person(person)

    async def revoke_device(self, device: str, at: float | None = None) -> bool:
        """Revoke a device at all gateways and nodes; False if there is none or it was revoked."""
        try:
            subjects.check_token(device)
        except ValueError:
            return False
        self._cuts.begin(device)
        with _stored():
            known = self._people.get(device)
            if known is None:  # It may have been paired a moment ago elsewhere.
                entry = await self._bus.bucket("people").get(device)
                known = None if entry is None or entry.value is None else decode_person(entry.value)
            if known is None or known.revoked is not None:
                return False
            await self._put_person(structs.replace(known, revoked=at or self._clock()))
        return True

    # Within

    async def _put_person(self, person: Person) -> None:
        bucket = self._bus.bucket("people")
        for _ in range(TRIES):
            entry = await bucket.get(person.id)
            if entry is None or entry.value is None:
                with contextlib.suppress(Conflict):
                    await bucket.create(person.id, encode_person(person))
                    break
                continue
            stored = decode_person(entry.value)
            if stored is not None and stored.revoked is not None and person.revoked is None:
                person = structs.replace(person, revoked=stored.revoked)
            with contextlib.suppress(Conflict):
                await bucket.update(person.id, encode_person(person), entry.revision)
                break
        else:
            raise Conflict(f"The device {person.id} is being written by others.")
        self._people[person.id] = person

    def _with_hash(self, token_hash: str) -> Device | None:
        for device, access in self._access.items():
            if access.token_hash == token_hash:
                known = self._device(device)
                return None if known is None or known.revoked is not None else known
        return None

    def _device(self, device: str) -> Device | None:
        person, access = self._people.get(device), self._access.get(device)
        if person is None or access is None:
            return None
        return Device(
            id=person.id,
            name=person.name,
            role=person.role,
            token_hash=access.token_hash,
            created=access.created,
            last_seen=access.last_seen,
            revoked=person.revoked,
        )

    def _on_person(self, entry: Entry) -> None:
        person = None if entry.value is None else decode_person(entry.value)
        if person is None or person.id != entry.key:
            return
        before = self._people.get(person.id)
        self._people[person.id] = person
        if person.revoked is not None:
            self._revoke(person.id)
        elif before != person:
            self._announce(person.id)

    def _on_access(self, entry: Entry) -> None:
        kind, _, device = entry.key.partition(".")
        if kind != DEVICES or entry.value is None:
            return
        try:
            access = msgspec.json.decode(entry.value, type=_Access)
        except msgspec.DecodeError:
            log.warning("the entry %s of the bucket access cannot be read", entry.key)
            return
        is_new = device not in self._access
        self._access[device] = access
        if is_new:
            self._announce(device)

    def _announce(self, device: str) -> None:
        known = self._device(device)
        if known is not None and known.revoked is None:
            self.on_known(known)

    def _on_cut(self, message: Message) -> None:
        self._revoke(message.subject.rpartition(".")[2])

    def _revoke(self, device: str) -> None:
        if device not in self._cut:
            self._cut.add(device)
            self.on_revoked(device)


@contextlib.contextmanager
def _stored() -> Iterator[None]:
    """Turns failures of the bus into `StoreUnavailable`."""
    try:
        yield
    except BusError as problem:
        raise StoreUnavailable(
            f"The gateway cannot write to the fleet's storage now: {problem}", code="locked"
        ) from problem


def _ignore_device(device: Device) -> None:
    return


def _ignore_id(device: str) -> None:
    return
