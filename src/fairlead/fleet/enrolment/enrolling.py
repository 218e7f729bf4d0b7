"""Enrolment on the gateway that runs the bus.

A machine that wants to join comes with a one-time code, its public key and a name. It is listed with
a number that its own screen shows too. Once an owner confirms it, its key is added to the bus, and
the machine gets the address and the authority of the bus. Nothing secret is sent in either direction
but the code, which is used up, and the ticket with which the machine asks for the answer.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from fairlead.fleet.bus.nkey import id_of, is_public_key
from fairlead.fleet.enrolment.join_link import join_number
from fairlead.fleet.enrolment.roster import EnrolledNode, Roster
from fairlead.server.access.codes import hash_token
from fairlead.server.refusal import Refusal
from fairlead.server.ticks import ticks as steady

__all__ = ["Admission", "BusAccess", "Enrolment", "Waiting"]

INVITATION_S = 600.0
WAIT_S = 600.0
MOST_WAITING = 10
MOST_CODES = 50
NAME_CHARS = 60

Apply = Callable[[], Awaitable[None]]
Audit = Callable[[str, dict[str, Any], str | None], Awaitable[None]]


class BusAccess(Struct, frozen=True, kw_only=True):
    """How machines of the fleet reach the bus."""

    servers: tuple[str, ...]
    authority: str
    """The certificate (PEM) of the bus's own authority; empty for the system's list."""


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
    state: str = "waiting"
    """Or `allowed`, or `refused`."""


class Admission(Struct, frozen=True, kw_only=True):
    """What a machine is told about its request."""

    state: str
    node: str
    servers: tuple[str, ...] = ()
    authority: str = ""


class Enrolment:
    """Invitations, waiting machines, and the machines that joined."""

    def __init__(
        self,
        roster: Roster,
        access: BusAccess,
        *,
        apply: Apply,
        audit: Audit,
        announce: Callable[[EnrolledNode, bool], Awaitable[None]],
        ticks: Callable[[], float] = steady,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`apply` lets exactly the machines of the roster connect. `announce` tells the gateways
        that a machine joined, or is gone."""
        self.roster = roster
        self._access = access
        self._apply = apply
        self._audit = audit
        self._announce = announce
        self._ticks = ticks
        self._clock = clock
        self._codes: dict[str, float] = {}
        self._waiting: dict[str, Waiting] = {}

    def invite(self) -> str:
        """A code that one machine can use within ten minutes."""
        self._expire()
        if len(self._codes) >= MOST_CODES:
            raise Refusal("too_many", "Too many invitations are open. Wait until some expire.")
        code = secrets.token_urlsafe(16)
        self._codes[hash_token(code)] = self._ticks() + INVITATION_S
        return code

    async def ask(self, code: str, public: str, name: str, address: str) -> tuple[Waiting, str]:
        """A machine asks to join; it waits now. Also returns its ticket."""
        self._expire()
        if not is_public_key(public):
            raise Refusal("invalid", "This is not the public key of a machine.")
        if len(self._waiting) >= MOST_WAITING:
            raise Refusal("too_many", "Too many machines wait to join. An owner must answer first.")
        if self._codes.pop(hash_token(code), None) is None:
            raise Refusal(
                "not_authenticated",
                "This link is invalid, was already used, or has expired. Get a new one with "
                "`fairlead fleet invite`.",
            )
        ticket = secrets.token_urlsafe(32)
        waiting = Waiting(
            id=id_of(public),
            public=public,
            name=_printable(name) or id_of(public),
            address=address,
            number=join_number(code, public),
            ticket=hash_token(ticket),
            expires=self._ticks() + WAIT_S,
        )
        self._waiting[waiting.id] = waiting
        await self._audit("node_asked", _details(waiting), None)
        return waiting, ticket

    def waiting(self) -> tuple[Waiting, ...]:
        """The machines that wait, the oldest first."""
        self._expire()
        return tuple(each for each in self._waiting.values() if each.state == "waiting")

    def admission(self, ticket: str) -> Admission:
        """The answer for a machine with this ticket."""
        self._expire()
        digest = hash_token(ticket)
        found = next((each for each in self._waiting.values() if each.ticket == digest), None)
        if found is None:
            raise Refusal("not_authenticated", "This request to join has expired. Join again.")
        if found.state != "allowed":
            return Admission(state=found.state, node=found.id)
        return Admission(
            state="allowed",
            node=found.id,
            servers=self._access.servers,
            authority=self._access.authority,
        )

    async def answer(self, node_id: str, owner: str | None, *, allow: bool) -> Waiting:
        """An owner's answer, after comparing the numbers."""
        found = next((each for each in self.waiting() if each.id == node_id), None)
        if found is None:
            raise Refusal("not_found", "This request to join has expired.")
        if allow:
            node = EnrolledNode(
                id=found.id, public=found.public, name=found.name, joined=self._clock()
            )
            self.roster.add(node)
            await self._apply()
            await self._announce(node, True)
        state = "allowed" if allow else "refused"
        self._waiting[node_id] = replace(found, state=state)
        await self._audit(f"node_{state}", _details(found), owner)
        return found

    async def remove(self, name: str, owner: str | None) -> EnrolledNode:
        """Cut a machine off at once. Its own data and sessions stay as they are."""
        node = self.roster.find(name)
        self.roster.remove(node.id)
        await self._apply()
        await self._announce(node, False)
        await self._audit("node_removed", {"node": node.id, "name": node.name}, owner)
        return node

    def _expire(self) -> None:
        now = self._ticks()
        self._codes = {code: until for code, until in self._codes.items() if until > now}
        self._waiting = {key: each for key, each in self._waiting.items() if each.expires > now}


def _printable(name: str) -> str:
    return "".join(letter for letter in name.strip() if letter.isprintable())[:NAME_CHARS]


def _details(waiting: Waiting) -> dict[str, Any]:
    return {"node": waiting.id, "name": waiting.name, "address": waiting.address}
