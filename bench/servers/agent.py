"""A program in the place of the CLI that writes whole answers at a fixed pace, or deltas at full speed.

    python agent.py [the command line of a CLI]

The prompt contains `lines=N per_s=F` or `deltas=N`. Each answer is one line of about 900 bytes, each
delta a line of about 250. Both contain the time of the system's monotonic clock at which they were
written, so that a client on the same machine can compute the delay and see what is missing. No server
has to ask for partial messages to get them. With `AGENT_TRANSCRIPTS` in its environment it also creates
the file of its session. Runs by itself, without the packages around it.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
import uuid
from pathlib import Path
from typing import Any

__all__ = ["VERSION"]

VERSION = "2.1.325"
WORDS = "The quick brown fox jumps over the lazy dog. " * 12

_ANSWERS = re.compile(r"lines=(\d+) per_s=([\d.]+)")
_DELTAS = re.compile(r"deltas=(\d+)")
MODEL = "claude-opus-5-5"
DELTAS_OF_ANSWER = 1_000
"""Some 33 KB, because a server may shorten long texts."""
USAGE = {"input_tokens": 1, "output_tokens": 1}


def main() -> None:
    """Play the CLI until stdin ends."""
    arguments = sys.argv[1:]
    if "--version" in arguments or "-v" in arguments:
        sys.stdout.write(f"{VERSION} (Claude Code)\n")
        return
    if arguments[:2] == ["auth", "status"]:
        sys.stdout.write('{"loggedIn": true}\n')
        return
    session = _session(arguments)
    if os.environ.get("AGENT_TRANSCRIPTS"):
        _begin_transcript(session)
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if message["type"] == "control_request":
            request_id = message["request_id"]
            body = {"subtype": "success", "request_id": request_id, "response": {}}
            write({"type": "control_response", "response": body})
        elif message["type"] == "user":
            play(session, json.dumps(message))


def _begin_transcript(session: str) -> None:
    """Create the file of a session as a CLI does, but empty: a server may wait until it exists."""
    project = re.sub(r"[^a-zA-Z0-9]", "-", str(Path.cwd()))
    folder = Path.home() / ".claude" / "projects" / project
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{session}.jsonl").touch()


def play(session: str, prompt: str) -> None:
    """One turn of what the prompt asks for."""
    ids = {"session_id": session}
    init = {"type": "system", "subtype": "init", "cwd": "/", "model": MODEL, "tools": []}
    more = {"mcp_servers": [], "permissionMode": "default", "claude_code_version": VERSION}
    write({**init, **more, **ids, "uuid": str(uuid.uuid4())})
    if order := _ANSWERS.search(prompt):
        _answer(ids, int(order[1]), float(order[2]))
    elif order := _DELTAS.search(prompt):
        _stream(ids, int(order[1]))
    result = {"type": "result", "subtype": "success", "is_error": False, "result": "turn over"}
    sums = {"duration_ms": 1, "num_turns": 1, "total_cost_usd": 0.0, "usage": USAGE}
    write({**result, **sums, **ids, "uuid": str(uuid.uuid4())})


def _answer(ids: dict[str, str], lines: int, per_s: float) -> None:
    """Complete answers at a fixed pace."""
    due = time.monotonic()
    for number in range(lines):
        due += 1 / per_s
        if (left := due - time.monotonic()) > 0:
            time.sleep(left)
        text = f"@{time.monotonic():.6f} {WORDS}"
        said = _message(f"msg_{number}", [{"type": "text", "text": text}])
        line = {"type": "assistant", "message": said, "parent_tool_use_id": None}
        write({**line, **ids, "uuid": str(uuid.uuid4())})


def _stream(ids: dict[str, str], deltas: int) -> None:
    """Answers in pieces, as fast as the server reads them."""
    for number in range(0, deltas, DELTAS_OF_ANSWER):
        _stream_answer(ids, f"msg_{number}", min(DELTAS_OF_ANSWER, deltas - number))


def _stream_answer(ids: dict[str, str], name: str, deltas: int) -> None:
    said = []

    def event(**fields: Any) -> None:
        line = {"type": "stream_event", "event": fields, "parent_tool_use_id": None}
        write({**line, **ids, "uuid": str(uuid.uuid4())}, flush=False)

    event(type="message_start", message=_message(name, []))
    event(type="content_block_start", index=0, content_block={"type": "text", "text": ""})
    for _ in range(deltas):
        said.append(f"@{time.monotonic():.6f} the quick brown fox ")
        event(type="content_block_delta", index=0, delta={"type": "text_delta", "text": said[-1]})
    event(type="content_block_stop", index=0)
    event(type="message_delta", delta={"stop_reason": "end_turn"}, usage=USAGE)
    event(type="message_stop")
    content = [{"type": "text", "text": "".join(said)}]
    line = {"type": "assistant", "message": _message(name, content), "parent_tool_use_id": None}
    write({**line, **ids, "uuid": str(uuid.uuid4())})


def _message(name: str, content: list[dict[str, str]]) -> dict[str, Any]:
    head = {"id": name, "type": "message", "role": "assistant", "model": MODEL}
    return {**head, "content": content, "stop_reason": None, "usage": USAGE}


def write(line: dict[str, Any], *, flush: bool = True) -> None:
    """Write one line; without `flush` it may share a write with others."""
    sys.stdout.write(json.dumps(line, separators=(",", ":")) + "\n")
    if flush:
        sys.stdout.flush()


def _session(arguments: list[str]) -> str:
    for place, argument in enumerate(arguments):
        if argument.startswith("--session-id="):
            return argument.partition("=")[2]
        if argument == "--session-id" and place + 1 < len(arguments):
            return arguments[place + 1]
    return str(uuid.uuid4())


if __name__ == "__main__":
    main()
