"""What every compared server can do, and the parts that the modules of the servers share."""

from __future__ import annotations

import asyncio
import json
import shlex
import shutil
import socket
import sys
import time
import urllib.error
import urllib.request
import venv
from asyncio.subprocess import Process
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from bench.peers import is_installed, mark_installed, run_tool
from bench.servers import agent
from fairlead.testing.node import find_node

__all__ = [
    "PINS",
    "TURN_S",
    "Contender",
    "Heard",
    "Say",
    "answering",
    "ended",
    "free_port",
    "get",
    "install",
    "install_python",
    "make_agent",
    "post",
]

PINS = Path(__file__).parent / "pins"
START_S = 120.0
TURN_S = 300.0
POLL_S = 0.01
END_S = 20.0

Heard = Callable[[bytes], None]
Say = Callable[[str], None]


class Contender(Protocol):
    """A server that runs sessions of a CLI and shows them in a browser."""

    name: str
    version: str

    async def start(self, folder: Path) -> float:
        """Start it below a folder; the seconds until it answered a request for its page."""

    @property
    def pids(self) -> list[int]:
        """The processes that are measured: all that run now, but no CLIs."""

    @property
    def base(self) -> str:
        """Its address."""

    async def work(self, sessions: int, prompt: str, heard: Heard) -> None:
        """Run one turn in each of so many new sessions, with one client for each."""

    async def end_sessions(self) -> None:
        """End the processes of the sessions that worked so far, if the server has some for them."""

    async def end(self) -> None:
        """Stop it."""


def make_agent(folder: Path) -> Path:
    """The executable that takes the place of the CLI."""
    path = folder / "claude"
    command = shlex.join([sys.executable, "-ISE", str(Path(agent.__file__))])
    path.write_text(f'#!/bin/sh\nexec {command} "$@"\n', "utf-8")
    path.chmod(0o755)
    return path


def install(name: str, out: Path, say: Say) -> Path:
    """Install the pinned packages of a contender once, with its compiled parts."""
    pins = PINS / name
    folder = out / "servers" / name
    if not is_installed(folder, pins / "package-lock.json"):
        say(f"installing {name} (once; it compiles parts of itself, which takes minutes)")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for file in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copy(pins / file, folder)
        quiet = ("--no-audit", "--no-fund", "--no-progress", "--loglevel=error")
        run_tool(*find_node().npm, "ci", *quiet, cwd=folder)
        mark_installed(folder, pins / "package-lock.json")
    return folder


def install_python(name: str, out: Path, say: Say) -> Path:
    """The same for a contender from PyPI, in an environment of its own."""
    pins = PINS / name / "requirements.txt"
    folder = out / "servers" / name
    if not is_installed(folder, pins):
        say(f"installing {name} (once)")
        venv.create(folder, clear=True, with_pip=True)
        pip = (str(folder / "bin/python"), "-m", "pip", "install", "--quiet", "--require-hashes")
        run_tool(*pip, "--disable-pip-version-check", "--requirement", str(pins))
        mark_installed(folder, pins)
    return folder


async def answering(url: str, process: Process | None = None) -> float:
    """Wait until the page is served; the time at which it was."""
    async with asyncio.timeout(START_S):
        while True:
            if process is not None and process.returncode is not None:
                raise RuntimeError(f"ended with {process.returncode} before it answered")
            try:
                await asyncio.to_thread(_get_status, url)
                return time.monotonic()
            except (urllib.error.URLError, ConnectionError):
                await asyncio.sleep(POLL_S)


def _get_status(url: str) -> int:
    with urllib.request.urlopen(url, timeout=10) as answer:
        status: int = answer.status
        return status


def get(url: str, token: str) -> dict[str, Any]:
    """The JSON that a server has at an address."""
    return _request(urllib.request.Request(url), token)


def post(url: str, body: dict[str, Any], token: str) -> dict[str, Any]:
    """Send JSON; what the server answers."""
    return _request(urllib.request.Request(url, json.dumps(body).encode()), token)


def _request(request: urllib.request.Request, token: str) -> dict[str, Any]:
    request.add_header("Content-Type", "application/json")
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    with urllib.request.urlopen(request, timeout=60) as answer:
        found: dict[str, Any] = json.load(answer)
        return found


def free_port() -> int:
    """A port of this machine that no program uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def ended(process: Process) -> None:
    """End a process; one that takes too long is killed."""
    if process.returncode is None:
        process.terminate()
    try:
        async with asyncio.timeout(END_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
