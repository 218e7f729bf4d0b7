"""Plays a recording back as a `claude`: writes the recorded lines in response to the host's lines.

Use it to reproduce a bug that was recorded once. Lines of the host are matched by their type and
not compared, so that another host may word them differently. Ids that the host chooses (of its
requests and prompts) replace the recorded ones. A control request that was not recorded gets a
plain success, and a recorded one that the host does not send is skipped.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections import deque
from pathlib import Path
from typing import Any

from fairlead.emulator.state.profile import DEFAULT_VERSION
from fairlead.model_api.json_text import to_json

__all__ = ["main", "write_replay"]


def write_replay(path: Path, recording: Path) -> Path:
    """Write a program that plays a recording (`{"t", "dir", "line"}` or `{"t", "dir", "msg"}`)."""
    source = Path(__file__).parent.parent.parent
    lines = [
        "#!/bin/sh",
        f'export PYTHONPATH={shlex.quote(str(source))}"${{PYTHONPATH:+:$PYTHONPATH}}"',
        f"exec {shlex.quote(sys.executable)} -m fairlead.testing.replays "
        f'{shlex.quote(str(recording))} "$@"',
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def main(recording: Path, arguments: tuple[str, ...] = ()) -> int:
    """Play a recording to stdin and stdout; the exit code is the recorded one."""
    entries = [json.loads(line) for line in recording.read_text("utf-8").splitlines() if line]
    if any(argument in ("--version", "-v") for argument in arguments):
        _write(f"{_version(entries, recording)} (Claude Code)")
        return 0
    return _Playback(entries).run()


def _version(entries: list[dict[str, Any]], recording: Path) -> str:
    """The version that the recorded CLI reported, or that is the name of its folder."""
    for entry in entries:
        message = _message(entry)
        if isinstance(message, dict) and message.get("claude_code_version"):
            return str(message["claude_code_version"])
    folder = recording.resolve().parent.name
    return folder if re.fullmatch(r"\d+\.\d+\.\d+", folder) else DEFAULT_VERSION


class _Playback:
    def __init__(self, entries: list[dict[str, Any]]) -> None:
        self._entries = deque(entries)
        self._ids: dict[str, str] = {}
        """Id of the recorded host -> id of this host."""
        self._not_sent: set[str] = set()
        """Requests that the recorded host sent and this host did not."""
        self._initialize_response = _initialized(entries)

    def run(self) -> int:
        while self._entries:
            entry = self._entries.popleft()
            if entry["dir"] == "out":
                self._write_entry(entry)
            elif entry["dir"] == "in":
                if not self._read_line(_message(entry)):
                    return 0
            elif entry["dir"] == "end" and isinstance(entry.get("msg"), dict):
                self._answer_rest()
                return int(entry["msg"].get("rc") or 0)
        self._answer_rest()
        return 0

    def _write_entry(self, entry: dict[str, Any]) -> None:
        message = _message(entry)
        if _answers(message) in self._not_sent:
            return
        _write(message if isinstance(message, str) else to_json(self._renamed(message)))

    def _renamed(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._renamed(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._renamed(inner) for inner in value]
        return self._ids.get(value, value) if isinstance(value, str) else value

    def _read_line(self, expected: Any) -> bool:
        """Wait for the host's counterpart of a recorded line; False at the end of its input."""
        while True:
            line = sys.stdin.readline()
            if not line:
                return False
            message = _parsed(line)
            if self._subtype(message) and self._subtype(message) != self._subtype(expected):
                self._answer(message)
                continue
            while self._subtype(expected) and not self._subtype(message):
                self._not_sent.add(str(expected.get("request_id")))
                following = self._next_expected()
                if following is None:
                    return True
                expected = following
            if _kind(message) == "control_response" and _kind(expected) == "user":
                continue  # an answer to a request that the recorded host left open
            self._match(expected, message)
            return True

    def _next_expected(self) -> Any:
        """The next recorded line of the host; writes the lines of the CLI before it."""
        while self._entries:
            entry = self._entries.popleft()
            if entry["dir"] == "in":
                return _message(entry)
            if entry["dir"] == "out":
                self._write_entry(entry)
        return None

    def _answer_rest(self) -> None:
        """The recording has ended; answer further requests until the host closes the pipe."""
        for line in sys.stdin:
            message = _parsed(line)
            if self._subtype(message):
                self._answer(message)

    def _subtype(self, message: Any) -> str:
        """The subtype of a control request; empty for any other line."""
        if _kind(message) != "control_request" or not isinstance(message.get("request"), dict):
            return ""
        return str(message["request"].get("subtype"))

    def _answer(self, request: dict[str, Any]) -> None:
        body = self._initialize_response if self._subtype(request) == "initialize" else {}
        response = {"subtype": "success", "request_id": request.get("request_id"), "response": body}
        _write(to_json({"type": "control_response", "response": response}))

    def _match(self, expected: Any, message: Any) -> None:
        """Map the recorded ids of a request or prompt to those of the host."""
        for key in ("request_id", "uuid"):
            if isinstance(expected, dict) and isinstance(message, dict):
                recorded_id, host_id = expected.get(key), message.get(key)
                if isinstance(recorded_id, str) and isinstance(host_id, str):
                    self._ids[recorded_id] = host_id


def _initialized(entries: list[dict[str, Any]]) -> Any:
    """The recorded answer to `initialize`, or a minimal one."""
    for entry in entries:
        message = _message(entry)
        body = message.get("response") if isinstance(message, dict) else None
        answer = body.get("response") if isinstance(body, dict) else None
        if isinstance(answer, dict) and "commands" in answer and entry["dir"] == "out":
            return answer
    empty: dict[str, Any] = {"commands": [], "models": [], "agents": [], "account": {}}
    return {**empty, "output_style": "default", "available_output_styles": ["default"]}


def _message(entry: dict[str, Any]) -> Any:
    """The recorded line: parsed, or as text if it is not JSON."""
    line = entry.get("line")
    return _parsed(line) if isinstance(line, str) else entry.get("msg")


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return line.rstrip("\n")


def _kind(message: Any) -> str:
    return str(message.get("type")) if isinstance(message, dict) else ""


def _answers(message: Any) -> str | None:
    """The id of the request that a line answers."""
    if _kind(message) != "control_response" or not isinstance(message.get("response"), dict):
        return None
    return str(message["response"].get("request_id"))


def _write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), tuple(sys.argv[2:])))
