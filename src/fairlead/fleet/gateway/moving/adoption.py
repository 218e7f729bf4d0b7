"""The package of a session whose machine is gone, made from a copy of its log.

The copy is in the stream on the bus, or in an archive, which has it for longer. Neither has files:
work that was not pushed to another machine is lost. The machine that adopts the session rebuilds the
CLI's own file from the log.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec

from fairlead.fleet.gateway.replica_log import CopyReader, best_copy
from fairlead.fleet.protocol.log_batch import LogBatch, encode_batch
from fairlead.fleet.protocol.move_package import END, EVENTS, MANIFEST, Manifest, encode_part
from fairlead.server.protocol.lobby_rows import ListedSession
from fairlead.server.refusal import Refusal
from fairlead.store.log import Event
from fairlead.store.tables.sessions import SessionRow

__all__ = ["AdoptedPackage", "Adoption"]

BATCH = 1_000


class AdoptedPackage:
    """A package in memory."""

    def __init__(self, parts: list[bytes], generation: int, incomplete: bool) -> None:
        self._parts = parts
        self.generation = generation
        self.incomplete = incomplete
        """Whether the beginning of the conversation is lost."""
        self.size = sum(map(len, parts))

    async def body(self) -> AsyncIterator[bytes]:
        """The bytes of the package."""
        for part in self._parts:
            yield part


class Adoption:
    """Makes packages from copies."""

    def __init__(
        self, readers: tuple[CopyReader, ...], row: Callable[[str, str], ListedSession | None]
    ) -> None:
        """`row` is the last known row of a session."""
        self._readers = readers
        self._row = row

    async def preview(self, node: str, session: str) -> dict[str, Any]:
        """What can be adopted of a session."""
        copied = await best_copy(self._readers, node, session)
        if copied is None:
            return {"events": 0, "problem": _no_copy()}
        return {"events": len(copied.events), "lost": copied.first, "problem": None}

    async def package(
        self, move: str, node: str, session: str, known_generation: int
    ) -> AdoptedPackage:
        """The package of a session of a machine that is gone."""
        copied, listed = await best_copy(self._readers, node, session), self._row(node, session)
        if copied is None or listed is None:
            raise Refusal("conflict", _no_copy())
        generation = max(known_generation, copied.generation, listed.generation) + 1
        manifest = Manifest(
            move=move,
            row=_stored_row(listed, session),
            generation=generation,
            node=node,
            name="",
            last=len(copied.events),
        )
        parts = [encode_part(MANIFEST, msgspec.json.encode(manifest))]
        # A log that lost its beginning is numbered from 1 again: another machine has no gaps.
        events = [
            Event(place, each.direction, each.line, each.at)
            for place, each in enumerate(copied.events, 1)
        ]
        for start in range(0, len(events), BATCH):
            batch = LogBatch(
                session=session,
                epoch="copy",
                generation=copied.generation,
                after=start,
                events=tuple(events[start : start + BATCH]),
            )
            parts.append(encode_part(EVENTS, encode_batch(batch)))
        parts.append(encode_part(END))
        return AdoptedPackage(parts, generation, copied.first > 0)


def _no_copy() -> str:
    return (
        "There is no copy of this session: its machine does not copy the logs of this folder. "
        "The session can continue when the machine is back."
    )


def _stored_row(listed: ListedSession, session: str) -> SessionRow:
    """What a stored row had, as far as the lobby showed it."""
    return SessionRow(
        id=session,
        cwd=listed.cwd,
        title=listed.title or None,
        cli_session_id=listed.cli_session_id,
        model=listed.model,
        mode=listed.mode,
        effort=listed.effort,
        cost_usd=listed.cost_usd,
        created=listed.created,
        last_activity=listed.last_activity,
        pinned=listed.pinned,
        archived=listed.archived,
        parent=listed.parent,
        items=listed.items,
        turns=max(1, listed.items),
        finished=listed.finished,
        outcome=listed.outcome,
        last_sentence=listed.last_sentence,
        tags=listed.tags,
        generation=listed.generation,
    )
