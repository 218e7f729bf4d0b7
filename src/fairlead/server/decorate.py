"""What the server adds to a session's document on its way out: how to answer what is pending.

A pending row gets the hash of its input, which an answer must carry, and the choices that an
answer may name. The transcript stays as it is: this happens to snapshots and to changes alike,
so that a client cannot tell them apart. `SessionSource` is a transcript as a hub's document.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from fairlead.permissions.audit import input_sha256
from fairlead.permissions.decisions import ToolCall
from fairlead.permissions.families import CURRENT, family_of
from fairlead.permissions.paths import Place
from fairlead.server.offers import Offer, offers
from fairlead.server.policy import Policy
from fairlead.transcript.changes import Add, Change, Replace
from fairlead.transcript.model import Pending, ToolItem
from fairlead.transcript.snapshot import SCHEMA
from fairlead.transcript.transcript import Transcript

__all__ = ["SessionSource", "input_sha256"]

PENDING = "pending"
EARLIER = 200
"""Calls of before that are looked at for examples of what a choice lets through."""


class SessionSource:
    """A transcript as clients see it."""

    sections = (
        "schema", "session", "status", "turns", "pending", "settled", "tasks", "background",
        "files", "ledger",
    )  # fmt: skip

    def __init__(self, transcript: Transcript, policy: Policy) -> None:
        self.transcript = transcript
        self.policy = policy
        self._offers: dict[str, tuple[Offer, ...]] = {}
        """By request, made once: the numbers that a client saw must mean the same later."""

    def section(self, name: str) -> Any:
        """A section, pending rows with what is needed to answer them."""
        if name == "schema":
            return SCHEMA
        if name == PENDING:
            return [self._decorated(row) for row in self.transcript.pending]
        return getattr(self.transcript, name)

    def item(self, item_id: str) -> Any:
        """One item."""
        return self.transcript.item(item_id)

    def offers(self, row: Pending) -> tuple[Offer, ...]:
        """What an answer to a request may name."""
        found = self._offers.get(row.id)
        if found is None:
            open_ids = {one.id for one in self.transcript.pending}
            self._offers = {one: kept for one, kept in self._offers.items() if one in open_ids}
            found = self._offers[row.id] = self._make_offers(row)
        return found

    def changes(self, changes: Sequence[Change]) -> Sequence[Change]:
        """Changes as clients see them."""
        if not any(change.to == PENDING for change in changes):
            return changes
        return [self._change(change) if change.to == PENDING else change for change in changes]

    def _change(self, change: Change) -> Change:
        if isinstance(change, Add):
            return Add(PENDING, self._decorated(change.row), change.before)
        if isinstance(change, Replace):
            return Replace(PENDING, [self._decorated(row) for row in change.value])
        return change

    def _decorated(self, row: Pending) -> dict[str, Any]:
        """A pending row with the hash of its input and the choices of an answer."""
        plain: dict[str, Any] = msgspec.to_builtins(row)
        choices = [offer.plain() for offer in self.offers(row)]
        return {**plain, "input_sha256": input_sha256(row.input), "choices": choices}

    def _make_offers(self, row: Pending) -> tuple[Offer, ...]:
        if row.kind != "permission" or not isinstance(row.input, Mapping):
            return ()
        call = ToolCall(tool=row.tool_name, input=row.input)
        return offers(call, row.suggestions, self.policy, self._place(), self._earlier(row))

    def _place(self) -> Place:
        session = self.transcript.session
        return Place(
            cwd=session.cwd or "/",
            home=os.path.expanduser("~"),
            family=family_of(session.version) if session.version else CURRENT,
            resolve=os.path.realpath,
            is_directory=os.path.isdir,
        )

    def _earlier(self, row: Pending) -> Iterator[ToolCall]:
        """The last calls of this session."""
        calls = (
            ToolCall(tool=item.name, input=item.input)
            for item in reversed(self.transcript.items)
            if isinstance(item, ToolItem)
            and item.id != row.tool
            and isinstance(item.input, Mapping)
        )
        return islice(calls, EARLIER)
