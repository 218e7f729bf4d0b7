"""HAPI: a hub with a web app, a runner on each machine, and a process for each session that starts the CLI.

It gets the requests of its web app: one to the hub, whose runner then starts a session, and one with
the prompt. Events arrive over the two streams of a tab: that of the session that is shown, and that
of all sessions. HAPI has no telemetry, its relay is off without `--relay`, and its push service for
iOS is switched off.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import platform
import signal
import time
import uuid
from asyncio.subprocess import DEVNULL, Process
from pathlib import Path
from typing import Any

from bench.peers import PeerUnavailable
from bench.servers.contender import (
    TURN_S,
    Heard,
    answering,
    ended,
    free_port,
    get,
    make_agent,
    post,
)
from bench.servers.event_stream import EventStream

__all__ = ["Hapi"]

TOKEN = "benchmark-token-of-no-use-anywhere-else"
SPAWN_S = 60.0
"""Until the runner, or the process of a session, has reported to the hub."""
END_S = 20.0
POLL_S = 0.05


class Hapi:
    """One version of HAPI, with its runner on the same machine."""

    name = "HAPI"

    def __init__(self, installed: Path) -> None:
        kind = f"linux-{'arm64' if platform.machine() == 'aarch64' else 'x64'}"
        module = installed / "node_modules/@twsxtd" / f"hapi-{kind}"
        if not module.exists():
            raise PeerUnavailable(f"HAPI has no program for {platform.system()} {kind}")
        self.version: str = json.loads((module / "package.json").read_text("utf-8"))["version"]
        self._program = module.resolve() / "bin/hapi"
        self._processes: list[Process] = []
        self._port = 0
        self._token = ""
        self._machine = ""
        self._folder = Path()
        self._sessions: list[str] = []

    async def start(self, folder: Path) -> float:
        self._folder = folder
        self._project.mkdir()
        self._port = free_port()
        make_agent(folder)
        began = time.monotonic()
        try:
            hub = await self._run("hub", "--no-relay")
            try:
                ready = await answering(f"{self.base}/", hub) - began
            except RuntimeError as problem:
                text = f"HAPI {self.version}: {problem}:\n{self._log('hub')}"
                raise PeerUnavailable(text) from None
            answer = await self._post("auth", {"accessToken": TOKEN})
            self._token = answer["token"]
            await self._run("runner", "start-sync")
            self._machine = await self._registered()
        except BaseException:
            await self.end()
            raise
        return ready

    @property
    def _project(self) -> Path:
        return self._folder / "project"

    async def _run(self, command: str, *options: str) -> Process:
        env = {
            "HOME": str(self._folder),
            "HAPI_HOME": str(self._folder / "hapi"),
            "LANG": "C.UTF-8",
            "PATH": f"{self._folder}{os.pathsep}{os.defpath}",
            "TMPDIR": str(self._folder),
            "HAPI_LISTEN_HOST": "127.0.0.1",
            "HAPI_LISTEN_PORT": str(self._port),
            "HAPI_API_URL": self.base,
            "CLI_API_TOKEN": TOKEN,
            "HAPI_CLAUDE_PATH": str(self._folder / "claude"),
            "AGENT_TRANSCRIPTS": "yes",  # It reads no further until the session's file exists.
            "HAPI_IOS_PUSH": "off",
        }
        with (self._folder / f"{command}.log").open("wb") as log:
            process = await asyncio.create_subprocess_exec(
                *(str(self._program), command, *options),
                cwd=self._folder,
                env=env,
                stdin=DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._processes.append(process)
        return process

    def _log(self, command: str) -> str:
        return (self._folder / f"{command}.log").read_text("utf-8", "replace")[-1500:]

    async def _registered(self) -> str:
        """The id of the machine, once its runner is connected to the hub."""
        deadline = time.monotonic() + SPAWN_S
        while time.monotonic() < deadline and self._processes[-1].returncode is None:
            if machines := (await self._get("machines"))["machines"]:
                return str(machines[0]["id"])
            await asyncio.sleep(POLL_S)
        raise PeerUnavailable(f"HAPI {self.version}: no runner:\n{self._log('runner')}")

    @property
    def pids(self) -> list[int]:
        hub, runner = (process.pid for process in self._processes)
        return [hub, runner, *_children(runner)]

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def work(self, sessions: int, prompt: str, heard: Heard) -> None:
        made = [await self._new_session() for _ in range(sessions)]
        self._sessions += made
        async with asyncio.timeout(TURN_S):
            await asyncio.gather(*(self._turn(session, prompt, heard) for session in made))

    async def _new_session(self) -> str:
        body = {"directory": str(self._project), "agent": "claude", "startingMode": "remote"}
        made = await self._post(f"machines/{self._machine}/spawn", body)
        if made.get("type") != "success":
            raise PeerUnavailable(f"HAPI {self.version} started no session: {made}")
        session = str(made["sessionId"])
        deadline = time.monotonic() + SPAWN_S
        while time.monotonic() < deadline:
            if (await self._get(f"sessions/{session}"))["session"]["active"]:
                return session
            await asyncio.sleep(POLL_S)
        raise PeerUnavailable(f"HAPI {self.version}: session {session} does not start")

    async def _turn(self, session: str, prompt: str, heard: Heard) -> None:
        about_all = await self._events("all=true")
        own = await self._events(f"sessionId={session}")
        reader = asyncio.create_task(_read_all(about_all))
        body = {"text": prompt, "localId": str(uuid.uuid4())}
        try:
            await self._post(f"sessions/{session}/messages", body)
            async for event in own:
                heard(event)
                if _is_end(event):
                    return
            raise PeerUnavailable(f"HAPI {self.version} closed the stream during a turn")
        finally:
            reader.cancel()
            about_all.close()
            own.close()

    async def _events(self, which: str) -> EventStream:
        path = f"/api/events?token={self._token}&visibility=visible&{which}"
        return await EventStream.open(self._port, path)

    async def end_sessions(self) -> None:
        for session in self._sessions:
            await self._post(f"sessions/{session}/archive", {})
        self._sessions.clear()
        deadline = time.monotonic() + END_S
        while left := _children(self._processes[-1].pid):
            if time.monotonic() > deadline:
                raise PeerUnavailable(f"HAPI {self.version}: processes {left} do not end")
            await asyncio.sleep(POLL_S)

    async def end(self) -> None:
        left = _children(self._processes[1].pid) if len(self._processes) > 1 else []
        for process in reversed(self._processes):
            await ended(process)
        for pid in left:  # They outlive the runner. Each is the leader of a group with its CLI.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return await asyncio.to_thread(post, f"{self.base}/api/{path}", body, self._token)

    async def _get(self, path: str) -> dict[str, Any]:
        return await asyncio.to_thread(get, f"{self.base}/api/{path}", self._token)


async def _read_all(stream: EventStream) -> None:
    async for _ in stream:
        pass


def _is_end(event: bytes) -> bool:
    """Whether this is the message that ends a turn."""
    return b'"type":"message-received"' in event and b'"data":{"type":"ready"}' in event


def _children(pid: int) -> list[int]:
    """The processes that it has started and that still run."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found += map(int, task.read_text().split())
    return found
