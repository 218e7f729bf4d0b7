"""Which code made a snapshot: a fingerprint of everything that decides what a fold comes to.

A snapshot holds the reducer's own notes, so it is worth something only to the very same code.
The sources themselves are the version: no number that somebody must remember to count up.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources

import msgspec

__all__ = ["code_version"]

PACKAGES = ("fairlead.wire", "fairlead.transcript")


@cache
def code_version() -> str:
    """The same for as long as no reducer and no decoder changes."""
    found = hashlib.sha256(msgspec.__version__.encode())
    for package in PACKAGES:
        for file in sorted(resources.files(package).iterdir(), key=lambda one: one.name):
            if file.name.endswith(".py"):
                found.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return found.hexdigest()[:32]
