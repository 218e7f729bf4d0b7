"""Networks of their own for the machines of a test: two homes behind NAT, a cloud box and a phone.

    laptop  192.168.1.2 - router 203.0.113.31 -+
    desktop 192.168.1.2 - router 203.0.113.32 -+- internet -+- cloud 203.0.113.10
                                                            +- phone 203.0.113.20

Each machine is a network namespace with its own /etc/hosts. A process that waits on a pipe keeps each
one, so they vanish with the test, however it ends. Both homes use the same addresses, as homes do, and
nothing reaches a machine behind a router unless the machine asked for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.server.remote.programs import find

__all__ = ["CLOUD", "GATEWAY_NAME", "Networks", "networks"]

GATEWAY_NAME = "agents.example.org"
CLOUD, PHONE = "203.0.113.10", "203.0.113.20"
HOMES = {"laptop": "203.0.113.31", "desktop": "203.0.113.32"}
LAN, LAN_ROUTER = "192.168.1.2", "192.168.1.1"
HOLD = 'mount --bind "$0" /etc/hosts && ip link set lo up && echo ready && exec cat'
NAT = """
table ip home {{
  chain leave {{ type nat hook postrouting priority 100; oifname "wan" masquerade; }}
  chain pass {{
    type filter hook forward priority 0; policy drop;
    ct state established,related accept
    iifname "lan" {allowed} accept
  }}
}}
table ip cut {{ }}
"""
CUT = "add chain ip cut pass { type filter hook forward priority -10; policy drop; }"
MEND = "delete chain ip cut pass"
CONNECT = """
import array, socket, sys
address, port, passing = sys.argv[1:]
made = socket.create_connection((address, int(port)), timeout=30)
socket.send_fds(socket.socket(fileno=int(passing)), [b"x"], [made.fileno()])
"""


class Networks:
    """Namespaces by name; `laptop` and `desktop` have a router each."""

    def __init__(self, folder: Path) -> None:
        self._hosts = folder / "hosts"
        self._hosts.write_text(f"127.0.0.1 localhost\n{CLOUD} {GATEWAY_NAME}\n")
        self._holders: dict[str, asyncio.subprocess.Process] = {}

    async def open(self, only_https: tuple[str, ...] = ()) -> None:
        """Connect all machines. The networks of `only_https` let nothing out but ports 443 and 8443."""
        for name in ("internet", "cloud", "phone", *HOMES, *(f"router-{home}" for home in HOMES)):
            await self._hold(name)
        await self._do("internet", "ip link add bridge type bridge")
        await self._do("internet", "ip link set bridge up")
        for name, address in (("cloud", CLOUD), ("phone", PHONE)):
            await self._plug(name, "wan", address)
        for home, address in HOMES.items():
            router = f"router-{home}"
            await self._plug(router, "wan", address)
            pid = self._holders[home].pid
            await self._do(router, f"ip link add lan type veth peer name wan netns {pid}")
            await self._up(router, "lan", LAN_ROUTER)
            await self._up(home, "wan", LAN)
            await self._do(home, f"ip route add default via {LAN_ROUTER}")
            allowed = "tcp dport { 443, 8443 }" if home in only_https else ""
            await self._do(router, "tee /proc/sys/net/ipv4/ip_forward", "1")
            await self._do(router, f"{find('nft')} -f -", NAT.format(allowed=allowed))

    def inside(self, name: str) -> list[str]:
        """The words before a command that runs on a machine."""
        pid = str(self._holders[name].pid)
        user = [] if self._is_root else ["--user", "--preserve-credentials"]
        return [find("nsenter"), "--target", pid, *user, "--net", "--mount"]

    async def cut(self, home: str) -> None:
        """Let the router of a machine drop every packet without a word."""
        await self._do(f"router-{home}", f"{find('nft')} -f -", CUT)

    async def mend(self, home: str) -> None:
        """End `cut`."""
        await self._do(f"router-{home}", f"{find('nft')} -f -", MEND)

    async def connection(self, name: str, address: str, port: int) -> socket.socket:
        """A connection from a machine, for this process."""
        here, there = socket.socketpair()
        words = [sys.executable, "-c", CONNECT, address, str(port), str(there.fileno())]
        try:
            process = await asyncio.create_subprocess_exec(
                *self.inside(name), *words, pass_fds=[there.fileno()]
            )
            assert await asyncio.wait_for(process.wait(), 60) == 0, f"{name} reaches no {address}"
            _, (made,), _, _ = socket.recv_fds(here, 1, 1)
            return socket.socket(fileno=made)
        finally:
            here.close()
            there.close()

    async def close(self) -> None:
        """End the namespaces; what runs in them must have ended."""
        for holder in self._holders.values():
            assert holder.stdin is not None
            holder.stdin.close()
        for holder in self._holders.values():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(20):
                    await holder.wait()
            if holder.returncode is None:
                holder.kill()
                await holder.wait()

    @property
    def _is_root(self) -> bool:
        return os.geteuid() == 0

    async def _hold(self, name: str) -> None:
        first = next(iter(self._holders.values()), None)
        # Without root, a user namespace makes this user root in all of them.
        user: list[str] = []
        before: list[str] = []
        if not self._is_root and first is None:
            user = ["--user", "--map-root-user"]
        elif not self._is_root and first is not None:
            before = [
                find("nsenter"),
                "--target",
                str(first.pid),
                "--user",
                "--preserve-credentials",
            ]
        holder = await asyncio.create_subprocess_exec(
            *before, find("unshare"), *user, "--net", "--mount", "sh", "-c", HOLD, str(self._hosts),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert holder.stdout is not None
        async with asyncio.timeout(60):
            assert await holder.stdout.readline() == b"ready\n", f"no namespace for {name}"
        self._holders[name] = holder

    async def _plug(self, name: str, device: str, address: str) -> None:
        pid = self._holders[name].pid
        await self._do("internet", f"ip link add {name} type veth peer name {device} netns {pid}")
        await self._do("internet", f"ip link set {name} master bridge up")
        await self._up(name, device, address)

    async def _up(self, name: str, device: str, address: str) -> None:
        await self._do(name, f"ip address add {address}/24 dev {device}")
        await self._do(name, f"ip link set {device} up")

    async def _do(self, name: str, command: str, text: str = "") -> None:
        process = await asyncio.create_subprocess_exec(
            *self.inside(name), *command.split(), stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        said, _ = await asyncio.wait_for(process.communicate(text.encode()), 60)
        assert process.returncode == 0, f"{command} on {name}: {said.decode()}"


@asynccontextmanager
async def networks(folder: Path, only_https: tuple[str, ...] = ()) -> AsyncIterator[Networks]:
    """Running networks."""
    made = Networks(folder)
    try:
        await made.open(only_https)
        yield made
    finally:
        await made.close()
