"""Clients on bad networks: nothing that was shown is lost, nothing happens twice.

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
from tests.faults.fault_harness import FaultHarness, open_fault_harness, read_log, teed_agent
from tests.faults.faulty_client import FaultyClient
from tests.faults.proxy import FaultProxy

ROUNDS = int(os.environ.get("FAIRLEAD_FAULT_ROUNDS", "1"))
CLIENTS = 10
PROMPTS = 5
"""For each client and round."""


def prompt(client: int, number: int) -> str:
    """Some text over some time, and for every third prompt a permission request in between."""
    asks = [{"ask": {"id": f"ask-{client}-{number}"}}, {"wait": 1}] if number % 3 == 0 else []
    return json.dumps([{"drip": [70, 0.25]}, *asks, {"drip": [70, 0.25]}])


async def storm(
    harness: FaultHarness, sessions: list[str], seed: int, text: Any, prompts: int = PROMPTS
) -> list[FaultyClient]:
    """Connects clients through the proxy until all their intents are done, then brings all of them
    up to date."""
    async with FaultProxy(harness.service.port, seed=seed) as proxy:
        clients = [
            await harness.client(sessions[n % len(sessions)], proxy.port, seed + n)
            for n in range(CLIENTS)
        ]
        stop = asyncio.Event()
        running = [asyncio.create_task(client.run(stop)) for client in clients]
        for n, client in enumerate(clients):
            for number in range(prompts * ROUNDS):
                client.prompt(text(n, number))
        await harness.until(
            lambda: (
                not any(entry.waiting for entry in clients) and all(map(harness.at_rest, sessions))
            ),
            150.0 * ROUNDS,
        )
        stop.set()
        await asyncio.wait_for(asyncio.gather(*running), 30)
        print(f"\nproxy: {proxy.connections} connections, {dict(proxy.ends)}")  # noqa: T201
    last = {entry: await harness.service.store.last_seq(entry) for entry in sessions}

    def up_to_date(client: FaultyClient) -> bool:
        rows = msgspec.json.decode(
            msgspec.json.encode(harness.service.registry.lobby.section("sessions"))
        )
        listed = client.lobby is not None and client.lobby["sessions"] == rows
        return listed and client.seq == last[client.session]

    await asyncio.gather(*(entry.catch_up(harness.service.port, up_to_date) for entry in clients))
    return clients


def tally(clients: list[FaultyClient]) -> Counter[str]:
    total: Counter[str] = Counter()
    for client in clients:
        total += client.counts
    return total


@pytest.mark.matrix(target="faults", cases=0)
@pytest.mark.timeout(300 * ROUNDS)
async def test_robots_on_bad_networks_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    async with open_fault_harness(tmp_path) as harness:
        sessions = [await harness.session() for _ in range(3)]
        clients = await storm(harness, sessions, 1, prompt)
        finals = {entry: harness.service.registry.sessions.loaded(entry) for entry in sessions}
        findings = await check(
            harness.service.store, sessions, clients, read_log(harness.log), harness.policy
        )
    counts = tally(clients)
    print(f"{findings}; {dict(counts)}")  # noqa: T201
    assert findings.problems == {}
    assert findings.events >= 5_000 * ROUNDS
    assert counts["connections"] >= 300 * ROUNDS
    assert findings.inputs == CLIENTS * PROMPTS * ROUNDS
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
    async with open_fault_harness(tmp_path, agent=agent) as harness:
        sessions = [await harness.session() for _ in range(2)]
        clients = await storm(harness, sessions, 50, lambda client, n: f"{client}.{n}", 2)
        findings = await check(
            harness.service.store, sessions, clients, read_log(log), harness.policy
        )
    counts = tally(clients)
    print(f"{findings}; {dict(counts)}")  # noqa: T201
    assert findings.problems == {}
    assert findings.inputs == findings.permissions == CLIENTS * 2 * ROUNDS
    assert counts["connections"] >= 50 * ROUNDS
