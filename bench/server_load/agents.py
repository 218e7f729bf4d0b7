"""All agents in one process: `python -m bench.server_load.agents SOCKET STEPS [PROJECT]`.

Every `pipe_handover` hands its pipes to this process. Each agent answers control requests at once, and
after a prompt it writes its script line by line at the pace that the prompt names (`Instructions`). An
agent that asks for permission waits for the answer before it continues. With PROJECT it also writes the
files by which sessions of that folder can be resumed. Each line on stdin is answered with the counts so
far; the process ends at the end of stdin. Times are of the system's monotonic clock, which all processes
share.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.server_load.instructions import Instructions
from bench.server_load.pipe_handover import VERSION
from bench.server_load.script import Script, ScriptLine

__all__ = ["main"]

MOST_BEHIND_S = 1.0
"""An agent that was delayed by the pipe continues at its pace, and catches up only this far."""


class Counts:
    """The work of all agents together."""

    def __init__(self) -> None:
        self.agents = 0
        self.turns_begun = 0
        self.turns_ended = 0
        self.lines = 0
        self.late_s = 0.0
        """The most that a line was written after its time: whether this process keeps up."""
        self.permissions: dict[str, tuple[float, float]] = {}
        """Request -> when it was sent, and when its answer was on stdin."""


class Agent(asyncio.Protocol):
    """One CLI: reads its stdin and writes its script."""

    def __init__(
        self,
        script: Script,
        counts: Counts,
        session: str,
        stdout: int,
        *,
        resumed: bool,
        project: str | None,
    ) -> None:
        self._script = script
        self._counts = counts
        self._session = session
        self._stdout = stdout
        self._project = project
        self._spoke = resumed
        """Whether this session has had a turn, by this process or by one before it."""
        self._unread = b""
        self._answers: dict[str, asyncio.Future[float]] = {}
        self._speaking: asyncio.Task[None] | None = None
        self.gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        now = time.monotonic()
        *lines, self._unread = (self._unread + data).split(b"\n")
        for line in lines:
            self._heard(json.loads(line), now)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._speaking is not None:
            self._speaking.cancel()
        if not self.gone.done():
            self.gone.set_result(None)

    def _heard(self, message: dict[str, Any], now: float) -> None:
        if message["type"] == "control_request":
            self._write_object(_yes(message))
        elif message["type"] == "control_response":
            answer = self._answers.pop(message["response"]["request_id"], None)
            if answer is not None:
                answer.set_result(now)
        elif message["type"] == "user":
            self._speaking = asyncio.get_running_loop().create_task(self._speak(message))

    async def _speak(self, prompt: dict[str, Any]) -> None:
        instructions = Instructions.read(prompt["message"]["content"][0]["text"])
        self._counts.turns_begun += 1
        mark = int(time.monotonic() * 10) & 0xFFFFFFFF if self._spoke else None
        self._spoke = True
        if self._project is not None:
            _keep(self._session, self._project, prompt)
        await self._write(self._marked(self._script.init(self._session), mark))
        self._write_object({**prompt, "session_id": self._session, "isReplay": True})
        began = due = time.monotonic()
        for beat in self._script.beats:
            due += 1 / instructions.lines_per_s
            if due > began + instructions.seconds:
                break
            late = time.monotonic() - due
            if late < 0:
                await asyncio.sleep(-late)
            elif late > MOST_BEHIND_S:
                due = time.monotonic()
            self._counts.late_s = max(self._counts.late_s, time.monotonic() - due)
            said = self._script.for_session(self._session, beat.line)
            await self._write(self._marked(said, mark))
            if instructions.asks and beat.asks is not None:
                due = max(due, await self._ask(beat))
        await self._write(self._marked(self._script.result(self._session), mark))
        self._counts.turns_ended += 1

    def _marked(self, line: bytes, mark: int | None) -> bytes:
        return line if mark is None else self._script.in_turn(line, mark)

    async def _ask(self, beat: ScriptLine) -> float:
        assert beat.asks is not None
        request_id = f"{self._session}/{beat.asks['tool_use_id']}"
        answer: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._answers[request_id] = answer
        request = time.monotonic()
        line = {"type": "control_request", "request_id": request_id, "request": beat.asks}
        self._write_object(line)
        answered = await answer
        self._counts.permissions[request_id] = (request, answered)
        return answered

    def _write_object(self, message: dict[str, Any]) -> None:
        os.set_blocking(self._stdout, True)  # A few hundred bytes: there is always room soon.
        os.write(self._stdout, json.dumps(message).encode() + b"\n")
        os.set_blocking(self._stdout, False)
        self._counts.lines += 1

    async def _write(self, line: bytes) -> None:
        """Write a line without holding up the other agents while the pipe is full."""
        rest = line
        while rest:
            try:
                rest = rest[os.write(self._stdout, rest) :]
            except BlockingIOError:
                await _writable(self._stdout)
        self._counts.lines += 1


async def _readable(line: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    there = asyncio.Event()
    loop.add_reader(line, there.set)
    try:
        await there.wait()
    finally:
        loop.remove_reader(line)


async def _writable(pipe: int) -> None:
    loop = asyncio.get_running_loop()
    room = asyncio.Event()
    loop.add_writer(pipe, room.set)
    try:
        await room.wait()
    finally:
        loop.remove_writer(pipe)


def _yes(request: dict[str, Any]) -> dict[str, Any]:
    cli_request = request["request"]
    response = (
        {"mode": cli_request["mode"]} if cli_request["subtype"] == "set_permission_mode" else {}
    )
    body = {"subtype": "success", "request_id": request["request_id"], "response": response}
    return {"type": "control_response", "response": body}


class Agents:
    """Everybody who was handed over."""

    def __init__(self, script: Script, project: str | None) -> None:
        self.counts = Counts()
        self._project = project
        self._script = script
        self._agents: set[asyncio.Task[None]] = set()

    async def listen(self, path: str) -> None:
        """Take agents on until cancelled."""
        loop = asyncio.get_running_loop()
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
            door.bind(path)
            door.listen(256)
            door.setblocking(False)
            while True:
                line, _ = await loop.sock_accept(door)
                task = loop.create_task(self._play(line))
                self._agents.add(task)
                task.add_done_callback(self._agents.discard)

    async def _play(self, line: socket.socket) -> None:
        with line:
            await _readable(line)
            output, (stdin, stdout), _, _ = socket.recv_fds(line, 65536, 2)
            flags = output.decode().rstrip("\n").split("\0")
            os.set_blocking(stdout, False)
            resumed = any(flag.startswith("--resume=") for flag in flags)
            session = _session_of(flags)
            agent = Agent(
                self._script, self.counts, session, stdout, resumed=resumed, project=self._project
            )
            loop = asyncio.get_running_loop()
            transport, _ = await loop.connect_read_pipe(lambda: agent, os.fdopen(stdin, "rb"))
            self.counts.agents += 1
            try:
                await agent.gone
            finally:
                transport.close()
                os.close(stdout)


def _session_of(flags: list[str]) -> str:
    names = ("--session-id=", "--resume=")
    return next(flag.split("=", 1)[1] for flag in flags if flag.startswith(names))


def _keep(session: str, project: str, prompt: dict[str, Any]) -> None:
    """Write the file by which a server knows that it can resume this session."""
    folder = Path.home() / ".claude" / "projects" / "benchmark"
    folder.mkdir(parents=True, exist_ok=True)
    record = {
        "type": "user",
        "sessionId": session,
        "cwd": project,
        "version": VERSION,
        "timestamp": "2026-01-02T03:04:05.000Z",
        "uuid": prompt.get("uuid") or str(uuid.uuid4()),
        "parentUuid": None,
        "message": prompt["message"],
    }
    (folder / f"{session}.jsonl").write_text(json.dumps(record) + "\n", "utf-8")


async def answer_commands(report: Callable[[], object]) -> None:
    """Answer each line on stdin with a report, until stdin ends."""
    loop = asyncio.get_running_loop()
    lines = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while await lines.readline():
        print(json.dumps(report()), flush=True)


async def main(path: str, steps: int, project: str | None = None) -> None:
    """Play until stdin ends."""
    agents = Agents(Script(steps), project)
    listening = asyncio.create_task(agents.listen(path))
    print(json.dumps({"ready": True}), flush=True)
    await answer_commands(lambda: vars(agents.counts))
    listening.cancel()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:]))
