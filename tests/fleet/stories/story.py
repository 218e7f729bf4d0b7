"""Runs the commands of docs/fleet.md as they are there, with other ports, names and folders."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shlex
import signal
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from fairlead.fleet.bus.certificates import ensure_certificates
from fairlead.fleet.bus.nats_server import free_port

__all__ = ["SOON_S", "Program", "Story", "documented", "listed", "opened", "post", "status"]

PAGE = Path(__file__).parents[3] / "docs" / "fleet.md"
SOON_S = 60.0


def documented(section: str) -> list[str]:
    """The commands of a section of the page."""
    text = PAGE.read_text().split(f"## {section}\n")[1].split("\n## ")[0]
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith("fairlead ")]


class Program:
    """A running command and what it prints."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.printed = ""

    async def until(self, pattern: str) -> re.Match[str]:
        """Wait until it prints this."""
        assert self._process.stdout is not None
        try:
            async with asyncio.timeout(SOON_S):
                while (found := re.search(pattern, self.printed)) is None:
                    piece = await self._process.stdout.read(4096)
                    assert piece, f"it ended without {pattern!r}: {self.printed}"
                    self.printed += piece.decode()
        except TimeoutError:
            raise AssertionError(f"no {pattern!r} in {self.printed}") from None
        return found

    async def say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")
        await self._process.stdin.drain()

    async def kill(self) -> None:
        """End it as the system would."""
        self._process.kill()
        await self._process.wait()

    async def ended(self) -> int:
        assert self._process.stdout is not None
        async with asyncio.timeout(SOON_S):
            self.printed += (await self._process.stdout.read()).decode()
            return await self._process.wait()


class Story:
    """Runs commands of the page, each machine with its own home folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: list[asyncio.subprocess.Process] = []
        self._port, self._bus_port = free_port(), free_port()
        self._files = ensure_certificates(folder / "tls", ["localhost", "127.0.0.1"])

    async def run(self, machine: str, command: str, *more: str) -> Program:
        home = self._folder / machine
        home.mkdir(exist_ok=True)
        words = [self._substitute(word) for word in shlex.split(command)]
        process = await asyncio.create_subprocess_exec(
            *self._before(machine),
            sys.executable,
            "-m",
            "fairlead.commands.main",
            *words[1:],
            *more,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={
                "HOME": str(home),
                "PATH": os.environ["PATH"],
                "SSL_CERT_FILE": str(self._files.authority),
                "PYTHONUNBUFFERED": "1",
            },
        )
        self._running.append(process)
        return Program(process)

    def _before(self, machine: str) -> list[str]:
        """The words before a command of a machine."""
        return []

    def _substitute(self, word: str) -> str:
        return {
            "0.0.0.0": "127.0.0.1",
            "443": str(self._port),
            "agents.example.org": "localhost",
            "/etc/ssl/agents.pem": str(self._files.certificate),
            "/etc/ssl/agents.key": str(self._files.key),
        }.get(word, word)

    def new_port(self) -> int:
        return free_port()

    @property
    def bus(self) -> tuple[str, str]:
        return "--bus-port", str(self._bus_port)

    async def close(self) -> None:
        for process in reversed(self._running):
            if process.returncode is None:
                process.send_signal(signal.SIGINT)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(20):
                        await process.wait()
            if process.returncode is None:
                process.kill()
                await process.wait()


def post(base: str, path: str, body: Any, token: str = "") -> tuple[int, Any]:
    headers = {"Origin": base, "Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    request = urllib.request.Request(base + path, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        return refusal.code, None


def status(base: str, path: str, token: str, method: str = "GET") -> int:
    headers = {"Origin": base, "Authorization": f"Bearer {token}"}
    request = urllib.request.Request(base + path, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refusal:
        return refusal.code


async def opened(gateway: Program) -> tuple[str, str]:
    """The address of a gateway, and its first code."""
    found = await gateway.until(r"open +(http://127.0.0.1:\d+)/#code=(\S+)")
    return found[1], found[2]


async def listed(story: Story, machine: str, pattern: str) -> None:
    printed = ""
    deadline = time.monotonic() + SOON_S
    while re.search(pattern, printed) is None:
        assert time.monotonic() < deadline, printed
        program = await story.run(machine, "fairlead fleet list")
        assert await program.ended() == 0, program.printed
        printed = program.printed
