"""The law of the hub: whatever a client does, applying what it receives makes it equal to the
server.

Clients connect, drop, report wrong positions, pause, fetch, release, reload, ack or not, and the
server evicts and reloads the document at random moments, on a clock that is a number.
"""

from __future__ import annotations

import os
import random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from fairlead.server.hub.hub import Hub
from fairlead.server.limits import Limits
from tests.matrix import examples
from tests.server.hub.hub_clients import HubClient
from tests.server.hub.plain_document import PlainDocument

DOCUMENT = "paper"
SMALL = Limits(
    ring_bytes=3_000,
    backlog_bytes=1_500,
    frame_bytes=400,
    unacked_bytes=1_000,
    window_bytes=2_000,
    window_items=40,
)
MIDDLING = Limits(
    ring_bytes=60_000,
    backlog_bytes=30_000,
    frame_bytes=5_000,
    unacked_bytes=20_000,
    window_bytes=20_000,
    window_items=100,
)


class World:
    """One document, one hub, some clients and a clock."""

    def __init__(
        self,
        seed: int,
        items: int,
        hub_clients: int = 3,
        limits: Limits | None = None,
        every_s: float = 0.0,
    ) -> None:
        self.every_s = every_s
        self.rng = random.Random(seed)
        self.plain = PlainDocument(items)
        self.hub = Hub(limits or SMALL)
        self.epoch = 1
        self.now = 0.0
        self.attach()
        self.hub_clients = [
            HubClient(self.hub, f"r{n}", DOCUMENT, self.rng.choice((1, 5, 40, 500)))
            for n in range(hub_clients)
        ]

    def attach(self) -> None:
        self.hub.attach(
            DOCUMENT,
            self.plain,
            seq=self.plain.seq,
            epoch=str(self.epoch),
            item_ids=self.plain.ids,
            every_s=self.every_s,
        )

    def publish(self) -> None:
        changes = self.plain.change(self.rng)
        self.hub.publish(DOCUMENT, self.plain.seq, changes)

    def act(self, hub_client: HubClient) -> None:
        """One thing that a client might do."""
        rng, now = self.rng, self.now
        if not hub_client.connected:
            hub_client.open(
                now, lie=rng.choice((None, None, 0, self.plain.seq, rng.randrange(-5, 10**6)))
            )
            return
        what = rng.randrange(13)
        if what == 0:
            hub_client.drop()
        elif what == 1:
            hub_client.forget()
        elif what == 2:
            hub_client.look(rng.random() < 0.7, now)
        elif what == 3:
            hub_client.fetch(rng.randrange(1, 50), now)
        elif what == 12:
            hub_client.release(rng.randrange(30), now)
        elif what < 6:
            hub_client.ack()
        else:
            hub_client.drain(now)

    def evict(self) -> None:
        """The server lets the document go and loads it again; or only its changes."""
        what = self.rng.randrange(3)
        if what == 0:
            self.hub.forget(DOCUMENT)
        else:
            self.hub.detach(DOCUMENT)
            if what == 1:
                self.epoch += 1
            self.attach()

    def check(self) -> None:
        """Bring every client up to date: each has the end of the server's items, without a gap."""
        for hub_client in self.hub_clients:
            self.now += 10.0
            if not hub_client.connected:
                hub_client.open(self.now)
            hub_client.look(True, self.now)
            for _ in range(10_000):
                hub_client.ack()
                if hub_client.seq == self.plain.seq:
                    break
                self.hub.ready(self.now)
                hub_client.drain(self.now)
                self.now += 1.0
            self._equal(hub_client)

    def _equal(self, hub_client: HubClient) -> None:
        assert hub_client.seq == self.plain.seq
        assert hub_client.state is not None
        server = self.plain.state
        have = len(hub_client.state["items"])
        assert hub_client.state["items"] == server["items"][len(server["items"]) - have :]
        assert {**hub_client.state, "items": []} == {**server, "items": []}


class HubMachine(RuleBasedStateMachine):
    """Random lives of clients and a server."""

    world: World

    @initialize(
        seed=st.integers(0, 2**32),
        items=st.sampled_from((0, 1, 3, 60)),
        every_s=st.sampled_from((0.0, 0.3)),
    )
    def begin(self, seed: int, items: int, every_s: float) -> None:
        self.world = World(seed, items, every_s=every_s)

    @rule(count=st.integers(1, 40))
    def publish(self, count: int) -> None:
        for _ in range(count):
            self.world.publish()

    @rule(hub_client=st.integers(0, 2), times=st.integers(1, 5))
    def act(self, hub_client: int, times: int) -> None:
        for _ in range(times):
            self.world.act(self.world.hub_clients[hub_client])

    @rule(seconds=st.sampled_from((0.0, 0.016, 0.5, 2.0)))
    def wait(self, seconds: float) -> None:
        self.world.now += seconds
        for name in self.world.hub.ready(self.world.now):
            next(entry for entry in self.world.hub_clients if entry.name == name).drain(
                self.world.now
            )

    @rule()
    def evict(self) -> None:
        self.world.evict()

    @rule()
    def everybody_ends_equal(self) -> None:
        self.world.check()

    @invariant()
    def a_message_is_bounded(self) -> None:
        if hasattr(self, "world"):
            assert all(entry.bytes_at_once < 40_000 for entry in self.world.hub_clients)

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.world.check()


TestHubLaw = HubMachine.TestCase
TestHubLaw.settings = settings(max_examples=examples(60), stateful_step_count=40, deadline=None)


EVENTS = int(os.environ.get("FAIRLEAD_HUB_EVENTS", "10000"))
"""`make faults` runs 100,000."""


def test_robots_that_drop_and_lie_through_many_events_end_equal_to_the_server() -> None:
    world = World(seed=20261115, items=200, hub_clients=4, limits=MIDDLING)
    for event in range(EVENTS):
        world.publish()
        world.now += 0.004
        if event % 8 == 0:
            world.act(world.rng.choice(world.hub_clients))
        if event % 500 == 499:
            world.check()  # before anything is evicted, or all it would see are snapshots
        if event % 5_000 == 4_999:
            world.evict()
            world.check()
            del world.plain.state["items"][:-300]  # a reload may not hold what was long ago
            world.epoch += 1
            world.attach()
    world.check()
    assert world.plain.seq == EVENTS
