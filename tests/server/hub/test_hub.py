"""The hub: exactly what follows, or a snapshot, and never more than a client can take."""

from __future__ import annotations

import random

import msgspec
import pytest

from fairlead.server.hub.document import Document
from fairlead.server.hub.hub import Hub
from fairlead.server.limits import Limits
from fairlead.server.protocol.messages import Changes, Page, Problem, Released, Snapshot, Window
from fairlead.transcript.state.changes import Add, Append, Change, Replace, Set, apply
from tests.server.hub.hub_clients import HubClient
from tests.server.hub.plain_document import PlainDocument

DOCUMENT = "paper"


def hub_with(plain: PlainDocument, limits: Limits | None = None) -> Hub:
    hub = Hub(limits)
    attach(hub, plain)
    return hub


def attach(hub: Hub, plain: PlainDocument, epoch: str = "first") -> None:
    hub.attach(DOCUMENT, plain, seq=plain.seq, epoch=epoch, item_ids=plain.ids)


def publish(hub: Hub, plain: PlainDocument, *changes: Change) -> None:
    plain.state = apply(plain.state, changes)
    plain.seq += 1
    hub.publish(DOCUMENT, plain.seq, list(changes))


def letters(hub: Hub, plain: PlainDocument, count: int, text: str = "x") -> None:
    for _ in range(count):
        offset = len(plain.state["items"][-1]["text"])
        publish(hub, plain, Append("items", plain.ids[-1], "text", offset, text))


def test_a_new_client_gets_a_snapshot_with_the_end_of_the_items() -> None:
    hub = hub_with(PlainDocument(1_000))
    (snapshot,) = hub.subscribe("c", DOCUMENT, window=200)
    assert isinstance(snapshot, Snapshot)
    assert (snapshot.window.first, snapshot.window.total) == (800, 1_000)
    state = msgspec.json.decode(msgspec.json.encode(snapshot.state))
    assert [row["id"] for row in state["items"]] == [f"i{n}" for n in range(800, 1_000)]


@pytest.mark.parametrize(("position", "kind"), [(0, Changes), (1, Snapshot), (2, Snapshot)])
def test_a_number_between_events_that_were_published_together_leads_to_a_snapshot(
    position: int, kind: type
) -> None:
    plain = PlainDocument(3)
    hub = hub_with(plain)
    plain.state = apply(plain.state, [Append("items", "i2", "text", 0, "abc")])
    plain.seq = 3
    hub.publish(DOCUMENT, 3, [Append("items", "i2", "text", 0, "abc")])
    (answer,) = hub.subscribe("c", DOCUMENT, position, "first", oldest="i0")
    assert isinstance(answer, Changes | Snapshot)
    assert (type(answer), answer.seq) == (kind, 3)


def test_a_client_that_comes_back_gets_exactly_what_it_missed_as_one_merged_message() -> None:
    plain = PlainDocument(3)
    hub = hub_with(plain)
    hub_client = HubClient(hub, "c", DOCUMENT, 200)
    hub_client.open(0.0)
    hub_client.drop()
    letters(hub, plain, 500)
    answer = hub.subscribe("c", DOCUMENT, 0, "first", 200, 1.0, oldest="i0")
    assert answer == [
        Changes(
            document=DOCUMENT,
            from_seq=0,
            seq=500,
            changes=(Append("items", "i2", "text", 0, "x" * 500),),
        )
    ]


def test_a_client_that_is_up_to_date_gets_an_empty_step() -> None:
    plain = PlainDocument(1)
    hub = hub_with(plain)
    letters(hub, plain, 3)
    answer = hub.subscribe("c", DOCUMENT, 3, "first", 200, 0.0, oldest="i0")
    assert answer == [Changes(document=DOCUMENT, from_seq=3, seq=3, changes=())]


def test_N50_a_client_that_waited_for_a_copy_gets_the_answer_to_its_request() -> None:
    """Also if it has everything by then: it has to learn that it is up to date."""
    plain = PlainDocument(1)
    hub = Hub()
    hub.attach(DOCUMENT, plain, seq=0, epoch="first", item_ids=plain.ids, copied=True)
    assert hub.subscribe("c", DOCUMENT, 3, "first", 200, 0.0, oldest="i0") == []
    letters(hub, plain, 3)
    assert hub.waiting(DOCUMENT) == []
    answer = [Changes(document=DOCUMENT, from_seq=3, seq=3, changes=())]
    assert list(hub.ready(1.0)) == ["c"]
    assert hub.drain("c", 1.0) == answer
    assert hub.drain("c", 2.0) == []


@pytest.mark.parametrize(
    ("last_seq", "epoch", "oldest"),
    [
        pytest.param(None, "first", "i0", id="no position"),
        pytest.param(2, "another", "i0", id="another epoch"),
        pytest.param(2, None, "i0", id="no epoch"),
        pytest.param(99, "first", "i0", id="ahead of the server"),
        pytest.param(-1, "first", "i0", id="before the ring"),
        pytest.param(2, "first", None, id="no window"),
        pytest.param(2, "first", "gone", id="an item that is not there"),
    ],
)
def test_a_position_that_cannot_be_trusted_gets_a_snapshot(
    last_seq: int | None, epoch: str | None, oldest: str | None
) -> None:
    plain = PlainDocument(1)
    hub = hub_with(plain)
    letters(hub, plain, 5)
    (answer,) = hub.subscribe("c", DOCUMENT, last_seq, epoch, 200, 0.0, oldest=oldest)
    assert isinstance(answer, Snapshot)
    assert answer.seq == 5


def test_an_unknown_document_is_answered_and_not_fatal() -> None:
    hub = Hub()
    (answer,) = hub.subscribe("c", "nothing")
    assert isinstance(answer, Problem)
    assert answer.code == "not_found"
    assert hub.drain("c", 0.0) == []


def test_many_events_between_two_frames_are_one_message() -> None:
    plain = PlainDocument(1)
    hub = hub_with(plain)
    hub.subscribe("c", DOCUMENT)
    letters(hub, plain, 1_000)
    assert hub.ready(1.0) == ["c"]
    (message,) = hub.drain("c", 1.0)
    assert isinstance(message, Changes)
    assert message.changes == (Append("items", "i0", "text", 0, "x" * 1_000),)
    assert hub.ready(1.0) == []


def test_clients_at_the_same_place_share_one_message() -> None:
    plain = PlainDocument(1)
    hub = hub_with(plain)
    for n in range(3):
        hub.subscribe(f"c{n}", DOCUMENT)
    letters(hub, plain, 10)
    first, second, third = (hub.drain(f"c{n}", 1.0)[0] for n in range(3))
    assert first is second is third


def test_a_slow_client_gets_a_snapshot_within_the_bound_and_no_queue_grows() -> None:
    limits = Limits(
        ring_bytes=200_000, backlog_bytes=50_000, frame_bytes=20_000, window_bytes=30_000
    )
    plain = PlainDocument(1)
    hub = hub_with(plain, limits)
    hub_client = HubClient(hub, "c", DOCUMENT, 200)
    hub_client.open(0.0)
    for n in range(500):
        publish(hub, plain, Add("items", {"id": f"n{n}", "text": "y" * 1_000, "n": n}))
    hub_client.drain(1.0)
    assert hub_client.snapshots == 2
    assert hub_client.bytes_at_once < 35_000
    assert hub_client.seq == 500
    assert hub_client.state is not None
    assert hub_client.state["items"] == plain.state["items"][hub_client.before :]


def test_what_is_too_long_for_one_frame_comes_in_several_that_join() -> None:
    limits = Limits(frame_bytes=10_000, backlog_bytes=1_000_000)
    plain = PlainDocument(1)
    hub = hub_with(plain, limits)
    hub_client = HubClient(hub, "c", DOCUMENT, 200)
    hub_client.open(0.0)
    letters(hub, plain, 100, "z" * 1_000)
    frames = 0
    while "c" in hub.ready(1.0):
        hub_client.drain(1.0)
        assert hub_client.bytes_at_once < 12_000
        frames += 1
    assert frames > 5
    assert hub_client.snapshots == 1
    assert hub_client.state == plain.state


def test_B70_a_client_that_acks_is_sent_nothing_more_until_it_has_caught_up() -> None:
    limits = Limits(unacked_bytes=5_000, backlog_bytes=1_000_000)
    plain = PlainDocument(1)
    hub = hub_with(plain, limits)
    hub_client = HubClient(hub, "c", DOCUMENT, 200)
    hub_client.open(0.0)
    hub_client.ack()
    letters(hub, plain, 10, "z" * 1_000)
    hub_client.drain(1.0)
    at = hub_client.seq
    letters(hub, plain, 10, "z" * 1_000)
    assert hub.drain("c", 2.0) == []
    assert hub_client.seq == at
    hub_client.ack()
    assert "c" in hub.ready(2.0)
    hub_client.drain(2.0)
    assert hub_client.state == plain.state


def test_who_does_not_look_gets_only_the_status_and_stays_where_it_is() -> None:
    plain = PlainDocument(1)
    hub = hub_with(plain)
    hub_client = HubClient(hub, "c", DOCUMENT, 200)
    hub_client.open(0.0)
    hub_client.look(False, 0.0)
    letters(hub, plain, 10)
    publish(hub, plain, Set("status", None, {"state": "awaiting_approval"}))
    assert hub.ready(5.0) == ["c"]
    (message,) = hub.drain("c", 5.0)
    assert isinstance(message, Changes)
    assert (message.from_seq, message.seq) == (0, 0)
    assert message.changes == (Set("status", None, {"state": "awaiting_approval", "n": 0}),)
    assert hub.ready(5.0) == []
    letters(hub, plain, 10)
    assert hub.ready(5.1) == ["c"]
    assert hub.drain("c", 5.1) == []
    assert hub.ready(5.2) == []
    hub_client.take([message], 5.0)
    hub_client.look(True, 6.0)
    assert hub_client.state == plain.state
    assert hub_client.seq == 21
    assert hub_client.snapshots == 1


def test_an_event_without_changes_moves_the_client_on_once_a_second() -> None:
    plain = PlainDocument(1)
    hub = hub_with(plain)
    hub.subscribe("c", DOCUMENT, now=0.0)
    publish(hub, plain)
    assert hub.ready(0.1) == ["c"]
    assert hub.drain("c", 0.1) == []
    assert hub.ready(0.5) == []
    assert hub.ready(1.0) == ["c"]
    assert hub.drain("c", 1.0) == [Changes(document=DOCUMENT, from_seq=0, seq=1, changes=())]


def test_older_items_come_by_page_after_what_brings_the_client_to_now() -> None:
    plain = PlainDocument(500)
    hub = hub_with(plain)
    hub_client = HubClient(hub, "c", DOCUMENT, 100)
    hub_client.open(0.0)
    letters(hub, plain, 3)
    publish(hub, plain, Set("items", "i350", {"n": -1}))
    kinds = hub.fetch("c", DOCUMENT, "i400", 100, 1.0)
    assert [type(kind) for kind in kinds] == [Changes, Page]
    hub_client.take(kinds, 1.0)
    assert hub_client.before == 300
    assert hub_client.state is not None
    assert hub_client.state["items"] == plain.state["items"][300:]


def test_changes_of_items_outside_the_window_are_left_out() -> None:
    plain = PlainDocument(500)
    hub = hub_with(plain)
    hub_client = HubClient(hub, "c", DOCUMENT, 100)
    hub_client.open(0.0)
    publish(hub, plain, Set("items", "i3", {"n": -1}), Set("status", None, {"n": 7}))
    publish(hub, plain, Add("items", {"id": "new", "text": "", "n": 0}, "i3"))
    hub_client.drain(2.0)
    assert hub_client.state is not None
    assert hub_client.state["items"] == plain.state["items"][-100:]
    assert hub_client.state["status"]["n"] == 7
    while hub_client.before:
        hub_client.fetch(150, 3.0)
    assert hub_client.state == plain.state


@pytest.mark.parametrize("before", ["i10", "i450", "nothing"])
def test_a_page_that_would_not_join_is_refused(before: str) -> None:
    hub = hub_with(PlainDocument(500))
    hub.subscribe("c", DOCUMENT, window=100)
    (answer,) = hub.fetch("c", DOCUMENT, before, 50, 0.0)
    assert isinstance(answer, Problem)
    assert answer.code == "stale"


def test_B133_released_items_get_no_changes_and_can_be_fetched_again() -> None:
    plain = PlainDocument(500)
    hub = hub_with(plain)
    hub_client = HubClient(hub, "c", DOCUMENT, 400)
    hub_client.open(0.0)
    publish(hub, plain, Set("items", "i150", {"n": -1}))  # On its way while the client releases.
    hub_client.release(200, 1.0)
    assert hub_client.state is not None
    assert [row["id"] for row in hub_client.state["items"]] == [f"i{n}" for n in range(300, 500)]
    assert hub_client.before == 300
    publish(hub, plain, Set("items", "i250", {"n": -2}), Set("items", "i300", {"n": -3}))
    (message,) = hub.drain("c", 2.0)
    assert isinstance(message, Changes)
    assert [change.id for change in message.changes if isinstance(change, Set)] == ["i300"]
    hub_client.take([message], 2.0)
    while hub_client.before:
        hub_client.fetch(150, 3.0)
    assert hub_client.state == plain.state


@pytest.mark.parametrize("oldest", ["i10", "nothing", "i100"])
def test_B133_a_window_never_grows_by_a_release(oldest: str) -> None:
    hub = hub_with(PlainDocument(500))
    hub.subscribe("c", DOCUMENT, window=400)
    (answer,) = hub.release("c", DOCUMENT, oldest)
    assert answer == Released(document=DOCUMENT, oldest="i100", window=Window(first=100, total=500))


def test_a_window_is_bounded_by_bytes_and_holds_one_item_in_any_case() -> None:
    limits = Limits(window_bytes=10_000)
    plain = PlainDocument(3)
    for row in plain.state["items"]:
        row["text"] = "w" * 50_000
    hub = hub_with(plain, limits)
    (snapshot,) = hub.subscribe("c", DOCUMENT)
    assert isinstance(snapshot, Snapshot)
    assert snapshot.window.first == 2


def test_opening_a_document_of_100_000_items_sends_the_visible_end() -> None:
    hub = Hub()
    plain = PlainDocument(100_000)
    attach(hub, plain)
    (snapshot,) = hub.subscribe("c", DOCUMENT, window=200)
    assert len(msgspec.json.encode(snapshot)) < 20_000


def test_a_new_epoch_resets_every_client() -> None:
    plain = PlainDocument(1)
    hub = hub_with(plain)
    hub_client = HubClient(hub, "c", DOCUMENT, 200)
    hub_client.open(0.0)
    letters(hub, plain, 5)
    hub_client.drain(1.0)
    hub.detach(DOCUMENT)
    other = PlainDocument(2)
    attach(hub, other, "second")
    assert hub.ready(2.0) == ["c"]
    hub_client.drain(2.0)
    assert (hub_client.seq, hub_client.epoch, hub_client.state) == (0, "second", other.state)


def test_too_many_documents_are_refused() -> None:
    hub = Hub(Limits(documents_per_client=2))
    for name in ("a", "b", "c"):
        hub.attach(name, PlainDocument(), seq=0, epoch="first")
    assert isinstance(hub.subscribe("x", "a")[0], Snapshot)
    assert isinstance(hub.subscribe("x", "b")[0], Snapshot)
    (answer,) = hub.subscribe("x", "c")
    assert isinstance(answer, Problem)
    assert answer.code == "too_many"
    hub.unsubscribe("x", "a")
    assert isinstance(hub.subscribe("x", "c")[0], Snapshot)


def test_nothing_remains_of_dropped_clients() -> None:
    plain = PlainDocument(1)
    hub = hub_with(plain)
    for n in range(50):
        hub.subscribe(f"c{n}", DOCUMENT)
        letters(hub, plain, 1)
        hub.ready(1.0)
        hub.drop(f"c{n}")
    assert hub.followers(DOCUMENT) == 0
    assert hub.ready(100.0) == []
    assert hub.drain("c0", 100.0) == []


def test_numbers_only_go_up() -> None:
    plain = PlainDocument(1)
    hub = hub_with(plain)
    letters(hub, plain, 2)
    with pytest.raises(ValueError, match="event 2 of paper"):
        hub.publish(DOCUMENT, 2, [])


def test_items_between_two_others_are_renumbered_when_there_is_no_room_left() -> None:
    plain = PlainDocument(2)
    document = Document("d", plain, Limits(), seq=0, epoch="first", item_ids=plain.ids, gap=16)
    for n in range(1, 20):
        document.publish(n, [Add("items", {"id": f"n{n}"}, "i1" if n == 1 else f"n{n - 1}")])
    assert document.floor > 0  # who was here before gets a snapshot
    keys = [document.key(entry) for entry in ["i0", *(f"n{n}" for n in range(19, 0, -1)), "i1"]]
    assert keys == sorted(keys, key=lambda key: key or 0)


def test_random_changes_through_small_limits_end_equal() -> None:
    rng = random.Random(7)
    plain = PlainDocument(50)
    hub = hub_with(plain, Limits(ring_bytes=4_000, backlog_bytes=2_000, frame_bytes=500))
    hub_client = HubClient(hub, "c", DOCUMENT, 20)
    hub_client.open(0.0)
    for n in range(3_000):
        changes = plain.change(rng)
        hub.publish(DOCUMENT, plain.seq, changes)
        if rng.random() < 0.2:
            hub_client.drain(float(n))
    hub_client.drain(1e6)
    while hub_client.seq != plain.seq:
        hub_client.drain(1e6)
    assert hub_client.state is not None
    assert (
        hub_client.state["items"]
        == plain.state["items"][len(plain.ids) - len(hub_client.state["items"]) :]
    )
    assert hub_client.snapshots > 1


def test_replacing_all_items_sends_every_client_a_new_snapshot() -> None:
    plain = PlainDocument(50)
    hub = hub_with(plain)
    hub_client = HubClient(hub, "c", DOCUMENT, 10)
    hub_client.open(0.0)
    publish(hub, plain, Replace("items", list(reversed(plain.state["items"]))))
    hub_client.drain(1.0)
    assert hub_client.snapshots == 2
    assert hub_client.state is not None
    assert [row["id"] for row in hub_client.state["items"]] == [f"i{n}" for n in range(9, -1, -1)]
    publish(hub, plain, Set("items", "i20", {"n": 9}), Set("items", "i0", {"n": 9}))
    hub_client.drain(2.0)
    assert hub_client.state["items"] == plain.state["items"][-10:]


def test_a_copy_begins_with_the_last_items_and_gets_older_ones() -> None:
    plain = PlainDocument(10)
    hub = Hub()
    hub.attach(DOCUMENT, plain, seq=0, epoch="first", item_ids=plain.ids[6:], offset=6)
    (snapshot,) = hub.subscribe("c", DOCUMENT, window=200)
    assert isinstance(snapshot, Snapshot)
    assert (snapshot.window.first, snapshot.window.total) == (6, 10)
    hub.prepend(DOCUMENT, plain.ids[2:6])
    (page,) = hub.fetch("c", DOCUMENT, "i6", 200, 0.0)
    assert isinstance(page, Page)
    assert (page.window.first, page.window.total, len(page.items)) == (2, 10, 4)


def test_a_client_whose_older_items_a_copy_got_later_gets_a_snapshot() -> None:
    plain = PlainDocument(10)
    hub = Hub()
    hub.attach(DOCUMENT, plain, seq=0, epoch="first", item_ids=plain.ids[6:], offset=6)
    # This change of an older item is not in the ring, because the copy did not have the item.
    plain.state = apply(plain.state, [Set("items", "i4", {"n": 99})])
    publish(hub, plain, Append("items", "i9", "text", 0, "x"))
    hub.prepend(DOCUMENT, plain.ids[2:6])
    (answer,) = hub.subscribe("c", DOCUMENT, 0, "first", oldest="i4")
    assert isinstance(answer, Snapshot)
    (answer,) = hub.subscribe("d", DOCUMENT, 0, "first", oldest="i6")
    assert isinstance(answer, Changes)
    (answer,) = hub.subscribe("e", DOCUMENT, 1, "first", oldest="i4")
    assert isinstance(answer, Changes)


def test_a_copy_gets_all_changes_at_its_own_pace_whether_anyone_looks_or_not() -> None:
    plain = PlainDocument(3)
    hub = Hub()
    hub.attach(DOCUMENT, plain, seq=0, epoch="first", item_ids=plain.ids, every_s=10.0)
    assert hub.copy("bus", DOCUMENT)
    assert (hub.followers(DOCUMENT), hub.followers(DOCUMENT, looking=True)) == (1, 0)
    letters(hub, plain, 2)
    assert [message.seq for message in hub.drain("bus", 0.0) if isinstance(message, Changes)] == [2]
    letters(hub, plain, 1)
    hub.ready(0.1)  # The document is throttled for clients that people look at.
    assert [message.seq for message in hub.drain("bus", 0.1) if isinstance(message, Changes)] == [3]
    hub.set_looking("bus", DOCUMENT, True)
    assert hub.followers(DOCUMENT, looking=True) == 1
    assert not hub.copy("bus", "another")


def test_nothing_is_kept_of_documents_that_were_followed_once() -> None:
    hub = Hub()
    kept = [len(gathered) for gathered in vars(hub).values() if isinstance(gathered, dict | set)]
    for n in range(10):
        plain, name = PlainDocument(3), f"paper {n}"
        hub.attach(name, plain, seq=0, epoch="first", item_ids=plain.ids, every_s=float(n % 2))
        hub.subscribe("c", name)
        hub.subscribe("d", name)
        hub.copy("bus", name)
        hub.publish(name, 1, [Append("items", "i2", "text", 0, "x")])
        for client in ("c", "bus"):
            hub.unsubscribe(client, name)
        hub.detach(name)
        hub.drop("d")
    for client in ("c", "bus"):
        hub.drop(client)
    hub.ready(1.0)
    assert kept == [
        len(gathered) for gathered in vars(hub).values() if isinstance(gathered, dict | set)
    ]
