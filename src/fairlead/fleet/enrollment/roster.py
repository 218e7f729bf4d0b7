"""The machines and gateways of a fleet: the holder of the private half of a listed key may connect.

Every gateway has a copy in a file, which is replaced as a whole. Each change raises the number of the
list, and the gateway that makes it signs the whole list (`SharedRoster`).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from fairlead.errors import UsageError
from fairlead.fleet.bus.nkey import NodeKey, is_signed
from fairlead.fleet.bus.server_config import Members
from fairlead.fleet.protocol.permissions import Member
from fairlead.store.database.folder import write_own

__all__ = [
    "EnrolledGateway",
    "EnrolledNode",
    "Roster",
    "SignedList",
    "admission_text",
    "with_gateway",
    "with_node",
    "without",
]


class EnrolledNode(Struct, frozen=True, kw_only=True):
    """A machine that joined."""

    id: str
    public: str
    name: str
    joined: float = 0.0


class EnrolledGateway(Struct, frozen=True, kw_only=True):
    """A further gateway that joined."""

    id: str
    public: str
    name: str
    joined: float = 0.0
    signer: str = ""
    """The public half of the key with which it signs the list."""
    admitted_by: str = ""
    admission: str = ""
    """The signature of a gateway that was in the fleet before, for `signer`."""


class SignedList(Struct, frozen=True, kw_only=True):
    """The list as it is stored and sent."""

    nodes: tuple[EnrolledNode, ...] = ()
    gateways: tuple[EnrolledGateway, ...] = ()
    number: int = 0
    """Raised by each change, so that an earlier list cannot be passed off as the present one."""
    removed: tuple[str, ...] = ()
    """Signing keys of gateways that were removed; they are never accepted again."""
    signer: str = ""
    signature: str = ""

    @property
    def text(self) -> str:
        """What is signed."""
        plain = replace(self, signer="", signature="")
        return f"fairlead roster {msgspec.json.encode(plain).decode()}"

    def signed_by(self, key: NodeKey) -> SignedList:
        """The same list with the signature of a gateway."""
        return replace(self, signer=key.public, signature=key.sign(self.text).decode("ascii"))

    def is_trusted(self, root: str, removed: Iterable[str] = ()) -> bool:
        """Whether the first gateway of the fleet, or one that was admitted since, signed it."""
        refused = {*removed, *self.removed}
        trusted, before = {root} - refused, set[str]()
        while trusted != before:
            before = set(trusted)
            trusted |= {
                each.signer
                for each in self.gateways
                if each.admitted_by in before
                and each.signer not in refused
                and is_signed(each.admitted_by, admission_text(each), each.admission)
            }
        return self.signer in trusted and is_signed(self.signer, self.text, self.signature)


def admission_text(gateway: EnrolledGateway) -> str:
    """What a gateway signs when it admits another one."""
    return f"fairlead gateway {gateway.id} {gateway.public} {gateway.signer}"


class Roster:
    """The copy of one gateway."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.content = SignedList()
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return
        try:
            self.content = msgspec.json.decode(content, type=SignedList)
        except msgspec.DecodeError as problem:
            raise UsageError(
                f"{path} is damaged: {problem}. Restore it from a backup; without it no machine "
                "of the fleet can connect."
            ) from None

    @property
    def nodes(self) -> tuple[EnrolledNode, ...]:
        """All machines, by name."""
        return tuple(sorted(self.content.nodes, key=lambda node: (node.name, node.id)))

    @property
    def gateways(self) -> tuple[EnrolledGateway, ...]:
        """The further gateways, by name."""
        return tuple(sorted(self.content.gateways, key=lambda each: (each.name, each.id)))

    def find(self, name: str) -> EnrolledNode | EnrolledGateway:
        """The machine or gateway with this id or name; raises `UsageError`."""
        everyone: list[EnrolledNode | EnrolledGateway] = [*self.content.nodes]
        everyone += self.content.gateways
        matches = [each for each in everyone if name in (each.id, each.name)]
        if not matches:
            raise UsageError(
                f"No machine {name!r} is in the fleet. `fairlead fleet list` names all."
            )
        if len(matches) > 1:
            ids = " and ".join(sorted(node.id for node in matches))
            raise UsageError(f"Several machines are named {name!r}. Use the id: {ids}.")
        return matches[0]

    def members(self, admin: str, gateways: tuple[Member, ...]) -> Members:
        """Everyone who may connect to the bus."""
        nodes = tuple(Member(node.id, node.public) for node in self.nodes)
        further = tuple(Member(each.id, each.public) for each in self.gateways)
        present = {each.id for each in gateways}
        return Members(
            admin=admin,
            gateways=(*gateways, *(each for each in further if each.id not in present)),
            nodes=nodes,
        )

    def store(self, content: SignedList) -> None:
        """Replace the list."""
        write_own(self._path, msgspec.json.encode(content))
        self.content = content


def with_node(content: SignedList, node: EnrolledNode) -> SignedList:
    """The list with a machine, or with its new name if it joined before with the same key."""
    present = next((each for each in content.nodes if each.id == node.id), None)
    if present is not None and present.public != node.public:
        raise UsageError("Another machine has the same id. Make a new key (--new-identity).")
    others = tuple(each for each in content.nodes if each.id != node.id)
    return replace(content, nodes=(*others, node))


def with_gateway(content: SignedList, gateway: EnrolledGateway) -> SignedList:
    """The list with a gateway, in place of an earlier entry with the same key."""
    others = tuple(each for each in content.gateways if each.id != gateway.id)
    return replace(content, gateways=(*others, gateway))


def without(content: SignedList, member_id: str) -> SignedList:
    """The list without a machine or gateway."""
    signers = tuple(each.signer for each in content.gateways if each.id == member_id)
    return replace(
        content,
        nodes=tuple(each for each in content.nodes if each.id != member_id),
        gateways=tuple(each for each in content.gateways if each.id != member_id),
        removed=(*content.removed, *(each for each in signers if each)),
    )
