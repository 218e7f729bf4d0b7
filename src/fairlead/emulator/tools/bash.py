"""Bash: real commands, with exit codes, time limits and a background.

Decides when a command ends or moves to the background, and reports it as the version does;
`running_command` runs the process. stdout and stderr share one pipe, as in the newer CLI; the older
one separates them when a command fails.
"""

from __future__ import annotations

import asyncio
import secrets
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from fairlead.emulator.tools.context import ToolContext
from fairlead.emulator.tools.exit_codes import SEPARATORS, meaning_of
from fairlead.emulator.tools.outcome import Outcome, TaskEnd, TaskStart, failed, unusable
from fairlead.emulator.tools.running_command import RunningCommand

__all__ = ["Bash"]

DEFAULT_TIMEOUT_S = 120.0
MOST_CHARS = 30_000
"""A longer output is saved in a file, and the model gets only its beginning."""
PREVIEW_CHARS = 2_000
LOOK_MS = 30_000
"""How long TaskOutput waits for the end of a command by default."""
SILENT = frozenset({"mkdir", "rmdir", "touch", "rm", "mv", "cp", "chmod", "ln", "cd"})


class _Background(Struct, kw_only=True):
    """A command that continues after its tool has returned."""

    command: RunningCommand
    output: Path
    description: str
    exit_code: int | None = None

    def report(self, task_id: str) -> Outcome:
        """The result of TaskOutput for it."""
        code, text = self.exit_code, self.output.read_text("utf-8", "replace")
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
            "output": text,
            "exitCode": code,
        }
        return Outcome(
            content="\n\n".join([*parts, f"<output>\n{text}</output>"]),
            result={"retrieval_status": fields["retrieval_status"], "task": task},
        )


class Bash:
    """The commands of a session."""

    def __init__(self, context: ToolContext) -> None:
        self._context = context
        self._background: dict[str, _Background] = {}

    async def run(self, input: Mapping[str, Any], session_id: str, tool_use_id: str) -> Outcome:
        """Run a command to its end, its time limit, or into the background."""
        if not isinstance(input.get("command"), str):
            return failed("Cannot read properties of undefined (reading 'includes')")
        context = self._context
        command = await RunningCommand.start(
            input["command"],
            context.cwd,
            context.child_environment(),
            apart=not context.profile.merges_stderr,
        )
        described = str(input.get("description") or input["command"])
        if input.get("run_in_background"):
            return self._send_back(command, session_id, described)
        seconds = float(input.get("timeout") or DEFAULT_TIMEOUT_S * 1000) / 1000
        try:
            async with asyncio.timeout(seconds):
                code = await command.finished()
        except TimeoutError:
            if context.profile.kills_sleep_at_timeout and _only_waits(input["command"]):
                await command.end()
                return failed(f"Exit code 143\nCommand timed out after {seconds:g}s")
            # A slow command is moved to the background (CLI-1006).
            limit = seconds if context.profile.reports_timeout_in_background else None
            return self._send_back(command, session_id, described, timed_out_after=limit)
        except asyncio.CancelledError:
            await command.end()
            raise
        return self._outcome_of(input["command"], *command.output, code, session_id, tool_use_id)

    def _send_back(
        self,
        command: RunningCommand,
        session_id: str,
        described: str,
        *,
        timed_out_after: float | None = None,
    ) -> Outcome:
        profile = self._context.profile
        task_id = "b" + secrets.token_hex(4 if profile.long_task_ids else 3)
        folder = Path(self._context.workspace.tasks(session_id, self._context.profile))
        output = folder / f"{task_id}.output"
        command.keep_in(output)
        self._background[task_id] = _Background(
            command=command, output=output, description=described
        )
        text = (
            f"Command running in background with ID: {task_id}. "
            f"Output is being written to: {output}"
        )
        if profile.announces_tasks:
            text += (
                ". You will be notified when it completes. "
                "To check interim output, use Read on that file path."
            )
        result = {**_result(""), "backgroundTaskId": task_id}
        if timed_out_after is not None:
            text = f"Command did not complete within its {timed_out_after:g}s timeout. {text}"
            result["timedOutAfterMs"] = round(timed_out_after * 1000)
        start = TaskStart(task_id=task_id, output_file=str(output))
        return Outcome(content=text, result=result, says_error_flag=True, task=start)

    async def ended(self, task_id: str) -> TaskEnd:
        """Wait for a background command."""
        task = self._background[task_id]
        task.exit_code = code = await task.command.exited()
        if self._context.profile.appends_exit_code_to_output:
            task.command.add(f"\n[exited with code {code}]\n")
        return TaskEnd(task_id=task_id, exit_code=code, output_file=str(task.output))

    async def look(self, input: Mapping[str, Any]) -> Outcome:
        """TaskOutput of the older version: the output of a background command (measured)."""
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
        return task.report(task_id)

    def stop(self, task_id: str) -> None:
        """Kill a background command."""
        if task_id in self._background:
            self._background[task_id].command.signal(signal.SIGTERM)

    async def close(self) -> None:
        """Kill all commands."""
        commands = [task.command for task in self._background.values()]
        for command in commands:
            command.signal(signal.SIGKILL)
        for command in commands:
            await command.end(by_force=True)

    def _outcome_of(
        self, command: str, out: str, err: str, code: int, session_id: str, tool_use_id: str
    ) -> Outcome:
        profile = self._context.profile
        meaning = meaning_of(command, code, profile)
        if code != 0 and meaning is None:
            parts = (
                [f"Exit code {code}", out] if profile.merges_stderr else [f"Exit code {code}", err]
            )
            text = "\n".join(part for part in parts if part)
            return failed(text if profile.merges_stderr or not out else f"{text}\n\n{out}")
        text = "\n".join(part for part in (out, err) if part)
        if len(text) <= MOST_CHARS:
            empty = "(Bash completed with no output)" if profile.reports_empty_output else ""
            result = {**_result(text), "noOutputExpected": _is_silent(command)}
            if meaning is not None:
                result["returnCodeInterpretation"] = meaning
            return Outcome(content=text or empty, result=result, says_error_flag=True)
        return self._too_long(text, session_id, tool_use_id)

    def _too_long(self, text: str, session_id: str, tool_use_id: str) -> Outcome:
        profile = self._context.profile
        folder = Path(self._context.workspace.projects) / session_id / "tool-results"
        folder.mkdir(parents=True, exist_ok=True)
        saved = (
            folder
            / f"{'b' + secrets.token_hex(4) if profile.saved_output_has_own_id else tool_use_id}.txt"
        )
        saved.write_text(text, encoding="utf-8")
        size = len(text.encode())
        content = (
            f"<persisted-output>\nOutput too large ({size / 1024:.1f}KB). "
            f"Full output saved to: {saved}\n\nPreview (first 2KB):\n"
            f"{text[:PREVIEW_CHARS]}\n...\n</persisted-output>"
        )
        result = _result(text[:MOST_CHARS] if profile.reports_saved_output else text)
        if profile.reports_saved_output:
            result |= {"persistedOutputPath": str(saved), "persistedOutputSize": size}
        return Outcome(content=content, result=result, says_error_flag=True)


def _only_waits(command: str) -> bool:
    """Whether a command begins with `sleep`: then it is not worth a place in the background."""
    return command.split()[:1] == ["sleep"]


def _is_silent(command: str) -> bool:
    """Whether all parts of a command are programs that print nothing when they work."""
    parts = [part.split() for part in SEPARATORS.split(command) if part.strip()]
    is_plain = not set(SEPARATORS.sub("", command)) & set("&<>")
    return is_plain and bool(parts) and all(words[0] in SILENT for words in parts)


def _result(stdout: str) -> dict[str, Any]:
    return {
        "stdout": stdout,
        "stderr": "",
        "interrupted": False,
        "isImage": False,
        "noOutputExpected": False,
    }
