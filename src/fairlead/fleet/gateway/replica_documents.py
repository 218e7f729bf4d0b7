"""Sessions of machines that are away, read from the copies of their logs.

A copy is folded by the same reducer as the log itself, so clients see what they would see on the
machine, as of the last batch. Open requests are shown without choices: only the machine can act on
an answer. When the machine is back, its own document takes the place of the copy, and clients that
follow it get a snapshot.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from msgspec import structs

from fairlead.fleet.gateway.replica_log import CopyReader, best_copy
from fairlead.server.hub.hub import Hub
from fairlead.server.limits import Limits
from fairlead.server.policy import Policy
from fairlead.server.protocol.pending_row import PendingRow
from fairlead.server.session.loading import Loaded
from fairlead.server.view.session_view import SessionView
from fairlead.transcript.state.model import Pending
from fairlead.transcript.transcript import Transcript

__all__ = ["ReplicaDocuments", "ReplicaView"]

CHECK_S = 1.0
"""How often it looks whether a machine is back, and whether a copy is still followed."""

AWAY = "The machine of this session is away. You can answer when it is back."


class ReplicaView(SessionView):
    """A copy of a session as clients see it."""

    def __init__(self, transcript: Transcript, limits: Limits) -> None:
        super().__init__(transcript, Policy(), limits)

    def _decorated(self, row: Pending) -> PendingRow:
        return PendingRow(**structs.asdict(row), input_sha256="", choices=(), choices_note=AWAY)


class ReplicaDocuments:
    """The copies that clients of a gateway follow."""

    def __init__(
        self,
        hub: Hub,
        readers: Sequence[CopyReader],
        limits: Limits,
        *,
        is_here: Callable[[str], bool],
        follow: Callable[[str, str, str], Awaitable[bool]],
    ) -> None:
        """`readers` have the copies; `follow` offers the document of a node itself, under a name."""
        self._hub = hub
        self._readers = readers
        self._limits = limits
        self._is_here = is_here
        self._follow = follow
        self._offered: dict[str, tuple[str, str]] = {}
        """Name of the document -> node and session."""

    async def offer(self, node: str, session: str, document: str) -> bool:
        """Offer the copy of a session under a name; False if there is none."""
        replica = await best_copy(self._readers, node, session)
        if replica is None:
            return False
        loaded = Loaded(seq=replica.first)
        for start in range(0, len(replica.events), FOLD):
            await asyncio.to_thread(loaded.fold, replica.events[start : start + FOLD])
        if self._is_here(node):  # It came back meanwhile.
            return await self._follow(node, session, document)
        view = ReplicaView(loaded.transcript, self._limits)
        self._hub.attach(
            document,
            view,
            seq=loaded.seq,
            epoch=f"copy.{replica.epoch}",
            item_ids=loaded.transcript.item_ids,
            beside=view.turns_of,
        )
        self._offered[document] = node, session
        return True

    def forget(self, document: str) -> None:
        """A machine that is here has the session now, and offers it itself."""
        self._offered.pop(document, None)

    async def run(self) -> None:
        """Replace copies by the documents of machines that are back, and drop unused ones."""
        while True:
            await asyncio.sleep(CHECK_S)
            for document, (node, session) in list(self._offered.items()):
                followed = self._hub.followers(document) > 0
                if followed and not self._is_here(node):
                    continue
                del self._offered[document]
                self._hub.detach(document)
                if followed:
                    await self._follow(node, session, document)


FOLD = 2_000
"""Events folded in one call in the thread: about 100 ms."""
