"""What a node sends of its documents."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise

from fairlead.fleet.bus.bus import Message
from fairlead.fleet.bus.memory_bus import MemoryBroker
from fairlead.fleet.node.speaker import LOBBY_BURST_S, LOBBY_EVERY_S, Speaker
from fairlead.fleet.protocol import subjects
from fairlead.fleet.protocol.envelopes import Followed, Frame, decode
from fairlead.server.hub.hub import Hub
from fairlead.server.limits import Limits
from fairlead.server.view.lobby import Lobby
from fairlead.transcript.state.changes import Set
from tests.waiting import until


class Source:
    """A document with one object."""

    sections = ("status",)

    def section(self, name: str) -> dict[str, int]:
        return {"n": 1}


async def test_N12_a_number_without_changes_is_sent_although_nothing_follows() -> None:
    hub = Hub(Limits(status_every_s=0.05))
    Lobby(hub, "epoch")
    hub.attach("s", Source(), seq=0, epoch="e")  # type: ignore[arg-type]
    broker = MemoryBroker()
    frames: list[Frame] = []

    def take(message: Message) -> None:
        frames.append(decode(message.payload, Frame))

    await broker.connect().subscribe(subjects.live("node", "s"), take)
    speaker = Speaker(hub, broker.connect(), "node")
    speaker.interest("gate", [Followed("s")])
    running = asyncio.create_task(speaker.run())
    flushing = asyncio.create_task(_ask_often(hub))
    hub.publish("s", 1, [Set("status", None, {"n": 1})])
    await until(lambda: [each.seq for each in frames] == [1], 60)
    hub.publish("s", 2, [])
    await until(lambda: [each.seq for each in frames] == [1, 2], 60)
    running.cancel()
    flushing.cancel()


async def test_the_lobby_is_sent_soon_and_not_often_while_it_changes_all_the_time() -> None:
    hub = Hub()
    lobby = Lobby(hub, "epoch", every_s=0.25)
    broker = MemoryBroker()
    frames: list[tuple[float, Frame]] = []

    def take(message: Message) -> None:
        frames.append((time.monotonic(), decode(message.payload, Frame)))

    await broker.connect().subscribe(subjects.lobby("node"), take)
    speaker = Speaker(hub, broker.connect(), "node")
    running = asyncio.create_task(speaker.run())
    began, number = time.monotonic(), 0
    while (now := time.monotonic()) < began + 2.0:
        number += 1
        lobby.set_server(version=str(number))
        await asyncio.sleep(0.01)
    most = LOBBY_BURST_S / LOBBY_EVERY_S + (now - began) / LOBBY_EVERY_S + 1
    assert 2 <= len(frames) <= most
    await until(lambda: frames[-1][1].seq == number, 60)
    for (_, before), (_, after) in pairwise(frames):
        assert after.from_seq == before.seq
    running.cancel()


async def _ask_often(hub: Hub) -> None:
    """As the task does that serves the sockets of the node itself."""
    while True:
        hub.ready(time.monotonic())
        await asyncio.sleep(0)
