"""CloudCLI (formerly Claude Code UI), driven through the messages of its own web app."""

from __future__ import annotations

import asyncio
import json
import os
import time
from asyncio.subprocess import DEVNULL, Process
from pathlib import Path
from typing import Any

import websockets

from bench.peers import PeerUnavailable
from bench.servers.contender import TURN_S, Heard, answering, ended, free_port, make_agent, post
from fairlead.testing.node import find_node

__all__ = ["CloudCli", "OldCloudCli"]


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
        self._port = free_port()
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
            ready = await answering(f"{self.base}/", self._process) - began
        except RuntimeError as problem:
            text = (folder / "log").read_text("utf-8", "replace")[-1500:]
            raise PeerUnavailable(f"{self.name} {self.version}: {problem}:\n{text}") from None
        user = {"username": "benchmark", "password": "benchmark"}
        answer = await asyncio.to_thread(post, f"{self.base}/api/auth/register", user, "")
        self._token = answer["token"]
        return ready

    def _put_in_place(self, cli: Path) -> None:
        """Nothing to do: it takes CLAUDE_CLI_PATH."""

    @property
    def pids(self) -> list[int]:
        assert self._process is not None
        return [self._process.pid]

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
            post, f"{self.base}/api/providers/sessions", body, self._token
        )
        session = made["data"].get("sessionId") or made["data"]["session"]["id"]
        return {"type": "chat.send", "sessionId": session, "content": prompt}

    def _is_end(self, payload: bytes) -> bool:
        if b'"protocol_error"' in payload or b'"kind":"error"' in payload:
            raise PeerUnavailable(f"{self.name} {self.version} refused: {payload[:400].decode()}")
        return b'"kind":"complete"' in payload

    async def end_sessions(self) -> None:
        """Nothing to do: its sessions have no processes but the CLIs."""

    async def end(self) -> None:
        assert self._process is not None
        await ended(self._process)


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
