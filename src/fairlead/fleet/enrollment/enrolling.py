"""Enrollment at any gateway of a fleet.

A machine that wants to join comes with a one-time code, its public key and a name. It is listed with
a number that its own screen shows too. Once an owner confirms it, its key is added to the bus, and
the machine gets the address and the authority of the bus. A further gateway joins in the same way, and
also sends the public half of the key with which it will sign the list of machines. Nothing secret is
sent in either direction but the code, which is used up, and the ticket with which the machine asks for
the answer.

Codes and waiting machines are on the bus, so that another gateway behind the same address can answer.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from fairlead.fleet.bus.bus import Bucket, BusError, Conflict, Entry
from fairlead.fleet.bus.bus_refusals import refused_without_bus
from fairlead.fleet.bus.nkey import NodeKey, id_of, is_public_key
from fairlead.fleet.enrollment.join_link import join_number
from fairlead.fleet.enrollment.roster import (
    EnrolledGateway,
    EnrolledNode,
    Roster,
    SignedList,
    admission_text,
    with_gateway,
    with_node,
    without,
)
from fairlead.server.access.codes import hash_token
from fairlead.server.refusal import Refusal

__all__ = ["Admission", "BusAccess", "Enrollment", "Waiting"]

INVITATION_S = 600.0
WAIT_S = 600.0
MOST_WAITING = 10
NAME_CHARS = 60

UNAVAILABLE = "No machine can join or be removed now: {problem} Try again."

CODE_KIND = "fleet"
WAITING = "machine"
"""Keys of the bucket `access`: followed by the id of a machine that waits."""

Audit = Callable[[str, dict[str, Any], str | None], Awaitable[None]]


class BusAccess(Struct, frozen=True, kw_only=True):
    """How machines of the fleet reach the bus."""

    servers: tuple[str, ...]
    authority: str
    """The certificate (PEM) of the bus's own authority; empty for the system's list."""
    root: str = ""
    """The public key with which the first gateway signs, for gateways that join."""


class Waiting(Struct, frozen=True, kw_only=True):
    """A machine that waits for an owner."""

    id: str
    public: str
    name: str
    address: str
    number: str
    ticket: str
    """The hash of its ticket."""
    expires: float
    """By the clock, because gateways share it."""
    state: str = "waiting"
    """Or `answering` while an owner's answer is carried out, then `allowed` or `refused`."""
    signer: str = ""
    """Of a gateway: the key with which it will sign."""


class Admission(Struct, frozen=True, kw_only=True):
    """What a machine is told about its request."""

    state: str
    node: str
    servers: tuple[str, ...] = ()
    authority: str = ""
    root: str = ""


class Codes(Protocol):
    """One-time codes that any gateway redeems, once."""

    async def issue(self, kind: str, code: str, role: str, valid_s: float) -> None:
        """Accept a code of a kind once."""

    async def redeem(self, kind: str, code: str) -> str | None:
        """Use up a code and return its role; None if it is unknown, used or expired."""


class List(Protocol):
    """The list of machines that all gateways share (`SharedRoster`)."""

    roster: Roster
    key: NodeKey

    async def change(self, change: Callable[[SignedList], SignedList]) -> None:
        """Change the list everywhere."""


class Enrollment:
    """Invitations, waiting machines, and the machines that joined."""

    def __init__(
        self,
        members: List,
        access: BusAccess,
        *,
        bucket: Bucket,
        codes: Codes,
        audit: Audit,
        announce: Callable[[EnrolledNode, bool], Awaitable[None]],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`bucket` is where machines wait. `announce` tells the gateways that a machine joined, or
        is gone."""
        self._members = members
        self._access = access
        self._bucket = bucket
        self._codes = codes
        self._audit = audit
        self._announce = announce
        self._clock = clock

    @property
    def roster(self) -> Roster:
        """Everyone who joined."""
        return self._members.roster

    async def invite(self, kind: str = "machine") -> str:
        """A code that one machine, or one `gateway`, can use within ten minutes."""
        code = secrets.token_urlsafe(16)
        await self._codes.issue(CODE_KIND, code, kind, INVITATION_S)
        return code

    async def ask(
        self, code: str, public: str, name: str, address: str, signer: str = ""
    ) -> tuple[Waiting, str]:
        """A machine asks to join; it waits now. Also returns its ticket."""
        if not is_public_key(public) or (signer and not is_public_key(signer)):
            raise Refusal("invalid", "This is not the public key of a machine.")
        if len(await self._all()) >= MOST_WAITING:
            raise Refusal("too_many", "Too many machines wait to join. An owner must answer first.")
        kind = await self._codes.redeem(CODE_KIND, code)
        if kind is None:
            raise Refusal(
                "not_authenticated",
                "This link is invalid, was already used, or has expired. Get a new one with "
                "`fairlead fleet invite`.",
            )
        if (kind == "gateway") != bool(signer):
            command = "fairlead gateway join" if kind == "gateway" else "fairlead node join"
            raise Refusal("invalid", f"This link is for another kind of machine: use `{command}`.")
        ticket = secrets.token_urlsafe(32)
        waiting = Waiting(
            id=id_of(public),
            public=public,
            name=_printable(name) or id_of(public),
            address=address,
            number=join_number(code, public + signer),
            ticket=hash_token(ticket),
            expires=self._clock() + WAIT_S,
            signer=signer,
        )
        with refused_without_bus(UNAVAILABLE):
            await self._bucket.put(f"{WAITING}.{waiting.id}", msgspec.json.encode(waiting))
        await self._audit(_action(waiting, "asked"), _details(waiting), None)
        return waiting, ticket

    async def waiting(self) -> tuple[Waiting, ...]:
        """The machines that wait, the oldest first."""
        return tuple(each for each, _ in await self._all() if each.state == "waiting")

    async def admission(self, ticket: str) -> Admission:
        """The answer for a machine with this ticket."""
        digest = hash_token(ticket)
        request = next((each for each, _ in await self._all() if each.ticket == digest), None)
        if request is None:
            raise Refusal("not_authenticated", "This request to join has expired. Join again.")
        if request.state != "allowed":
            state = "refused" if request.state == "refused" else "waiting"
            return Admission(state=state, node=request.id)
        return Admission(
            state="allowed",
            node=request.id,
            servers=self._access.servers,
            authority=self._access.authority,
            root=self._access.root if request.signer else "",
        )

    async def answer(self, node_id: str, owner: str | None, *, allow: bool) -> Waiting:
        """An owner's answer, after comparing the numbers. Of two owners, the first counts."""
        pairs = [(each, entry) for each, entry in await self._all() if each.state == "waiting"]
        request, entry = next(
            ((each, entry) for each, entry in pairs if each.id == node_id), (None, None)
        )
        if request is None or entry is None:
            raise Refusal("not_found", "This request to join has expired.")
        state = "allowed" if allow else "refused"
        claimed = msgspec.json.encode(replace(request, state="answering"))
        value = msgspec.json.encode(replace(request, state=state))
        with refused_without_bus(UNAVAILABLE):
            try:
                # The machine asks for its admission meanwhile, and must still find its request.
                revision = await self._bucket.update(entry.key, claimed, entry.revision)
            except Conflict:
                raise Refusal("not_found", "Another owner has answered this request.") from None
            try:
                if allow:
                    await self._admit(request)
            except BaseException:
                await self._bucket.update(entry.key, entry.value or b"", revision)
                raise
            # Only now does the machine learn of it: it can connect at once.
            await self._bucket.update(entry.key, value, revision)
        await self._audit(_action(request, state), _details(request), owner)
        return request

    async def _admit(self, request: Waiting) -> None:
        if request.signer:
            gateway = EnrolledGateway(
                id=request.id,
                public=request.public,
                name=request.name,
                joined=self._clock(),
                signer=request.signer,
                admitted_by=self._members.key.public,
            )
            signature = self._members.key.sign(admission_text(gateway)).decode("ascii")
            signed = replace(gateway, admission=signature)
            await self._members.change(lambda content: with_gateway(content, signed))
            return
        node = EnrolledNode(
            id=request.id, public=request.public, name=request.name, joined=self._clock()
        )
        await self._members.change(lambda content: with_node(content, node))
        await self._announce(node, True)

    async def remove(self, name: str, owner: str | None) -> EnrolledNode | EnrolledGateway:
        """Cut a machine off at once. Its own data and sessions stay as they are."""
        machine = self.roster.find(name)
        with refused_without_bus(UNAVAILABLE):
            await self._members.change(lambda content: without(content, machine.id))
            if isinstance(machine, EnrolledNode):
                await self._announce(machine, False)
        action = "node_removed" if isinstance(machine, EnrolledNode) else "gateway_removed"
        await self._audit(action, {"node": machine.id, "name": machine.name}, owner)
        return machine

    async def _all(self) -> list[tuple[Waiting, Entry]]:
        with refused_without_bus(UNAVAILABLE):
            entries = await self._bucket.entries(WAITING)
        requests: list[tuple[Waiting, Entry]] = []
        for entry in sorted(entries, key=lambda each: each.revision):
            with contextlib.suppress(msgspec.DecodeError):
                waiting = msgspec.json.decode(entry.value or b"", type=Waiting)
                if waiting.expires > self._clock():
                    requests.append((waiting, entry))
                    continue
                with contextlib.suppress(BusError):
                    await self._bucket.delete(entry.key)
        return requests


def _action(waiting: Waiting, state: str) -> str:
    return f"{'gateway' if waiting.signer else 'node'}_{state}"


def _printable(name: str) -> str:
    return "".join(character for character in name.strip() if character.isprintable())[:NAME_CHARS]


def _details(waiting: Waiting) -> dict[str, Any]:
    return {"node": waiting.id, "name": waiting.name, "address": waiting.address}
