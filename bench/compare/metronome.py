"""A program in the place of the CLI that writes text deltas at a fixed pace.

    python metronome.py [the command line of a CLI]

The prompt is `{"deltas": N, "per_s": F}`. Each delta contains the time of the system's monotonic
clock at which it was written, so that a client on the same machine can compute the delay. Runs by
itself, without the packages around it.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

__all__ = ["VERSION"]

VERSION = "2.1.325"
SESSION = "4cf9785f-b073-4b06-b218-5a5970d774fa"


def main() -> None:
    """Play the CLI until stdin ends."""
    arguments = sys.argv[1:]
    if "--version" in arguments or "-v" in arguments:
        sys.stdout.write(f"{VERSION} (Claude Code)\n")
        return
    if arguments == ["auth", "status"]:
        sys.stdout.write('{"loggedIn": true}\n')
        return
    session = next((a.split("=", 1)[1] for a in arguments if a.startswith("--session-id=")), "")
    turn = Turn(session or SESSION)
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if message["type"] == "control_request":
            request_id = message["request_id"]
            body = {"subtype": "success", "request_id": request_id, "response": {}}
            turn.write({"type": "control_response", "response": body})
        elif message["type"] == "user":
            turn.play(**json.loads(message["message"]["content"][0]["text"]))


class Turn:
    """Writes the lines of a turn."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._number = 0

    def play(self, deltas: int, per_s: float) -> None:
        """Write one message in so many deltas."""
        ids = {"session_id": self._session}
        model = "claude-opus-5-5"
        init = {"type": "system", "subtype": "init", "cwd": "/", "model": model, "tools": []}
        more = {"mcp_servers": [], "permissionMode": "default", "claude_code_version": VERSION}
        self.write({**init, **more, **ids, "uuid": self._uuid()})
        head = {"id": "msg_1", "type": "message", "role": "assistant", "model": model}
        usage = {"input_tokens": 1, "output_tokens": 1}
        started: dict[str, Any] = {**head, "content": [], "stop_reason": None, "usage": usage}
        self._event({"type": "message_start", "message": started})
        block = {"type": "text", "text": ""}
        self._event({"type": "content_block_start", "index": 0, "content_block": block})
        due = time.monotonic()
        texts: list[str] = []
        for _ in range(deltas):
            due += 1 / per_s
            if (left := due - time.monotonic()) > 0:
                time.sleep(left)
            texts.append(f"@{time.monotonic():.6f} ")
            delta = {"type": "text_delta", "text": texts[-1]}
            self._event({"type": "content_block_delta", "index": 0, "delta": delta})
        complete = {**started, "content": [{"type": "text", "text": "".join(texts)}]}
        self.write(
            {"type": "assistant", "message": complete, "parent_tool_use_id": None, **ids}
            | {"uuid": self._uuid()}
        )
        self._event({"type": "content_block_stop", "index": 0})
        self._event({"type": "message_stop"})
        result = {"type": "result", "subtype": "success", "is_error": False, "result": "done"}
        sums = {"duration_ms": 1, "num_turns": 1, "total_cost_usd": 0.0, "usage": usage}
        self.write({**result, **sums, **ids, "uuid": self._uuid()})

    def write(self, line: dict[str, Any]) -> None:
        """Write one line at once."""
        sys.stdout.write(json.dumps(line, separators=(",", ":")) + "\n")
        sys.stdout.flush()

    def _event(self, event: dict[str, Any]) -> None:
        ids = {"session_id": self._session, "parent_tool_use_id": None, "uuid": self._uuid()}
        self.write({"type": "stream_event", "event": event, **ids})

    def _uuid(self) -> str:
        self._number += 1
        return f"00000000-0000-4000-8000-{self._number:012}"


if __name__ == "__main__":
    main()
