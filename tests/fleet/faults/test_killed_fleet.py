"""Nodes, gateways and nats-servers are killed with -9 while robots work through both gateways.

Nothing that was accepted is lost or carried out twice, what any robot saw is in the log of its machine,
and after each kill the fleet is whole again. `FAIRLEAD_FLEET_KILLS=250` kills each kind that often.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import time
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from fairlead.server.policy import Policy
from fairlead.store.sqlite import SqliteStore
from tests.faults.checker import Findings, check
from tests.faults.fault_harness import read_log
from tests.faults.faulty_client import GOOD
from tests.fleet.faults.fleet_processes import FleetProcesses, fleet_processes
from tests.fleet.faults.fleet_robot import FleetRobot
from tests.waiting import until

KILLS = int(os.environ.get("FAIRLEAD_FLEET_KILLS", "2"))
SERVERS = (1, 3) if os.environ.get("FAIRLEAD_CLUSTER") else (1,)
HEALED_S = float(os.environ.get("FAIRLEAD_FLEET_HEALED_S", "20"))
"""The bar is 2 s on an otherwise idle machine."""

PATIENCE_S = 120.0
SLOWEST = 5
REPEAT_S = 0.5

TURN = json.dumps([{"drip": [40, 0.02]}, {"ask": {"id": "ASK"}}, {"wait": 1}, {"drip": [20, 0.02]}])


class Rounds:
    """The robots, and what the kills came to."""

    def __init__(self, fleet: FleetProcesses, seed: int) -> None:
        self.fleet = fleet
        self.rng = random.Random(seed)
        self.robots: dict[str, FleetRobot] = {}
        self.healed: dict[str, list[float]] = {"node": [], "gateway": [], "bus": []}
        """From the moment at which the process was ready again."""
        self.outages: dict[str, list[float]] = {"node": [], "gateway": [], "bus": []}
        """From the kill, with the start of the process."""
        self._stop = asyncio.Event()
        self._running: list[asyncio.Task[None]] = []

    async def begin(self) -> None:
        """A session on each node, with a robot that follows it."""
        for number, name in enumerate(self.fleet.nodes):
            robot = FleetRobot(
                name=f"robot-{name}", server="", port=0, token=self.fleet.token,
                session="", rng=random.Random(number), fault_rates=replace(GOOD, repeats=0.5),
                gateways=tuple(self.fleet.ports.values()), node=self.fleet.nodes[name],
            )  # fmt: skip
            self.robots[name] = robot
            self._running.append(asyncio.create_task(robot.run(self._stop)))
            self._running.append(asyncio.create_task(self._repeat(robot)))
            folder = self.fleet.folder / name / "project"
            n = robot.want("new_session", cwd=str(folder))
            await until(partial(robot._results.get, n), PATIENCE_S)
            assert robot._results[n]["ok"], robot._results[n]
            robot.session = robot._results[n]["result"]["session"]
            await self._reconnect(robot)

    async def _repeat(self, robot: FleetRobot) -> None:
        """Send what has no result again, as the web app does after "not now"."""
        while True:
            await asyncio.sleep(REPEAT_S)
            for n in sorted(robot._open):
                await robot.say_now(n)

    async def _reconnect(self, robot: FleetRobot) -> None:
        """Have the robot say hello again, with its session."""
        if robot._socket is not None:
            robot._socket.transport.abort()
        await until(lambda: robot.state is not None, PATIENCE_S)

    async def work(self, number: int) -> None:
        """A prompt for each session, which the kill will meet."""
        for name, robot in self.robots.items():
            if robot.waiting < 3:
                n = robot.prompt(TURN.replace("ASK", f"ask-{name}-{number}"))
                await robot.say_now(n)
        await asyncio.sleep(self.rng.uniform(0.0, 0.3))  # Any moment will do; that is the test.

    async def kill(self, kind: str) -> None:
        """Kill one process of a kind, start it again, and wait until the fleet is whole."""
        began, ready = time.monotonic(), list[float]()
        starting: asyncio.Task[float] | None = None
        if kind == "bus":
            await self.fleet.kill_bus(self.rng.randrange(len(self.fleet.nats.servers)))
            ready.append(time.monotonic())
        else:
            names = self.fleet.nodes if kind == "node" else self.fleet.ports
            name = self.rng.choice(sorted(names))
            await self.fleet.kill(name)
            starting = asyncio.create_task(self.fleet.start(name))
            starting.add_done_callback(lambda _: ready.append(time.monotonic()))
        await self.fleet.healed()
        whole = time.monotonic()
        self.outages[kind].append(whole - began)
        if starting is not None:  # A gateway serves before it prints a link.
            await starting
        self.healed[kind].append(max(0.0, whole - ready[0]))

    async def finish(self) -> dict[str, Findings]:
        """Let everything come to an end, and judge it by the logs of the machines."""
        for robot in self.robots.values():
            await until(partial(_is_answered, robot), PATIENCE_S)
            last = robot.prompt("the last words")
            await robot.say_now(last)
            await until(partial(robot._done.get, last), PATIENCE_S)
            await until(partial(_is_spoken, robot), PATIENCE_S)
        self._stop.set()
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        found = {}
        for name, robot in self.robots.items():
            self.fleet.running[name].kill(15)
            await self.fleet.ended(name)
            async with SqliteStore(self.fleet.folder / name / "data") as store:
                found[name] = await check(
                    store, [robot.session], [robot], read_log(self.fleet.log(name)),
                    Policy(roots=(self.fleet.folder / name,)), killed=True,
                )  # fmt: skip
        return found


def _listed(times: list[float]) -> str:
    ordered = sorted(times)
    slow = " ".join(f"{each:.2f}" for each in ordered[-SLOWEST:])
    return f"{ordered[len(ordered) // 2]:.2f} s (median), the slowest {slow} s"


def _is_answered(robot: FleetRobot) -> bool:
    return not robot.waiting


def _is_spoken(robot: FleetRobot) -> bool:
    state = robot.state
    return state is not None and any(
        item["kind"] == "text" and item["text"] == "the last words" for item in state["items"]
    )


@pytest.mark.timeout(300 + 60 * KILLS)
@pytest.mark.parametrize("servers", SERVERS)
async def test_N18_no_kill_loses_or_doubles_what_was_accepted(
    servers: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kills = KILLS if servers == 1 else max(KILLS // 5, 2)
    began = time.monotonic()
    async with fleet_processes(tmp_path, servers) as fleet:
        rounds = Rounds(fleet, seed=18)
        await rounds.begin()
        for number in range(kills):
            for place, kind in enumerate(("node", "gateway", "bus")):
                await rounds.work(3 * number + place)
                await rounds.kill(kind)
        findings = await rounds.finish()
    with capsys.disabled():
        for kind, times in rounds.healed.items():
            sys.stdout.write(
                f"\nfleet, {servers} nats-server: {kills} kills of a {kind}: whole again in "
                f"{_listed(times)}; with its start {_listed(rounds.outages[kind])}"
            )
        for name, found in findings.items():
            robot = rounds.robots[name]
            sys.stdout.write(f"\n  {name}: {found}; {dict(robot.counts)}")
            sys.stdout.write(f"; refused: {Counter(robot.refusals)}")
        load = os.getloadavg()[0]
        sys.stdout.write(f"\n  {time.monotonic() - began:.0f} s, load {load:.1f}\n")
    for found in findings.values():
        assert found.problems == {}
        assert found.inputs >= kills
        assert found.views > kills
    for times in rounds.healed.values():
        assert sorted(times)[len(times) // 2] < HEALED_S
