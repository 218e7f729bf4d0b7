"""What a machine knows of its fleet: a key, and a file with the bus's address.

Both are in the data folder and belong to the user alone.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path

import msgspec
from msgspec import Struct

from fairlead.errors import UsageError
from fairlead.fleet.bus.nkey import NodeKey
from fairlead.store.database.folder import own_file

__all__ = [
    "KEY_FILE",
    "Membership",
    "default_name",
    "has_key",
    "node_key",
    "read_membership",
    "store",
]

KEY_FILE = "node.key"
FILE = "fleet.json"


class Membership(Struct, frozen=True, kw_only=True):
    """The fleet of this machine."""

    node: str
    name: str
    servers: tuple[str, ...]
    authority: str = ""
    gateway: str = ""
    """The address of the gateway, for people."""


def default_name() -> str:
    """What people call this machine, unless they say otherwise."""
    return socket.gethostname().partition(".")[0] or "machine"


def node_key(data: Path, *, new: bool = False) -> NodeKey:
    """The key of this machine; made if there is none."""
    path = data / KEY_FILE
    if new and path.exists():
        path.replace(path.with_name(f"{KEY_FILE}.old"))
    return NodeKey.stored_in(path)


def has_key(data: Path) -> bool:
    """Whether this machine has a key."""
    return (data / KEY_FILE).exists()


def read_membership(data: Path) -> Membership:
    """The fleet that this machine joined; raises `UsageError` if there is none."""
    path = data / FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=Membership)
    except FileNotFoundError:
        raise UsageError(
            "This machine has not joined a fleet. Get a link with `fairlead fleet invite` on the "
            "gateway, and run `fairlead node join LINK` here."
        ) from None
    except msgspec.DecodeError as problem:
        raise UsageError(f"{path} is damaged: {problem}. Join the fleet again.") from None


def store(data: Path, membership: Membership) -> None:
    """Remember the fleet."""
    draft = data / f"{FILE}.new"
    handle = own_file(draft)
    try:
        os.ftruncate(handle, 0)
        os.write(handle, msgspec.json.encode(membership))
        os.fsync(handle)
    finally:
        os.close(handle)
    os.replace(draft, data / FILE)
