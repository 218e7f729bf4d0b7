"""A client that changes its gateway is never shown an older state than it has seen (N50)."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from fairlead.transcript.state.changes import apply
from tests.fleet.fleet_harness import Fleet, fleet
from tests.server.conftest import Client

PATIENCE_S = 60.0


@pytest.fixture
async def team(tmp_path: Path) -> AsyncIterator[Fleet]:
    async with fleet(tmp_path, nodes=1) as made:
        yield made


class Seen:
    """What a client has of a session, as a good client keeps it."""

    def __init__(self, session: str) -> None:
        self.session = session
        self.state: dict[str, Any] = {}
        self.seq = -1
        self.epoch = ""

    def take(self, message: dict[str, Any]) -> None:
        if message["type"] == "snapshot":
            same = message["epoch"] == self.epoch
            assert not same or message["seq"] >= self.seq, "the gateway went back"
            self.state, self.seq, self.epoch = (
                message["state"], message["seq"], message["epoch"],
            )  # fmt: skip
        elif message["type"] == "changes":
            assert message["from_seq"] == self.seq
            self.state, self.seq = apply(self.state, message["changes"]), message["seq"]

    async def until(self, client: Client, text: str) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not any(
                text in str(item.get("text", "")) for item in self.state.get("items", ())
            ):
                self.take(await client.hear(document=self.session))

    @property
    def position(self) -> dict[str, Any]:
        oldest = self.state["items"][0]["id"] if self.state["items"] else None
        return {"last_seq": self.seq, "epoch": self.epoch, "oldest": oldest}


async def _prompt(client: Client, session: str, text: str) -> None:
    """Send a prompt; what the client hears next is not consumed, because it has to apply it."""
    client.n += 1
    intent = {"kind": "send", "session": session, "uuid": str(uuid.uuid4())}
    intent["text"] = json.dumps([{"say": text}])
    await client.say(type="intent", n=client.n, intent=intent)


async def _behind(team: Fleet) -> tuple[Client, Client, Seen]:
    """A session of which a client has seen more than the second gateway has, which is cut off.

    Returns the client, a client of the second gateway that follows nothing yet, and what was seen.
    """
    first, second = team.gateways
    client = await first.client()
    session = await client.new_session([{"say": "good morning"}])
    await second.until(lambda: session in second.rows("sessions"))
    other, fresh = await second.client(), await second.client()
    seen, elsewhere = Seen(session), Seen(session)
    await client.say(type="open", document=session)
    await seen.until(client, "good morning")
    await other.say(type="open", document=session)
    await elsewhere.until(other, "good morning")
    second.bus.cut()
    await _prompt(client, session, "good evening")
    await seen.until(client, "good evening")
    return client, fresh, seen


@pytest.mark.parametrize("window_known", [True, False])
async def test_N50_a_gateway_that_is_behind_shows_nothing_older(
    team: Fleet, window_known: bool
) -> None:
    client, other, seen = await _behind(team)
    second = team.gateways[1]
    position = seen.position if window_known else {**seen.position, "oldest": None}
    await other.say(type="open", document=seen.session, **position)
    # It gets no snapshot and no page of what this gateway has, and is told why.
    await other.say(type="fetch", document=seen.session, before="x", count=10)
    problem = await other.hear(document=seen.session)
    assert (problem["type"], problem["code"]) == ("error", "unavailable"), problem
    second.bus.heal()
    await _prompt(client, seen.session, "good night")
    await seen.until(other, "good night")


async def test_N50_a_position_that_no_gateway_has_shown_gets_a_snapshot(team: Fleet) -> None:
    client, _, seen = await _behind(team)
    await client.say(
        type="open", document=seen.session, last_seq=2**40, epoch=seen.epoch, oldest=None
    )
    snapshot = await client.hear("snapshot", document=seen.session)
    assert snapshot["seq"] >= seen.seq


async def test_N50_a_client_that_has_seen_nothing_gets_what_its_gateway_has(team: Fleet) -> None:
    _, other, seen = await _behind(team)
    await other.say(type="open", document=seen.session)
    snapshot = await other.hear("snapshot", document=seen.session)
    assert snapshot["seq"] < seen.seq
