"""The emulated CLI as a process: connects the engine to stdin, stdout, files and processes.

Reads stdin in chunks, carries out effects, writes lines, and exits with the engine's exit code. The
engine makes all decisions.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fairlead.emulator.engine.engine import Engine
from fairlead.emulator.engine.setup import Setup
from fairlead.emulator.process.project_files import settings_files
from fairlead.emulator.process.session_files import SessionFiles
from fairlead.emulator.process.startup import NoStart, prepare
from fairlead.emulator.process.stdio_servers import StdioServers
from fairlead.emulator.state import effects as fx
from fairlead.emulator.tools.runner import ToolRunner
from fairlead.emulator.turn.hook_calls import HookRun
from fairlead.errors import FairleadError
from fairlead.interrupts import end_on_interrupt
from fairlead.model_api.json_text import to_json
from fairlead.permissions.rules.settings import write_update

__all__ = ["Program", "main"]

CHUNK = 256 * 1024
MOST_SUGGESTIONS = 15


class Program:
    """One process."""

    def __init__(self, setup: Setup) -> None:
        session = setup.session
        self._arguments = session.arguments
        self._engine = Engine(setup)
        self._workspace = session.workspace
        self._files = SessionFiles(session.workspace)
        self._tool_runner = ToolRunner(session.profile, session.workspace)
        self._servers = StdioServers(session.workspace)
        self._jobs: dict[int, asyncio.Task[None]] = {}
        self._exit: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def run(self) -> int:
        """Run until the engine exits; returns the exit code."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._on_sigint)
        loop.add_signal_handler(signal.SIGTERM, self._on_sigterm)
        loop.set_exception_handler(lambda _, context: self._broken(context))
        speaks = self._arguments.speaks_json
        reading = asyncio.ensure_future(self._read() if speaks else self._answer_once())
        reading.add_done_callback(self._check)
        try:
            return await self._exit
        finally:
            reading.cancel()
            await self._close()

    def _check(self, task: asyncio.Task[None]) -> None:
        """An exception in any task ends the process, since the host would wait for it forever."""
        if not task.cancelled() and (problem := task.exception()) is not None:
            self._fail(problem)

    def _broken(self, context: dict[str, Any]) -> None:
        problem = context.get("exception")
        if isinstance(problem, Exception):
            self._fail(problem)
        else:
            asyncio.get_running_loop().default_exception_handler(context)

    def _fail(self, problem: BaseException) -> None:
        if not self._exit.done():
            self._exit.set_exception(problem)

    async def _close(self) -> None:
        for job in self._jobs.values():
            job.cancel()
        await asyncio.gather(*self._jobs.values(), return_exceptions=True)
        await self._tool_runner.bash.close()
        await self._servers.close()

    def _on_sigint(self) -> None:
        self._engine.interrupted_by_signal()
        self._carry_out()

    def _on_sigterm(self) -> None:
        self._engine.terminated()
        self._carry_out()

    async def _read(self) -> None:
        reader = asyncio.StreamReader(limit=CHUNK)
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer
        )
        rest = b""
        try:
            while True:
                chunk = await reader.read(CHUNK)
                if not chunk:
                    break
                # Blank lines are passed on: they end the old version (CLI-902).
                *lines, rest = (rest + chunk).split(b"\n")
                self._engine.feed(lines)
                self._carry_out()
            self._engine.feed([rest] if rest.strip() else [])
            self._engine.end_input()
            self._carry_out()
        finally:
            transport.close()

    async def _answer_once(self) -> None:
        """Without stream-json: one prompt, from the command line or stdin."""
        prompt = self._arguments.prompt
        if prompt is None:
            prompt = await asyncio.to_thread(sys.stdin.read)
        message = {"type": "user", "message": {"role": "user", "content": prompt}}
        self._engine.feed([json.dumps(message).encode()])
        self._engine.end_input()
        self._carry_out()

    def _line_of(self, message: Mapping[str, Any]) -> str | None:
        """The line for a message in the output format; None if it is not written."""
        output_format = self._arguments.one("--output-format") or "text"
        if self._arguments.speaks_json or output_format == "stream-json":
            return to_json(message)
        if message.get("type") != "result":
            return None
        return to_json(message) if output_format == "json" else str(message.get("result", ""))

    def _carry_out(self) -> None:
        effects = self._engine.drain()
        lines = []
        for effect in effects:
            if isinstance(effect, fx.Write):
                line = self._line_of(effect.message)
                lines += [] if line is None else [line]
                continue
            self._carry_out_effect(effect)
        if lines and not _write("\n".join(lines) + "\n"):
            self._set_exit_code(0)  # the host no longer reads
        for effect in effects:
            if isinstance(effect, fx.Exit):
                self._set_exit_code(effect.code)

    def _set_exit_code(self, code: int) -> None:
        if not self._exit.done():
            self._exit.set_result(code)

    def _carry_out_effect(self, effect: fx.Effect) -> None:
        match effect:
            case fx.Tell(text):
                sys.stderr.write(text)
                sys.stderr.flush()
            case fx.Append(session_id, records, agent_id):
                self._files.append(session_id, records, agent_id)
            case fx.SaveSettings(update):
                write_update(settings_files(self._workspace), update)
            case fx.Drop(number):
                job = self._jobs.pop(number, None)
                if job is not None:
                    job.cancel()
            case fx.Disconnect(name):
                self._servers.disconnect(name)
            case fx.Write() | fx.Exit():
                pass
            case _:
                self._start(effect)

    def _start(self, effect: Any) -> None:
        number: int = effect.number
        job = asyncio.ensure_future(self._job(number, self._work(effect)))
        job.add_done_callback(self._check)
        self._jobs[number] = job

    async def _job(self, number: int, work: Callable[[], Awaitable[Any]]) -> None:
        value = await work()
        self._jobs.pop(number, None)
        self._engine.finish(number, value)
        self._carry_out()

    def _work(self, effect: Any) -> Callable[[], Awaitable[Any]]:
        match effect:
            case fx.Sleep(_, seconds):
                return lambda: asyncio.sleep(seconds)
            case fx.RunTool():
                return lambda: self._tool_runner.run(effect)
            case fx.CheckTool():
                return _now(lambda: self._tool_runner.check(effect))
            case fx.WatchTask(_, task_id):
                return lambda: self._watch(task_id)
            case fx.RunHook():
                return lambda: _run_hook(effect, self._workspace.cwd)
            case fx.Connect(_, name, config):
                return lambda: self._servers.connect(name, config)
            case fx.CallServer():
                return lambda: self._servers.call(effect.name, effect.method, effect.params)
            case fx.ReadFile(_, path):
                return _now(lambda: _read_text(path))
            case fx.FindPath(_, path):
                return _now(lambda: _kind_of(path))
            case fx.Rewind():
                checkpoints = self._tool_runner.checkpoints
                return _now(lambda: checkpoints.rewind(effect.later, dry_run=effect.dry_run))
            case fx.Suggest(_, query):
                return _now(lambda: _suggest(self._workspace.cwd, query))
        raise AssertionError(f"no handler for the effect {effect!r}")

    async def _watch(self, task_id: str) -> Any:
        try:
            return await self._tool_runner.bash.ended(task_id)
        except asyncio.CancelledError:
            self._tool_runner.bash.stop(task_id)
            raise


def _now(work: Callable[[], Any]) -> Callable[[], Awaitable[Any]]:
    async def run() -> Any:
        return work()

    return run


def _write(text: str) -> bool:
    data = text.encode("utf-8", "replace")
    try:
        while data:
            data = data[os.write(1, data) :]
    except BrokenPipeError:
        return False
    return True


def _read_text(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _kind_of(path: str) -> str | None:
    if os.path.isdir(path):
        return "folder"
    return "file" if os.path.exists(path) else None


def _suggest(cwd: str, query: str) -> list[str]:
    folder = Path(cwd)
    names = (str(p.relative_to(folder)) for p in sorted(folder.rglob("*")) if p.is_file())
    return [name for name in names if query.casefold() in name.casefold()][:MOST_SUGGESTIONS]


async def _run_hook(effect: fx.RunHook, cwd: str) -> HookRun:
    process = await asyncio.create_subprocess_exec(
        "bash",
        "-c",
        effect.command,
        cwd=cwd,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(effect.timeout):
            out, err = await process.communicate(json.dumps(effect.input).encode())
    except TimeoutError:
        process.kill()
        await process.wait()
        return HookRun(stdout="", stderr="the hook took too long", exit_code=1, is_late=True)
    return HookRun(
        stdout=out.decode("utf-8", "replace"),
        stderr=err.decode("utf-8", "replace"),
        exit_code=process.returncode or 0,
    )


async def _live(setup: Setup) -> int:
    return await Program(setup).run()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the process; returns its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    end_on_interrupt()
    try:
        setup = prepare(arguments, dict(os.environ), os.getcwd())
    except NoStart as end:
        if end.result is not None:
            _write(json.dumps(end.result) + "\n")
        _write(end.stdout)
        sys.stderr.write(end.stderr)
        return end.code
    except FairleadError as problem:
        sys.stderr.write(f"fairlead-claude: {problem}\n")
        return 1
    return asyncio.run(_live(setup))
