"""A mirror and the document of the gateway's hub that it is the source of. Pure.

The document has the numbers and the epoch of the node's document, so a browser can continue at another
gateway. `mirrors` sends the questions to the node and hands the answers to this.
"""

from __future__ import annotations

from fairlead.fleet.gateway.mirror import Gap, Mirror
from fairlead.fleet.protocol.envelopes import DocumentBody, Frame, PageBody
from fairlead.server.hub.hub import Hub
from fairlead.transcript.state.changes import Change

__all__ = ["MirroredDocument"]


class MirroredDocument:
    """One document of a node, offered by the gateway's hub."""

    def __init__(self, hub: Hub, name: str) -> None:
        """`name` is what the gateway's clients call the document."""
        self.name = name
        self.mirror: Mirror | None = None
        self._hub = hub

    @property
    def position(self) -> tuple[int | None, str | None]:
        """The number and the epoch to open the document at; None for a snapshot."""
        mirror = self.mirror
        if mirror is None or mirror.broken:
            return None, None
        return mirror.seq, mirror.epoch

    def is_behind(self, epoch: str, seq: int) -> bool:
        """Whether the node's document is at a later number."""
        return self.mirror is None or self.mirror.broken or self.mirror.is_behind(epoch, seq)

    def take(self, frame: Frame) -> bool:
        """Apply a frame; False if something before it is missing."""
        if self.mirror is None:
            return False
        try:
            self._publish(self.mirror, self.mirror.take(frame))
        except Gap:
            return False
        return True

    def opened(self, body: DocumentBody) -> bool:
        """Apply the answer to `open`; False if it does not fit any more."""
        if body.from_seq is None:
            current = self.mirror
            if current is not None and not current.broken and _is_older(body, current):
                return True  # A late answer: frames have led further since.
            self.mirror = mirror = Mirror(body)
            self._hub.attach(
                self.name,
                mirror,
                seq=mirror.seq,
                epoch=mirror.epoch,
                item_ids=mirror.item_ids,
                beside=mirror.turns_of if mirror.windowed else None,
                offset=mirror.offset,
                copied=True,
            )
            return True
        if self.mirror is None:
            return False
        try:
            self._publish(self.mirror, self.mirror.catch_up(body))
        except Gap:
            return False
        return True

    def paged(self, body: PageBody, before: str) -> bool:
        """Add older items; False if the document has changed since, so that they must be asked for again."""
        if not self.opened(body.document):
            return False
        mirror = self.mirror
        if mirror is None or (mirror.seq, mirror.epoch) != (body.document.seq, body.document.epoch):
            return False
        if body.found and mirror.begins_with(before):
            self._hub.prepend(self.name, mirror.prepend(body))
            self._hub.set_offset(self.name, mirror.offset)
        return True

    def drop(self) -> None:
        """Offer the document no longer."""
        self.mirror = None
        self._hub.detach(self.name)

    def _publish(self, mirror: Mirror, changes: list[Change] | None) -> None:
        if changes is not None:
            self._hub.set_offset(self.name, mirror.offset)
            self._hub.publish(self.name, mirror.seq, changes)


def _is_older(body: DocumentBody, mirror: Mirror) -> bool:
    same = body.epoch == mirror.epoch and body.generation == mirror.generation
    return same and body.seq <= mirror.seq
