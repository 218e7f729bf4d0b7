"""What a node answers about its documents, derived from its hub. Pure."""

from __future__ import annotations

from fairlead.fleet.protocol.envelopes import (
    DocumentBody,
    Frame,
    OpenAsk,
    PageAsk,
    PageBody,
)
from fairlead.server.hub.hub import Hub
from fairlead.server.protocol.messages import Changes, Snapshot
from fairlead.transcript.state.changes import Change
from fairlead.transcript.state.coalesce import coalesce

__all__ = ["document_body", "frames_of", "page_body"]


def document_body(hub: Hub, ask: OpenAsk, now: float) -> DocumentBody | None:
    """What leads from a number to the present of a document; None if there is no such document."""
    position = hub.position(ask.document)
    if position is None:
        return None
    epoch, seq = position
    messages = hub.read(ask.document, ask.seq, ask.epoch, ask.window, now)
    if messages and isinstance(messages[0], Snapshot):
        snapshot = messages[0]
        return DocumentBody(
            epoch=epoch, seq=snapshot.seq, state=snapshot.state, window=snapshot.window
        )
    changes = [change for message in messages for change in _changes(message)]
    return DocumentBody(epoch=epoch, seq=seq, from_seq=ask.seq, changes=coalesce(changes))


def page_body(hub: Hub, ask: PageAsk, now: float) -> PageBody | None:
    """Older items, and what leads from a number to the present; None if there is no such document."""
    opened = OpenAsk(document=ask.document, seq=ask.seq, epoch=ask.epoch, window=ask.count)
    document = document_body(hub, opened, now)
    if document is None:
        return None
    page = hub.page(ask.document, ask.before, ask.count)
    if page is None:
        return PageBody(document=document, found=False)
    return PageBody(document=document, items=page.items, turns=page.turns, window=page.window)


def frames_of(hub: Hub, client: str, document: str, now: float) -> list[Frame]:
    """The frames that the copies of a document need next; `client` is the node's client of it."""
    frames = []
    for message in hub.drain(client, now):
        position = hub.position(document)
        if position is None:
            break
        epoch, seq = position
        if isinstance(message, Changes):
            frames.append(
                Frame(
                    epoch=epoch,
                    from_seq=message.from_seq,
                    seq=message.seq,
                    changes=message.changes,
                )
            )
        else:
            # The changes are no longer there: the copies must open the document.
            hub.copy(client, document)
            frames.append(Frame(epoch=epoch, from_seq=seq, seq=seq))
    return frames


def _changes(message: Changes | Snapshot) -> tuple[Change, ...]:
    return message.changes if isinstance(message, Changes) else ()
