"""Gets the verdicts of a CLI on many scenarios and stores them, one scenario per line of JSON.

Stored verdicts can be held against a changed policy without running the CLI again.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from fairlead.testing.real_cli import RealCli
from tests.e2e.real_cli.policy.compare import Verdicts
from tests.e2e.real_cli.policy.layouts import Workspace
from tests.e2e.real_cli.policy.scenario import Scenario
from tests.e2e.real_cli.policy.verdicts import verdicts

__all__ = ["SLICE", "ask_cli", "load", "record"]

SLICE = Path(__file__).parent / "slice"
"""Recorded verdicts on a fixed set of calls, one file per version."""

Recorded = tuple[Scenario, Verdicts]


async def ask_cli(scenario: Scenario, cli: RealCli) -> Verdicts:
    """The verdicts of a real CLI on one scenario, in folders that are removed afterwards."""
    # The CLI opens a socket below its home, whose path may have 107 bytes.
    with tempfile.TemporaryDirectory(prefix="fl-", ignore_cleanup_errors=True) as folder:
        return await verdicts(scenario, cli, _workspace(scenario, folder))


def _workspace(scenario: Scenario, folder: str) -> Workspace:
    workspace = Workspace(scenario, Path(folder).resolve())
    workspace.build()
    return workspace


async def record(
    scenarios: Iterable[Scenario], cli: RealCli, *, workers: int, save: Path | None = None
) -> list[Recorded]:
    """The verdicts on all scenarios, with as many processes at a time as there are workers.

    Scenarios that the file `save` already has are not asked again, so that a run can be continued.
    """
    wanted = list(scenarios)
    done = [item for item in _stored(save) if item[0] in wanted]
    known = {scenario.seed for scenario, _ in done}
    waiting: Iterator[Scenario] = iter([each for each in wanted if each.seed not in known])

    async def work() -> None:
        for scenario in waiting:
            try:
                found = await ask_cli(scenario, cli)
            except AssertionError as error:
                # A CLI that does not start with these settings decides nothing.
                sys.stderr.write(f"{scenario.seed}: {str(error)[:300]}\n")
                continue
            done.append((scenario, found))
            if save is not None:
                with save.open("a") as file:
                    file.write(json.dumps([scenario.plain(), found]) + "\n")

    await asyncio.gather(*(work() for _ in range(workers)))
    return sorted(done, key=lambda item: item[0].seed)


def _stored(save: Path | None) -> list[Recorded]:
    return load(save) if save is not None and save.exists() else []


def load(path: Path) -> list[Recorded]:
    """What `record` stored."""
    lines = (json.loads(line) for line in path.read_text("utf-8").splitlines())
    return [(Scenario.of(plain), found) for plain, found in lines]
