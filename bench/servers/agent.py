"""A program in the place of the CLI that writes whole answers at a fixed pace.

    python agent.py [the command line of a CLI]

The prompt contains `lines=N per_s=F`. Each answer is one line of about 900 bytes with the time of the
system's monotonic clock at which it was written, so that a client on the same machine can compute
the delay. No server has to ask for partial messages to get them. Runs by itself, without the
packages around it.
"""

from __future__ import annotations

import json
import re
import sys
import time
import uuid
from typing import Any

__all__ = ["VERSION"]

VERSION = "2.1.325"
WORDS = "The quick brown fox jumps over the lazy dog. " * 12

_ORDER = re.compile(r"lines=(\d+) per_s=([\d.]+)")


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
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if message["type"] == "control_request":
            request_id = message["request_id"]
            body = {"subtype": "success", "request_id": request_id, "response": {}}
            write({"type": "control_response", "response": body})
        elif message["type"] == "user" and (order := _ORDER.search(json.dumps(message))):
            play(session, int(order[1]), float(order[2]))


def play(session: str, lines: int, per_s: float) -> None:
    """One turn of so many answers."""
    ids = {"session_id": session}
    model = "claude-opus-5-5"
    init = {"type": "system", "subtype": "init", "cwd": "/", "model": model, "tools": []}
    more = {"mcp_servers": [], "permissionMode": "default", "claude_code_version": VERSION}
    write({**init, **more, **ids, "uuid": str(uuid.uuid4())})
    usage = {"input_tokens": 1, "output_tokens": 1}
    due = time.monotonic()
    for number in range(lines):
        due += 1 / per_s
        if (left := due - time.monotonic()) > 0:
            time.sleep(left)
        head = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": model}
        text = f"@{time.monotonic():.6f} {WORDS}"
        content = [{"type": "text", "text": text}]
        said = {**head, "content": content, "stop_reason": None, "usage": usage}
        line = {"type": "assistant", "message": said, "parent_tool_use_id": None}
        write({**line, **ids, "uuid": str(uuid.uuid4())})
    result = {"type": "result", "subtype": "success", "is_error": False, "result": "turn over"}
    sums = {"duration_ms": 1, "num_turns": 1, "total_cost_usd": 0.0, "usage": usage}
    write({**result, **sums, **ids, "uuid": str(uuid.uuid4())})


def write(line: dict[str, Any]) -> None:
    """Write one line at once."""
    sys.stdout.write(json.dumps(line, separators=(",", ":")) + "\n")
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
