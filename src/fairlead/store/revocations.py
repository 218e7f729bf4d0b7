"""A file with reserved space for revocations that the database cannot store.

A revocation must work even if the disk is full. The file has a fixed number of slots and is filled
with zeros while there is space. A revocation overwrites a slot in place, which needs no new block
on most file systems (those that copy on write, such as btrfs and ZFS, may still refuse). A slot is
cleared once the database has the revocation.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

__all__ = ["RevocationFile"]

SLOT_BYTES = 64
SLOTS = 512
EMPTY = b"\0" * SLOT_BYTES


class RevocationFile:
    """The revocations that are not in the database yet."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def reserve(self) -> bool:
        """Create the file at its full size; False if there is no space."""
        try:
            with self._opened(os.O_RDWR | os.O_CREAT) as file:
                missing = SLOTS * SLOT_BYTES - os.fstat(file).st_size
                if missing > 0:
                    # Written zeros: a sparse file would need its blocks later.
                    _write(file, b"\0" * missing, os.fstat(file).st_size)
        except OSError:
            return False
        return True

    def read(self) -> dict[str, float]:
        """Device -> time of its revocation, for each used slot. Raises OSError."""
        revoked: dict[str, float] = {}
        for slot in self._slots():
            fields = slot.rstrip(b"\0").split(b" ")
            with contextlib.suppress(ValueError):
                device, at = fields
                revoked[device.decode("ascii")] = float(at)
        return revoked

    def add(self, device: str, at: float) -> bool:
        """Store a revocation; False if this is not possible."""
        slot = f"{device} {at:.3f}".encode("ascii", "replace")
        if len(slot) > SLOT_BYTES or not device or " " in device or not device.isascii():
            return False
        try:
            if device in self.read():
                return True
            if not self.reserve():
                return False
            for number, content in enumerate(self._slots()):
                if content == EMPTY:
                    self._put(number, slot)
                    return True
        except OSError:
            return False
        return False

    def remove(self, device: str) -> bool:
        """Clear the slot of a device; False if that fails."""
        name = device.encode("ascii", "replace") + b" "
        try:
            for number, slot in enumerate(self._slots()):
                if slot.startswith(name):
                    self._put(number, EMPTY)
        except OSError:
            return False
        return True

    def _slots(self) -> Iterator[bytes]:
        try:
            with self._opened(os.O_RDONLY) as file:
                content = os.pread(file, SLOTS * SLOT_BYTES, 0)
        except FileNotFoundError:
            return
        for start in range(0, len(content), SLOT_BYTES):
            yield content[start : start + SLOT_BYTES]

    def _put(self, number: int, slot: bytes) -> None:
        with self._opened(os.O_RDWR) as file:
            _write(file, slot.ljust(SLOT_BYTES, b"\0"), number * SLOT_BYTES)

    @contextlib.contextmanager
    def _opened(self, flags: int) -> Iterator[int]:
        file = os.open(self.path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            yield file
        finally:
            os.close(file)


def _write(file: int, content: bytes, at: int) -> None:
    while content:
        written = os.pwrite(file, content, at)
        content, at = content[written:], at + written
    os.fsync(file)
