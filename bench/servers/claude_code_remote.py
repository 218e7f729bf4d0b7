"""claude-code-remote from PyPI (ClaudeCodeRemote): FastAPI, SQLite, one CLI for each session.

It runs without its hub, as one process. A tab of its web app has two sockets: one of its session and
one with the states of all sessions. Both are compressed, because browsers and uvicorn offer it.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from asyncio.subprocess import DEVNULL, Process
from pathlib import Path

from websockets.asyncio.client import ClientConnection, connect

from bench.peers import PeerUnavailable, pinned
from bench.servers.contender import (
    PINS,
    TURN_S,
    Heard,
    answering,
    ended,
    free_port,
    make_agent,
    post,
)

__all__ = ["ClaudeCodeRemote"]

PACKAGE = "claude-code-remote"
TOKEN = "benchmark-token-of-no-use-anywhere-else"


class ClaudeCodeRemote:
    """One version of it, in an environment of its own."""

    name = PACKAGE

    def __init__(self, installed: Path) -> None:
        self._python = installed / "bin/python"
        self.version = pinned(PINS / PACKAGE / "requirements.txt", PACKAGE)
        self._process: Process | None = None
        self._port = 0
        self._project = Path()

    async def start(self, folder: Path) -> float:
        self._project = folder / "project"
        self._project.mkdir()
        self._port = free_port()
        env = {
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "PATH": os.defpath,
            "TMPDIR": str(folder),
            "CCR_TOKEN": TOKEN,
            "CCR_CLAUDE_BIN": str(make_agent(folder)),
            "CCR_HOST": "127.0.0.1",
            "CCR_PORT": str(self._port),
            "CCR_DB_PATH": str(folder / "sessions.sqlite"),
        }
        command = (str(self._python), "-m", "uvicorn", "claude_code_remote.server.main:app")
        options = ("--host", "127.0.0.1", "--port", str(self._port))
        began = time.monotonic()
        with (folder / "log").open("wb") as log:
            self._process = await asyncio.create_subprocess_exec(
                *command, *options, cwd=folder, env=env, stdin=DEVNULL, stdout=log, stderr=log
            )
        try:
            return await answering(f"{self.base}/", self._process) - began
        except RuntimeError as problem:
            text = (folder / "log").read_text("utf-8", "replace")[-1500:]
            raise PeerUnavailable(f"{self.name} {self.version}: {problem}:\n{text}") from None

    @property
    def pids(self) -> list[int]:
        assert self._process is not None
        return [self._process.pid]

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def work(self, sessions: int, prompt: str, heard: Heard) -> None:
        made = [await self._new_session() for _ in range(sessions)]
        async with asyncio.timeout(TURN_S):
            await asyncio.gather(*(self._turn(session, prompt, heard) for session in made))

    async def _new_session(self) -> str:
        body = {"cwd": str(self._project)}
        made = await asyncio.to_thread(post, f"{self.base}/api/spawn", body, TOKEN)
        return str(made["id"])

    async def _turn(self, session: str, prompt: str, heard: Heard) -> None:
        async with self._socket("ws-global") as states, self._socket(f"ws/{session}") as client:
            reader = asyncio.create_task(_read_all(states))
            try:
                await client.send(json.dumps({"type": "user_message", "content": prompt}))
                async for frame in client:
                    payload = frame.encode() if isinstance(frame, str) else frame
                    heard(payload)
                    if b'"event":{"type":"result"' in payload:
                        return
            finally:
                reader.cancel()
        raise PeerUnavailable(f"{self.name} {self.version} closed the socket during a turn")

    def _socket(self, path: str) -> connect:
        return connect(f"ws://127.0.0.1:{self._port}/{path}?token={TOKEN}", max_size=None)

    async def end_sessions(self) -> None:
        """Nothing to do: its sessions have no processes but the CLIs."""

    async def end(self) -> None:
        assert self._process is not None
        await ended(self._process)


async def _read_all(socket: ClientConnection) -> None:
    async for _ in socket:
        pass
