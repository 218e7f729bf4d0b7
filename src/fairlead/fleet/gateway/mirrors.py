"""Keeps the mirrors of a gateway equal to the documents of nodes.

A mirror is opened when a client follows its document, takes the frames of the node, and is opened
again at its own number when a frame does not fit or a beat shows that it is behind. It is dropped
some time after the last client has left.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from typing import Protocol

from fairlead.fleet.bus.bus import Bus, BusError, Message, Subscription
from fairlead.fleet.gateway.mirrored_document import MirroredDocument
from fairlead.fleet.gateway.node_client import NodeClient
from fairlead.fleet.protocol import subjects
from fairlead.fleet.protocol.envelopes import (
    Beat,
    DocumentBody,
    FollowAsk,
    Followed,
    Frame,
    OpenAsk,
    PageAsk,
    Position,
    UnreadableEnvelope,
    decode,
)
from fairlead.server.hub.hub import Hub
from fairlead.server.protocol.messages import LOBBY
from fairlead.server.refusal import Refusal

__all__ = ["Copy", "Mirrors"]

log = logging.getLogger("fairlead.fleet")

GRACE_S = 0.5
"""How long a mirror may be behind a beat before it is opened again: a frame may still arrive."""

RETRY_S = 0.5
"""The pause before a document is opened again after the node refused or did not answer."""

OPEN_TRIES = 5
"""How often a document is opened in a row; the next frame or beat that does not fit begins again."""

FOLLOW_EVERY_S = 10.0
"""How often a gateway repeats which documents it follows."""

KEPT_S = 30.0
"""How long a mirror is kept after its last client has left."""

PAGE_TRIES = 8
"""A page belongs to one number; in a document that changes quickly it is asked for again."""


class Copy(Protocol):
    """What follows a document of a node."""

    @property
    def position(self) -> tuple[int | None, str | None]:
        """The number and the epoch to open the document at."""

    def is_behind(self, epoch: str, seq: int) -> bool:
        """Whether the node's document is at a later number."""

    def take(self, frame: Frame) -> bool:
        """Apply a frame; False if something before it is missing."""

    def opened(self, body: DocumentBody) -> bool:
        """Apply the answer to `open`; False if it does not fit any more."""


class _Following:
    """One copy, and the task that opens it."""

    def __init__(self, node: str, document: str, copy: Copy) -> None:
        self.node = node
        self.document = document
        self.copy = copy
        self.subscription: Subscription | None = None
        self.healing: asyncio.Task[bool] | None = None
        self.checking = False
        """Whether a check is planned because a beat showed a later number."""
        self.unused_since: float | None = None
        self.again = False
        """Whether a client has seen more since the last question was sent (N50)."""


class Mirrors:
    """All mirrors of one gateway."""

    def __init__(self, hub: Hub, bus: Bus, client: NodeClient, gateway: str) -> None:
        self._hub = hub
        self._bus = bus
        self._client = client
        self._gateway = gateway
        self._followed: dict[tuple[str, str], _Following] = {}
        self._incarnations: dict[str, str] = {}
        self.snapshots = 0
        """How often a whole document had to be sent by its node."""
        self.gaps = 0
        """How often a frame did not fit, or a beat showed a later number."""
        self.dropped = 0
        """How many copies were given up since the start."""
        self.on_missing: Callable[[str, str], None] | None = None
        """Called with the node and the document if a document does not exist any more."""
        bus.on_connected(self._on_connected)
        hub.on_behind = self._on_behind

    # Opening

    async def follow(self, node: str, document: str, name: str) -> bool:
        """Offer a document of a node under a name; False if there is no such document."""
        following = self._followed.get((node, document))
        if following is None:
            following = _Following(node, document, MirroredDocument(self._hub, name))
            self._followed[node, document] = following
        following.unused_since = None
        if self._hub.has(name):
            return True
        if following.subscription is None:
            subject = subjects.live(node, document)
            with contextlib.suppress(BusError):
                following.subscription = await self._bus.subscribe(
                    subject, lambda message: self._on_frame(following, message)
                )
        await asyncio.shield(self._heal(following))
        return self._hub.has(name)

    def follow_lobby(self, node: str, copy: Copy) -> None:
        """Follow the lobby of a node, whose frames are handed to `lobby_frame`."""
        following = self._followed[node, LOBBY] = _Following(node, LOBBY, copy)
        self._heal(following)

    def lobby_frame(self, node: str, message: Message) -> None:
        """A frame of a node's lobby."""
        following = self._followed.get((node, LOBBY))
        if following is not None:
            self._on_frame(following, message)

    async def older(self, node: str, document: str, before: str, count: int) -> None:
        """Get older items than those that the mirror has, if it begins with this item."""
        following = self._followed.get((node, document))
        copy = following.copy if following is not None else None
        if not isinstance(copy, MirroredDocument):
            return
        for _ in range(PAGE_TRIES):
            mirror = copy.mirror
            if mirror is None or not mirror.begins_with(before):
                return
            ask = PageAsk(
                document=document,
                seq=mirror.seq,
                epoch=mirror.epoch,
                before=before,
                count=count,
            )
            if copy.paged(await self._client.page(node, ask), before):
                return

    # What nodes send

    def on_beat(self, node: str, beat: Beat) -> None:
        """Notice what is missing by the numbers of a beat."""
        restarted = self._incarnations.get(node) not in (None, beat.incarnation)
        self._incarnations[node] = beat.incarnation
        if restarted:
            self.heal_node(node)
            return
        for position in (beat.lobby, *beat.changed):
            self._check_position(node, position)

    def heal_node(self, node: str) -> None:
        """Open all documents of a node again: it was restarted, or has come back."""
        for following in list(self._followed.values()):
            if following.node == node:
                self._heal(following)

    async def hand_over(self, name: str, node: str, document: str) -> None:
        """Offer the document of another node under a name from now on: the session was moved."""
        for following in list(self._followed.values()):
            copy = following.copy
            if isinstance(copy, MirroredDocument) and copy.name == name and following.node != node:
                self._followed.pop((following.node, following.document), None)
                if following.subscription is not None:
                    with contextlib.suppress(BusError):
                        await following.subscription.close()
                copy.mirror = None
        if self._hub.has(name):
            followed = self._hub.followers(name) > 0
            self._hub.detach(name)
            if followed:
                await self.follow(node, document, name)

    def forget_node(self, node: str) -> None:
        """Follow no document of a node any more: it is gone for good."""
        self._incarnations.pop(node, None)
        for key, following in list(self._followed.items()):
            if following.node == node:
                del self._followed[key]
                self.dropped += 1
                if isinstance(following.copy, MirroredDocument):
                    following.copy.drop()

    def _check_position(self, node: str, position: Position) -> None:
        following = self._followed.get((node, position.document))
        if following is None or following.checking:
            return
        if following.copy.is_behind(position.epoch, position.seq):
            following.checking = True
            asyncio.get_running_loop().call_later(GRACE_S, self._check_again, following, position)

    def _check_again(self, following: _Following, position: Position) -> None:
        following.checking = False
        if following.copy.is_behind(position.epoch, position.seq):
            self.gaps += 1
            self._heal(following)

    def _on_frame(self, following: _Following, message: Message) -> None:
        try:
            frame = decode(message.payload, Frame)
        except UnreadableEnvelope as problem:
            log.warning("%s: %s", message.subject, problem)
            return
        if following.healing is None and not following.copy.take(frame):
            self.gaps += 1
            self._heal(following)
        elif following.healing is not None:
            following.copy.take(frame)  # What is missing is being asked for.

    def _on_connected(self, connected: bool) -> None:
        if connected:  # Any message may have been lost.
            for following in list(self._followed.values()):
                self._heal(following)

    def _on_behind(self, name: str) -> None:
        """A client has seen more of a document, at another gateway or before a frame was lost here.

        It waits until the node has answered a question that was asked after this.
        """
        for following in self._followed.values():
            if isinstance(following.copy, MirroredDocument) and following.copy.name == name:
                following.again = following.healing is not None
                self._heal(following)

    # Healing

    def _heal(self, following: _Following) -> asyncio.Task[bool]:
        """Open a document at the number of its copy; one task for each document."""
        if following.healing is None or following.healing.done():
            following.healing = asyncio.create_task(self._open(following))
        return following.healing

    async def _open(self, following: _Following) -> bool:
        """Whether the copy is at a number of the node's document now."""
        key = following.node, following.document
        try:
            for _ in range(OPEN_TRIES):
                if self._followed.get(key) is not following:
                    return False
                seq, epoch = following.copy.position
                following.again = False
                waiting = self._waiting(following)
                ask = OpenAsk(
                    document=following.document, seq=seq, epoch=epoch, gateway=self._gateway
                )
                try:
                    body = await self._client.open(following.node, ask)
                except Refusal as refusal:
                    if refusal.code == "not_found":
                        await self._drop(following)
                        return False
                    if refusal.code == "unavailable":
                        return False  # The next beat or the next connection tries again.
                    log.warning("document %s of %s: %s", *reversed(key), refusal.message)
                    await asyncio.sleep(RETRY_S)
                    continue
                except UnreadableEnvelope as problem:
                    log.warning("document %s of %s: %s", *reversed(key), problem)
                    return False
                self.snapshots += body.from_seq is None
                if following.copy.opened(body):
                    self._hub.current(_name(following), waiting)
                    if not following.again:
                        return True
            return False
        finally:
            following.healing = None

    def _waiting(self, following: _Following) -> list[str]:
        """The clients that wait for this document; those that a later question must answer come after."""
        return self._hub.waiting(_name(following))

    async def _drop(self, following: _Following) -> None:
        self._followed.pop((following.node, following.document), None)
        self.dropped += 1
        if following.subscription is not None:
            with contextlib.suppress(BusError):
                await following.subscription.close()
        if isinstance(following.copy, MirroredDocument):
            following.copy.drop()
            if self.on_missing is not None:
                self.on_missing(following.node, following.document)

    # Interest

    async def run(self) -> None:
        """Repeat which documents are followed, and drop those that no client follows."""
        while True:
            await asyncio.sleep(FOLLOW_EVERY_S)
            await self.repeat()

    async def repeat(self) -> None:
        """Tell each node which of its documents are followed."""
        await self._drop_unused()
        nodes: dict[str, list[Followed]] = {}
        for (node, document), following in self._followed.items():
            documents = nodes.setdefault(node, [])
            if isinstance(following.copy, MirroredDocument):
                if self._hub.waiting(following.copy.name):
                    self._heal(following)
                looking = self._hub.followers(following.copy.name, looking=True) > 0
                documents.append(Followed(document, looking))
        await asyncio.gather(*(self._tell(node, documents) for node, documents in nodes.items()))

    async def _tell(self, node: str, documents: list[Followed]) -> None:
        ask = FollowAsk(gateway=self._gateway, documents=tuple(documents))
        try:
            answer = await self._client.follow(node, ask)
        except Refusal:
            return
        for position in answer.positions:
            self._check_position(node, position)
        for document in answer.missing:
            following = self._followed.get((node, document))
            if following is not None:
                await self._drop(following)

    async def _drop_unused(self) -> None:
        now = time.monotonic()
        for following in list(self._followed.values()):
            copy = following.copy
            if not isinstance(copy, MirroredDocument):
                continue
            if self._hub.followers(copy.name):
                following.unused_since = None
            elif following.unused_since is None:
                following.unused_since = now
            elif now - following.unused_since >= KEPT_S:
                await self._drop(following)

    async def close(self) -> None:
        """Stop opening documents."""
        for following in list(self._followed.values()):
            if following.healing is not None:
                following.healing.cancel()
        self._followed.clear()


def _name(following: _Following) -> str:
    """What clients call a document."""
    copy = following.copy
    return copy.name if isinstance(copy, MirroredDocument) else ""
