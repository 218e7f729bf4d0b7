"""A session's document on its way out: with how to answer what is pending, and not too long.

A pending row gets the hash of its input, which an answer must carry, and the choices that an
answer may name. Long lists are shown from near their end (`bounded_list`), long rows by their
beginning (`previews`). The transcript stays as it is: this happens to snapshots and to changes
alike, so that a client cannot tell them apart. `SessionSource` is a transcript as a hub's
document.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

from msgspec import structs

from fairlead.permissions.audit import input_sha256
from fairlead.permissions.decisions import ToolCall
from fairlead.permissions.families import CURRENT, family_of
from fairlead.permissions.paths import Place
from fairlead.server.bounded_list import BoundedList
from fairlead.server.limits import Limits
from fairlead.server.offers import Offer, offers
from fairlead.server.pending_row import PendingRow
from fairlead.server.policy import Policy
from fairlead.server.previews import Previews
from fairlead.transcript.changes import Add, Append, Change, Replace
from fairlead.transcript.model import Pending, ToolItem
from fairlead.transcript.snapshot import SCHEMA
from fairlead.transcript.transcript import Transcript

__all__ = ["SessionSource", "input_sha256"]

ITEMS, PENDING = "items", "pending"
EARLIER = 200
"""Calls of before that are looked at for examples of what a choice lets through."""


class SessionSource:
    """A transcript as clients see it."""

    sections = (
        "schema", "session", "status", "turns", "pending", "settled", "tasks", "background",
        "files", "ledger",
    )  # fmt: skip

    def __init__(
        self, transcript: Transcript, policy: Policy, limits: Limits | None = None
    ) -> None:
        self.transcript = transcript
        self.policy = policy
        limits = limits or Limits()
        self._bounded = {
            name: BoundedList(name, transcript, block)
            for name, block in (
                ("turns", limits.turns_shown),
                ("settled", limits.settled_shown),
                ("tasks", limits.tasks_shown),
                ("background", limits.background_shown),
                ("files", limits.files_shown),
            )
        }
        self._previews = {
            ITEMS: Previews(limits.preview_letters),
            "turns": Previews(limits.beside_letters),
            "settled": Previews(limits.beside_letters),
        }
        self._growth = limits.preview_letters // 2
        self._offers: dict[str, tuple[Offer, ...]] = {}
        """By request, made once: the numbers that a client saw must mean the same later."""

    def section(self, name: str) -> Any:
        """A section, pending rows with what is needed to answer them."""
        if name == "schema":
            return SCHEMA
        if name == PENDING:
            return [self._decorated(row) for row in self.transcript.pending]
        if name in self._bounded:
            rows = self._bounded[name].rows()
            previews = self._previews.get(name)
            return rows if previews is None else [previews.row(row) for row in rows]
        return getattr(self.transcript, name)

    def item(self, item_id: str) -> Any:
        """One item, or the beginning of a long one."""
        return self._previews[ITEMS].row(self.transcript.item(item_id))

    def turns_of(self, item_ids: Sequence[str]) -> tuple[Any, ...]:
        """The turns of some items, those left out that are in the section anyway."""
        wanted = dict.fromkeys(item.turn for item in map(self.transcript.item, item_ids) if item)
        bounded, previews = self._bounded["turns"], self._previews["turns"]
        rows = (self.transcript.row("turns", one) for one in wanted if one and bounded.hides(one))
        return tuple(previews.row(row) for row in rows if row is not None)

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
        if all(self._goes_as_it_is(change) for change in changes):
            return changes
        # Changes of different sections do not depend on each other.
        sections: dict[str, list[Change]] = {}
        for change in changes:
            sections.setdefault(change.to, []).append(change)
        return [shown for name, own in sections.items() for shown in self._shown(name, own)]

    def _goes_as_it_is(self, change: Change) -> bool:
        if change.to == ITEMS:
            # The usual case: a few more words of a text that is not long.
            return isinstance(change, Append) and change.offset + len(change.text) < self._growth
        return change.to != PENDING and change.to not in self._bounded

    def _shown(self, name: str, changes: list[Change]) -> list[Change]:
        if name == PENDING:
            return [self._change(change) for change in changes]
        if name in self._bounded:
            changes = self._bounded[name].changes(changes)
        if name in self._previews:
            return self._previews[name].changes(changes, partial(self.transcript.row, name))
        return changes

    def _change(self, change: Change) -> Change:
        if isinstance(change, Add):
            return Add(PENDING, self._decorated(change.row), change.before)
        if isinstance(change, Replace):
            return Replace(PENDING, [self._decorated(row) for row in change.value])
        return change

    def _decorated(self, row: Pending) -> PendingRow:
        """A pending row with the hash of its input and the choices of an answer."""
        return PendingRow(
            **structs.asdict(row),
            input_sha256=input_sha256(row.input),
            choices=tuple(offer.shown() for offer in self.offers(row)),
        )

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
            for item in self.transcript.newest()
            if isinstance(item, ToolItem)
            and item.id != row.tool
            and isinstance(item.input, Mapping)
        )
        return islice(calls, EARLIER)
