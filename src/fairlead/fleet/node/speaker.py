"""Sends the changes of a node's documents to the gateways that follow them.

For the hub the bus is one more client of each followed document, which has all items. So a slow
bus costs no memory: everything between two frames is merged, and nothing is queued. A session is
sent only while a gateway follows it; the lobby always. Frames with open requests go first.

The numbers of what was sent (`positions`) are in every beat, so that a gateway notices a lost frame.
"""

from __future__ import annotations

import asyncio
import time

from fairlead.fleet.bus.bus import Bus, BusError
from fairlead.fleet.node.document_answers import frames_of
from fairlead.fleet.protocol import subjects
from fairlead.fleet.protocol.envelopes import PIECE_BYTES, Followed, Frame, Position, encode
from fairlead.server.hub.hub import Hub
from fairlead.server.protocol.messages import LOBBY

__all__ = ["LOBBY_BURST_S", "LOBBY_EVERY_S", "Speaker"]

INTEREST_S = 30.0
"""How long a gateway's interest lasts; it repeats it every 10 seconds."""

PAUSE_S = 0.002
"""Shortest time between two rounds, so that changes of one moment are merged."""

LOBBY_EVERY_S = 0.25
"""Time between two frames of the lobby, which every session changes: clients of a gateway do not get
it more often."""

LOBBY_SOON_S = 0.05
LOBBY_BURST_S = 1.0
"""After a quieter moment, frames come this soon after each other, as many as this time is worth."""

LOBBY_JOIN_S = 0.05
"""How much earlier it is sent with another frame: the bus costs as much for both as for one."""

BUSY_S = 0.05
"""The pause after the bus refused a frame."""

PENDING = "pending"


class Speaker:
    """The task that sends frames."""

    def __init__(self, hub: Hub, bus: Bus, node: str) -> None:
        self._hub = hub
        self._bus = bus
        self._node = node
        self._waiting: asyncio.Future[None] | None = None
        """What `run` waits for."""
        self._changed = self._lobby_changed = True
        """Whether a session has changed since the last round, and the lobby since its last frame."""
        self._round_at = 0.0
        self._sending = asyncio.Lock()
        self._clients: dict[str, str] = {}
        """Client of the hub -> the document that it follows."""
        self._interest: dict[str, dict[str, tuple[bool, float]]] = {}
        """Document -> gateway -> whether it is looked at, and until when it is followed."""
        self._positions: dict[str, tuple[Position, float]] = {}
        """What was sent of each document, and when."""
        self._lobby_due = self._lobby_until = 0.0
        """When the next frame of the lobby may be sent, and the time that those so far are worth."""
        self.frames = 0
        """Frames that were sent since the start."""
        self._follow(LOBBY)
        hub.on_changed = self._note_change
        bus.on_connected(self._on_connected)

    # Interest

    def interest(self, gateway: str, documents: list[Followed]) -> None:
        """A gateway follows these documents for a while; they are offered by the hub."""
        until = time.monotonic() + INTEREST_S
        for each in documents:
            gateways = self._interest.setdefault(each.document, {})
            gateways[gateway] = (each.looking, until)
            self._follow(each.document)
            if _client(each.document) in self._clients:
                looking = any(looking for looking, _ in gateways.values())
                self._hub.set_looking(_client(each.document), each.document, looking)

    def only(self, gateway: str, documents: set[str]) -> None:
        """A gateway follows no other documents than these."""
        for document, gateways in self._interest.items():
            if document not in documents:
                gateways.pop(gateway, None)

    def cull(self) -> None:
        """Stop sending what no gateway follows."""
        now = time.monotonic()
        for document, gateways in list(self._interest.items()):
            for gateway in [name for name, (_, until) in gateways.items() if until <= now]:
                del gateways[gateway]
            if not gateways:
                del self._interest[document]
                self._clients.pop(_client(document), None)
                self._positions.pop(document, None)
                self._hub.drop(_client(document))

    @property
    def followed(self) -> list[str]:
        """The sessions that are sent."""
        return list(self._interest)

    # Numbers

    def position(self, document: str) -> Position | None:
        """Where a followed document is, as far as it was sent."""
        known = self._positions.get(document)
        return None if known is None else known[0]

    def positions(self, seconds: float) -> tuple[Position, ...]:
        """Where the sessions are that were sent in the last seconds."""
        since = time.monotonic() - seconds
        return tuple(
            position
            for name, (position, at) in self._positions.items()
            if at >= since and name != LOBBY
        )

    # Sending

    async def flush(self, document: str) -> None:
        """Send what there is of a document, so that the next frame begins at its present number."""
        async with self._sending:
            await self._send(self._drain([_client(document)]))

    async def run(self) -> None:
        """Send frames until the task is cancelled."""
        while True:
            await self._wait()
            self._changed = False
            self._round_at = time.monotonic()
            async with self._sending:
                sent = await self._send(self._drain(self._ready(self._round_at)))
            if not sent:
                await asyncio.sleep(BUSY_S)

    def _note_change(self, document: str | None) -> None:
        """The hub has changes for the gateways; changes of the lobby alone can wait."""
        if document == LOBBY:
            news, self._lobby_changed = not self._lobby_changed, True
        else:
            news, self._changed = not self._changed, True
        if news:
            self._wake()

    def _wake(self) -> None:
        if self._waiting is not None:
            _end_wait(self._waiting)

    async def _wait(self) -> None:
        """Return when there is something to send. Nobody wakes up for nothing: on a machine with many
        processes, that costs more than a small round."""
        while (due := self._due()) is None or (left := due - time.monotonic()) > 0:
            loop = asyncio.get_running_loop()
            waiting = self._waiting = loop.create_future()
            # Not `asyncio.timeout`, whose exception costs more than the rest of this.
            timer = None if due is None else loop.call_later(left, _end_wait, waiting)
            try:
                await waiting
            finally:
                self._waiting = None
                if timer is not None:
                    timer.cancel()

    def _due(self) -> float | None:
        """When the next round may begin; None while nothing can be sent."""
        if not self._bus.connected:
            return None
        if self._changed:
            return self._round_at + PAUSE_S
        due = self._hub.next_due()  # A number without changes may be due.
        if not self._lobby_changed:
            return due
        return self._lobby_due if due is None else min(due, self._lobby_due)

    def _ready(self, now: float) -> list[str]:
        lobby = _client(LOBBY)
        names = [name for name in self._hub.ready(now) if name in self._clients and name != lobby]
        if self._lobby_changed and now >= self._lobby_due - (LOBBY_JOIN_S if names else 0.0):
            self._lobby_changed = False
            self._lobby_until = max(self._lobby_until, now) + LOBBY_EVERY_S
            self._lobby_due = max(now + LOBBY_SOON_S, self._lobby_until - LOBBY_BURST_S)
            names.append(lobby)
        return names

    def _drain(self, clients: list[str]) -> list[tuple[str, Frame]]:
        """The next frames of some documents, those with open requests first."""
        now = time.monotonic()
        frames: list[tuple[str, Frame]] = []
        for client in clients:
            document = self._clients.get(client)
            if document is None:
                continue
            for frame in frames_of(self._hub, client, document, now):
                frames.append((document, frame))
                self._positions[document] = Position(document, frame.epoch, frame.seq), now
        frames.sort(key=lambda each: not any(c.to == PENDING for c in each[1].changes))
        return frames

    async def _send(self, frames: list[tuple[str, Frame]]) -> bool:
        """Send frames; False if the bus refused one. Gateways find what is missing by its numbers."""
        sent = True
        for document, frame in frames:
            try:
                await self._bus.publish(self._subject(document), _payload(frame))
                self.frames += 1
            except BusError:
                sent = False
        return sent

    def _subject(self, document: str) -> str:
        if document == LOBBY:
            return subjects.lobby(self._node)
        return subjects.live(self._node, document)

    def _follow(self, document: str) -> None:
        client = _client(document)
        position = self._hub.position(document)
        if position is None or (client in self._clients and document in self._positions):
            return
        self._hub.copy(client, document)
        self._clients[client] = document
        self._positions[document] = Position(document, *position), time.monotonic()

    def _on_connected(self, connected: bool) -> None:
        if connected:
            self._changed = True
            self._wake()


def _end_wait(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)


def _client(document: str) -> str:
    """The name of the bus as a client of a document."""
    return f"bus:{document}"


def _payload(frame: Frame) -> bytes:
    """A frame as bytes; one that is too large only tells the number that it leads to."""
    payload = encode(frame)
    if len(payload) <= 2 * PIECE_BYTES:
        return payload
    return encode(
        Frame(epoch=frame.epoch, generation=frame.generation, from_seq=frame.seq, seq=frame.seq)
    )
