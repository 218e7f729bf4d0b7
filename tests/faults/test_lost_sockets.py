"""Robots on bad networks: nothing that was shown is lost, nothing happens twice.

`FAIRLEAD_FAULT_ROUNDS=50` makes the first test as much longer.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairlead.server.session.loading import Loaded
from fairlead.store.sqlite import SqliteStore
from fairlead.testing.emulated import EmulatedClaude
from tests.faults.checker import check
from tests.faults.ground import Ground, ground, read_log, teed_agent
from tests.faults.proxy import FaultProxy
from tests.faults.robot import Robot

ROUNDS = int(os.environ.get("FAIRLEAD_FAULT_ROUNDS", "1"))
ROBOTS = 10
PROMPTS = 5
"""For each robot and round."""


def prompt(robot: int, number: int) -> str:
    """Some words over some time, and for every third a question in between."""
    asks = [{"ask": {"id": f"ask-{robot}-{number}"}}, {"wait": 1}] if number % 3 == 0 else []
    return json.dumps([{"drip": [70, 0.25]}, *asks, {"drip": [70, 0.25]}])


async def storm(
    place: Ground, sessions: list[str], seed: int, text: Any, prompts: int = PROMPTS
) -> list[Robot]:
    """Robots through the proxy until all they want is done, then all of them up to date."""
    async with FaultProxy(place.service.port, seed=seed) as proxy:
        robots = [
            await place.robot(sessions[n % len(sessions)], proxy.port, seed + n)
            for n in range(ROBOTS)
        ]
        stop = asyncio.Event()
        running = [asyncio.create_task(robot.run(stop)) for robot in robots]
        for n, robot in enumerate(robots):
            for number in range(prompts * ROUNDS):
                robot.prompt(text(n, number))
        await place.until(
            lambda: (
                not any(entry.waiting for entry in robots) and all(map(place.at_rest, sessions))
            ),
            150.0 * ROUNDS,
        )
        stop.set()
        await asyncio.wait_for(asyncio.gather(*running), 30)
        print(f"\nproxy: {proxy.connections} connections, {dict(proxy.ends)}")  # noqa: T201
    last = {entry: await place.service.store.last_seq(entry) for entry in sessions}

    def up_to_date(robot: Robot) -> bool:
        rows = msgspec.json.decode(
            msgspec.json.encode(place.service.registry.lobby.section("sessions"))
        )
        listed = robot.lobby is not None and robot.lobby["sessions"] == rows
        return listed and robot.seq == last[robot.session]

    await asyncio.gather(*(entry.catch_up(place.service.port, up_to_date) for entry in robots))
    return robots


def tally(robots: list[Robot]) -> Counter[str]:
    total: Counter[str] = Counter()
    for robot in robots:
        total += robot.counts
    return total


@pytest.mark.timeout(300 * ROUNDS)
async def test_robots_on_bad_networks_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    async with ground(tmp_path) as place:
        sessions = [await place.session() for _ in range(3)]
        robots = await storm(place, sessions, 1, prompt)
        finals = {entry: place.service.registry.sessions.loaded(entry) for entry in sessions}
        findings = await check(
            place.service.store, sessions, robots, read_log(place.log), place.policy
        )
    counts = tally(robots)
    print(f"{findings}; {dict(counts)}")  # noqa: T201
    assert findings.problems == {}
    assert findings.events >= 5_000 * ROUNDS
    assert counts["connections"] >= 300 * ROUNDS
    assert findings.inputs == ROBOTS * PROMPTS * ROUNDS
    assert findings.permissions >= 20 * ROUNDS
    for kind in ("forgot", "lied", "read slowly", "sent again", "results again"):
        assert counts[kind], kind
    async with SqliteStore(tmp_path / "data") as store:
        for session, live in finals.items():
            assert live is not None
            again = await Loaded.from_log(store, session)
            assert again.transcript.snapshot() == live.transcript.snapshot()


SCRIPT = """
- steps:
    - {say: "First I look at it, word by word, and it takes a while to say all of this."}
    - {use: Bash, input: {command: "touch {{prompt}}.txt"}, as: look}
    - {wait: 0.05}
    - {say: "And that was it."}
"""


@pytest.mark.timeout(300 * ROUNDS)
async def test_the_emulator_as_the_agent_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    emulated = EmulatedClaude(tmp_path / "emulated", SCRIPT)
    log = tmp_path / "agent.log"
    agent = teed_agent(tmp_path, log, emulated.executable)
    async with ground(tmp_path, agent=agent) as place:
        sessions = [await place.session() for _ in range(2)]
        robots = await storm(place, sessions, 50, lambda robot, n: f"{robot}.{n}", 2)
        findings = await check(place.service.store, sessions, robots, read_log(log), place.policy)
    counts = tally(robots)
    print(f"{findings}; {dict(counts)}")  # noqa: T201
    assert findings.problems == {}
    assert findings.inputs == findings.permissions == ROBOTS * 2 * ROUNDS
    assert counts["connections"] >= 50 * ROUNDS
