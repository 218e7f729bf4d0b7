"""Bash: real commands, with exit codes, time limits and a background.

A command runs in a process group of its own, so that stopping it leaves nothing behind. Its two
outputs share one pipe, as they do in the newer CLI; the older one keeps them apart when it fails.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairlead.emulator.tools.bench import Bench
from fairlead.emulator.tools.outcome import Outcome, TaskEnd, TaskStart, failed

__all__ = ["Bash"]

DEFAULT_TIMEOUT_S = 120.0
MOST_CHARS = 30_000
"""A longer output is kept in a file, and only its beginning is given to the model."""
PREVIEW_CHARS = 2_000
SILENT = frozenset({"mkdir", "rmdir", "touch", "rm", "mv", "cp", "chmod", "ln", "cd"})
GONE_S = 2.0
"""How long a killed group may take to die before nobody waits for it any more."""


class Bash:
    """The commands of a session."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._background: dict[str, tuple[asyncio.subprocess.Process, Path]] = {}

    async def run(self, input: Mapping[str, Any], session_id: str, tool_use_id: str) -> Outcome:
        """Run a command to its end, its time limit, or into the background."""
        if not isinstance(input.get("command"), str):
            return failed("Cannot read properties of undefined (reading 'includes')")
        process = await self._start(input["command"])
        if input.get("run_in_background"):
            return self._send_back(process, session_id)
        seconds = float(input.get("timeout") or DEFAULT_TIMEOUT_S * 1000) / 1000
        reading = asyncio.ensure_future(_read_all(process))
        try:
            async with asyncio.timeout(seconds):
                out, err = await asyncio.shield(reading)
        except TimeoutError:
            return await self._too_slow(process, reading, seconds, session_id)
        except asyncio.CancelledError:
            await _kill(process, reading)
            raise
        code = process.returncode or 0
        return self._told(input["command"], out, err, code, session_id, tool_use_id)

    async def _start(self, command: str) -> asyncio.subprocess.Process:
        apart = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            "bash",
            "-c",
            command,
            cwd=self._bench.cwd,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=apart,
            stderr=asyncio.subprocess.STDOUT if self._bench.profile.is_modern else apart,
            env=dict(self._bench.child_environment()),
            start_new_session=True,
        )

    async def _too_slow(
        self,
        process: asyncio.subprocess.Process,
        reading: asyncio.Future[tuple[str, str]],
        seconds: float,
        session_id: str,
    ) -> Outcome:
        if not self._bench.profile.is_modern:
            # The old version moves a slow command to the background (rec 2.1.38/tools_bash).
            return self._send_back(process, session_id, reading)
        await _kill(process, reading)
        return failed(f"Exit code 143\nCommand timed out after {seconds:g}s")

    def _send_back(
        self,
        process: asyncio.subprocess.Process,
        session_id: str,
        reading: asyncio.Future[tuple[str, str]] | None = None,
    ) -> Outcome:
        modern = self._bench.profile.is_modern
        task_id = "b" + secrets.token_hex(4 if modern else 3)
        folder = Path(self._bench.place.tasks(session_id, self._bench.profile))
        folder.mkdir(parents=True, exist_ok=True)
        output = folder / f"{task_id}.output"
        output.touch()
        self._background[task_id] = (process, output)
        self._collect(process, output, reading)
        words = (
            f"Command running in background with ID: {task_id}. "
            f"Output is being written to: {output}"
        )
        if modern:
            words += ". You will be notified when it completes."
        result = {**_result(""), "backgroundTaskId": task_id}
        start = TaskStart(task_id=task_id, output_file=str(output))
        return Outcome(content=words, result=result, says_error_flag=True, task=start)

    def _collect(
        self,
        process: asyncio.subprocess.Process,
        output: Path,
        reading: asyncio.Future[tuple[str, str]] | None,
    ) -> None:
        pending = reading or asyncio.ensure_future(_read_all(process))
        pending.add_done_callback(lambda done: _save(output, done))

    async def ended(self, task_id: str) -> TaskEnd:
        """Wait for a background command."""
        process, output = self._background[task_id]
        code = await process.wait()
        return TaskEnd(task_id=task_id, exit_code=code, output_file=str(output))

    def stop(self, task_id: str) -> None:
        """Kill a background command."""
        if task_id in self._background:
            _signal(self._background[task_id][0], signal.SIGTERM)

    async def close(self) -> None:
        """Leave nothing behind."""
        for process, _ in self._background.values():
            _signal(process, signal.SIGKILL)
        for process, _ in self._background.values():
            try:
                async with asyncio.timeout(GONE_S):
                    await process.wait()
            except TimeoutError:
                pass

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


async def _read_all(process: asyncio.subprocess.Process) -> tuple[str, str]:
    out, err = await process.communicate()
    return _text(out), _text(err)


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace").rstrip("\n")


def _save(output: Path, done: asyncio.Future[tuple[str, str]]) -> None:
    if not done.cancelled() and done.exception() is None:
        output.write_text("\n".join(filter(None, done.result())), encoding="utf-8")


def _signal(process: asyncio.subprocess.Process, number: int) -> None:
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass


async def _kill(
    process: asyncio.subprocess.Process, reading: asyncio.Future[tuple[str, str]]
) -> None:
    _signal(process, signal.SIGTERM)
    try:
        async with asyncio.timeout(GONE_S):
            await asyncio.shield(reading)
    except TimeoutError:
        _signal(process, signal.SIGKILL)
        await reading
