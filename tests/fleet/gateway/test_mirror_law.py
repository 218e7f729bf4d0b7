"""The law of mirrors: whatever the bus loses, repeats or reorders, one beat makes every mirror equal.

A node has a document that changes at random. Its frames pass through a bus that loses, repeats and
reorders them. Mirrors at two gateways take what arrives and open the document when the numbers do
not fit; clients of the gateways drop, lie, fetch older pages and look away.
"""

from __future__ import annotations

import random

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from fairlead.fleet.gateway.mirrored_document import MirroredDocument
from fairlead.fleet.node.document_answers import document_body, frames_of, page_body
from fairlead.fleet.protocol.envelopes import (
    DocumentBody,
    Frame,
    OpenAsk,
    PageAsk,
    PageBody,
    decode,
    encode,
)
from fairlead.server.hub.hub import Hub
from fairlead.server.limits import Limits
from tests.matrix import examples
from tests.server.hub.hub_clients import HubClient
from tests.server.hub.plain_document import PlainDocument

DOCUMENT, CLIENT = "paper", "bus:paper"
SMALL = Limits(
    ring_bytes=3_000, backlog_bytes=1_500, frame_bytes=400, window_bytes=2_000, window_items=40
)


class Gateway:
    """A gateway with one mirror and clients of it."""

    def __init__(self, world: World, name: str) -> None:
        self.world = world
        self.hub = Hub(SMALL)
        self.copy = MirroredDocument(self.hub, DOCUMENT)
        self.arriving: list[bytes] = []
        self.late: list[bytes] = []
        """Answers of the node that have not arrived yet."""
        self.open()
        self.hub_clients = [
            HubClient(self.hub, f"{name}{n}", DOCUMENT, 5 * (n + 1)) for n in range(2)
        ]

    def open(self, *, late: bool = False) -> None:
        seq, epoch = self.copy.position
        ask = OpenAsk(document=DOCUMENT, seq=seq, epoch=epoch, window=7)
        self.world.speak()
        body = document_body(self.world.hub, ask, self.world.now)
        assert body is not None
        answer = msgspec.json.encode(body)
        if late:
            self.late.append(answer)
        else:
            self.opened(answer)

    def opened(self, answer: bytes) -> None:
        if not self.copy.opened(msgspec.json.decode(answer, type=DocumentBody)):
            self.open()

    def page(self, count: int) -> None:
        """Fetch older items for the client that has the oldest ones."""
        mirror = self.copy.mirror
        ids = mirror.item_ids if mirror is not None and not mirror.broken else None
        if mirror is None or not ids:
            return
        ask = PageAsk(
            document=DOCUMENT, seq=mirror.seq, epoch=mirror.epoch, before=ids[0], count=count
        )
        self.world.speak()
        body = page_body(self.world.hub, ask, self.world.now)
        self.copy.paged(msgspec.json.decode(msgspec.json.encode(body), type=PageBody), ids[0])

    def arrive(self) -> None:
        payload = self.arriving.pop(0)
        if not self.copy.take(decode(payload, Frame)):
            self.open(late=self.world.rng.random() < 0.3)

    def beat(self) -> None:
        """What the beat of the node causes after its period of grace."""
        position = self.world.hub.position(DOCUMENT)
        assert position is not None
        if self.copy.is_behind(*position):
            self.open()

    def check(self) -> None:
        mirror, plain = self.copy.mirror, self.world.plain
        assert mirror is not None
        assert (mirror.seq, mirror.epoch) == (plain.seq, str(self.world.epoch))
        for name in plain.sections:
            assert mirror.section(name) == plain.section(name)
        ids = mirror.item_ids or []
        assert mirror.offset + len(ids) == len(plain.ids)
        assert ids == plain.ids[mirror.offset :]
        assert [mirror.item(each) for each in ids] == plain.state["items"][mirror.offset :]
        for hub_client in self.hub_clients:
            self.check_hub_client(hub_client)

    def check_hub_client(self, hub_client: HubClient) -> None:
        world = self.world
        world.now += 10.0
        if not hub_client.connected:
            hub_client.open(world.now)
        hub_client.look(True, world.now)
        for _ in range(1_000):
            hub_client.ack()
            if hub_client.seq == world.plain.seq:
                break
            hub_client.drain(world.now)
            world.now += 1.0
        assert hub_client.seq == world.plain.seq
        assert hub_client.state is not None
        server = world.plain.state
        have = len(hub_client.state["items"])
        assert hub_client.state["items"] == server["items"][len(server["items"]) - have :]
        assert {**hub_client.state, "items": []} == {**server, "items": []}


class World:
    """A node, a bus that can do anything, and two gateways."""

    def __init__(self, seed: int, items: int) -> None:
        self.rng = random.Random(seed)
        self.plain = PlainDocument(items)
        self.hub = Hub(SMALL)
        self.epoch = 1
        self.now = 0.0
        self.gateways: list[Gateway] = []
        self.attach()
        assert self.hub.copy(CLIENT, DOCUMENT)
        self.gateways = [Gateway(self, name) for name in "ab"]

    def attach(self) -> None:
        self.hub.attach(
            DOCUMENT, self.plain, seq=self.plain.seq, epoch=str(self.epoch), item_ids=self.plain.ids
        )

    def publish(self) -> None:
        self.hub.publish(DOCUMENT, self.plain.seq + 1, self.plain.change(self.rng))

    def speak(self) -> None:
        """Send what the copies need; the bus loses some, repeats some and reorders some."""
        for _ in range(1_000):
            frames = frames_of(self.hub, CLIENT, DOCUMENT, self.now)
            if not frames:
                return
            for gateway in self.gateways:
                for frame in frames:
                    fate = self.rng.random()
                    copies = 0 if fate < 0.2 else 2 if fate < 0.4 else 1
                    gateway.arriving += [encode(frame)] * copies
                    if fate > 0.8:
                        self.rng.shuffle(gateway.arriving)

    def restart(self) -> None:
        """The node starts again, or unloads the session; sometimes its changes are gone."""
        what = self.rng.randrange(3)
        if what == 0:
            self.hub.forget(DOCUMENT)
            return
        self.hub.detach(DOCUMENT)
        if what == 1:
            self.epoch += 1
        self.attach()

    def act(self, gateway: Gateway, hub_client: HubClient) -> None:
        """One thing that a client of a gateway might do."""
        rng, now = self.rng, self.now
        what = rng.randrange(9)
        if not hub_client.connected:
            hub_client.open(now, lie=rng.choice((None, None, 0, self.plain.seq)))
        elif what == 0:
            hub_client.drop()
        elif what == 1:
            hub_client.look(rng.random() < 0.5, now)
        elif what < 4:
            if hub_client.state and hub_client.state["items"] and hub_client.before:
                gateway.page(rng.randrange(1, 9))
            hub_client.fetch(rng.randrange(1, 9), now)
        elif what == 4:
            hub_client.release(rng.randrange(9), now)
        else:
            hub_client.drain(now)

    def check(self) -> None:
        """Everything that is still sent is lost; one beat arrives."""
        self.speak()
        for gateway in self.gateways:
            gateway.arriving.clear()
            gateway.late.clear()
            gateway.beat()
            gateway.check()


class MirrorMachine(RuleBasedStateMachine):
    """Random lives of a node, a bus, gateways and their clients."""

    world: World

    @initialize(seed=st.integers(0, 2**32), items=st.sampled_from((0, 1, 3, 60)))
    def begin(self, seed: int, items: int) -> None:
        self.world = World(seed, items)

    @rule(count=st.integers(1, 30))
    def publish(self, count: int) -> None:
        for _ in range(count):
            self.world.publish()
            if self.world.rng.random() < 0.5:
                self.world.speak()

    @rule(gateway=st.integers(0, 1), count=st.integers(1, 10))
    def deliver(self, gateway: int, count: int) -> None:
        one = self.world.gateways[gateway]
        for _ in range(min(count, len(one.arriving))):
            one.arrive()
        if one.late:
            one.opened(one.late.pop())

    @rule(gateway=st.integers(0, 1), hub_client=st.integers(0, 1), times=st.integers(1, 4))
    def act(self, gateway: int, hub_client: int, times: int) -> None:
        one = self.world.gateways[gateway]
        for _ in range(times):
            self.world.act(one, one.hub_clients[hub_client])

    @rule(seconds=st.sampled_from((0.016, 0.5, 2.0)))
    def wait(self, seconds: float) -> None:
        self.world.now += seconds

    @rule()
    def restart(self) -> None:
        self.world.restart()

    @rule()
    def one_beat_makes_all_mirrors_equal(self) -> None:
        self.world.check()

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.world.check()


TestMirrorLaw = MirrorMachine.TestCase
TestMirrorLaw.settings = settings(max_examples=examples(80), stateful_step_count=40, deadline=None)


def test_N12_after_one_beat_every_mirror_equals_its_document() -> None:
    world = World(seed=20261117, items=80)
    for step in range(4_000):
        world.publish()
        world.speak()
        world.now += 0.01
        for gateway in world.gateways:
            while gateway.arriving and world.rng.random() < 0.7:
                gateway.arrive()
            world.act(gateway, world.rng.choice(gateway.hub_clients))
        if step % 500 == 499:
            world.check()
        if step % 1_500 == 1_499:
            world.restart()
            del world.plain.state["items"][:-120]
            world.epoch += 1
            world.attach()
    world.check()
