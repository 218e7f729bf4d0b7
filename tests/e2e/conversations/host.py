"""The host of a script: writes steps to one process, answers its requests, records its lines.

A step is written when the line it waits for has arrived. A wait that times out is recorded as a line
of its own and ends the conversation, so a process that hangs differs from one that does not.

`restart` ends the process (by closing its stdin, or by a signal) and starts another one with more
flags in the same folders. In flags and requests, `{session}` and `{task}` stand for the last session
id and task id that the process wrote, and `{uuid NAME}` for the uuid of the prompt of that name.

What a step can wait for: `result`, `init`, `permission`, `hook`, `mcp_call` (such a request
arrived), `delta N` (N pieces of the model's message), `answered` (the last control request),
`tool_use`, `tool_result`, `task_started`, `task_ended`, `file NAME` (a file in the project exists),
`model LINE` (the model is held; the emulator shows it by this line) and `quiet`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import sys
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

from fairlead.model_api.gate import Gate
from tests.e2e.conversations.host_answers import mcp_answer, permission_answer
from tests.e2e.conversations.host_script import Data, HostScript

__all__ = ["Host"]

WAIT_S = 120.0
QUIET_S = {"real": 1.2, "emulated": 0.7}
"""How long a process neither runs nor writes before it counts as quiet."""
START_S = {"real": 8.0, "emulated": 4.0}
"""How long a process that has not written anything yet may take to start."""
READ_S = 0.25
"""How long a process neither runs nor writes before it counts as having read its input."""
STDERR_S = 5.0
"""How long the rest of stderr may take after the process was killed."""
POLL_S = 0.02
LINE_LIMIT = 64 * 1024 * 1024
NAMESPACE = uuid.UUID("8f3a52a0-0000-4000-8000-000000000000")


class Host:
    """One process and the host that drives it."""

    def __init__(
        self, script: HostScript, root: Path, command: Sequence[str], env: Data, kind: str
    ) -> None:
        self._script, self._root = script, root
        self._command, self._env, self._kind = list(command), env, kind
        self.gates: list[tuple[Gate, int]] = []
        self._lines: list[Data] = []
        self._cursor = 0
        self._written = 0
        self._gates_passed = 0
        self._permissions = list(script.permissions)
        self._hooks = {name: list(answers) for name, answers in script.hooks.items()}
        self._held: list[Data] = []
        self._request_id = ""
        self._requests = 0
        self._changed = asyncio.Event()
        self._ended = False
        self._values = {"session": "unknown", "task": "unknown"}
        self.before_restart: Callable[[int], None] = lambda segment: None
        """Called with the number of the segment that the next process begins with."""

    async def run(self) -> list[Data]:
        await self._start(())
        gates = [asyncio.create_task(self._open(gate, lines)) for gate, lines in self.gates]
        try:
            for number, step in enumerate(self._script.steps):
                if not await self._step(step, number):
                    break
            await self._end()
        finally:
            await self._stop()
            for task in gates:
                task.cancel()
            await asyncio.gather(*gates, return_exceptions=True)
        return self._lines

    async def _start(self, flags: Sequence[str]) -> None:
        pipe = asyncio.subprocess.PIPE
        self._ended = False
        self._lines_at_start = len(self._lines)
        self._process = await asyncio.create_subprocess_exec(
            *self._command, *flags, stdin=pipe, stdout=pipe, stderr=pipe,
            env=self._env, cwd=self._root / "project", limit=LINE_LIMIT, start_new_session=True,
        )  # fmt: skip
        assert self._process.stderr is not None
        self._reading = asyncio.create_task(self._read())
        self._stderr = asyncio.create_task(self._process.stderr.read())

    async def _restart(self, step: Data) -> None:
        if name := step.get("signal"):
            self._process.send_signal(signal.Signals[name])
        await self._end()
        await self._stop()
        self._held.clear()
        self._cursor = len(self._lines)
        self.before_restart(step["segment"])
        await self._start([self._filled(flag) for flag in step["restart"]])

    def _filled(self, text: str) -> str:
        """Replace placeholders by values of this play."""
        text = text.replace("{root}", str(self._root)).replace("{python}", sys.executable)
        text = re.sub(r"\{uuid (\w+)\}", lambda m: str(uuid.uuid5(NAMESPACE, m[1])), text)
        for name, value in self._values.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    async def _end(self) -> None:
        """Close stdin and let the process finish."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            async with asyncio.timeout(WAIT_S):
                await self._process.wait()
                while not self._ended:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            self._lines.append({"_timeout": "end"})

    async def _stop(self) -> None:
        """Kill what is left of the process and record how it ended."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, 9)
        await self._process.wait()
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)
        text = ""
        with contextlib.suppress(TimeoutError):
            # A program that left the process group can keep stderr open for ever.
            text = (await asyncio.wait_for(self._stderr, STDERR_S)).decode(errors="replace")
        self._lines.append({"_exit": self._process.returncode})
        if self._process.returncode not in (0, None):
            self._lines[-1]["_stderr"] = text[-1500:]

    async def _open(self, gate: Gate, lines: int) -> None:
        """Open a gate of the model after the host has written that many lines; never for 0."""
        await gate.reached(timeout=3600)
        if not lines:
            return
        wanted = self._written + lines
        while self._written < wanted:
            self._changed.clear()
            await self._changed.wait()
        await self._idle(READ_S)
        gate.open()

    async def _read(self) -> None:
        assert self._process.stdout is not None
        root = str(self._root).encode()
        async for raw in self._process.stdout:
            line = raw.replace(root, b"{root}")
            try:
                message = json.loads(line)
            except ValueError:
                message = {"_raw": line.decode(errors="replace")}
            self._lines.append(message)
            self._remember(message)
            if isinstance(message, dict) and message.get("type") == "control_request":
                self._asked(json.loads(raw))
            self._changed.set()
        self._ended = True
        self._changed.set()

    def _remember(self, message: Data) -> None:
        for key, name in (("session_id", "session"), ("task_id", "task")):
            value = message.get(key) if isinstance(message, dict) else None
            if isinstance(value, str) and value:
                self._values[name] = value

    # Requests of the CLI

    def _asked(self, message: Data) -> None:
        request = message["request"]
        match request["subtype"]:
            case "can_use_tool":
                kind = self._permissions.pop(0) if self._permissions else "allow"
                body = permission_answer(kind, request)
            case "hook_callback":
                body = self._hook(request["callback_id"])
            case "mcp_message":
                answer = mcp_answer(request["server_name"], request["message"])
                body = None
                if answer is not None:
                    body = {"subtype": "success", "response": {"mcp_response": answer}}
            case _:
                body = {"subtype": "error", "error": "Unsupported control request"}
        if body is None:
            self._held.append(message)
        else:
            self._respond(message, body)

    def _hook(self, callback: str) -> Data | None:
        answers = self._hooks.get(callback) or [{}]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if answer == "hold":
            return None
        if answer == "error":
            return {"subtype": "error", "error": "the hook broke"}
        return {"subtype": "success", "response": answer}

    def _respond(self, message: Data, body: Data) -> None:
        response = {"request_id": message["request_id"], **body}
        self._write(json.dumps({"type": "control_response", "response": response}))

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(line.encode("utf-8", "surrogatepass") + b"\n")
        self._written += 1
        self._changed.set()

    # Steps

    async def _idle(self, seconds: float) -> None:
        """Wait until the process has neither run nor written anything for this long.

        Only time in which the process could have run counts: on a busy machine a process that
        waits for a core is not idle.
        """
        idle, count = 0.0, -1
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(WAIT_S):
                while idle < seconds and not self._ended:
                    is_busy = count != len(self._lines) or _is_running(self._process.pid)
                    count = len(self._lines)
                    idle = 0.0 if is_busy else idle + POLL_S
                    await asyncio.sleep(POLL_S)

    async def _step(self, step: Data, number: int) -> bool:
        if "wait" in step:
            return await self._wait(step["wait"])
        if "prompt" in step or "content" in step:
            self._prompt(step, number)
        elif "request" in step:
            self._requests += 1
            self._request_id = f"request-{self._requests}"
            body = json.loads(self._filled(json.dumps(step["request"])))
            request = {"type": "control_request", "request_id": self._request_id}
            self._write(json.dumps({**request, "request": body}))
        elif "restart" in step:
            await self._restart(step)
        elif "signal" in step:
            self._process.send_signal(signal.Signals[step["signal"]])
        elif "answer" in step:
            message = self._held.pop(0)
            answer = step["answer"]
            if isinstance(answer, str):
                answer = permission_answer(answer, message["request"])
            else:
                answer = json.loads(self._filled(json.dumps(answer)))
            self._respond(message, answer)
        else:
            self._write(step["line"])
        return True

    def _prompt(self, step: Data, number: int) -> None:
        content = step.get("content", step.get("prompt"))
        if isinstance(content, str):
            content = [{"type": "text", "text": content.replace("{root}", str(self._root))}]
        line: Data = {
            "type": "user",
            "session_id": "",
            "parent_tool_use_id": None,
            "message": {"role": "user", "content": content},
        }
        if step.get("uuid", True):
            own = step["uuid"] if isinstance(step.get("uuid"), str) else str(number)
            line["uuid"] = str(uuid.uuid5(NAMESPACE, own))
        self._write(json.dumps({**line, **step.get("fields", {})}))

    # Waits

    async def _wait(self, what: str) -> bool:
        if what == "quiet":
            return await self._quiet()
        try:
            async with asyncio.timeout(WAIT_S):
                return await self._arrives(what)
        except TimeoutError:
            self._lines.append({"_timeout": what})
            return False

    async def _quiet(self) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(WAIT_S):
                await self._first_line()
        await self._idle(QUIET_S[self._kind])
        self._cursor = len(self._lines)
        return True

    async def _first_line(self) -> None:
        """Wait for the first line of the process, or until it has been idle for long."""
        idle = asyncio.create_task(self._idle(START_S[self._kind]))
        try:
            while len(self._lines) == self._lines_at_start and not idle.done():
                self._changed.clear()
                change = asyncio.create_task(self._changed.wait())
                await asyncio.wait({change, idle}, return_when=asyncio.FIRST_COMPLETED)
                change.cancel()
        finally:
            idle.cancel()

    async def _arrives(self, what: str) -> bool:
        kind, _, rest = what.partition(" ")
        if kind == "file":
            await self._file(rest)
            return True
        if kind == "model":
            if not await self._arrives(rest) and self._kind != "real":
                return False
            if self._kind == "real":
                await self._gate_reached()
            else:
                # The line comes shortly before the pause of the model.
                await self._idle(READ_S)
            return True
        count = int(rest or 1)
        while True:
            while self._cursor < len(self._lines):
                line = self._lines[self._cursor]
                self._cursor += 1
                if self._is(line, kind):
                    count -= 1
                    if not count:
                        return True
            if self._ended:
                self._lines.append({"_ended_before": what})
                return False
            self._changed.clear()
            await self._changed.wait()

    async def _file(self, name: str) -> None:
        # Another program creates the file, without a notification.
        while not (self._root / "project" / name).exists():  # noqa: ASYNC110
            await asyncio.sleep(POLL_S)

    async def _gate_reached(self) -> None:
        gate, _ = self.gates[self._gates_passed]
        self._gates_passed += 1
        await gate.reached(timeout=WAIT_S)
        await self._idle(READ_S)

    def _is(self, line: Data, kind: str) -> bool:
        test = _TESTS.get(kind)
        if test is not None:
            return test(line)
        if kind == "answered":
            response = line.get("response")
            return (
                line.get("type") == "control_response"
                and isinstance(response, dict)
                and response.get("request_id") == self._request_id
            )
        request = line.get("request") or {}
        match kind:
            case "permission":
                return bool(request.get("subtype") == "can_use_tool")
            case "hook":
                return bool(request.get("subtype") == "hook_callback")
            case _:
                message = request.get("message") or {}
                return bool(kind == "mcp_call" and message.get("method") == "tools/call")


def _is_running(pid: int) -> bool:
    """Whether a thread of a process or of its children runs or waits for a core."""
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            folder = Path(f"/proc/{pid}/task/{thread}")
            state = (folder / "stat").read_text("latin-1").rpartition(")")[2].split()[0]
            children = (folder / "children").read_text().split()
            if state in "RD" or any(_is_running(int(child)) for child in children):
                return True
    except OSError:
        pass  # the thread or the process has ended
    return False


def _blocks(line: Data, of: str) -> list[Data]:
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if line.get("type") != of or not isinstance(content, list):
        return []
    return [block for block in content if isinstance(block, dict)]


_TESTS: dict[str, Callable[[Data], bool]] = {
    "result": lambda line: line.get("type") == "result",
    "init": lambda line: line.get("subtype") == "init",
    "delta": lambda line: (
        line.get("type") == "stream_event" and line["event"]["type"] == "content_block_delta"
    ),
    "tool_use": lambda line: any(b["type"] == "tool_use" for b in _blocks(line, "assistant")),
    "tool_result": lambda line: any(b["type"] == "tool_result" for b in _blocks(line, "user")),
    "task_started": lambda line: line.get("subtype") == "task_started",
    "task_ended": lambda line: line.get("subtype") == "task_notification",
}
