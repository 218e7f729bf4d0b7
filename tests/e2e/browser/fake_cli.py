"""A fake CLI: a real process whose lines are all written by the test, at an exact moment.

    async with open_fake_cli(tmp_path) as fake_cli:
        server = … agent=fake_cli.agent …
        cli = await fake_cli.enter()
        await cli.prompted()
        await cli.ask("a", {"command": "ls"})
        assert await cli.answer("a") == {"behavior": "allow", …}

It answers the requests of the host itself, begins a turn for each prompt, and records its input.
"""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
import tempfile
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

__all__ = ["FakeCli", "FakeCliProcess", "open_fake_cli"]

PATIENCE_S = 20.0
RELAY = Path(__file__).with_name("relay.py")
LONGEST_LINE = 16 * 1024 * 1024

Line = dict[str, Any]


class FakeCliProcess:
    """One process of the fake CLI."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._news = asyncio.Event()
        self._messages = 0
        self.session = ""
        self.argv: list[str] = []
        self.heard: list[Line] = []
        """Every line on stdin."""
        self.answers: list[tuple[str, Line]] = []
        """Request ids and what was answered, in order."""
        self.prompts: list[str] = []
        self.replies: dict[str, Line] = {
            "initialize": {"commands": [], "models": [{"value": "big"}, {"value": "small"}]}
        }
        """What it answers to requests of the host, by their subtype; to others nothing at all."""
        self.withheld: set[str] = set()
        """The subtypes of requests that it answers only when `release` is called."""
        self._unanswered: list[Line] = []

    # What the test waits for

    async def until(self, found: Callable[[], Any]) -> Any:
        """Wait until a received line makes this true."""
        async with asyncio.timeout(PATIENCE_S):
            while not (result := found()):
                self._news.clear()
                await self._news.wait()
        return result

    async def prompted(self, count: int = 1) -> str:
        """The prompt with this number, counted from one."""
        await self.until(lambda: len(self.prompts) >= count)
        return self.prompts[count - 1]

    async def answer(self, request: str) -> Line:
        """What was answered to a request, the first time."""
        found = await self.until(lambda: [body for one, body in self.answers if one == request])
        return dict(found[0])

    # What it says

    async def write(self, line: Line | str) -> None:
        """Any line; a text goes out as it is."""
        text = line if isinstance(line, str) else json.dumps(line)
        self._writer.write(text.encode("utf-8", "surrogatepass") + b"\n")
        await self._writer.drain()

    async def line(self, **fields: Any) -> None:
        await self.write({**fields, "session_id": self.session, "uuid": str(uuid.uuid4())})

    async def begin_words(self) -> None:
        """Begin a message, to which `words` adds text."""
        self._messages += 1
        await self._event({"type": "message_start", "message": self._message([])})
        block = {"type": "text", "text": ""}
        await self._event({"type": "content_block_start", "index": 0, "content_block": block})

    async def words(self, text: str) -> None:
        """A piece of the open message."""
        delta = {"type": "text_delta", "text": text}
        await self._event({"type": "content_block_delta", "index": 0, "delta": delta})

    async def end_words(self, whole: str) -> None:
        content = [{"type": "text", "text": whole}]
        await self.line(type="assistant", message=self._message(content), parent_tool_use_id=None)
        await self._event({"type": "content_block_stop", "index": 0})
        await self._event({"type": "message_stop"})

    async def say(self, text: str) -> None:
        """A whole message."""
        await self.begin_words()
        await self.words(text)
        await self.end_words(text)

    async def used(
        self, tool: str, given: Line, result: Any, structured: Line | None = None
    ) -> None:
        """A tool that was used without asking, and what came back."""
        self._messages += 1
        use = f"toolu_{self._messages}_{tool}"
        call = {"type": "tool_use", "id": use, "name": tool, "input": given}
        await self.line(type="assistant", message=self._message([call]), parent_tool_use_id=None)
        block = {"type": "tool_result", "tool_use_id": use, "content": result}
        message = {"role": "user", "content": [block]}
        more = {} if structured is None else {"tool_use_result": structured}
        await self.line(type="user", message=message, parent_tool_use_id=None, **more)

    async def ask(
        self, request: str, given: Line | str, *, tool: str = "Bash", **more: Any
    ) -> None:
        """Ask for a permission; `given` is the tool's input, a text is JSON that goes out as it is."""
        text = given if isinstance(given, str) else json.dumps(given)
        body = {
            "subtype": "can_use_tool",
            "tool_name": tool,
            "input": "\0",
            "tool_use_id": f"toolu_{request}",
            "permission_suggestions": [],
            **more,
        }
        whole = json.dumps({"type": "control_request", "request_id": request, "request": body})
        await self.write(whole.replace('"\\u0000"', text))

    async def request(self, request: str, **body: Any) -> None:
        """Any other request to the host."""
        await self.write({"type": "control_request", "request_id": request, "request": body})

    async def withdraw(self, request: str) -> None:
        await self.write({"type": "control_cancel_request", "request_id": request})

    async def finish(self, text: str = "done") -> None:
        """End the turn."""
        await self.line(
            type="result", subtype="success", is_error=False, result=text,
            total_cost_usd=0.01, num_turns=1,
        )  # fmt: skip

    def _message(self, content: list[Line]) -> Line:
        name = f"msg_{self.session[:8]}_{self._messages}_{id(self)}"
        return {"id": name, "role": "assistant", "content": content, "model": "big"}

    async def _event(self, event: Line) -> None:
        await self.line(type="stream_event", event=event, parent_tool_use_id=None)

    # What it hears

    async def come_in(self) -> None:
        """Read how the process was started."""
        self.argv = json.loads(await self._reader.readline())["argv"]
        self.session = self._flag("--session-id") or self._flag("--resume") or str(uuid.uuid4())

    async def live(self) -> None:
        """Read until the process ends."""
        while line := await self._reader.readline():
            await self._hear(json.loads(line))
            self._news.set()

    async def _hear(self, line: Line) -> None:
        self.heard.append(line)
        if line["type"] == "control_request":
            await self._obey(line)
        elif line["type"] == "control_response":
            body = line["response"]
            self.answers.append((body["request_id"], body.get("response") or {}))
        elif line["type"] == "user":
            await self._begin_turn(line)

    async def release(self) -> None:
        """Answer the requests that were withheld, and all later ones."""
        self.withheld = set()
        for line in self._unanswered:
            await self._obey(line)

    async def _obey(self, line: Line) -> None:
        asked = line["request"]["subtype"]
        if asked in self.withheld:
            self._unanswered.append(line)
            return
        response = self.replies.get(asked, {})
        body = {"subtype": "success", "request_id": line["request_id"], "response": response}
        await self.write({"type": "control_response", "response": body})

    async def _begin_turn(self, line: Line) -> None:
        content = line["message"]["content"]
        text = content if isinstance(content, str) else content[0]["text"]
        await self.line(
            type="system", subtype="init", tools=[], model="big", permissionMode="default"
        )
        await self.write({**line, "session_id": self.session, "isReplay": True})
        self.prompts.append(text)

    def _flag(self, name: str) -> str | None:
        for at, one in enumerate(self.argv):
            if one.startswith(f"{name}="):
                return one.partition("=")[2]
            if one == name and at + 1 < len(self.argv):
                return self.argv[at + 1]
        return None


class FakeCli:
    """Waits for the processes that the server starts."""

    def __init__(self, agent: Path) -> None:
        self.agent = agent
        """What a server starts as its CLI."""
        self.clis: list[FakeCliProcess] = []
        self.withheld: set[str] = set()
        """The requests that every new process answers only when the test says so."""
        self._arrived: asyncio.Queue[FakeCliProcess] = asyncio.Queue()
        self._lives: set[asyncio.Task[None]] = set()

    async def enter(self) -> FakeCliProcess:
        """The next process that was started."""
        return await asyncio.wait_for(self._arrived.get(), PATIENCE_S)

    def receive(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A process of the agent has started."""
        life = asyncio.create_task(self._play(reader, writer))
        self._lives.add(life)
        life.add_done_callback(self._lives.discard)

    async def close(self) -> None:
        """Wait until every process has ended."""
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.gather(*self._lives)

    async def _play(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        cli = FakeCliProcess(reader, writer)
        cli.withheld = set(self.withheld)
        try:
            await cli.come_in()
            self.clis.append(cli)
            self._arrived.put_nowait(cli)
            await cli.live()
        except ConnectionError:
            pass  # A killed process says no goodbye.
        finally:
            writer.close()


@asynccontextmanager
async def open_fake_cli(folder: Path) -> AsyncIterator[FakeCli]:
    """An agent to serve with, as long as the block lasts."""
    agent = folder / "claude-on-strings"
    # The name of a socket has at most about a hundred letters; a test's folder may have more.
    with tempfile.TemporaryDirectory(prefix="fairlead-") as short:
        place = Path(short, "strings")
        command = shlex.join([sys.executable, "-S", "-E", str(RELAY), str(place)])
        agent.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        agent.chmod(0o755)
        fake_cli = FakeCli(agent)
        server = await asyncio.start_unix_server(fake_cli.receive, place, limit=LONGEST_LINE)
        async with server:
            yield fake_cli
            await fake_cli.close()
