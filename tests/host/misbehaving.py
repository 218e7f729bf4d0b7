"""A program that speaks just enough of the protocol to be started as a CLI, and then misbehaves.

    misbehaving.py MODE [flags of the CLI …]

It answers `--version`, `initialize` and `interrupt`; what it does with a prompt is its MODE.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from typing import Any

SESSION = "00000000-0000-4000-8000-000000000000"


def write(message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def init() -> None:
    write({"type": "system", "subtype": "init", "session_id": SESSION, "tools": []})


def delta(text: str) -> dict[str, Any]:
    event = {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "text_delta", "text": text},
    }
    return {"type": "stream_event", "event": event, "session_id": SESSION, "uuid": None}


def assistant(text: str, parent: str | None = None) -> dict[str, Any]:
    message = {"id": "msg-1", "role": "assistant", "content": [{"type": "text", "text": text}]}
    return {"type": "assistant", "message": message, "parent_tool_use_id": parent}


def result(text: str = "done") -> None:
    write({"type": "result", "subtype": "success", "is_error": False, "result": text})


def respond(request_id: str, response: dict[str, Any] | None = None) -> None:
    body = {"subtype": "success", "request_id": request_id, "response": response or {}}
    write({"type": "control_response", "response": body})


class Gush(threading.Thread):
    """Numbered lines without end, until `stop`, whether they are read or not; then their count."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.stopping = threading.Event()
        self.lines = 0

    def run(self) -> None:
        sys.stdout.flush()
        while not self.stopping.is_set():
            line = json.dumps(delta(f"{self.lines:08} " + "x" * 120)) + "\n"
            os.write(1, line.encode())
            self.lines += 1

    def stop(self) -> None:
        self.stopping.set()
        self.join()


def grandchild() -> int:
    """A process in its own session that holds this program's stdout forever."""
    child = subprocess.Popen(
        [sys.executable, "-c", "import signal; signal.pause()"], start_new_session=True
    )
    return child.pid


def ask_permission(number: int) -> None:
    request: dict[str, Any] = {
        "subtype": "can_use_tool",
        "tool_name": "Bash",
        "input": {"command": f"touch {number}"},
        "tool_use_id": f"toolu_{number}",
    }
    write({"type": "control_request", "request_id": f"ask-{number}", "request": request})


GUSH = Gush()


def on_prompt(mode: str, text: str) -> None:  # noqa: C901, PLR0915 - one branch per misdeed
    init()
    if mode == "flood":
        line = json.dumps(delta("x" * 120)) + "\n"
        for _ in range(int(text)):
            sys.stdout.write(line)
        sys.stdout.flush()
    elif mode == "long-line":
        write(delta("y" * int(text)))
    elif mode == "stderr":
        sys.stderr.write("complaint " * (int(text) // 10) + "\nthe last word\n")
        sys.stderr.flush()
    elif mode == "noise":
        sys.stdout.write("warning: this is not JSON\n\n\r\n[1, 2]\nnull\n")
    elif mode == "stop-self":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif mode == "grandchild":
        write(delta(str(grandchild())))
        os._exit(0)
    elif mode == "leave-grandchild":
        write(delta(str(grandchild())))
    elif mode == "die":
        sys.stderr.write("fatal: out of luck\n")
        sys.stderr.flush()
        os._exit(3)
    elif mode == "die-9":
        os.kill(os.getpid(), signal.SIGKILL)
    elif mode == "half-line":
        sys.stdout.write('{"type":"result","subtype":"success","result":"no line end"}')
        sys.stdout.flush()
        os._exit(0)
    elif mode == "ask":
        for number in range(int(text)):
            ask_permission(number)
        return
    elif mode == "ask-unknown":
        request = {"subtype": "brand_new_request", "x": 1}
        write({"type": "control_request", "request_id": "ask-0", "request": request})
        return
    elif mode == "ask-withdraw":
        request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}}
        write({"type": "control_request", "request_id": "ask-0", "request": request})
        return
    elif mode == "gush":
        GUSH.start()
        return
    elif mode in ("silent", "no-interrupt", "no-sigint"):
        return
    elif mode == "say-and-wait":
        write(assistant("This is what I know."))
        write(delta("And then"))
        return
    elif mode == "text":
        for piece in ("Hel", "lo."):
            write(delta(piece))
        write(assistant("Hello."))
        write(assistant("Not streamed."))
        write(delta("The end"))
        write(assistant("The end."))
    elif mode == "close-stdout":
        os.close(1)
        threading.Event().wait()
    elif mode == "never-read":
        write(delta("not reading any more"))
        for number in range(int(text)):
            ask_permission(number)
        threading.Event().wait()
    elif mode == "env":
        result(json.dumps({"env": dict(os.environ), "fds": sorted(os.listdir("/proc/self/fd"))}))
        return
    result()


def on_control(mode: str, message: dict[str, Any], state: dict[str, int]) -> None:
    request = message["request"]
    if mode == "mute":
        return
    if request["subtype"] == "initialize":
        respond(message["request_id"], {"commands": [], "models": []})
    elif request["subtype"] == "interrupt" and mode in ("no-interrupt", "no-sigint"):
        return
    elif request["subtype"] == "interrupt":
        answer: dict[str, Any] = {"still_queued": []}
        if mode == "gush":
            GUSH.stop()
            answer["lines"] = GUSH.lines
        respond(message["request_id"], answer)
        if mode != "flood":
            write({"type": "result", "subtype": "error_during_execution", "is_error": False})
    elif request["subtype"] == "withdraw_please":
        respond(message["request_id"])
        write({"type": "control_cancel_request", "request_id": "ask-0"})
        result("withdrawn")
    elif request["subtype"] == "fail_please":
        body = {
            "subtype": "error",
            "request_id": message["request_id"],
            "error": "no",
            "error_code": "x",
        }
        write({"type": "control_response", "response": body})
    # Anything else is met with silence, as 2.1.38 does.


def on_answer(message: dict[str, Any], state: dict[str, int]) -> None:
    write({"type": "echo_of_answer", "answer": message["response"]})
    state["answers"] = state.get("answers", 0) + 1
    if state["answers"] == state.get("asked", 1):
        result("answered")


def main() -> None:
    mode, *flags = sys.argv[1:]
    if "--version" in flags:
        print("2.1.325 (Claude Code)")  # noqa: T201
        return
    if mode == "die-at-once":
        sys.stderr.write("error: unknown option '--frobnicate'\n")
        sys.exit(1)
    if mode == "exit-0-at-once":
        return
    if mode == "no-sigint":
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if mode == "no-interrupt":
        signal.signal(signal.SIGINT, lambda *_: os._exit(0))
    if mode == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    state: dict[str, int] = {}
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "control_request":
            on_control(mode, message, state)
        elif message["type"] == "control_response":
            on_answer(message, state)
        elif message["type"] == "user":
            text = message["message"]["content"][0]["text"]
            state["asked"] = int(text) if mode == "ask" else 1
            state["answers"] = 0
            on_prompt(mode, text)
    if mode in ("deaf", "linger"):
        threading.Event().wait()


if __name__ == "__main__":
    main()
