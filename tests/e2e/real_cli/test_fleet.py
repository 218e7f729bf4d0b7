"""A fleet with real CLIs on a real nats-server: approvals, moves, and an adoption."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fairlead.model_api.replies import reply, use
from fairlead.server.limits import Limits
from fairlead.server.policy import Policy
from fairlead.server.service import open_service
from fairlead.testing.hermetic import hermetic_env
from tests.e2e.real_cli.cli_harness import CliHarness
from tests.fleet.bus.nats_harness import running_bus
from tests.fleet.fleet_harness import Fleet, FleetNode
from tests.fleet.moving import git, moved, repository
from tests.fleet.nats_fleet import nats_fleet
from tests.server.conftest import Client, Served

pytestmark = pytest.mark.timeout(400)

NODES, GATEWAYS = ("node0", "node1"), ("gate0",)


def serving_cli(
    harness: CliHarness, home: Path
) -> Callable[..., AbstractAsyncContextManager[Served]]:
    """Starts a server whose sessions run the real CLI with a home folder of its own."""

    @asynccontextmanager
    async def serving(folder: Path, limits: Limits, **more: Any) -> AsyncIterator[Served]:
        project = folder / "project"
        project.mkdir(exist_ok=True)
        options = replace(harness.options(), env=hermetic_env(home, harness.model.base_url))
        async with open_service(
            data=folder / "data",
            options=options,
            agent="claude",
            limits=limits,
            policy=Policy(roots=(folder,), inherit_env=False),
            projects=home / ".claude" / "projects",
            **more,
        ) as service:
            running = asyncio.create_task(service.run())
            yield Served(service, project)
            service.stop()
            await asyncio.wait_for(running, 60)

    return serving


@pytest.fixture
def homes() -> Iterator[tuple[Path, Path]]:
    folders = [Path(tempfile.mkdtemp(prefix="fl-")).resolve() for _ in NODES]
    yield folders[0], folders[1]
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
async def team(
    harness: CliHarness, homes: tuple[Path, Path], tmp_path: Path
) -> AsyncIterator[Fleet]:
    async with (
        running_bus(tmp_path / "bus") as nats,
        nats_fleet(nats, tmp_path, NODES, GATEWAYS) as made,
    ):
        for name, home in zip(NODES, homes, strict=True):
            await made.add_node(
                name, serving=serving_cli(harness, home), copied_folders=(tmp_path / name,)
            )
        for name in GATEWAYS:
            await made.add_gateway(name)
        await made.known()
        yield made


async def begin(team: Fleet, prompt: str) -> tuple[Client, str]:
    """A session of the first machine, begun through the gateway."""
    gate, node = team.gateways[0], team.nodes[0]
    client = await gate.client()
    await client.say(
        type="intent",
        n=1,
        node=node.id,
        intent={"kind": "new_session", "cwd": str(node.project), "prompt": prompt},
    )
    client.n = 1
    result = await client.hear("intent_result", n=1)
    assert result["ok"], result
    return client, str(result["result"]["session"])


async def turns(team: Fleet, node: FleetNode, session: str, count: int) -> None:
    """Wait until a machine has ended this many turns of a session."""
    sessions = node.service.registry.sessions

    def over() -> bool:
        live = sessions.loaded(session)
        outcomes = [] if live is None else [turn.outcome for turn in live.transcript.turns]
        return outcomes.count("success") >= count

    await team.gateways[0].until(over)


async def say(client: Client, session: str, text: str) -> None:
    result = await client.intend("send", session=session, text=text, uuid=str(uuid.uuid4()))
    assert result["ok"], result


def listed_on(team: Fleet, session: str, node: FleetNode) -> Callable[[], bool]:
    directory = team.gateways[0].gateway.directory
    return lambda: directory.owner(session) == (node.id, session)


async def test_N18_a_command_is_approved_through_a_gateway(
    team: Fleet, harness: CliHarness
) -> None:
    node = team.nodes[0]
    tool = node.project / "tool.sh"
    tool.write_text('#!/bin/sh\necho "ran $*"\n')
    tool.chmod(0o755)
    harness.model.push(use("Bash", command="./tool.sh now"), reply("It ran."))
    client, session = await begin(team, "run it")
    pending = await client.pending(session)
    decided = await client.intend(
        "decide",
        session=session,
        request_id=pending["id"],
        input_sha256=pending["input_sha256"],
        decision="allow",
    )
    assert decided["ok"], decided
    await turns(team, node, session, 1)
    assert harness.model.requests[-1].tool_results[0].text == "ran now"
    row = team.gateways[0].rows("nodes")[node.id]
    assert row.cli_version == str(harness.cli.version)


async def test_N24_a_moved_session_remembers_the_conversation_and_has_its_files(
    team: Fleet, harness: CliHarness
) -> None:
    source, target = team.nodes
    gate = team.gateways[0]
    repository(source.project)
    harness.model.push(reply("The word is marigold."), reply("Marigold, of course."))
    client, session = await begin(team, "Remember a word.")
    await turns(team, source, session, 1)

    result = await moved(gate, client, session, target.id)
    assert result["state"] == "done", result
    assert result["resume"], result
    assert git(Path(result["cwd"]), "status", "--porcelain") == " M a.txt\n?? new.txt\n"
    await gate.until(listed_on(team, session, target))
    await say(client, session, "Which word?")
    await turns(team, target, session, 2)
    seen = json.dumps(harness.model.requests[-1].messages)
    assert "Remember a word." in seen
    assert "The word is marigold." in seen
    assert "Which word?" in seen
    # The CLI runs in the new folder.
    assert result["cwd"] in json.dumps(harness.model.requests[-1].body)
    assert not source.service.registry.sessions.live


async def test_N28_an_adopted_session_remembers_the_conversation(
    team: Fleet, harness: CliHarness
) -> None:
    source, target = team.nodes
    gate = team.gateways[0]
    (source.project / "notes.txt").write_text("the note says lavender")
    harness.model.push(
        use("Read", file_path=str(source.project / "notes.txt")),
        reply("I have read it."),
        reply("Lavender."),
    )
    client, session = await begin(team, "Read the notes.")
    await turns(team, source, session, 1)
    copies = source.node.copies
    live = source.service.registry.sessions.loaded(session)
    assert copies is not None
    assert live is not None
    await gate.until(lambda: copies.replicator.replicated(session) >= live.seq)
    await source.stop()
    await gate.until(lambda: not gate.gateway.directory.is_here(source.id))

    result = await moved(gate, client, session, target.id, kind="adopt", folder=str(target.project))
    assert result["state"] == "done", result
    assert result["remembers"]
    await gate.until(listed_on(team, session, target))
    await say(client, session, "What did they say?")
    await turns(team, target, session, 2)
    seen = json.dumps(harness.model.requests[-1].messages)
    assert "Read the notes." in seen
    assert "the note says lavender" in seen
    assert "I have read it." in seen
