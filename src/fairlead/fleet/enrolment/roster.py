"""The machines of a fleet, in a file of the gateway that runs the bus.

Each has a public key; who has the private half may connect. The file is replaced as a whole.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
from msgspec import Struct

from fairlead.errors import UsageError
from fairlead.fleet.bus.server_config import Members
from fairlead.fleet.protocol.permissions import Member
from fairlead.store.database.folder import own_file

__all__ = ["EnrolledNode", "Roster"]


class EnrolledNode(Struct, frozen=True, kw_only=True):
    """A machine that joined."""

    id: str
    public: str
    name: str
    joined: float = 0.0


class _File(Struct):
    nodes: list[EnrolledNode] = []


class Roster:
    """The list."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._nodes: dict[str, EnrolledNode] = {}
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return
        try:
            file = msgspec.json.decode(content, type=_File)
        except msgspec.DecodeError as problem:
            raise UsageError(
                f"{path} is damaged: {problem}. Restore it from a backup; without it no machine "
                "of the fleet can connect."
            ) from None
        self._nodes = {node.id: node for node in file.nodes}

    @property
    def nodes(self) -> tuple[EnrolledNode, ...]:
        """All machines, by name."""
        return tuple(sorted(self._nodes.values(), key=lambda node: (node.name, node.id)))

    def find(self, name: str) -> EnrolledNode:
        """The machine with this id or name; raises `UsageError`."""
        found = [node for node in self._nodes.values() if name in (node.id, node.name)]
        if not found:
            raise UsageError(
                f"No machine {name!r} is in the fleet. `fairlead fleet list` names all."
            )
        if len(found) > 1:
            ids = " and ".join(sorted(node.id for node in found))
            raise UsageError(f"Several machines are named {name!r}. Use the id: {ids}.")
        return found[0]

    def add(self, node: EnrolledNode) -> None:
        """Add a machine, or rename one that joined before with the same key."""
        present = self._nodes.get(node.id)
        if present is not None and present.public != node.public:
            raise UsageError("Another machine has the same id. Make a new key (--new-identity).")
        self._nodes[node.id] = node
        self._write()

    def remove(self, node_id: str) -> None:
        """Remove a machine, if it is there."""
        if self._nodes.pop(node_id, None) is not None:
            self._write()

    def members(self, admin: str, gateways: tuple[Member, ...]) -> Members:
        """Everyone who may connect to the bus."""
        nodes = tuple(Member(node.id, node.public) for node in self.nodes)
        return Members(admin=admin, gateways=gateways, nodes=nodes)

    def _write(self) -> None:
        draft = self._path.with_suffix(".new")
        handle = own_file(draft)
        try:
            os.ftruncate(handle, 0)
            os.write(handle, msgspec.json.encode(_File(nodes=list(self.nodes))))
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(draft, self._path)
