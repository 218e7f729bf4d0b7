"""Bash: real commands, with exit codes, time limits and a background.

Decides what becomes of a command and says it as the version does; the process itself is a
`running_command`. Its two outputs share one pipe, as they do in the newer CLI; the older one keeps
them apart when it fails.
"""

from __future__ import annotations

import asyncio
import secrets
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairlead.emulator.tools.bench import Bench
from fairlead.emulator.tools.outcome import Outcome, TaskEnd, TaskStart, failed, unusable
from fairlead.emulator.tools.running_command import RunningCommand

__all__ = ["Bash"]

DEFAULT_TIMEOUT_S = 120.0
MOST_CHARS = 30_000
"""A longer output is kept in a file, and only its beginning is given to the model."""
PREVIEW_CHARS = 2_000
LOOK_MS = 30_000
"""How long TaskOutput waits for the end of a command unless told otherwise."""
SILENT = frozenset({"mkdir", "rmdir", "touch", "rm", "mv", "cp", "chmod", "ln", "cd"})


@dataclass(slots=True, kw_only=True)
class _Background:
    """A command that went on after its tool has answered."""

    command: RunningCommand
    output: Path
    description: str
    exit_code: int | None = None

    def told(self, task_id: str) -> Outcome:
        """How far it is."""
        code, said = self.exit_code, self.output.read_text("utf-8", "replace")
        status = "running" if code is None else "failed" if code else "completed"
        fields = {
            "retrieval_status": "not_ready" if code is None else "success",
            "task_id": task_id,
            "task_type": "local_bash",
            "status": status,
        }
        if code is not None:
            fields["exit_code"] = str(code)
        parts = [f"<{name}>{value}</{name}>" for name, value in fields.items()]
        task = {
            "task_id": task_id,
            "task_type": "local_bash",
            "status": status,
            "description": self.description,
            "output": said,
            "exitCode": code,
        }
        return Outcome(
            content="\n\n".join([*parts, f"<output>\n{said}</output>"]),
            result={"retrieval_status": fields["retrieval_status"], "task": task},
        )


class Bash:
    """The commands of a session."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._background: dict[str, _Background] = {}

    async def run(self, input: Mapping[str, Any], session_id: str, tool_use_id: str) -> Outcome:
        """Run a command to its end, its time limit, or into the background."""
        if not isinstance(input.get("command"), str):
            return failed("Cannot read properties of undefined (reading 'includes')")
        bench = self._bench
        command = await RunningCommand.start(
            input["command"],
            bench.cwd,
            bench.child_environment(),
            apart=not bench.profile.is_modern,
        )
        described = str(input.get("description") or input["command"])
        if input.get("run_in_background"):
            return self._send_back(command, session_id, described)
        seconds = float(input.get("timeout") or DEFAULT_TIMEOUT_S * 1000) / 1000
        try:
            async with asyncio.timeout(seconds):
                code = await command.finished()
        except TimeoutError:
            if bench.profile.is_modern:
                await command.end()
                return failed(f"Exit code 143\nCommand timed out after {seconds:g}s")
            # The old version moves a slow command to the background (rec 2.1.38/tools_bash).
            return self._send_back(command, session_id, described)
        except asyncio.CancelledError:
            await command.end()
            raise
        return self._told(input["command"], *command.said, code, session_id, tool_use_id)

    def _send_back(self, command: RunningCommand, session_id: str, described: str) -> Outcome:
        modern = self._bench.profile.is_modern
        task_id = "b" + secrets.token_hex(4 if modern else 3)
        folder = Path(self._bench.place.tasks(session_id, self._bench.profile))
        output = folder / f"{task_id}.output"
        command.keep_in(output)
        self._background[task_id] = _Background(
            command=command, output=output, description=described
        )
        words = (
            f"Command running in background with ID: {task_id}. "
            f"Output is being written to: {output}"
        )
        if modern:
            words += (
                ". You will be notified when it completes. "
                "To check interim output, use Read on that file path."
            )
        result = {**_result(""), "backgroundTaskId": task_id}
        start = TaskStart(task_id=task_id, output_file=str(output))
        return Outcome(content=words, result=result, says_error_flag=True, task=start)

    async def ended(self, task_id: str) -> TaskEnd:
        """Wait for a background command."""
        task = self._background[task_id]
        task.exit_code = code = await task.command.exited()
        if self._bench.profile.is_modern:
            task.command.add(f"\n[exited with code {code}]\n")
        return TaskEnd(task_id=task_id, exit_code=code, output_file=str(task.output))

    async def look(self, input: Mapping[str, Any]) -> Outcome:
        """TaskOutput of the older version: what a background command has said (measured)."""
        task_id = str(input.get("task_id", ""))
        task = self._background.get(task_id)
        if task is None:
            return unusable(f"No task found with ID: {task_id}")
        if input.get("block") is not False:
            try:
                async with asyncio.timeout(float(input.get("timeout") or LOOK_MS) / 1000):
                    task.exit_code = await task.command.exited()
            except TimeoutError:
                pass
        return task.told(task_id)

    def stop(self, task_id: str) -> None:
        """Kill a background command."""
        if task_id in self._background:
            self._background[task_id].command.signal(signal.SIGTERM)

    async def close(self) -> None:
        """Leave nothing behind."""
        commands = [task.command for task in self._background.values()]
        for command in commands:
            command.signal(signal.SIGKILL)
        for command in commands:
            await command.end(by_force=True)

    def _told(
        self, command: str, out: str, err: str, code: int, session_id: str, tool_use_id: str
    ) -> Outcome:
        modern = self._bench.profile.is_modern
        if code != 0:
            parts = [f"Exit code {code}", out] if modern else [f"Exit code {code}", err]
            text = "\n".join(part for part in parts if part)
            return failed(text if modern or not out else f"{text}\n\n{out}")
        text = "\n".join(part for part in (out, err) if part)
        if len(text) <= MOST_CHARS:
            empty = "(Bash completed with no output)" if modern else ""
            result = {**_result(text), "noOutputExpected": _is_silent(command)}
            return Outcome(content=text or empty, result=result, says_error_flag=True)
        return self._too_long(text, session_id, tool_use_id)

    def _too_long(self, text: str, session_id: str, tool_use_id: str) -> Outcome:
        modern = self._bench.profile.is_modern
        folder = Path(self._bench.place.projects) / session_id / "tool-results"
        folder.mkdir(parents=True, exist_ok=True)
        kept = folder / f"{'b' + secrets.token_hex(4) if modern else tool_use_id}.txt"
        kept.write_text(text, encoding="utf-8")
        size = len(text.encode())
        content = (
            f"<persisted-output>\nOutput too large ({size / 1024:.1f}KB). "
            f"Full output saved to: {kept}\n\nPreview (first 2KB):\n"
            f"{text[:PREVIEW_CHARS]}\n...\n</persisted-output>"
        )
        result = _result(text[:MOST_CHARS] if modern else text)
        if modern:
            result |= {"persistedOutputPath": str(kept), "persistedOutputSize": size}
        return Outcome(content=content, result=result, says_error_flag=True)


def _is_silent(command: str) -> bool:
    """Whether a command is one that says nothing when it works."""
    words = command.split()
    return bool(words) and words[0] in SILENT and not set(command) & set("|&;<>")


def _result(stdout: str) -> dict[str, Any]:
    return {
        "stdout": stdout,
        "stderr": "",
        "interrupted": False,
        "isImage": False,
        "noOutputExpected": False,
    }
