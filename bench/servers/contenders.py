"""The servers that are compared: how each is installed, started, and driven by one client a session.

A contender starts its server as a process below a folder of its own. `work` connects a client for
each session, sends each the same prompt, and returns when every turn has ended; `heard` gets every
frame of these clients. CloudCLI is driven through the messages of its own web app.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import socket
import sys
import time
import urllib.error
import urllib.request
import uuid
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import websockets

from bench.peers import PeerUnavailable, is_installed, mark_installed, run_tool
from bench.server_load.active_client import ActiveClient
from bench.server_load.follower import Tally
from bench.server_load.processes import Server
from bench.servers import agent
from fairlead.testing.node import find_node

__all__ = ["CONTENDERS", "Contender", "Fairlead", "install"]

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
    def pid(self) -> int:
        """The process that is measured; CLIs are others."""

    @property
    def base(self) -> str:
        """Its address."""

    async def work(self, sessions: int, prompt: str, heard: Heard) -> None:
        """Run one turn in each of so many new sessions, with one client for each."""

    async def end(self) -> None:
        """Stop it."""


def make_agent(folder: Path) -> Path:
    """The executable that takes the place of the CLI."""
    path = folder / "claude"
    command = shlex.join([sys.executable, "-ISE", str(Path(agent.__file__))])
    path.write_text(f'#!/bin/sh\nexec {command} "$@"\n', "utf-8")
    path.chmod(0o755)
    return path


class Fairlead:
    """This tree."""

    name = "Fairlead"

    def __init__(self) -> None:
        from fairlead import __version__

        self.version = __version__
        self._server: Server | None = None
        self._project = Path()

    async def start(self, folder: Path) -> float:
        self._project = folder / "project"
        self._project.mkdir()
        port = _free_port()
        began = time.monotonic()
        ready = asyncio.create_task(_answering(f"http://127.0.0.1:{port}/"))
        self._server = await Server.start(folder, make_agent(folder), self._project, port=port)
        return await ready - began

    @property
    def server(self) -> Server:
        assert self._server is not None
        return self._server

    @property
    def pid(self) -> int:
        return self.server.pid

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"

    async def work(self, sessions: int, prompt: str, heard: Heard) -> None:
        watchers = [_Watcher(heard) for _ in range(sessions)]
        opener = await ActiveClient().connect(self.server.port, self.server.token, Tally())
        for watcher in watchers:
            made, _ = await opener.intend("new_session", cwd=str(self._project))
            await watcher.connect(self.server.port, self.server.token, Tally(), made["session"])
            watcher.session = made["session"]
        for watcher in watchers:
            name = str(uuid.uuid4())
            await opener.intend("send", session=watcher.session, text=prompt, uuid=name)
        async with asyncio.timeout(TURN_S):
            for watcher in watchers:
                await watcher.ended.wait()
        for client in (opener, *watchers):
            client.close()

    async def end(self) -> None:
        await self.server.end()


class _Watcher(ActiveClient):
    def __init__(self, heard: Heard) -> None:
        super().__init__()
        self.session = ""
        self.ended = asyncio.Event()
        self._pass_on = heard

    def _heard(self, payload: bytes) -> None:
        if payload.startswith(b'{"type":"changes"') and b'"document":"lobby"' not in payload[:60]:
            self._pass_on(payload)
            if b'"outcome":"success"' in payload:
                self.ended.set()
        super()._heard(payload)


class CloudCli:
    """One version of CloudCLI (formerly Claude Code UI)."""

    name = "CloudCLI"

    def __init__(self, installed: Path, package: str, program: str) -> None:
        self._installed = installed
        self._module = installed / "node_modules" / package
        self._program = program
        manifest = json.loads((self._module / "package.json").read_text("utf-8"))
        self.version: str = manifest["version"]
        self._process: Process | None = None
        self._port = 0
        self._token = ""
        self._project = Path()

    async def start(self, folder: Path) -> float:
        self._project = folder / "project"
        self._project.mkdir()
        self._port = _free_port()
        cli = make_agent(folder)
        self._put_in_place(cli)
        env = {
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "PATH": os.defpath,
            "TMPDIR": str(folder),
            "PORT": str(self._port),
            "SERVER_PORT": str(self._port),
            "HOST": "127.0.0.1",
            "DATABASE_PATH": str(folder / "auth.db"),
            "CLAUDE_CLI_PATH": str(cli),
            "NODE_ENV": "production",
        }
        command = (str(find_node().node), str(self._module / self._program))
        began = time.monotonic()
        with (folder / "log").open("wb") as log:
            self._process = await asyncio.create_subprocess_exec(
                *command, cwd=folder, env=env, stdin=DEVNULL, stdout=log, stderr=log
            )
        try:
            ready = await _answering(f"{self.base}/", self._process) - began
        except RuntimeError as problem:
            text = (folder / "log").read_text("utf-8", "replace")[-1500:]
            raise PeerUnavailable(f"{self.name} {self.version}: {problem}:\n{text}") from None
        user = {"username": "benchmark", "password": "benchmark"}
        answer = await asyncio.to_thread(_post, f"{self.base}/api/auth/register", user, "")
        self._token = answer["token"]
        return ready

    def _put_in_place(self, cli: Path) -> None:
        """Nothing to do: it takes CLAUDE_CLI_PATH."""

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def work(self, sessions: int, prompt: str, heard: Heard) -> None:
        async with asyncio.timeout(TURN_S):
            await asyncio.gather(*(self._session(prompt, heard) for _ in range(sessions)))

    async def _session(self, prompt: str, heard: Heard) -> None:
        url = f"{self.base.replace('http', 'ws')}/ws?token={self._token}"
        async with websockets.connect(url, max_size=None, compression=None) as client:
            await client.send(json.dumps(await self._command(prompt)))
            async for frame in client:
                payload = frame.encode() if isinstance(frame, str) else frame
                heard(payload)
                if self._is_end(payload):
                    return
        raise PeerUnavailable(f"{self.name} {self.version} closed the socket during a turn")

    async def _command(self, prompt: str) -> dict[str, Any]:
        body = {"provider": "claude", "projectPath": str(self._project), "initialMessage": prompt}
        made = await asyncio.to_thread(
            _post, f"{self.base}/api/providers/sessions", body, self._token
        )
        session = made["data"].get("sessionId") or made["data"]["session"]["id"]
        return {"type": "chat.send", "sessionId": session, "content": prompt}

    def _is_end(self, payload: bytes) -> bool:
        if b'"protocol_error"' in payload or b'"kind":"error"' in payload:
            raise PeerUnavailable(f"{self.name} {self.version} refused: {payload[:400].decode()}")
        return b'"kind":"complete"' in payload

    async def end(self) -> None:
        assert self._process is not None
        if self._process.returncode is None:
            self._process.terminate()
        try:
            async with asyncio.timeout(END_S):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()


class OldCloudCli(CloudCli):
    """Version 1.12, which names CLAUDE_CLI_PATH in its help and starts the CLI of its SDK anyway.

    So the program of that SDK is replaced, in this installation, by one that starts ours.
    """

    def _put_in_place(self, cli: Path) -> None:
        bundled = self._installed / "node_modules/@anthropic-ai/claude-agent-sdk/cli.js"
        program = (
            'import { spawnSync } from "node:child_process";\n'
            f"const ran = spawnSync({json.dumps(str(cli))}, process.argv.slice(2), "
            '{ stdio: "inherit" });\nprocess.exit(ran.status ?? 1);\n'
        )
        bundled.write_text(program, "utf-8")

    async def _command(self, prompt: str) -> dict[str, Any]:
        folder = str(self._project)
        options = {"projectPath": folder, "cwd": folder, "permissionMode": "default"}
        return {"type": "claude-command", "command": prompt, "options": options}

    def _is_end(self, payload: bytes) -> bool:
        if b'"type":"claude-error"' in payload:
            raise PeerUnavailable(f"{self.name} {self.version} failed: {payload[:400].decode()}")
        return b'"type":"claude-complete"' in payload


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


def _old_cloud_cli(out: Path, say: Say) -> Contender:
    folder = install("cloudcli-1.12", out, say)
    return OldCloudCli(folder, "@siteboon/claude-code-ui", "server/index.js")


def _cloud_cli(out: Path, say: Say) -> Contender:
    folder = install("cloudcli-1.37", out, say)
    return CloudCli(folder, "@cloudcli-ai/cloudcli", "dist-server/server/index.js")


CONTENDERS: dict[str, Callable[[Path, Say], Contender]] = {
    "fairlead": lambda out, say: Fairlead(),
    "cloudcli-1.12": _old_cloud_cli,
    "cloudcli-1.37": _cloud_cli,
}


async def _answering(url: str, process: Process | None = None) -> float:
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


def _post(url: str, body: dict[str, Any], token: str) -> dict[str, Any]:
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        found: dict[str, Any] = json.load(answer)
        return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
