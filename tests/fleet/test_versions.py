"""The release before this one as a node of this gateway, and as a gateway of this node.

`releases/` has the code of that release, without its emulator and its web app. It runs as a process of
its own, with the dependencies of this one.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import tarfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.faults.fault_harness import read_log
from tests.faults.faulty_client import GOOD
from tests.faults.kill_harness import pair
from tests.faults.server_forker import Server, ServerForker
from tests.fleet.bus.nats_harness import running_bus
from tests.fleet.faults.fleet_processes import FleetProcesses
from tests.fleet.faults.fleet_robot import FleetRobot
from tests.waiting import until

RELEASE = Path(__file__).parent / "releases" / "d0729eb.tar.xz"
SOON_S = 120.0
TURN = json.dumps([{"say": "hello"}, {"ask": {"id": "ask-1"}}, {"wait": 1}, {"say": "allowed"}])


class OldFleet(FleetProcesses):
    """One gateway and one node, of which either is of the release before."""

    def unpack(self) -> None:
        with tarfile.open(RELEASE) as archive:
            archive.extractall(self.folder / "release", filter="data")

    def spawn_old(self, name: str, said: Path) -> subprocess.Popen[bytes]:
        """Start a process with the code of the release before."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "PYTHONPATH": str(self.folder / "release" / "src"),
        }
        with said.open("wb") as output:
            return subprocess.Popen(
                [sys.executable, "-m", "fairlead.commands.main", *self.arguments(name)],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment,
                cwd=self.folder,
            )  # fmt: skip

    def has_old_code(self, name: str) -> bool:
        """Whether a process runs the code of the release before."""
        environment = Path(f"/proc/{self.running[name].pid}/environ").read_bytes()
        return f"PYTHONPATH={self.folder / 'release' / 'src'}\0".encode() in environment


@asynccontextmanager
async def mixed(folder: Path, old: str) -> AsyncIterator[OldFleet]:
    """A fleet in which `old` is of the release before."""
    async with running_bus(folder / "bus") as nats, ServerForker(folder) as forker:
        made = OldFleet(folder, nats, forker)
        made.unpack()
        await made.write_folders()
        made.ports, made.nodes = (
            {"gate0": made.ports["gate0"]}, {"node0": made.nodes["node0"]},
        )  # fmt: skip
        said = folder / "said-old.txt"
        process = made.spawn_old(old, said)
        try:
            made.running[old] = await Server(process.pid, said).ready()
            for name in ("gate0", "node0"):
                if name != old:
                    await made.start(name)
            made.token = await asyncio.to_thread(pair, made.running["gate0"])
            yield made
        finally:
            process.kill()
            process.wait()


@pytest.mark.timeout(400)
@pytest.mark.parametrize("old", ["node0", "gate0"])
async def test_N38_the_release_before_works_with_this_one(old: str, tmp_path: Path) -> None:
    async with mixed(tmp_path, old) as fleet:
        assert fleet.has_old_code(old)
        await fleet.healed()
        robot = FleetRobot(
            name="robot", server="", port=0, token=fleet.token, session="", rng=random.Random(1),
            fault_rates=GOOD, gateways=(fleet.ports["gate0"],), node=fleet.nodes["node0"],
        )  # fmt: skip
        folder = fleet.folder / "node0" / "project"
        n = robot.want("new_session", cwd=str(folder), prompt=TURN)
        running = asyncio.create_task(robot.run(asyncio.Event()))
        try:
            await until(partial(robot._results.get, n), SOON_S)
            assert robot._results[n]["ok"], robot._results[n]
            robot.session = robot._results[n]["result"]["session"]
            if robot._socket is not None:
                robot._socket.transport.abort()  # It says hello again, with the session.
            await until(partial(_has_said, robot, "allowed"), SOON_S)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        assert robot.breaches == []
        received = [each["type"] for each in read_log(fleet.log("node0")) if "type" in each]
        assert received.count("user") == 1
        assert received.count("control_response") == 1


def _has_said(robot: FleetRobot, text: str) -> bool:
    items = robot.state["items"] if robot.state else ()
    return any(item["kind"] == "text" and item["text"] == text for item in items)
