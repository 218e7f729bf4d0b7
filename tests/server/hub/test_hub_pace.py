"""When the hub sends what: immediately, combined and not too often, or before everything else."""

from __future__ import annotations

import pytest

from fairlead.server.hub.hub import Hub
from fairlead.server.limits import Limits
from fairlead.server.protocol.messages import Changes, FromServer, Snapshot
from fairlead.transcript.state.changes import Add, Append, Set
from tests.server.hub.plain_document import PlainDocument

LIST, TALK = "list", "talk"


class Board:
    """A document of one object that is always the same size."""

    sections = ("board",)

    def __init__(self, hub: Hub, every_s: float) -> None:
        self._hub = hub
        self.seq = 0
        hub.attach(LIST, self, seq=0, epoch="e", every_s=every_s)

    def section(self, name: str) -> object:
        return {"n": self.seq}

    def item(self, item_id: str) -> object:
        raise KeyError(item_id)

    def change(self) -> None:
        self.seq += 1
        self._hub.publish(LIST, self.seq, [Set("board", None, {"n": self.seq})])


def with_followers(limits: Limits | None = None) -> tuple[Hub, Board]:
    hub = Hub(limits)
    board = Board(hub, every_s=1.0)
    for name in ("a", "b"):
        hub.subscribe(name, LIST)
    return hub, board


def drained(hub: Hub, now: float) -> dict[str, list[FromServer]]:
    return {name: found for name in hub.ready(now) if (found := hub.drain(name, now))}


def reached(messages: list[FromServer]) -> int:
    (message,) = messages
    assert isinstance(message, Changes)
    return message.seq


def test_all_clients_of_a_round_share_one_message_while_the_document_goes_on_changing() -> None:
    hub, board = with_followers()
    board.change()
    assert hub.ready(10.0) == ["a", "b"]
    first = hub.drain("a", 10.0)
    board.change()
    second = hub.drain("b", 10.0)
    assert first[0] is second[0]
    assert reached(first) == 1
    later = drained(hub, 20.0)
    assert later["a"][0] is later["b"][0]
    assert reached(later["a"]) == 2


def test_a_client_that_arrives_between_two_rounds_gets_what_the_others_still_wait_for() -> None:
    hub, board = with_followers()
    board.change()
    drained(hub, 10.0)
    board.change()
    (snapshot,) = hub.subscribe("late", LIST)
    assert isinstance(snapshot, Snapshot)
    assert snapshot.seq == 2
    assert drained(hub, 10.1) == {}
    board.change()
    assert {name: reached(found) for name, found in drained(hub, 20.0).items()} == {
        "a": 3,
        "b": 3,
        "late": 3,
    }


def test_a_calm_document_tells_its_first_change_at_once_and_the_rest_together() -> None:
    hub, board = with_followers()
    board.change()
    first = drained(hub, 10.0)
    for _ in range(5):
        board.change()
    assert drained(hub, 10.5) == {}
    second = drained(hub, 11.0)
    assert {name: reached(found) for name, found in first.items()} == {"a": 1, "b": 1}
    assert {name: reached(found) for name, found in second.items()} == {"a": 6, "b": 6}
    assert second["a"][0] is second["b"][0]


def test_a_calm_document_says_when_it_will_tell_what_waits() -> None:
    hub, board = with_followers()
    board.change()
    drained(hub, 10.0)
    assert hub.next_due() is None
    board.change()
    drained(hub, 10.5)
    assert hub.next_due() == pytest.approx(11.0)


def test_a_document_that_waits_for_its_time_wakes_nobody_again() -> None:
    hub, board = with_followers()
    woken: list[float] = []
    board.change()
    drained(hub, 10.0)
    hub.on_ready = lambda: woken.append(0.0)
    board.change()
    assert len(woken) == 1, "the time of the next update must be asked for"
    drained(hub, 10.5)
    board.change()
    board.change()
    assert len(woken) == 1
    assert hub.next_due() == pytest.approx(11.0)
    assert {name: reached(found) for name, found in drained(hub, 11.0).items()} == {"a": 4, "b": 4}
    board.change()
    assert len(woken) == 2


def test_a_client_drained_for_another_document_still_waits_for_a_throttled_one() -> None:
    hub, board = with_followers()
    plain = PlainDocument(1)
    hub.attach(TALK, plain, seq=0, epoch="e", item_ids=plain.ids)
    hub.subscribe("a", TALK)
    board.change()
    drained(hub, 10.0)
    board.change()
    hub.publish(TALK, 1, [Append("items", "i0", "text", 0, "x")])
    (only,) = drained(hub, 10.5)["a"]
    assert isinstance(only, Changes)
    assert only.document == TALK
    assert reached(drained(hub, 11.0)["a"]) == 2


def test_who_could_not_take_a_calm_document_in_its_round_gets_it_in_the_next() -> None:
    hub, board = with_followers()
    board.change()
    assert hub.ready(10.0) == ["a", "b"]
    assert reached(hub.drain("a", 10.0)) == 1
    assert hub.ready(10.2) == ["b"]
    assert hub.drain("b", 10.2) == []
    assert hub.next_due() == pytest.approx(11.0)
    assert {name: reached(found) for name, found in drained(hub, 11.0).items()} == {"b": 1}


def test_many_clients_get_a_calm_document_with_another_message_or_a_little_later() -> None:
    hub, board = with_followers(Limits(lobby_per_client_s=1.0))  # It rests for two seconds.
    plain = PlainDocument(1)
    hub.attach(TALK, plain, seq=0, epoch="e", item_ids=plain.ids)
    hub.subscribe("a", TALK)
    board.change()
    assert drained(hub, 10.0) == {}
    assert hub.next_due() == pytest.approx(11.0)
    hub.publish(TALK, 1, [Append("items", "i0", "text", 0, "x")])
    both = drained(hub, 10.5)["a"]
    assert [message.document for message in both] == [LIST, TALK]  # type: ignore[union-attr]
    board.change()
    assert {name: reached(found) for name, found in drained(hub, 11.0).items()} == {"b": 1}
    assert drained(hub, 11.5) == {}
    assert hub.next_due() == pytest.approx(12.0)
    assert drained(hub, 12.0) == {}
    later = drained(hub, 13.0)
    assert {name: reached(found) for name, found in later.items()} == {"a": 2, "b": 2}
    assert later["a"][0] is later["b"][0]


def test_a_calm_document_of_many_bytes_for_many_rests_longer() -> None:
    hub, board = with_followers(Limits(lobby_bytes_per_s=100))
    board.change()
    drained(hub, 10.0)
    board.change()
    assert drained(hub, 11.5) == {}
    assert set(drained(hub, 15.0)) == {"a", "b"}


def test_a_new_follower_gets_a_throttled_document_immediately() -> None:
    hub, board = with_followers()
    board.change()
    drained(hub, 10.0)
    board.change()
    hub.ready(10.5)
    (snapshot,) = hub.subscribe("c", LIST)
    assert snapshot.seq == 2  # type: ignore[union-attr]


def test_no_client_is_woken_for_a_document_without_followers() -> None:
    hub = Hub()
    woken: list[str] = []
    hub.on_ready = lambda: woken.append("ready")
    board = Board(hub, every_s=0.0)
    board.change()
    assert woken == []
    hub.subscribe("a", LIST)
    board.change()
    assert woken == ["ready"]


def test_a_change_wakes_the_task_of_sockets_only_if_a_socket_follows() -> None:
    hub = Hub()
    woken: list[str] = []
    hub.on_ready = lambda: woken.append("sockets")
    hub.on_changed = lambda document: woken.append("copies")
    board = Board(hub, every_s=0.0)
    hub.copy("bus", LIST)
    board.change()
    assert woken == ["copies"]
    hub.subscribe("a", LIST)
    woken.clear()
    board.change()
    assert sorted(woken) == ["copies", "sockets"]
    hub.drop("bus")
    woken.clear()
    board.change()
    assert woken == ["sockets"]


def test_what_waits_for_an_answer_is_urgent_for_its_followers_alone() -> None:
    hub, board = with_followers()
    plain = PlainDocument(1)
    hub.attach(TALK, plain, seq=0, epoch="e", item_ids=plain.ids)
    hub.subscribe("a", TALK)
    calls: list[str] = []
    hub.on_urgent = lambda: calls.append("urgent")
    hub.publish(TALK, 1, [Append("items", "i0", "text", 0, "x")])
    assert (calls, hub.urgent()) == ([], [])
    hub.publish(TALK, 2, [Add("pending", {"id": "p"})])
    assert (calls, hub.urgent()) == (["urgent"], ["a"])
    assert hub.urgent() == []
    board.change()
    assert calls == ["urgent"]


def test_an_ack_of_a_client_that_keeps_up_wakes_no_other() -> None:
    plain = PlainDocument(1)
    hub = Hub(Limits(unacked_bytes=500))
    hub.attach(TALK, plain, seq=0, epoch="e", item_ids=plain.ids)
    hub.subscribe("a", TALK)
    hub.ack("a", TALK, 0)
    hub.publish(TALK, 1, [Append("items", "i0", "text", 0, "x")])
    assert reached(drained(hub, 1.0)["a"]) == 1
    hub.ack("a", TALK, 1)
    assert hub.ready(2.0) == []
