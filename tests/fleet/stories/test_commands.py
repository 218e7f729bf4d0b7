"""The commands of docs/fleet.md, run as they are there, with other ports, names and folders."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fairlead.commands.fleet.given_bus import ACCOUNTS_FILE
from fairlead.fleet.bus.certificates import ensure_certificates
from fairlead.fleet.bus.nats_server import free_port
from fairlead.fleet.bus.server_binary import find_server
from tests.fleet.stories.story import SOON_S, Story, documented


@pytest.fixture
async def story(tmp_path: Path) -> AsyncIterator[Story]:
    story = Story(tmp_path)
    try:
        yield story
    finally:
        await story.close()


@pytest.mark.timeout(300)
async def test_the_documented_commands_make_a_fleet(story: Story) -> None:
    commands = documented("One inbox for your own machines")
    gateway_command, invite, join, node_command, listing, drain, remove = commands
    gateway = await story.run("cloud", gateway_command, *story.bus)
    await gateway.until(r"Fairlead gateway at https://[\w.]+:\d+")
    await gateway.until(r"open +https://[\w.]+:\d+/#code=\S+")

    inviting = await story.run("cloud", invite)
    link = (await inviting.until(r"fairlead node join '(https://[\w.]+:\d+/#join=\S+)'"))[1]
    assert "LINK" in join
    joining = await story.run("laptop", join.replace("LINK", link), "--machine-name", "laptop")
    number = (await joining.until(r"Its number is (\d{6})"))[1]
    shown = (await inviting.until(r"must show the number (\d{6})"))[1]
    assert number == shown
    await inviting.say("y")
    assert await inviting.ended() == 0
    assert await joining.ended() == 0

    node = await story.run("laptop", node_command, "--agent", "demo", "--port", "0", "--no-browser")
    await node.until(r"fleet +https://[\w.]+:\d+ knows this machine as laptop")
    await _listed(story, listing, r"laptop +\w+ +here")

    draining = await story.run("cloud", drain)
    assert await draining.ended() == 0, draining.printed
    assert "no new sessions" in draining.printed
    await _listed(story, listing, r"laptop +\w+ +here, drained")
    doctor = await story.run("cloud", "fairlead fleet doctor")
    assert await doctor.ended() == 0, doctor.printed
    assert "is connected to the bus" in doctor.printed
    assert "laptop is here, drained" in doctor.printed
    removing = await story.run("cloud", remove)
    assert await removing.ended() == 0, removing.printed
    await node.until(r"no connection to the bus")
    await _listed(story, listing, r"No machine has joined")


@pytest.mark.timeout(300)
async def test_a_gateway_uses_a_bus_that_someone_else_runs(story: Story, tmp_path: Path) -> None:
    port = free_port()
    files = ensure_certificates(tmp_path / "nats", ["127.0.0.1"])
    folder = tmp_path / "cloud" / ".local" / "share" / "fairlead-gateway" / "bus"
    (tmp_path / "reload").write_text('kill -HUP "$(cat "$0.pid")"\n')
    gateway = await story.run(
        "cloud",
        f"fairlead gateway --port 0 --bus tls://127.0.0.1:{port} --bus-ca {files.authority} "
        f"--bus-reload 'sh {tmp_path / 'reload'}'",
    )
    deadline = time.monotonic() + SOON_S
    while not (folder / ACCOUNTS_FILE).exists():
        assert time.monotonic() < deadline, gateway.printed
        await asyncio.sleep(0.05)
    config = tmp_path / "nats.conf"
    config.write_text(
        f"""
listen: "127.0.0.1:{port}"
tls {{ cert_file: "{files.certificate}", key_file: "{files.key}", handshake_first: true }}
jetstream {{ store_dir: "{tmp_path / "jetstream"}" }}
pid_file: "{tmp_path / "reload.pid"}"
include "{(folder / ACCOUNTS_FILE).relative_to(tmp_path)}"
"""
    )
    server = await asyncio.create_subprocess_exec(await find_server(), "-c", str(config))
    try:
        await gateway.until(r"open +http://127.0.0.1:\d+/#code=\S+")
        inviting = await story.run("cloud", "fairlead fleet invite")
        link = (await inviting.until(r"fairlead node join '(http://\S+)'"))[1]
        joining = await story.run("laptop", f"fairlead node join {link}")
        await inviting.until(r"must show the number \d{6}")
        await inviting.say("y")
        assert await inviting.ended() == 0, inviting.printed
        assert await joining.ended() == 0, joining.printed
        data = tmp_path / "laptop" / ".local" / "share" / "fairlead"
        doctor = await story.run("laptop", f"fairlead fleet --data {data} doctor")
        assert await doctor.ended() == 0, doctor.printed
        assert "the storage of the bus can be read" in doctor.printed
    finally:
        server.terminate()
        await server.wait()


async def _listed(story: Story, listing: str, pattern: str) -> None:
    """Wait until `fairlead fleet list` prints this; a beat takes a second."""
    printed = ""
    async with asyncio.timeout(SOON_S):
        while re.search(pattern, printed) is None:
            program = await story.run("cloud", listing)
            assert await program.ended() == 0, program.printed
            printed = program.printed


async def test_commands_say_what_to_do_first(story: Story) -> None:
    node = await story.run("fresh", "fairlead node")
    assert await node.ended() == 2
    assert "has not joined a fleet" in node.printed
    assert "fairlead node join LINK" in node.printed
    fleet = await story.run("fresh", "fairlead fleet list")
    assert await fleet.ended() == 1
    assert "No gateway is running" in fleet.printed
    join = await story.run("fresh", "fairlead node join http://192.0.2.1/#join=x")
    assert await join.ended() == 2
    assert "has no TLS" in join.printed
    wrong = await story.run("fresh", "fairlead node join https://localhost/#code=x")
    assert await wrong.ended() == 2
    assert "This link cannot join a fleet" in wrong.printed
