"""Source, target or gateway is killed with -9 at each step of a move: one machine has the session.

Every case is a session of its own. `make faults` runs all cases, `make test` two of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from fairlead.store.sqlite import SqliteStore
from tests.faults.fault_harness import read_log
from tests.fleet.faults.fleet_processes import FleetProcesses, fleet_processes
from tests.fleet.fleet_harness import text_of
from tests.fleet.moving import repository
from tests.fleet.stories.story import post
from tests.matrix import WHOLE, share
from tests.server.conftest import Client

STATES = ("draining", "packing", "sending", "unpacking", "committing", "done")
VICTIMS = {"source": "node0", "target": "node1", "gateway": "gate0"}
CASES = [
    ("source", "sending"),
    *((victim, state) for victim in VICTIMS for state in STATES),
    ("target", "committing"),
]
LARGE = 4 * 1024 * 1024
PATIENCE_S = 150.0
"""A source whose gateway is silent releases the session after a minute."""


@dataclass
class Address:
    """A gateway as a client uses it."""

    base: str
    project: Path


@dataclass
class Moved:
    """A session that was moved while something was killed."""

    victim: str
    state: str
    session: str
    killed_at: str = ""
    owner: str = ""
    whole_s: float = 0.0
    accepted: list[str] = field(default_factory=list)


async def _try(fleet: FleetProcesses, number: int, victim: str, state: str) -> Moved:
    project = fleet.folder / "node0" / f"project{number}"
    project.mkdir()
    repository(project)
    (project / "large.bin").write_bytes(os.urandom(LARGE))
    address = Address(f"http://127.0.0.1:{fleet.ports['gate1']}", project)
    client = await Client(address, fleet.token).connect()  # type: ignore[arg-type]
    client.n += 1
    before = json.dumps([{"say": f"before {number}"}])
    intent = {"kind": "new_session", "cwd": str(project), "prompt": before}
    await client.say(type="intent", n=client.n, node=fleet.nodes["node0"], intent=intent)
    made = await client.hear("intent_result", n=client.n)
    assert made["ok"], made
    case = Moved(victim, state, made["result"]["session"])
    await text_of(client, case.session, f"before {number}")
    await client.socket.close()
    await _kill_within(fleet, case)
    began = time.monotonic()
    client = await Client(address, fleet.token).connect()  # type: ignore[arg-type]
    await _works(client, case, f"after {number}")
    case.whole_s = time.monotonic() - began
    await client.socket.close()
    return case


async def _kill_within(fleet: FleetProcesses, case: Moved) -> None:
    """Begin the move at the first gateway, and kill the victim when the move is in the state."""
    base = f"http://127.0.0.1:{fleet.ports['gate0']}"
    body = {"node": fleet.nodes["node1"]}
    path = f"/api/sessions/{case.session}/move"
    async with asyncio.timeout(PATIENCE_S):
        while True:  # The first gateway may not have heard of the session yet.
            status, move = await asyncio.to_thread(post, base, path, body, fleet.token)
            if status == 200:
                break
            assert status in (404, 503), status
            await asyncio.sleep(0.1)
        wanted = STATES.index(case.state)
        while True:
            told = await asyncio.to_thread(fleet.get, "gate0", f"/api/moves/{move['id']}")
            case.killed_at = told["state"]
            if told["state"] not in STATES or STATES.index(told["state"]) >= wanted:
                break
    name = VICTIMS[case.victim]
    await fleet.kill(name)
    await fleet.start(name)
    await fleet.healed()


async def _works(client: Client, case: Moved, words: str) -> None:
    """Send prompts until one is accepted, and see that it is carried out."""
    text = json.dumps([{"say": words}])
    began = time.monotonic()
    async with asyncio.timeout(2 * PATIENCE_S):
        while True:
            prompt = str(uuid.uuid4())
            sent = await client.intend("send", session=case.session, text=text, uuid=prompt)
            if sent["ok"]:
                case.accepted.append(prompt)
                break
            assert sent["code"] in ("unavailable", "conflict"), sent
            assert time.monotonic() - began < PATIENCE_S, (case, sent)
            await asyncio.sleep(0.2)
        await text_of(client, case.session, words)


async def _check(fleet: FleetProcesses, cases: list[Moved]) -> None:
    """Judge by the databases of both machines, after they have ended."""
    for name in fleet.nodes:
        fleet.running[name].kill(15)
        await fleet.ended(name)
    told: list[str] = []
    owners: dict[str, list[str]] = {}
    async with contextlib.AsyncExitStack() as stack:
        stores = {}
        for name in fleet.nodes:
            store = SqliteStore(fleet.folder / name / "data")
            stores[name] = await stack.enter_async_context(store)
            told += [
                each["uuid"] for each in read_log(fleet.log(name)) if each.get("type") == "user"
            ]
            for row in await store.sessions():
                if row.moved is None:
                    owners.setdefault(row.id, []).append(name)
        for number, case in enumerate(cases):
            assert len(owners[case.session]) == 1, case
            case.owner = owners[case.session][0]
            lines = b"".join(
                each.line for each in await stores[case.owner].read(case.session, 0, 10_000)
            )
            for words in (f"before {number}", f"after {number}"):
                assert words.encode() in lines, (words, case)
            rows: dict[str, Any] = {row.id: row for row in await stores[case.owner].sessions()}
            folder = Path(rows[case.session].cwd)
            assert (folder / "a.txt").read_text() == "changed\n", case
            assert (folder / "new.txt").read_text() == "new\n", case
            assert (folder / "large.bin").stat().st_size == LARGE, case
            for prompt in case.accepted:
                assert told.count(prompt) == 1, case


@pytest.mark.matrix(target="faults")
@pytest.mark.timeout(3600 if WHOLE else 600)
async def test_N27_no_kill_during_a_move_leaves_two_owners_or_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = []
    async with fleet_processes(tmp_path) as fleet:
        for number, (victim, state) in enumerate(share(CASES, 2)):
            cases.append(await _try(fleet, number, victim, state))
        await _check(fleet, cases)
    with capsys.disabled():
        for case in cases:
            sys.stdout.write(
                f"\nmove: {case.victim} killed at {case.killed_at} (wanted {case.state}): on "
                f"{case.owner}, accepted a prompt {case.whole_s:.1f} s after the fleet was whole"
            )
        sys.stdout.write(f"\n  load {os.getloadavg()[0]:.1f}\n")
