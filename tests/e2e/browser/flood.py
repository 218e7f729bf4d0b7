"""A CLI that writes as much as its prompt says, as fast as it says; for measuring.

    items N            N finished items: answers and tool calls by turns
    stream N RATE KIND LONG
                       N deltas, RATE a second, in answers of LONG deltas each. KIND is what they
                       are of: words, code, table, list, or mixed
    say JSON           one answer with exactly this text, in small pieces

Run as the agent of a server: the flags of the CLI are passed by, but for the session's id.
"""

from __future__ import annotations

import json
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FLAGS = sys.argv[1:]
FLUSH_EVERY = 20
SLOW = 100.0
"""Up to this rate each delta is flushed, as by the CLI."""
ANSWER = "Answer **{n}** with `code` and words.\n\n- one\n- two\n\n```python\nprint({n})\n```"


def launcher(folder: Path) -> Path:
    """An executable that is this agent."""
    path = folder / "claude-flood"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} {Path(__file__).resolve()} "$@"\n')
    path.chmod(0o755)
    return path


def flag(name: str) -> str | None:
    return next((one.split("=", 1)[1] for one in FLAGS if one.startswith(f"{name}=")), None)


class Flood:
    """One session's process."""

    def __init__(self) -> None:
        self.session = flag("--session-id") or flag("--resume") or str(uuid.uuid4())
        self.messages = 0

    def take(self, message: dict[str, Any]) -> None:
        if message["type"] == "control_request":
            starts = message["request"]["subtype"] == "initialize"
            response: dict[str, Any] = {"commands": [], "models": []} if starts else {}
            body = {"subtype": "success", "request_id": message["request_id"], "response": response}
            write({"type": "control_response", "response": body})
        elif message["type"] == "user":
            self.line(
                type="system", subtype="init", tools=[], model="big", permissionMode="default"
            )
            write({**message, "session_id": self.session, "isReplay": True})
            sys.stdout.flush()
            self.obey(message["message"]["content"][0]["text"])
            self.line(type="result", subtype="success", is_error=False, result="done",
                      total_cost_usd=0.01, num_turns=1)  # fmt: skip
        sys.stdout.flush()

    def obey(self, prompt: str) -> None:
        verb, _, rest = prompt.partition(" ")
        if verb == "items":
            self.items(int(rest))
        elif verb == "stream":
            count, rate, kind, long = rest.split()
            self.stream(int(count), float(rate), kind, int(long))
        elif verb == "say":
            text = json.loads(rest)
            self.answer([text[at : at + 7] for at in range(0, len(text), 7)], 1e6)

    def items(self, count: int) -> None:
        for n in range(count):
            if n % 2 == 0:
                self.whole([{"type": "text", "text": ANSWER.format(n=n)}])
                continue
            tool = f"toolu_{uuid.uuid4().hex}"
            given = {"command": f"echo {n}"}
            self.whole([{"type": "tool_use", "id": tool, "name": "Bash", "input": given}])
            result = {"type": "tool_result", "tool_use_id": tool, "content": "ok"}
            content = {"role": "user", "content": [result]}
            self.line(type="user", parent_tool_use_id=None, message=content)

    def stream(self, count: int, rate: float, kind: str, long: int) -> None:
        for start in range(0, count, long):
            self.answer(list(pieces(kind, min(long, count - start))), rate)

    def answer(self, texts: list[str], rate: float) -> None:
        empty = self.empty()
        self.event(type="message_start", message=empty)
        block = {"type": "text", "text": ""}
        self.event(type="content_block_start", index=0, content_block=block)
        start = time.monotonic()
        every = FLUSH_EVERY if rate > SLOW else 1
        for n, text in enumerate(texts, 1):
            delta = {"type": "text_delta", "text": text}
            self.event(type="content_block_delta", index=0, delta=delta)
            if n % every == 0:
                sys.stdout.flush()
                time.sleep(max(0.0, start + n / rate - time.monotonic()))
        content = [{"type": "text", "text": "".join(texts)}]
        self.line(type="assistant", parent_tool_use_id=None, message={**empty, "content": content})
        self.event(type="content_block_stop", index=0)
        self.event(type="message_stop")

    def empty(self) -> dict[str, Any]:
        self.messages += 1
        name = f"msg_{self.session[:8]}_{self.messages}"
        return {"id": name, "role": "assistant", "content": [], "model": "big"}

    def whole(self, content: list[dict[str, Any]]) -> None:
        message = {**self.empty(), "content": content}
        self.line(type="assistant", parent_tool_use_id=None, message=message)

    def event(self, **event: Any) -> None:
        self.line(type="stream_event", event=event, parent_tool_use_id=None)

    def line(self, **fields: Any) -> None:
        write({**fields, "session_id": self.session, "uuid": str(uuid.uuid4())})


def pieces(kind: str, count: int) -> Iterator[str]:
    """This many deltas of a kind of text."""
    yield {"code": "```python\n", "table": "| a | b | c |\n|---|---|---|\n"}.get(kind, "So")
    for n in range(1, count):
        if kind == "code":
            yield "\n" if n % 10 == 9 else f" x = f({n})"
        elif kind == "table":
            yield "|\n" if n % 4 == 3 else f"| {n} "
        elif kind == "list":
            yield "\n- item" if n % 8 == 7 else " word"
        elif kind == "mixed":
            yield mixed(n)
        else:
            yield ".\n\n" if n % 60 == 59 else " **word**" if n % 9 == 0 else " word"


def mixed(n: int) -> str:
    """Paragraphs, code, a table, a list, and paragraphs again."""
    at = n % 400
    breaks = {0: "\n\n```python\n", 100: "\n```\n\n", 210: "\n\n", 300: "\n\n", 350: "\n\n"}
    if at in breaks:
        return breaks[at]
    if at < 100:
        return "\n" if at % 8 == 7 else f" x = f({n})"
    if at == 150:
        return "\n\n| a | b |\n|---|---|\n"
    if 150 < at < 210:
        return "|\n" if at % 3 == 0 else f"| {n} "
    if 210 < at < 300 and at % 6 == 0:
        return "\n- item **bold**"
    return " `word`" if n % 11 == 0 else " word"


def write(message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")


def main() -> None:
    if "--version" in FLAGS:
        print("2.1.325 (Claude Code)")  # noqa: T201 - this is a program
        return
    flood = Flood()
    for line in sys.stdin:
        flood.take(json.loads(line))


if __name__ == "__main__":
    main()
