"""The list of machines that all gateways of a fleet share.

It is one value on the bus, which a gateway replaces at the revision that it read, so that no change
is lost. The value is signed. A list is taken only if its number is higher than that of the own copy and a
gateway of the fleet signed it: a key of a gateway for the bus alone is not enough to add a machine, or
to bring a removed one back with an earlier list.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable

import msgspec
from msgspec.structs import replace

from fairlead.fleet.bus.bus import Bus, BusError, Conflict, Entry, Subscription
from fairlead.fleet.bus.nkey import NodeKey
from fairlead.fleet.enrollment.roster import Roster, SignedList

__all__ = ["SharedRoster"]

log = logging.getLogger("fairlead")

BUCKET, KEY = "access", "roster"
READ_EVERY_S = 10.0
"""How often the list is read, because messages about it may be lost."""
TRIES = 20

Change = Callable[[SignedList], SignedList]


class SharedRoster:
    """The list, at one gateway."""

    def __init__(
        self,
        roster: Roster,
        bus: Bus,
        key: NodeKey,
        root: str,
        *,
        apply: Callable[[], Awaitable[None]],
    ) -> None:
        """`key` signs what this gateway changes; `root` is the signing key of the first gateway.

        `apply` lets exactly the listed machines connect.
        """
        self.roster = roster
        self._bucket = bus.bucket(BUCKET)
        self.key = key
        self._root = root
        self._apply = apply
        self._changed = asyncio.Event()
        self._subscription: Subscription | None = None

    async def start(self) -> None:
        """Bring the own copy and the one on the bus to the later of both, and begin to listen."""
        with contextlib.suppress(BusError):
            self._subscription = await self._bucket.listen(self._on_entry)
        entry = await self._bucket.get(KEY)
        if self._take(entry):
            await self._apply()
        elif self._number_of(entry) < max(self.roster.content.number, 1):
            await self.change(lambda content: content)

    async def close(self) -> None:
        """Stop listening."""
        if self._subscription is not None:
            with contextlib.suppress(BusError):
                await self._subscription.close()

    async def run(self) -> None:
        """Take what other gateways change."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(READ_EVERY_S):
                    await self._changed.wait()
            self._changed.clear()
            try:
                if self._take(await self._bucket.get(KEY)):
                    await self._apply()
            except BusError as problem:
                log.debug("the list of machines was not read: %s", problem)
            except Exception as problem:  # noqa: BLE001 - the operator's command may fail.
                log.error("the new list of machines is not in force everywhere: %s", problem)

    async def change(self, change: Change) -> None:
        """Change the list everywhere; raises `BusError` if the bus cannot store it."""
        for _ in range(TRIES):
            entry = await self._bucket.get(KEY)
            self._take(entry)
            present = self.roster.content
            changed = replace(change(present), number=present.number + 1).signed_by(self.key)
            value = msgspec.json.encode(changed)
            try:
                if entry is None:
                    await self._bucket.create(KEY, value)
                else:
                    await self._bucket.update(KEY, value, entry.revision)
            except Conflict:
                continue
            self.roster.store(changed)
            await self._apply()
            return
        raise BusError("Other gateways keep changing the list of machines. Try again.")

    def _on_entry(self, entry: Entry) -> None:
        if entry.key == KEY:
            self._changed.set()

    def _take(self, entry: Entry | None) -> bool:
        """Take a later list of another gateway; whether it was one."""
        content = _decoded(entry)
        present = self.roster.content
        if content is None or content.number <= present.number:
            return False
        if not content.is_trusted(self._root, present.removed):
            log.error("the list of machines on the bus is not signed by a gateway of this fleet")
            return False
        self.roster.store(content)
        return True

    def _number_of(self, entry: Entry | None) -> int:
        content = _decoded(entry)
        return -1 if content is None or not content.is_trusted(self._root) else content.number


def _decoded(entry: Entry | None) -> SignedList | None:
    try:
        return msgspec.json.decode((entry.value if entry else None) or b"", type=SignedList)
    except msgspec.DecodeError:
        return None
