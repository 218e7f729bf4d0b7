"""Plays the host's side of a recording to the emulator, which runs as a separate process.

A line is written when the emulator has written as much as the CLI had written before that line.
Lines that the recording shows together are written together. Paths of the recording are turned into
those of the test, ids of requests into those of the emulator.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from tests.emulator.recorded_process import Event, RecordedProcess
from tests.emulator.skeleton import skeletons
from tests.forked_programs import program

RECORDED_ROOT = "/workspace"
WAIT_S = 12.0
"""The longest wait for a line that must come before the host continues."""
QUIET_S = 0.6
"""After the last line of the host, stdin is closed after this time without output."""
END_S = 15.0

SIGNALS = {
    "sig_int": signal.SIGINT,
    "sig_int_idle": signal.SIGINT,
    "sig_term": signal.SIGTERM,
    "sig_term_bash": signal.SIGTERM,
    "resume_pending_permission": signal.SIGKILL,
    "json_schema_fail": signal.SIGTERM,
}


@dataclass(slots=True)
class Replayed:
    """What the emulator did."""

    lines: list[Any] = field(default_factory=list)
    exit_code: int | None = None
    stderr: str = ""


class Replay:
    """One process of a scenario."""

    def __init__(
        self,
        recorded: RecordedProcess,
        version: str,
        name: str,
        root: Path,
        script: Path,
    ) -> None:
        self._recorded = recorded
        self._name = name
        self._root = root
        self._lines: list[Any] = []
        self._queue: queue.Queue[bytes | None] = queue.Queue()
        self._requests: dict[tuple[str, int], str] = {}
        self._seen: Counter[str] = Counter()
        self._recorded_ids: dict[str, tuple[str, int]] = {}
        self._recorded_counts: Counter[str] = Counter()
        self._process = self._start(version, script)
        self._reader = threading.Thread(target=self._read, daemon=True)
        pipes = self._process.stdin, self._process.stdout, self._process.stderr
        self._stdin, self._stdout, self._stderr = (cast("IO[bytes]", pipe) for pipe in pipes)

    def _start(self, version: str, script: Path) -> subprocess.Popen[bytes]:
        root = self._root
        environment = {
            "HOME": str(root / "home"),
            "TMPDIR": str(root / "tmp"),
            "PATH": f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "FAIRLEAD_EMULATE": version,
            "FAIRLEAD_SCRIPT": str(script),
            "IS_SANDBOX": "" if self._name == "mode_bypass_root" else "1",
            "MCP_TIMEOUT": "300" if self._name == "mcp_sdk_silent" else "30000",
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        }
        if self._recorded.environment.get("ANTHROPIC_API_KEY", "") is None:
            environment["FAIRLEAD_EMULATE_LOGGED_OUT"] = "1"
        given = self._recorded.environment.items()
        environment |= {key: value for key, value in given if value is not None}
        arguments = [self._here(word) for word in self._recorded.argv]
        return subprocess.Popen(
            [*program("fairlead.emulator"), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=root / "project",
            env=environment,
        )

    def _here(self, text: str) -> str:
        return text.replace(RECORDED_ROOT + "/", f"{self._root}/")

    def run(self) -> Replayed:
        """Play the recording to its end."""
        self._reader.start()
        written: list[Any] = []
        batch: list[Event] = []
        for event in [*self._recorded.events, Event("out", None)]:
            if event.direction == "in":
                batch.append(event)
            elif event.direction == "out":
                if batch:
                    self._wait_for(written, WAIT_S)
                    self._write(batch)
                    batch = []
                if event.message is not None:
                    written.append(event.message)
                    self._note_request(event.message)
        return self._finish(written)

    def _finish(self, written: list[Any]) -> Replayed:
        quietly = self._wait_for(written, END_S, quiet=QUIET_S)
        if self._name in SIGNALS and not (quietly and self._process.poll() is not None):
            self._signal()
        try:
            self._stdin.close()
        except BrokenPipeError:
            pass
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._drain_all()
        stderr = self._stderr.read().decode()
        self._stderr.close()
        return Replayed(self._lines, self._process.returncode, stderr)

    def _signal(self) -> None:
        number = SIGNALS[self._name]
        if self._name == "json_schema_fail" and self._recorded.exit_code == 0:
            return
        if number is signal.SIGKILL and self._recorded.exit_code != -signal.SIGKILL:
            return
        if self._process.poll() is None:
            self._process.send_signal(number)
            self._process.wait(END_S)
        if number is signal.SIGKILL:
            # The program is killed after its stub. It must not find its input closed before.
            self._reader.join(END_S)

    def _read(self) -> None:
        for line in self._stdout:
            self._queue.put(line)
        self._queue.put(None)
        self._stdout.close()

    def _drain_all(self) -> None:
        while True:
            line = self._queue.get(timeout=END_S)
            if line is None:
                return
            self._take(line)

    def _take(self, line: bytes) -> None:
        line = line.replace(f"{self._root}/".encode(), f"{RECORDED_ROOT}/".encode())
        try:
            message = json.loads(line)
        except ValueError:
            message = {"_raw": line.decode()}
        self._lines.append(message)
        if message.get("type") == "control_request":
            key = _key(message["request"])
            self._seen[key] += 1
            self._requests[key, self._seen[key]] = message["request_id"]

    def _wait_for(self, written: list[Any], timeout: float, quiet: float | None = None) -> bool:
        """Wait until the emulator has written as much; False after a timeout."""
        wanted = len(skeletons(written))
        deadline = time.monotonic() + timeout
        while len(skeletons(self._lines)) < wanted:
            left = deadline - time.monotonic()
            # A busy machine may take a while before the first line.
            patience = left if quiet is None or not self._lines else min(left, quiet)
            if patience <= 0:
                return False
            try:
                line = self._queue.get(timeout=patience)
            except queue.Empty:
                return False
            if line is None:
                self._queue.put(None)
                return False
            self._take(line)
        return True

    # Lines of the host

    def _note_request(self, message: Any) -> None:
        if isinstance(message, dict) and message.get("type") == "control_request":
            key = _key(message["request"])
            self._recorded_counts[key] += 1
            self._recorded_ids[message["request_id"]] = (key, self._recorded_counts[key])

    def _write(self, batch: list[Event]) -> None:
        data = b"".join(self._line(event.message) for event in batch)
        try:
            self._stdin.write(data)
            self._stdin.flush()
        except BrokenPipeError:
            pass

    def _line(self, message: Any) -> bytes:
        if isinstance(message, str):
            return message.encode() + b"\n"
        if isinstance(message, dict) and "_hex" in message:
            return bytes.fromhex(message["_hex"])
        text = self._here(json.dumps(message))
        if isinstance(message, dict) and message.get("type") == "control_response":
            recorded = message["response"].get("request_id")
            known = self._recorded_ids.get(recorded)
            ours = self._requests.get(known) if known else None
            if ours is not None:
                text = text.replace(recorded, ours)
        return text.encode() + b"\n"


def _key(request: dict[str, Any]) -> str:
    message = request.get("message") or {}
    parts = [
        request["subtype"],
        request.get("tool_use_id") if request["subtype"] == "can_use_tool" else None,
        request.get("callback_id"),
        request.get("server_name"),
        message.get("method"),
    ]
    return " ".join(str(part) for part in parts if part is not None)
