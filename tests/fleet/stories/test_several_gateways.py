"""The story of a team: own nats-servers, two gateways, and the documented commands."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from fairlead.commands.fleet.given_bus import ACCOUNTS_FILE
from fairlead.fleet.bus.certificates import ensure_certificates
from fairlead.fleet.bus.nats_server import free_port
from fairlead.fleet.bus.server_binary import find_server
from tests.fleet.stories.story import SOON_S, Story, documented, listed, opened, post, status

SECTION = "A team with several gateways"
REVOKED_S = 1.0


@pytest.fixture
async def story(tmp_path: Path) -> AsyncIterator[Story]:
    story = Story(tmp_path)
    try:
        yield story
    finally:
        await story.close()


class Cluster:
    """Three nats-servers whose configuration is that of the page."""

    def __init__(self, folder: Path, accounts: Path, count: int) -> None:
        self._folder = folder
        self._accounts = accounts
        self.ports = [free_port() for _ in range(count)]
        self._routes = [free_port() for _ in range(count)]
        self.files = ensure_certificates(folder / "nats", ["127.0.0.1"])
        self.reload = folder / "reload"
        self.reload.write_text(f'for pid in "{folder}"/*.pid; do kill -HUP "$(cat "$pid")"; done\n')
        self._processes: list[asyncio.subprocess.Process] = []

    async def start(self) -> None:
        routes = ", ".join(f'"nats://127.0.0.1:{port}"' for port in self._routes)
        for place, (port, route) in enumerate(zip(self.ports, self._routes, strict=True)):
            config = self._folder / f"server{place}.conf"
            config.write_text(
                f"""
server_name: "server{place}"
listen: "127.0.0.1:{port}"
tls {{ cert_file: "{self.files.certificate}", key_file: "{self.files.key}", handshake_first: true }}
jetstream {{ store_dir: "{self._folder / f"store{place}"}" }}
{self._cluster(route, routes)}
pid_file: "{self._folder / f"server{place}.pid"}"
include "{self._accounts.relative_to(self._folder)}"
"""
            )
            self._processes.append(
                await asyncio.create_subprocess_exec(
                    await find_server(), "-c", str(config), "-l", str(config.with_suffix(".log"))
                )
            )

    def _cluster(self, route: int, routes: str) -> str:
        if len(self.ports) == 1:
            return ""
        return f'cluster {{ name: "team", listen: "127.0.0.1:{route}", routes: [{routes}] }}'

    async def close(self) -> None:
        for process in self._processes:
            process.terminate()
            await process.wait()


@asynccontextmanager
async def cluster_of(folder: Path, accounts: Path, count: int) -> AsyncIterator[Cluster]:
    cluster = Cluster(folder, accounts, count)
    try:
        yield cluster
    finally:
        await cluster.close()


def _on_this_machine(command: str, cluster: Cluster) -> str:
    """The documented command with the addresses and files of the test."""
    for place, port in enumerate(cluster.ports):
        command = command.replace(f"nats-{place + 1}:4222", f"127.0.0.1:{port}")
    if len(cluster.ports) == 1:
        command = re.sub(r" --bus tls://nats-\d:4222", "", command)
        command = command.replace("--bus-replicas 3", "--bus-replicas 1")
    command = command.replace("/etc/nats/ca.pem", str(cluster.files.authority))
    command = command.replace("/etc/nats/reload", f"'sh {cluster.reload}'")
    return re.sub(r" --(host|name|public-url|trusted-proxy) \S+", "", command)


@pytest.mark.timeout(400)
@pytest.mark.matrix(target="faults", cases=0)
@pytest.mark.parametrize("servers", [1, 3])
async def test_N34_the_documented_commands_add_a_second_gateway(
    servers: int, story: Story, tmp_path: Path
) -> None:
    first_command, invite_gateway, join_gateway, second_command = documented(SECTION)
    accounts = tmp_path / "first" / ".local" / "share" / "fairlead-gateway" / "bus" / ACCOUNTS_FILE
    async with cluster_of(tmp_path, accounts, servers) as cluster:
        local = _on_this_machine(first_command, cluster)
        first = await story.run("first", local.replace("--port 8787", "--port 0"))
        deadline = time.monotonic() + SOON_S
        while not accounts.exists():
            assert time.monotonic() < deadline, first.printed
            await asyncio.sleep(0.05)
        await cluster.start()
        base1, code = await opened(first)

        inviting = await story.run("first", invite_gateway)
        link = (await inviting.until(r"fairlead gateway join '(http://\S+)'"))[1]
        joining = await story.run("second", join_gateway.replace("LINK", link))
        number = (await joining.until(r"Its number is (\d{6})"))[1]
        assert (await inviting.until(r"must show the number (\d{6})"))[1] == number
        await inviting.say("y")
        assert await inviting.ended() == 0, inviting.printed
        assert await joining.ended() == 0, joining.printed
        local = re.sub(r" --(host|name|public-url|trusted-proxy) \S+", "", second_command)
        second = await story.run("second", local.replace("--port 8787", "--port 0"))
        base2, _ = await opened(second)
        await listed(story, "first", r"gateway")

        # A machine is invited at one gateway, asks at the other, and is confirmed at the first.
        inviting = await story.run("second", "fairlead fleet invite")
        link = (await inviting.until(r"fairlead node join '(http://\S+)'"))[1]
        joining = await story.run(
            "laptop",
            f"fairlead node join {link.replace(base2, base1)}",
            "--machine-name",
            "laptop",
        )
        await inviting.until(r"must show the number \d{6}")
        await inviting.say("y")
        assert await inviting.ended() == 0, inviting.printed
        assert await joining.ended() == 0, joining.printed
        node = await story.run("laptop", "fairlead node --agent demo --port 0 --no-browser")
        await node.until(r"knows this machine as laptop")
        for machine in ("first", "second"):
            await listed(story, machine, r"laptop +\w+ +here")

        # A code of one gateway works at the other; a device that one revokes is refused by both.
        made, owner = await asyncio.to_thread(
            post, base2, "/api/pair", {"code": code, "name": "phone"}
        )
        assert made == 200
        token = owner["token"]
        for base in (base1, base2):
            assert await asyncio.to_thread(status, base, "/api/health", token) == 200
        path = f"/api/devices/{owner['device']}/revoke"
        started = time.monotonic()
        assert await asyncio.to_thread(status, base1, path, token, "POST") == 200
        while await asyncio.to_thread(status, base2, "/api/health", token) != 401:
            assert time.monotonic() - started < 10 * REVOKED_S  # A second on an idle machine.

        removing = await story.run("second", "fairlead fleet remove laptop")
        assert await removing.ended() == 0, removing.printed
        await node.until(r"no connection to the bus")
        await listed(story, "first", r"No machine has joined")
