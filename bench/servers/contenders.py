"""The servers that are compared, each with the function that installs it below a folder.

A contender starts its server as processes below a folder of its own. `work` connects a client for
each session, sends each the same prompt, and returns when every turn has ended; `heard` gets every
frame of these clients. The other servers are driven through the messages of their own web apps.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from bench.server_load.active_client import ActiveClient
from bench.server_load.follower import Tally
from bench.server_load.processes import Server
from bench.servers.claude_code_remote import ClaudeCodeRemote
from bench.servers.cloudcli import CloudCli, OldCloudCli
from bench.servers.contender import (
    TURN_S,
    Contender,
    Heard,
    Say,
    answering,
    free_port,
    install,
    install_python,
    make_agent,
)
from bench.servers.hapi import Hapi

__all__ = ["CONTENDERS", "Fairlead"]


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
        port = free_port()
        began = time.monotonic()
        ready = asyncio.create_task(answering(f"http://127.0.0.1:{port}/"))
        self._server = await Server.start(folder, make_agent(folder), self._project, port=port)
        return await ready - began

    @property
    def server(self) -> Server:
        assert self._server is not None
        return self._server

    @property
    def pids(self) -> list[int]:
        return [self.server.pid]

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

    async def end_sessions(self) -> None:
        """Nothing to do: its sessions have no processes but the CLIs."""

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


def _old_cloud_cli(out: Path, say: Say) -> Contender:
    folder = install("cloudcli-1.12", out, say)
    return OldCloudCli(folder, "@siteboon/claude-code-ui", "server/index.js")


def _cloud_cli(out: Path, say: Say) -> Contender:
    folder = install("cloudcli-1.37", out, say)
    return CloudCli(folder, "@cloudcli-ai/cloudcli", "dist-server/server/index.js")


def _claude_code_remote(out: Path, say: Say) -> Contender:
    return ClaudeCodeRemote(install_python("claude-code-remote", out, say))


CONTENDERS: dict[str, Callable[[Path, Say], Contender]] = {
    "fairlead": lambda out, say: Fairlead(),
    "cloudcli-1.12": _old_cloud_cli,
    "cloudcli-1.37": _cloud_cli,
    "claude-code-remote": _claude_code_remote,
    "hapi": lambda out, say: Hapi(install("hapi", out, say)),
}
