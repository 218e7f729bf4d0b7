"""The machines of a fleet as one lobby."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from fairlead.fleet.bus.memory_bus import MemoryBroker
from fairlead.fleet.gateway.directory import AWAY_S, GONE_S, Directory
from fairlead.fleet.gateway.mirrors import Mirrors
from fairlead.fleet.gateway.node_client import NodeClient
from fairlead.fleet.gateway.nodes_watch import NodesWatch
from fairlead.fleet.protocol.envelopes import Beat, DocumentBody, Frame
from fairlead.server.hub.hub import Hub
from fairlead.server.protocol.lobby_rows import InboxRow, ListedSession, ListedStatus, ServerInfo
from fairlead.server.view.lobby import Lobby
from fairlead.transcript.state.changes import Remove, Set
from tests.waiting import until


def row(name: str, **more: Any) -> ListedSession:
    fields: dict[str, Any] = {
        "id": name, "title": name, "cwd": "/p", "cli_session_id": None,
        "status": ListedStatus(state="idle", since=0.0, last_event=0.0), "live": True,
        "model": None, "mode": None, "effort": None, "cost_usd": 0.0, "created": 0.0,
        "last_activity": 0.0, "pinned": False, "archived": False, "parent": None, "items": 0,
        "pending": 0, "source": "fairlead", "agent": None,
    }  # fmt: skip
    return ListedSession(**{**fields, **more})


def request(session: str) -> InboxRow:
    return InboxRow(
        id=f"{session}:r", session=session, session_title="", request_id="r", kind="permission",
        tool_name="Bash", title="", at=0.0,
    )  # fmt: skip


def body(sessions: list[ListedSession], inbox: list[InboxRow], seq: int = 5) -> DocumentBody:
    state = {
        "sessions": sessions,
        "inbox": inbox,
        "devices": [],
        "server": ServerInfo(roots=("/p",)),
    }
    plain = msgspec.json.decode(msgspec.json.encode(state))
    return DocumentBody(epoch="e", seq=seq, state=plain)


class World:
    def __init__(self) -> None:
        self.now = 100.0
        self.lobby = Lobby(Hub(), "e")
        self.directory = Directory(self.lobby, clock=lambda: self.now + 1e9, ticks=lambda: self.now)

    def beat(self, node: str) -> None:
        self.directory.heard(node, Beat(incarnation="i", name=f"{node}-name"))

    def check_for(self, seconds: float) -> list[str]:
        """Let time pass as in a gateway, which looks often; the machines that are away since then."""
        gone: list[str] = []
        for _ in range(round(seconds * 10)):
            self.now += 0.1
            gone += self.directory.check()
        return gone

    def opened(self, node: str, body: DocumentBody) -> None:
        entry = self.directory.node(node)
        assert entry is not None
        assert entry.lobby.opened(body)

    def rows(self, section: str) -> dict[str, Any]:
        return {each.id: each for each in self.lobby.section(section)}


def test_what_nobody_has_to_act_on_is_shown_less_often_the_more_sessions_work() -> None:
    world = World()
    world.beat("a")
    names = [f"s{number}" for number in range(300)]
    world.opened("a", body([row(name) for name in names], []))
    seq = 5

    def change(name: str, **fields: Any) -> None:
        nonlocal seq
        seq += 1
        frame = Frame(
            epoch="e", from_seq=seq - 1, seq=seq, changes=(Set("sessions", name, fields),)
        )
        entry = world.directory.node("a")
        assert entry is not None
        assert entry.lobby.take(frame)

    def sentences() -> dict[str, str]:
        return {name: each.last_sentence for name, each in world.rows("sessions").items()}

    for name in names:
        change(name, last_sentence="One.", last_activity=1.0)
    assert set(sentences().values()) == {""}
    world.check_for(0.1)
    assert set(sentences().values()) == {"One."}
    for name in names:
        change(name, last_sentence="Two.", last_activity=2.0)
    world.beat("a")
    world.check_for(2.5)
    assert set(sentences().values()) == {"One."}
    status = {"state": "tool", "since": 3.0, "last_event": 3.0}
    change("s0", last_sentence="Three.", status=status)  # The status at once.
    assert world.rows("sessions")["s0"].status.state == "tool"
    assert set(sentences().values()) == {"One."}
    change("s1", last_sentence="Three.", status=status, finished=4.0)  # The end of a turn at once.
    assert [name for name, shown in sentences().items() if shown == "Three."] == ["s1"]
    world.beat("a")
    world.check_for(2.5)
    world.beat("a")
    world.check_for(2.5)
    assert set(sentences().values()) == {"Two.", "Three."}


def test_a_machine_whose_beats_stop_is_away_and_its_rows_stay() -> None:
    world = World()
    world.beat("a")
    world.beat("b")
    world.opened("a", body([row("s1")], [request("s1")]))
    world.opened("b", body([row("s2")], []))
    assert world.check_for(AWAY_S - 0.1) == []
    world.beat("b")
    assert world.check_for(0.2) == ["a"]
    assert {each.id: each.state for each in world.rows("nodes").values()} == {
        "a": "away",
        "b": "here",
    }
    assert world.rows("nodes")["a"].since == world.now + 1e9
    assert world.rows("inbox")["s1:r"].node == "a"
    assert set(world.rows("sessions")) == {"s1", "s2"}
    world.now += GONE_S + 1.0
    world.beat("b")
    world.directory.check()
    assert world.rows("nodes")["a"].state == "gone"
    world.beat("a")
    assert world.rows("nodes")["a"].state == "here"


def test_N51_time_in_which_the_gateway_was_paused_does_not_count() -> None:
    world = World()
    world.beat("a")
    world.check_for(0.5)
    world.now += 60.0
    assert world.directory.check() == []
    assert world.check_for(AWAY_S / 2) == []
    assert world.check_for(AWAY_S) == ["a"]


def test_changes_of_a_lobby_change_only_their_rows() -> None:
    world = World()
    world.beat("a")
    world.opened("a", body([row("s1"), row("s2")], [request("s1")]))
    entry = world.directory.node("a")
    assert entry is not None
    changes = (
        Set("sessions", "s1", {"title": "new"}),
        Remove("sessions", "s2"),
        Remove("inbox", "s1:r"),
    )
    assert entry.lobby.take(Frame(epoch="e", from_seq=5, seq=6, changes=changes))
    assert {each.id: each.title for each in world.rows("sessions").values()} == {"s1": "new"}
    assert world.rows("inbox") == {}
    assert world.directory.owner("s1") == ("a", "s1")
    assert world.directory.owner("s2") is None
    assert not entry.lobby.take(Frame(epoch="e", from_seq=7, seq=8))


def test_a_file_of_the_cli_on_two_machines_is_two_sessions() -> None:
    world = World()
    for node in ("a", "b"):
        world.beat(node)
        world.opened(node, body([row("f", source="cli")], []))
    assert set(world.rows("sessions")) == {"a__f", "b__f"}
    assert world.directory.owner("b__f") == ("b", "f")
    world.opened("b", body([row("f", source="fairlead")], [], seq=9))
    assert set(world.rows("sessions")) == {"a__f", "f"}
    assert world.directory.owner("f") == ("b", "f")


def test_a_machine_that_is_gone_for_good_is_not_listed() -> None:
    world = World()
    world.beat("a")
    world.opened("a", body([row("s1")], [request("s1")]))
    world.directory.forget("a")
    assert world.rows("nodes") == world.rows("sessions") == world.rows("inbox") == {}
    assert world.directory.owner("s1") is None


def test_N14_a_machine_cannot_write_control_characters_into_names_and_problems() -> None:
    """They are printed in the terminal of the gateway's owner by `fairlead fleet`."""
    world = World()
    evil = "\x1b]0;x\x07desk\u202e\n" + "x" * 500
    world.directory.heard("a", Beat(v=0, incarnation="i", name=evil, version=evil))
    row = world.rows("nodes")["a"]
    for text in (row.name, row.problem, world.directory.away("a"), world.directory.label("a")):
        assert text.isprintable(), text
        assert len(text) < 200
    world.directory.heard("a", Beat(incarnation="i", name="\x1b\u202e"))
    assert world.rows("nodes")["a"].name == row.name  # The one before.


def test_a_row_that_a_newer_machine_sends_is_listed_without_what_is_unknown() -> None:
    world = World()
    world.beat("a")
    plain = body([row("s1"), row("s2")], [])
    plain.state["sessions"][0]["mood"] = "good"
    del plain.state["sessions"][1]["title"]  # It cannot be read at all.
    world.opened("a", plain)
    assert set(world.rows("sessions")) == {"s1"}


def test_N44_a_session_is_missing_only_if_every_machine_was_asked() -> None:
    world = World()
    directory = world.directory
    assert not directory.is_settled
    refusal = directory.not_found("s1")
    assert (refusal.code, "just started" in refusal.message) == ("unavailable", True)
    directory.is_listed = True
    directory.enroll("a", "laptop")
    world.now += AWAY_S + 0.1
    refusal = directory.not_found("s1")
    assert (refusal.code, "may be on laptop" in refusal.message) == ("unavailable", True)
    world.beat("a")
    assert not directory.is_settled
    world.opened("a", body([row("s2")], []))
    assert directory.is_settled
    assert directory.not_found("s1").code == "not_found"
    assert directory.owner_of("s2") == ("a", "s2")


async def test_N44_a_list_of_machines_that_could_not_be_read_is_read_again() -> None:
    broker, world = MemoryBroker(), World()
    await broker.connect().bucket("nodes").put("a", b'{"name": "laptop"}')
    bus = broker.connect()
    bus.cut()
    client = NodeClient(bus, world.directory.is_here, world.directory.away)
    watch = NodesWatch(bus, world.directory, Mirrors(Hub(), bus, client, "g"))
    await watch.start()
    assert not world.directory.is_listed
    running = asyncio.create_task(watch.run())
    try:
        bus.heal()
        await until(lambda: world.directory.is_listed)
        assert world.directory.not_found("s").message.count("laptop") == 1
    finally:
        running.cancel()
        await asyncio.wait([running])
        await watch.close()


async def test_N17_a_machine_that_was_removed_while_the_gateway_was_cut_off_is_not_listed() -> None:
    broker, world = MemoryBroker(), World()
    nodes = broker.connect().bucket("nodes")
    for name in ("a", "b"):
        await nodes.put(name, b'{"name": "laptop"}')
    bus = broker.connect()
    client = NodeClient(bus, world.directory.is_here, world.directory.away)
    watch = NodesWatch(bus, world.directory, Mirrors(Hub(), bus, client, "g"))
    await watch.start()
    running = asyncio.create_task(watch.run())
    try:
        assert set(world.rows("nodes")) == {"a", "b"}
        bus.cut()
        await nodes.delete("b")
        bus.heal()
        await until(lambda: set(world.rows("nodes")) == {"a"}, 10)
    finally:
        running.cancel()
        await asyncio.wait([running])
        await watch.close()
