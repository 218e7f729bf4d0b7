"""A session's document as clients get it: with the possible answers to requests, and shortened.

A pending row gets the hash of its input, which an answer must carry, and the choices that an
answer may name. Of many open requests the first are shown (`first_rows`), of other long lists
the last rows (`list_window`), of long rows the beginning (`previews`). The transcript is not
changed. Snapshots and changes are treated alike, so that a client cannot tell them apart.
`SessionView` is a transcript as a document of the hub.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any

from msgspec import structs

from fairlead.permissions.model.families import CURRENT, family_of
from fairlead.permissions.rules.paths import PathContext
from fairlead.server.limits import Limits
from fairlead.server.policy import Policy
from fairlead.server.protocol.pending_row import REQUESTS_LISTED, PendingRow
from fairlead.server.view.always_choices import Offer
from fairlead.server.view.first_rows import FirstRows
from fairlead.server.view.list_window import BoundedList
from fairlead.server.view.pending_offers import PendingOffers
from fairlead.server.view.previews import Previews
from fairlead.transcript.snapshot import SCHEMA
from fairlead.transcript.state.changes import Add, Append, Change, Replace
from fairlead.transcript.state.model import Pending
from fairlead.transcript.transcript import Transcript
from fairlead.wire.config_folder import config_folder
from fairlead.wire.input_hash import input_sha256

__all__ = ["SessionView", "input_sha256"]

ITEMS, PENDING = "items", "pending"


class SessionView:
    """A transcript as clients see it."""

    sections = (
        "schema", "session", "status", "turns", "pending", "settled", "tasks", "background",
        "files", "ledger",
    )  # fmt: skip

    def __init__(
        self,
        transcript: Transcript,
        policy: Policy,
        limits: Limits | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """`environment` is that of the session's CLI and determines where its settings are."""
        self._environment = environment or {}
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
            ITEMS: Previews(limits.preview_chars),
            "turns": Previews(limits.secondary_chars),
            "settled": Previews(limits.secondary_chars),
        }
        self._growth = limits.preview_chars // 2
        self._requests = FirstRows(PENDING, transcript, REQUESTS_LISTED)
        self.pending_offers = PendingOffers(transcript, policy, self._path_context, limits)

    def section(self, name: str) -> Any:
        """A section; pending rows with the values that an answer needs."""
        if name == "schema":
            return SCHEMA
        if name == PENDING:
            return [self._decorated(row) for row in self._requests.rows()]
        if name in self._bounded:
            rows = self._bounded[name].rows()
            previews = self._previews.get(name)
            return rows if previews is None else [previews.row(row) for row in rows]
        return getattr(self.transcript, name)

    def item(self, item_id: str) -> Any:
        """One item, or the beginning of a long one."""
        return self._previews[ITEMS].row(self.transcript.item(item_id))

    def turns_of(self, item_ids: Sequence[str]) -> tuple[Any, ...]:
        """The turns of some items, without those that are in the section already."""
        wanted = dict.fromkeys(item.turn for item in map(self.transcript.item, item_ids) if item)
        bounded, previews = self._bounded["turns"], self._previews["turns"]
        rows = (
            self.transcript.row("turns", turn) for turn in wanted if turn and bounded.hides(turn)
        )
        return tuple(previews.row(row) for row in rows if row is not None)

    def offers(self, row: Pending) -> tuple[Offer, ...]:
        """The choices that an answer to a request may name."""
        return self.pending_offers.of(row).offers

    def changes(self, changes: Sequence[Change]) -> Sequence[Change]:
        """Changes as clients see them."""
        if all(self._is_unchanged(change) for change in changes):
            return changes
        # Changes of different sections do not depend on each other.
        sections: dict[str, list[Change]] = {}
        for change in changes:
            sections.setdefault(change.to, []).append(change)
        return [
            shown
            for name, changes_there in sections.items()
            for shown in self._shown(name, changes_there)
        ]

    def _is_unchanged(self, change: Change) -> bool:
        if change.to == ITEMS:
            # The usual case: a short addition to a text that is not long.
            return isinstance(change, Append) and change.offset + len(change.text) < self._growth
        return change.to != PENDING and change.to not in self._bounded

    def _shown(self, name: str, changes: list[Change]) -> list[Change]:
        if name == PENDING:
            return [self._change(change) for change in self._requests.changes(changes)]
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
        prepared = self.pending_offers.of(row)
        return PendingRow(
            **structs.asdict(row),
            input_sha256=prepared.sha256,
            choices=tuple(offer.shown() for offer in prepared.offers),
            choices_note=prepared.note,
        )

    def _path_context(self) -> PathContext:
        session = self.transcript.session
        home = self._environment.get("HOME") or os.path.expanduser("~")
        return PathContext(
            cwd=session.cwd or "/",
            home=home,
            config=config_folder(self._environment, home),
            family=family_of(session.version) if session.version else CURRENT,
            # Each is asked for the same few paths hundreds of times in one analysis.
            resolve=cache(os.path.realpath),
            is_directory=cache(os.path.isdir),
        )
