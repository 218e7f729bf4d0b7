"""Where notices are sent: the push subscriptions of devices, channels, and the settings of each.

Kept in memory, because every notice needs all of them; each change is stored first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from fairlead.server.notices.push.endpoint import Endpoint
from fairlead.server.notices.rules.notice import KINDS
from fairlead.server.notices.rules.quiet import Quiet
from fairlead.server.notices.rules.wording import DETAILS
from fairlead.server.refusal import Refusal
from fairlead.store.readers import Read
from fairlead.store.tables import notices as table
from fairlead.store.tables.notices import StoredTarget
from fairlead.store.writer import Write

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

__all__ = [
    "CHANNEL",
    "PUSH",
    "RELAY",
    "ChannelTarget",
    "PushTarget",
    "RelayTarget",
    "Target",
    "TargetSettings",
    "Targets",
    "channel_id",
    "check_zone",
    "push_id",
]

T = TypeVar("T")

PUSH = "push:"
CHANNEL = "channel:"
"""How the ids of the two kinds of targets begin."""
RELAY = "relay:fleet"
"""The id of the target that stands for the gateways of a fleet."""

KEY_CHARS = 200
"""Most characters of a key of a subscription; browsers use 87 and 22."""


class TargetSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a target gets, how much of it, and when."""

    kinds: tuple[str, ...] = KINDS
    detail: str = "kind"
    """How much of a request is sent; one of `DETAILS`."""
    quiet: Quiet | None = None

    def check(self) -> None:
        """Refuse settings that mean nothing."""
        unknown = [kind for kind in self.kinds if kind not in KINDS]
        if unknown:
            known = ", ".join(KINDS)
            raise Refusal("bad_message", f"Unknown kind {unknown[0]!r:.50}. The kinds are {known}.")
        if self.detail not in DETAILS:
            raise Refusal("bad_message", f"`detail` must be one of {', '.join(DETAILS)}.")
        if self.quiet is not None:
            problem = self.quiet.problem()
            if problem is not None:
                raise Refusal("bad_message", problem)
            check_zone(self.quiet.zone)


class PushTarget(Struct, frozen=True, kw_only=True, tag="push"):
    """A browser that gets Web Push messages."""

    device: str
    endpoint: str
    p256dh: str
    auth: str
    settings: TargetSettings = TargetSettings()

    def check(self, *, loopback: bool) -> None:
        """Refuse a subscription to which nothing may be sent."""
        try:
            Endpoint.parse(self.endpoint, loopback=loopback)
        except ValueError as problem:
            raise Refusal("bad_message", f"This push address is refused: {problem}.") from None
        if not 0 < len(self.p256dh) <= KEY_CHARS or not 0 < len(self.auth) <= KEY_CHARS:
            raise Refusal("bad_message", "The keys of a subscription are 65 and 16 bytes long.")
        self.settings.check()


class ChannelTarget(Struct, frozen=True, kw_only=True, tag="channel"):
    """A chat service, a mailbox or a web hook, which belongs to the server and not to a device."""

    id: str
    name: str
    """What its owner calls it."""
    service: str
    """The name of the service, such as "Slack"."""
    url: str
    """The address, with its password or token. It leaves the server only for the service itself."""
    settings: TargetSettings = TargetSettings()

    def __repr__(self) -> str:
        # A log line or a traceback may contain it.
        return f"ChannelTarget({self.id!r}, {self.service!r})"


class RelayTarget(Struct, frozen=True, kw_only=True, tag="relay"):
    """The gateways of the fleet that this server belongs to. They notify the devices of the fleet."""

    settings: TargetSettings = TargetSettings()


Target: TypeAlias = PushTarget | ChannelTarget | RelayTarget

_decoder: msgspec.json.Decoder[Target] = msgspec.json.Decoder(Target)


def push_id(device: str) -> str:
    """The id of the target of a device."""
    return f"{PUSH}{device}"


def channel_id(channel: str) -> str:
    """The id of the target of a channel."""
    return f"{CHANNEL}{channel}"


class TargetStore(Protocol):
    """The part of the store that targets use."""

    async def apply(self, write: Write[T]) -> T:
        """Run a write."""

    async def query(self, read: Read[T]) -> T:
        """Run a read."""


class Targets:
    """All targets of a server."""

    def __init__(self, store: TargetStore) -> None:
        self._store = store
        self._targets: dict[str, Target] = {}

    async def load(self) -> None:
        """Read the stored targets."""
        for stored in await self._store.query(table.targets):
            try:
                self._targets[stored.id] = _decoder.decode(stored.row)
            except msgspec.DecodeError:
                continue  # Stored by a newer Fairlead.

    def get(self, target: str) -> Target | None:
        """One target."""
        return self._targets.get(target)

    def items(self) -> Iterable[tuple[str, Target]]:
        """All targets with their ids."""
        return tuple(self._targets.items())

    async def put(self, target: str, row: Target) -> None:
        """Store a target in place of the one with the same id."""
        encoded = msgspec.json.encode(row)
        await self._store.apply(lambda db: table.put_target(db, target, encoded))
        self._targets[target] = row

    async def forget(self, target: str) -> None:
        """Remove a target, and what it has not got yet."""
        self._targets.pop(target, None)
        await self._store.apply(lambda db: table.forget_target(db, target))

    async def stored(self) -> dict[str, StoredTarget]:
        """The targets with the time of their last notice, or the reason why it failed."""
        return {row.id: row for row in await self._store.query(table.targets)}

    async def retries(self) -> dict[str, float]:
        """The targets that have not got a notice yet because of a problem, and the next attempt."""
        return await self._store.query(table.retries)


def check_zone(zone: str) -> ZoneInfo:
    """The time zone of this name; refuses an unknown one."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # Only quiet hours need it.

    try:
        return ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Refusal("bad_message", f"Unknown time zone {zone!r:.60}.") from None
