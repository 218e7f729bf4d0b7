"""What tests of moves share: a repository on a machine, and a move over the HTTP API of a gateway."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.fleet.fleet_harness import FleetGateway
from tests.server.conftest import Client
from tests.waiting import until

__all__ = ["begun", "ended", "git", "moved", "repository"]

PATIENCE_S = 60.0


def git(folder: Path, *arguments: str) -> str:
    """What git prints in a folder."""
    done = subprocess.run(
        ["git", "-c", "user.name=A", "-c", "user.email=a@localhost", *arguments],
        cwd=folder, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout


def repository(folder: Path) -> None:
    """Make a folder a repository with a commit, a changed file and a new one."""
    git(folder, "init", "--quiet", "--initial-branch=work")
    (folder / "a.txt").write_text("committed\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=first")
    (folder / "a.txt").write_text("changed\n")
    (folder / "new.txt").write_text("new\n")


async def begun(
    gate: FleetGateway, client: Client, session: str, node: str, **more: Any
) -> tuple[int, dict[str, Any]]:
    """Begin a move; the status and the answer."""
    status, body, _ = await gate.http(
        f"/api/sessions/{session}/move",
        method="POST",
        body={"node": node, **more},
        Authorization=f"Bearer {client.token}",
    )
    return status, json.loads(body)


async def ended(gate: FleetGateway, move: str) -> dict[str, Any]:
    """Wait for the end of a move; the answer."""
    found = gate.gateway.moves.find(move)
    await until(lambda: found.state in ("done", "failed", "cancelled"), PATIENCE_S)
    return {"state": found.state, "problem": found.problem, **found.result}


async def moved(
    gate: FleetGateway, client: Client, session: str, node: str, **more: Any
) -> dict[str, Any]:
    """Move a session and wait for the end."""
    status, answer = await begun(gate, client, session, node, **more)
    assert status == 200, answer
    return await ended(gate, answer["id"])
