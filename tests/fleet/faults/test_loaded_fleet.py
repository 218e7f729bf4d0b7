"""Twenty machines with 25 sessions each, and 200 sockets on two gateways: people are not kept waiting.

Every process is real: a nats-server, two gateways, 20 nodes, and a CLI for each session, which is
played by `bench.server_load`. `make test` runs a small form of it. FAIRLEAD_MATRIX=whole makes it
whole and asserts the times too, which says something only on a machine that does nothing else:

    FAIRLEAD_MATRIX=whole pytest -s tests/fleet/faults/test_loaded_fleet.py

FAIRLEAD_FLEET_PACE sets how many lines a second each session writes then. All processes, also the clients
and the CLIs, share the cores of one machine here.
"""

from __future__ import annotations

import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from bench.server_load.figures import AIM_S, Figures
from bench.server_load.load import Plan, run
from bench.server_load.processes import Usage, cpu_of, environment, pair_more, usage_of
from tests.fleet.faults.fleet_processes import FleetProcesses, fleet_processes
from tests.matrix import WHOLE

PACE = float(os.environ.get("FAIRLEAD_FLEET_PACE", "2"))
NODES = 20 if WHOLE else 3
PLAN = (
    Plan(
        sessions=25 * NODES, sockets=200, lines_per_s=PACE, asking_lines_per_s=10.0,
        seconds=30.0, warm_s=5.0, idle_s=2.0,
    )
    if WHOLE
    else Plan(
        sessions=NODES, sockets=8, lines_per_s=10.0, seconds=2.0, warm_s=0.5, idle_s=0.1,
        askers=1, actors=2,
    )
)  # fmt: skip


class LoadedFleet:
    """A fleet as `bench.server_load` uses a server (`LoadedServer`)."""

    def __init__(self, fleet: FleetProcesses, stack: AsyncExitStack) -> None:
        self._fleet = fleet
        self._stack = stack
        self.ports = tuple(fleet.ports.values())
        self.port = self.ports[0]
        self.token = fleet.token
        self.nodes = tuple(fleet.nodes.values())

    async def pair(self, count: int) -> list[str]:
        """The tokens of so many further devices, which work at both gateways."""
        folder = self._fleet.folder
        return await pair_more(folder / "gate0" / "data", environment(folder), count)

    def pids(self) -> list[int]:
        """All processes."""
        return [pid for pids in self._parts().values() for pid in pids]

    def usage(self) -> Usage:
        """What all processes take together."""
        used = [usage_of(pid) for pid in self.pids()]
        return Usage(rss=sum(each.rss for each in used), cpu_s=sum(each.cpu_s for each in used))

    def cpu_parts(self) -> dict[str, float]:
        """CPU time so far of the nodes, the gateways and the nats-server."""
        return {name: sum(map(cpu_of, pids)) for name, pids in self._parts().items()}

    def _parts(self) -> dict[str, list[int]]:
        running = self._fleet.running
        return {
            "nodes": [running[name].pid for name in self._fleet.nodes],
            "gateways": [running[name].pid for name in self._fleet.ports],
            "nats-server": [server.pid for server in self._fleet.nats.servers],
        }

    async def metric(self, name: str) -> float:
        """A gateway does not know the figures of the nodes' stores."""
        return 0.0

    async def end(self) -> None:
        """End all processes."""
        await self._stack.aclose()


@pytest.mark.timeout(1800 if WHOLE else 240)
async def test_people_wait_little_with_many_machines_and_sockets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with AsyncExitStack() as stack:  # It ends the fleet, also if the load never began.

        async def start(folder: Path, agent: Path, _: Path) -> LoadedFleet:
            made = await stack.enter_async_context(
                fleet_processes(folder, nodes=NODES, agent=agent)
            )
            return LoadedFleet(made, stack)

        figures = await run(PLAN, tmp_path, lambda text: None, start=start)
    with capsys.disabled():
        load = os.getloadavg()[0]
        sys.stdout.write(f"\n{NODES} nodes, 2 gateways, load {load:.1f}\n{figures.table()}\n")
    _judge(figures)


def _judge(figures: Figures) -> None:
    assert figures.complete
    assert figures.lines
    if WHOLE:
        assert figures.permissions  # So that the time until a request is shown was measured too.
        assert figures.worst_p99 < AIM_S
