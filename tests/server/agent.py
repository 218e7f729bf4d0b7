"""A CLI that executes the steps in its prompt, and records every line that it receives.

    agent.py LOG [flags of the CLI …]

A prompt is a text, answered by itself, or JSON with a list of steps:
  {"say": text}  {"flood": n}  {"ask": {"id", "tool", "input", "suggestions"}}  {"wait": n}
  {"die": code}  {"kill": signal}  {"withdraw": id}  {"line": object}  {"drip": [n, seconds]}
  {"pile": [n, characters]}  {"file": path} for lines that are too long for a prompt
  {"cost": total} for the total that the results from now on report
  {"reply": {subtype: response}} for control requests that come later
LOG gets one JSON line for argv, one for the names of its MCP servers, and one for each line on
stdin. If AGENT_FILES names a folder, the prompts are stored there too, as the CLI stores a
session, so that a server can resume it.
"""

from __future__ import annotations

import json
import os
import sys
import time
import uuid
from typing import Any

LOG, *FLAGS = sys.argv[1:]


def write(message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")


def keep(entry: Any) -> None:
    with open(LOG, "a") as log:
        log.write(json.dumps(entry) + "\n")


def keep_prompt(session: str, message: dict[str, Any]) -> None:
    folder = os.environ.get("AGENT_FILES")
    if not folder:
        return
    os.makedirs(f"{folder}/scripted", exist_ok=True)
    record = {
        "type": "user",
        "sessionId": session,
        "cwd": os.getcwd(),
        "version": "2.1.325",
        "timestamp": "2026-01-02T03:04:05.000Z",
        "uuid": message.get("uuid") or str(uuid.uuid4()),
        "parentUuid": None,
        "message": message["message"],
    }
    with open(f"{folder}/scripted/{session}.jsonl", "a") as kept:
        kept.write(json.dumps(record) + "\n")


def flag(name: str) -> str | None:
    return next((each.split("=", 1)[1] for each in FLAGS if each.startswith(f"{name}=")), None)


def session_id() -> str:
    return flag("--session-id") or flag("--resume") or str(uuid.uuid4())


class Agent:
    def __init__(self) -> None:
        self.total_usd = 0.01
        self.session = session_id()
        self.steps: list[dict[str, Any]] = []
        self.answers = 0
        self.needed = 0
        self.running = False
        self.queue: list[dict[str, Any]] = []
        self.index = 0
        self.replies: dict[str, Any] = {}

    def take(self, message: dict[str, Any]) -> None:
        if message["type"] == "control_request":
            self.control(message)
        elif message["type"] == "control_response":
            self.answers += 1
            self.go_on()
        elif message["type"] == "user":
            keep_prompt(self.session, message)
            self.queue.append(message)
            self.next_turn()
        sys.stdout.flush()

    def control(self, message: dict[str, Any]) -> None:
        request = message["request"]
        response: dict[str, Any] = {}
        if request["subtype"] == "initialize":
            response = {"commands": [], "models": [{"value": "big"}, {"value": "small"}]}
        if request["subtype"] == "get_plan":
            response = {"content": "1. do it"}
        response = self.replies.get(request["subtype"], response)
        body = {"subtype": "success", "request_id": message["request_id"], "response": response}
        write({"type": "control_response", "response": body})
        if request["subtype"] == "interrupt" and self.running:
            self.end("interrupted", "error_during_execution")

    def next_turn(self) -> None:
        if self.running or not self.queue:
            return
        message = self.queue.pop(0)
        self.running = True
        text = message["message"]["content"][0]["text"]
        try:
            self.steps = json.loads(text)
            assert isinstance(self.steps, list)
        except (ValueError, AssertionError):
            self.steps = [{"say": text}]
        self.line(type="system", subtype="init", tools=[], model="big", permissionMode="default")
        write({**message, "session_id": self.session, "isReplay": True})
        self.go_on()

    def go_on(self) -> None:
        while self.running and self.answers >= self.needed:
            if not self.steps:
                self.end("done", "success")
                return
            self.step(self.steps.pop(0))

    def step(self, step: dict[str, Any]) -> None:
        ((verb, value),) = step.items()
        if verb in ("say", "flood", "drip", "pile"):
            self.speak(verb, value)
        elif verb == "ask":
            self.ask(value)
        elif verb == "wait":
            self.needed, self.answers = value, self.answers
            self.needed += self.answers
        elif verb == "withdraw":
            write({"type": "control_cancel_request", "request_id": value})
        elif verb == "reply":
            self.replies.update(value)
        elif verb == "line":
            write(value)
        elif verb == "cost":
            self.total_usd = value
        elif verb == "file":
            with open(value) as lines:
                sys.stdout.write(lines.read())
        elif verb == "die":
            sys.stdout.flush()
            sys.stderr.write("fatal: told to\n")
            sys.stderr.flush()
            os._exit(value)
        elif verb == "kill":
            sys.stdout.flush()
            os.kill(os.getpid(), value)

    def speak(self, verb: str, value: Any) -> None:
        if verb == "say":
            self.say([value])
        elif verb == "flood":
            self.say([f"word{n} " for n in range(value)])
        elif verb == "drip":
            count, seconds = value
            self.say([f"word{n} " for n in range(count)], seconds / count)
        else:
            for number in range(value[0]):
                self.say([f"{number} " + "x" * value[1]])

    def say(self, pieces: list[str], pause_s: float = 0.0) -> None:
        self.index += 1
        message = f"msg_{self.session[:8]}_{self.index}"
        empty = {"id": message, "role": "assistant", "content": [], "model": "big"}
        self.event({"type": "message_start", "message": empty})
        self.event(
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "text", "text": ""},
            }
        )
        for piece in pieces:
            delta = {"type": "text_delta", "text": piece}
            self.event({"type": "content_block_delta", "index": 0, "delta": delta})
            if pause_s:
                sys.stdout.flush()
                time.sleep(pause_s)
        content = [{"type": "text", "text": "".join(pieces)}]
        self.line(type="assistant", message={**empty, "content": content}, parent_tool_use_id=None)
        self.event({"type": "content_block_stop", "index": 0})
        self.event({"type": "message_stop"})

    def ask(self, value: dict[str, Any]) -> None:
        request = {
            "subtype": "can_use_tool",
            "tool_name": value.get("tool", "Bash"),
            "input": value.get("input", {"command": "true"}),
            "tool_use_id": value.get("tool_use_id", f"toolu_{value['id']}"),
            "permission_suggestions": value.get("suggestions", []),
            **value.get("more", {}),
        }
        write({"type": "control_request", "request_id": value["id"], "request": request})

    def end(self, text: str, subtype: str) -> None:
        self.running = False
        self.steps, self.needed, self.answers = [], 0, 0
        self.line(
            type="result", subtype=subtype, is_error=subtype != "success", result=text,
            total_cost_usd=self.total_usd, num_turns=1,
        )  # fmt: skip
        self.next_turn()

    def event(self, event: dict[str, Any]) -> None:
        self.line(type="stream_event", event=event, parent_tool_use_id=None)

    def line(self, **fields: Any) -> None:
        write({**fields, "session_id": self.session, "uuid": str(uuid.uuid4())})


def main() -> None:
    if "--version" in FLAGS:
        print("2.1.325 (Claude Code)")  # noqa: T201
        return
    keep({"argv": FLAGS, "cwd": os.getcwd()})
    for flag in FLAGS:
        if flag.startswith("--mcp-config="):
            with open(flag.partition("=")[2], encoding="utf-8") as file:
                keep({"mcp": sorted(json.load(file)["mcpServers"])})
    agent = Agent()
    for line in sys.stdin:
        keep(json.loads(line))
        agent.take(json.loads(line))


if __name__ == "__main__":
    main()
