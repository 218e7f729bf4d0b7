"""Two machines behind NAT join with the documented commands; one is cut off for a while."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.fleet.fleet_harness import text_of
from tests.fleet.stories.nat_story import NatStory, Phone, allowed, asking, nat_story
from tests.fleet.stories.nat_story_in_chromium import in_chromium


def decision(session: str, row: dict[str, Any]) -> dict[str, Any]:
    return {
        "session": session,
        "request_id": row["id"],
        "input_sha256": row["input_sha256"],
        "decision": "allow",
    }


@pytest.mark.timeout(600)
@pytest.mark.matrix(target="faults", cases=1)
@pytest.mark.parametrize("phone", ["websocket", "chromium"])
async def test_N43_machines_behind_nat_are_used_from_a_phone_and_survive_a_cut(
    phone: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with nat_story(tmp_path) as story:
        if phone == "chromium":
            await in_chromium(story, tmp_path, capsys)
        else:
            await over_a_socket(story)


async def over_a_socket(story: NatStory) -> None:
    """Approve a command on each machine, and cut the laptop off until it is shown as away."""
    phone = Phone(story)
    await phone.pair()
    await phone.connect()
    sessions = {}
    for machine in ("laptop", "desktop"):
        cwd, prompt = str(story.project(machine)), asking(machine, 1)
        sessions[machine] = session = await phone.new_session_on(machine, cwd, prompt)
        row = await phone.pending(session)
        assert (await phone.intend("decide", **decision(session, row)))["ok"]
        await allowed(story, machine)

    # The laptop loses its network in the middle of a turn, which it finishes all the same.
    await story.net.cut("laptop")
    await phone.machine("laptop", "away")
    refused = await phone.send(sessions["laptop"], "hello")
    assert refused["code"] == "unavailable", refused
    assert "laptop is away" in refused["message"]
    await text_of(phone, sessions["desktop"], "desktop did 1")
    await story.net.mend("laptop")
    await phone.machine("laptop", "here")
    await text_of(phone, sessions["laptop"], "laptop did 1")
    sent = await phone.send(sessions["laptop"], asking("laptop", 2))
    assert sent["ok"], sent
    row = await phone.pending(sessions["laptop"])
    assert (await phone.intend("decide", **decision(sessions["laptop"], row)))["ok"]
    await text_of(phone, sessions["laptop"], "laptop did 2")
    assert len(story.told("laptop", "user")) == 2  # What was refused was not kept.
    await phone.socket.close()
