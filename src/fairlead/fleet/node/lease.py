"""The lease of a node: of all processes with the same key, one speaks for the node.

A machine that was cloned, or a data folder that was copied, has the same key twice. The lease is a
key on the bus that expires by itself; it is renewed three times within that time. The number of the
write that took it is its generation: a later holder always has a higher one.

A node that is started again must not wait for the bus to elect a new leader, which takes seconds in a
cluster. So a process keeps in its data folder until when it holds the lease, and the next process with
that folder, which is locked, holds it for the rest of that time.

A process that was paused cannot know whether its lease has passed to another one meanwhile, so
`held` is only a first check. What must never be written twice is also written with a condition: a
session's log continues only after the record that its writer knows (N4).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import socket
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import cast

import msgspec
from msgspec import Struct

from fairlead.errors import FairleadError
from fairlead.fleet.bus.bus import Bucket, BusError, BusUnavailable, Conflict

__all__ = ["LEASE_S", "RENEW_S", "LeaseTaken", "NodeLease", "is_held", "place_of"]

log = logging.getLogger("fairlead")

LEASE_S = 15.0
RENEW_S = 5.0
CONNECT_CHECK_S = 0.1
"""The pause while there is no connection; then an attempt costs nothing."""


class LeaseTaken(FairleadError):
    """Another process speaks for this node."""


class Holder(Struct):
    """The value of the key."""

    holder: str
    """A random text of the process; empty after it has ended."""
    place: str = ""
    host: str = ""
    since: float = 0.0


class StoredLease(Struct):
    """What a process leaves for the next one with the same data folder."""

    place: str
    holder: str
    revision: int
    generation: int
    until: float
    """By a clock that runs from the start of the machine, also while it sleeps."""


def seconds_since_boot() -> float:
    """A steady clock that is the same for all processes and runs while the machine sleeps."""
    clock = cast("int | None", getattr(time, "CLOCK_BOOTTIME", None))
    return time.monotonic() if clock is None else time.clock_gettime(clock)


class NodeLease:
    """The lease, for one process."""

    def __init__(
        self,
        bucket: Bucket,
        node: str,
        place: str,
        *,
        lease_s: float = LEASE_S,
        renew_s: float = RENEW_S,
        ticks: Callable[[], float] = seconds_since_boot,
        clock: Callable[[], float] = time.time,
        file: Path | None = None,
    ) -> None:
        """`file` is a file of the data folder at `place`, which this process has locked."""
        self._bucket = bucket
        self._node = node
        self._lease_s = lease_s
        self._renew_s = renew_s
        self._ticks = ticks
        self._holder = Holder(
            holder=secrets.token_hex(16), place=place, host=socket.gethostname(), since=clock()
        )
        self._revision = 0
        self._until = float("-inf")
        self.generation = 0
        """The number of this lease; 0 if it was never held."""
        self._file = file
        self._take_over()

    @property
    def held(self) -> bool:
        """Whether the lease is held now, by this machine's clock. It runs while a process is
        paused, and the lease began later on the bus than it does here."""
        return self._ticks() < self._until

    async def acquire(self) -> int:
        """Take the lease; its generation. Raises `LeaseTaken`, or `BusError`."""
        started = self._ticks()
        value = msgspec.json.encode(self._holder)
        entry = await self._bucket.get(self._node)
        try:
            if entry is None:
                revision = await self._bucket.create(self._node, value)
            else:
                self._check_free(entry.value or b"")
                revision = await self._bucket.update(self._node, value, entry.revision)
        except Conflict:
            raise LeaseTaken(_words(await self._present())) from None
        self.generation = revision
        self._hold(revision, started)
        return revision

    async def renew(self) -> None:
        """Prolong the lease; raises `LeaseTaken` if another process has it."""
        started = self._ticks()
        value = msgspec.json.encode(self._holder)
        try:
            revision = await self._bucket.update(self._node, value, self._revision)
        except Conflict:
            self._let_go()
            await self.acquire()  # It may only have expired.
            return
        self._hold(revision, started)

    async def keep(self, changed: Callable[[bool], None]) -> None:
        """Hold the lease until cancelled; reports when it is acquired and when it is lost."""
        reported = False
        while True:
            if self.held and not reported:  # The process before has left it.
                reported = True
                changed(True)
            pause = self._renew_s / 5
            try:
                if self.held:
                    await self.renew()
                else:
                    await self.acquire()
                pause = self._renew_s
            except LeaseTaken as problem:
                if reported:
                    log.error("%s", problem)
            except BusUnavailable:
                pause = CONNECT_CHECK_S
            except BusError as problem:
                log.debug("the lease was not renewed: %s", problem)
            if self.held != reported:
                reported = self.held
                changed(reported)
            # Not longer than it lasts: a lease that runs out must be reported at once.
            left = self._until - self._ticks() if self.held else pause
            await asyncio.sleep(min(pause, max(left, 0.01)))

    async def release(self) -> None:
        """Give the lease up, so that the next process need not wait."""
        if not self.held:
            return
        self._let_go()
        try:
            value = msgspec.json.encode(Holder(holder=""))
            await self._bucket.update(self._node, value, self._revision)
        except BusError as problem:
            log.debug("the lease was not given up; it expires: %s", problem)

    def _hold(self, revision: int, since: float) -> None:
        self._revision, self._until = revision, since + self._lease_s
        if self._file is None:
            return
        stored = StoredLease(
            place=self._holder.place, holder=self._holder.holder, revision=revision,
            generation=self.generation, until=self._until,
        )  # fmt: skip
        written = self._file.with_suffix(".new")
        with contextlib.suppress(OSError):  # Then the next process has to ask the bus.
            written.write_bytes(msgspec.json.encode(stored))
            os.replace(written, self._file)

    def _let_go(self) -> None:
        """First here: what is not held must not be taken over by the next process."""
        self._until = float("-inf")
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.unlink(missing_ok=True)

    def _take_over(self) -> None:
        """Hold what the process before held, for the time that it was granted."""
        if self._file is None:
            return
        try:
            stored = msgspec.json.decode(self._file.read_bytes(), type=StoredLease)
        except (OSError, msgspec.DecodeError):
            return
        # The place names the start of the machine, so both processes mean the same clock.
        if stored.place == self._holder.place and stored.until <= self._ticks() + self._lease_s:
            self._holder.holder = stored.holder
            self._revision, self.generation = stored.revision, stored.generation
            self._until = stored.until

    def _check_free(self, value: bytes) -> None:
        """The lease is free for its holder, and for the same data folder on the same machine: the
        folder's lock proves that the process before has ended."""
        present = _decode(value)
        if present.holder in ("", self._holder.holder) or present.place == self._holder.place:
            return
        raise LeaseTaken(_words(present))

    async def _present(self) -> Holder:
        entry = await self._bucket.get(self._node)
        return Holder(holder="") if entry is None else _decode(entry.value or b"")


def place_of(folder: Path) -> str:
    """Names a data folder of a machine that was started once: a clone of either has another name."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        boot = secrets.token_hex(16)
    status = os.stat(folder)
    return f"{boot}:{status.st_dev}:{status.st_ino}"


def is_held(value: bytes | None) -> bool:
    """Whether an entry of the bucket is the lease of a process that has not given it up."""
    return bool(_decode(value or b"").holder)


def _decode(value: bytes) -> Holder:
    try:
        return msgspec.json.decode(value, type=Holder)
    except msgspec.DecodeError:
        return Holder(holder="unknown")


def _words(present: Holder) -> str:
    since = (
        datetime.fromtimestamp(present.since).strftime("%Y-%m-%d %H:%M") if present.since else ""
    )
    where = f" on {present.host}" if present.host else ""
    return (
        f"Another process{where} runs as this node{f' since {since}' if since else ''}. This one "
        "works on, but only its own address shows its sessions. If the machine or its data folder "
        "was copied, run `fairlead node join` with a new link and --new-identity."
    )
