"""Derives from a recording the script with which the model gives the same replies.

Read off the lines that the CLI wrote: one reply for each message id, held where the recording
shows that it was interrupted or that the host wrote in between. What cannot be read off (an HTTP
error leaves no line) stands in the tables here.
"""

from __future__ import annotations

from typing import Any

from tests.emulator.recorded_process import RecordedProcess

Entry = dict[str, Any]

BESIDE_S = 0.4
"""How long a conversation is delayed if the recording shows that the other was faster."""

FAILURES: dict[str, list[Entry]] = {
    "err_400": [{"error": 400}],
    "err_401": [{"error": 401, "retry_after": 0}],
    "err_403": [{"error": 403}],
    "err_404": [{"error": 404}],
    "err_413": [{"error": 413}],
    "err_429": [{"error": 429, "retry": False}],
    "err_500": [{"error": 500, "retry": False}],
    "err_529": [{"error": 529, "retry": False}],
    "err_retry": [{"error": 529, "retry_after": 0}, {"error": 529, "retry_after": 0}],
}
"""What the scripted model of the recording answered before its first reply."""

RETRIED = {("2.1.38", "err_529"): [{"error": 529, "retry_after": 0}]}
"""2.1.38 retries after a 529 even if the server forbids it."""

STOP_REASONS = {"err_max_tokens": ["max_tokens"] * 4 + ["refusal"] * 2}


ENDLESS = {("2.1.38", "json_schema_fail")}
"""The loop that the recording cuts off: the model does not answer there."""

_NEVER = {"type": "text", "text": "never said"}


def derive(process: RecordedProcess, version: str, name: str) -> dict[str, Any]:
    """A script for the emulator, as data."""
    reader = _Reader()
    for event in process.events:
        reader.take(event.direction, event.message)
    reader.end()
    queue = [*RETRIED.get((version, name), FAILURES.get(name, [])), *reader.queue()]
    for entry, reason in zip(queue, STOP_REASONS.get(name, ()), strict=False):
        entry["stop_reason"] = reason
    if (version, name) in ENDLESS:
        queue.append({"blocks": [_NEVER], "waits": [{"before": 0, "forever": True}]})
    scenes = [{"steps": [{"say": "Done."}]}]
    return {"queue": queue, "scenes": scenes}


class _Reader:
    def __init__(self) -> None:
        self._replies: dict[str, Entry] = {}
        self._prompts: dict[str, str] = {}
        """Tool use id of a subagent -> its prompt."""
        self._expecting = False
        self._inputs = 0
        self._deltas: dict[str, int] = {}
        self._open: str | None = None
        self._anonymous = 0
        self._has_result = False
        self._heard_background = False

    def take(self, direction: str, message: Any) -> None:
        if not isinstance(message, dict):
            return
        if direction == "in":
            self._written(message)
        elif direction == "out":
            self._said(message)

    def _written(self, message: dict[str, Any]) -> None:
        if not self._expecting:
            return
        if message.get("request", {}).get("subtype") == "interrupt":
            self._hold()
        elif message.get("type") in ("user", "control_request"):
            self._inputs += 1

    def _said(self, message: dict[str, Any]) -> None:
        kind = message.get("type")
        if kind == "system" and message.get("subtype") == "init":
            self._expect()
        elif kind == "stream_event":
            self._event(message["event"])
        elif kind == "assistant":
            self._assistant(message)
        elif kind == "user":
            self._user(message)
        elif kind == "result":
            self._expecting, self._has_result = False, True

    def _expect(self) -> None:
        self._expecting, self._inputs, self._open = True, 0, None
        self._heard_background = self._has_result = False

    def _event(self, event: dict[str, Any]) -> None:
        if event["type"] == "message_start":
            self._open = event["message"]["id"]
            self._deltas[self._open] = 0
        elif event["type"] == "content_block_delta" and self._open:
            self._deltas[self._open] += 1
            text = event["delta"].get("text") or event["delta"].get("partial_json")
            if text:
                self._reply(self._open).setdefault("piece", len(text))
        elif event["type"] == "message_stop":
            self._open = None

    def _assistant(self, message: dict[str, Any]) -> None:
        body = message["message"]
        if body["model"] == "<synthetic>":
            return
        parent = message.get("parent_tool_use_id")
        if message.get("aborted"):
            self._expecting = False
            self._hold_open(body["id"])
            return
        entry = self._reply(body["id"])
        if parent is not None:
            entry["for"] = self._prompts[parent]
            self._heard_background = True
            if self._has_result:
                entry["waits"] = [{"before": 0, "seconds": BESIDE_S}]
        elif self._expecting:
            self._expecting = False
            if self._heard_background:
                entry["waits"] = [{"before": 0, "seconds": BESIDE_S}]
            if self._inputs:
                entry["waits"] = [{"before": 0, "inputs": self._inputs}]
        entry["blocks"] += body["content"]
        for block in body["content"]:
            if block["type"] == "tool_use" and block["name"] in ("Task", "Agent"):
                self._prompts[block["id"]] = block["input"]["prompt"]

    def _user(self, message: dict[str, Any]) -> None:
        content = message["message"]["content"]
        if message.get("isSynthetic"):
            self._expect()
        if not isinstance(content, list) or not content or content[0]["type"] != "tool_result":
            return
        if message.get("parent_tool_use_id") is None:
            self._expect()
        self._last_words(content[0]["tool_use_id"], message.get("tool_use_result"))

    def _last_words(self, tool_use_id: str, result: Any) -> None:
        """The last text of a subagent is only in the result of its tool."""
        if tool_use_id not in self._prompts or not isinstance(result, dict):
            return
        if result.get("status") == "completed":
            self._anonymous += 1
            entry = self._reply(f"msg_sub_{self._anonymous}")
            entry["for"] = self._prompts[tool_use_id]
            entry["blocks"] = [result["content"][-1]]

    def _reply(self, message_id: str) -> Entry:
        return self._replies.setdefault(message_id, {"id": message_id, "blocks": []})

    def _hold(self) -> None:
        """The model was still silent, or in the middle of a text, when the host interrupted."""
        self._expecting = False
        if self._open is not None:
            self._hold_open(self._open)
            return
        self._anonymous += 1
        entry = self._reply(f"msg_held_{self._anonymous}")
        entry["blocks"] = [{"type": "text", "text": "never said"}]
        entry["waits"] = [{"before": 0, "forever": True}]

    def _hold_open(self, message_id: str) -> None:
        entry = self._reply(message_id)
        entry["blocks"] = [{"type": "text", "text": "word " * 200}]
        before = self._deltas.get(message_id, 1)
        entry["waits"] = [{"before": before, "forever": True}]

    def end(self) -> None:
        if self._open is not None and not self._replies.get(self._open, {}).get("blocks"):
            self._hold_open(self._open)

    def queue(self) -> list[Entry]:
        return [entry for entry in self._replies.values() if entry["blocks"]]
