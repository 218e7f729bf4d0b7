"""The version of the code that made a snapshot: a hash of all sources that affect a fold.

A snapshot contains internal state of the reducers, so only the same code can read it. The hash of
the sources is the version, so that developers need not increase a number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec

__all__ = ["code_version", "modules_below"]

PACKAGES = ("wire", "transcript")
SOURCE = Path(__file__).parent.parent


@cache
def code_version() -> str:
    """A hash that stays the same until a reducer or a decoder changes."""
    digest = hashlib.sha256(msgspec.__version__.encode())
    for package in PACKAGES:
        for name, text in modules_below(SOURCE / package):
            digest.update(name.encode() + b"\0" + text + b"\0")
    return digest.hexdigest()[:32]


def modules_below(folder: Path, prefix: str = "") -> Iterator[tuple[str, bytes]]:
    """The name and source of every module below a package, in a fixed order."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from modules_below(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".py"):
            yield f"{prefix}{entry.name}", entry.read_bytes()
