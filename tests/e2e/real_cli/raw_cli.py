"""A real CLI on pipes and nothing between it and the test: lines in, lines out.

The smallest driver that can say what a CLI does, for tests that must not depend on Fairlead's
own host. Every wait is bounded, and a wait in vain shows what was seen and what stderr said.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

from fairlead.testing.real_cli import RealCli

__all__ = ["FLAGS", "RawCli"]

Message = dict[str, Any]

FLAGS = (
    "--output-format", "stream-json",
    "--input-format", "stream-json",
    "--verbose",
    "--permission-prompt-tool", "stdio",
    "--include-partial-messages",
    "--replay-user-messages",
)  # fmt: skip
"""Flags that every version knows (CLI-1400)."""

WAIT_S = 60.0
"""Bound of every wait: an old CLI on two busy cores took 11 s to its first line (CLI-111)."""

LINE_LIMIT = 64 * 1024 * 1024
"""Lines of more than 100 KB are normal (CLI-523); asyncio's own limit is 64 KiB."""


class RawCli:
    """One process; `async with` starts it and makes sure that it is gone in the end."""

    wait_s = WAIT_S
    """Bound of each wait."""

    def __init__(
        self, cli: RealCli, *, env: Mapping[str, str], cwd: Path, flags: tuple[str, ...] = FLAGS
    ) -> None:
        self._command = (str(cli.executable), *flags)
        self._env, self._cwd = env, cwd
        self.seen: list[Message] = []
        """Every message that it wrote, in order."""

    async def __aenter__(self) -> Self:
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=pipe, stdout=pipe, stderr=pipe,
            env=self._env, cwd=self._cwd, limit=LINE_LIMIT,
        )  # fmt: skip
        assert self._process.stderr is not None
        self._stderr = asyncio.create_task(self._process.stderr.read())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
        await self.exit_code()

    def send(self, message: Message) -> None:
        """Write one message as one line."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")

    def say(self, text: str) -> str:
        """Send a user message; gives its uuid."""
        own = str(uuid.uuid4())
        content = [{"type": "text", "text": text}]
        self.send(
            {
                "type": "user",
                "session_id": "",
                "uuid": own,
                "parent_tool_use_id": None,
                "message": {"role": "user", "content": content},
            }
        )
        return own

    async def request(self, subtype: str, **fields: Any) -> Message:
        """Send a control request and wait for its answer: the whole `response` object."""
        own = str(uuid.uuid4())
        body = {"subtype": subtype, **fields}
        self.send({"type": "control_request", "request_id": own, "request": body})
        answer = await self.until(
            lambda m: m["type"] == "control_response" and m["response"].get("request_id") == own
        )
        response: Message = answer["response"]
        return response

    def answer(self, request: Message, response: Message) -> None:
        """Answer a control request of the CLI with success."""
        body = {"subtype": "success", "request_id": request["request_id"], "response": response}
        self.send({"type": "control_response", "response": body})

    async def until(self, wanted: str | Callable[[Message], bool]) -> Message:
        """Read up to the next message of this type, or for which the predicate holds."""
        fits = (lambda m: m["type"] == wanted) if isinstance(wanted, str) else wanted
        try:
            async with asyncio.timeout(self.wait_s):
                while (message := await self._read()) is not None:
                    if fits(message):
                        return message
        except TimeoutError:
            raise AssertionError(
                f"waited {self.wait_s:g} s in vain; {await self._story()}"
            ) from None
        raise AssertionError(f"stdout ended; {await self._story()}")

    async def end_input(self) -> int:
        """Close stdin, read all that is still to come and give the exit code."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        async with asyncio.timeout(self.wait_s):
            while await self._read() is not None:
                pass
        return await self.exit_code()

    async def exit_code(self) -> int:
        async with asyncio.timeout(self.wait_s):
            code = await self._process.wait()
            await self._stderr
        return code

    async def _read(self) -> Message | None:
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if not line:
            return None
        message: Message = json.loads(line)
        self.seen.append(message)
        return message

    async def _story(self) -> str:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        types = [m.get("type", "?") + "/" + str(m.get("subtype", "")) for m in self.seen]
        return f"seen: {types}; stderr: {(await self._stderr).decode(errors='replace')[-2000:]}"
