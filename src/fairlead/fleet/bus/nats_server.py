"""A nats-server as a child process of a gateway.

It has its own configuration file, which only the user can read, stores everything encrypted, ends
with its parent even if that is killed (`lifeline`), and is started again if it dies. The folder is
locked; the server inherits the lock, so that a second gateway waits until it has really ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import logging
import os
import signal
import socket
import subprocess
import time
import uuid
from pathlib import Path

from msgspec.structs import replace

from fairlead.errors import UsageError
from fairlead.fleet.bus.server_config import KEY_VARIABLE, Members, ServerSettings, render
from fairlead.host.process.lifeline import lifeline
from fairlead.host.process.reaper import MARK
from fairlead.store.database.folder import FolderInUse, own_file

__all__ = ["NatsServer", "free_port"]

log = logging.getLogger("fairlead")

START_S = 20.0
LOCK_S = 5.0
STOP_S = 10.0
RELOAD_S = 10.0
RESTART_S = 0.2
LONGEST_RESTART_S = 5.0
STEADY_S = 1.0
"""A server that ran this long can be started again at once; one that ends sooner waits longer."""
READY = "Server is ready"
RELOADED, NOT_RELOADED = "Reloaded server configuration", "Failed to reload"


class NatsServer:
    """One server. Use it as an asynchronous context manager."""

    def __init__(
        self, program: str, folder: Path, settings: ServerSettings, members: Members
    ) -> None:
        self._program = program
        self._folder = folder
        self._log = folder / "server.log"
        self._config = folder / "nats.conf"
        self.settings = settings
        self._members = members
        self._lock: int | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._mark = ""
        self._watching: asyncio.Task[None] | None = None
        self._reloading = asyncio.Lock()
        self.restarts = 0
        """How often it had to be started again."""

    @property
    def pid(self) -> int:
        """The process id of the server."""
        assert self._child is not None
        return self._child.pid

    async def __aenter__(self) -> NatsServer:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder.chmod(0o700)
        try:
            await self._claim()
            self._write_config()
            offset = self._log_size()
            self._spawn()
            await self._wait_until_it_listens(offset)
        except BaseException:
            await self._stop()
            raise
        self._watching = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stop()

    async def set_members(self, members: Members) -> None:
        """Let exactly these machines connect. Machines that are no longer members are
        disconnected before this returns; the others keep their connections."""
        async with self._reloading:
            previous, self._members = self._members, members
            self._write_config()
            problem = await self._reload()
            if problem is None and set(members.nodes) - set(previous.nodes):
                # nats-server 2.15.1 connects the imports of a new account with the storage only
                # when it reads the same configuration a second time.
                problem = await self._reload()
            if problem is not None:
                self._members = previous
                self._write_config()
                raise UsageError(f"nats-server refused its new configuration: {problem}")

    async def _reload(self) -> str | None:
        """Have the server read its configuration; the error, if it refuses."""
        offset = self._log_size()
        assert self._child is not None
        self._child.send_signal(signal.SIGHUP)
        line = await self._logged(offset, (RELOADED, NOT_RELOADED), RELOAD_S)
        if line is None:
            # It may just have been started again, with the new file.
            log.warning("nats-server did not say that it read its configuration again")
        return line if line is not None and NOT_RELOADED in line else None

    async def _claim(self) -> None:
        lock = own_file(self._folder / "lock")
        deadline = time.monotonic() + LOCK_S
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    os.close(lock)
                    raise FolderInUse(self._folder, None) from None
                await asyncio.sleep(0.05)
        self._lock = lock

    def _write_config(self) -> None:
        handle = own_file(self._config.with_suffix(".new"))
        try:
            os.ftruncate(handle, 0)
            os.write(handle, render(self._with_log(), self._members).encode())
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(self._config.with_suffix(".new"), self._config)

    def _with_log(self) -> ServerSettings:
        return replace(self.settings, log=self._log)

    def _spawn(self) -> None:
        self._mark = str(uuid.uuid4())
        lifeline.expect(self._mark)
        assert self._lock is not None
        try:
            self._child = subprocess.Popen(
                [self._program, "-c", str(self._config)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={KEY_VARIABLE: self._secret(), MARK: self._mark, "HOME": str(self._folder)},
                cwd=self._folder,
                pass_fds=(self._lock,),
                start_new_session=True,  # Ctrl-C in the terminal is for the gateway.
            )
        except OSError:
            lifeline.release(self._mark)
            raise
        lifeline.attach(self._mark, self._child.pid)

    def _secret(self) -> str:
        handle = own_file(self._folder / "store-key")
        try:
            text = os.read(handle, 100)
            if not text:
                text = os.urandom(32).hex().encode()
                os.write(handle, text)
                os.fsync(handle)
        finally:
            os.close(handle)
        return text.decode("ascii")

    async def _wait_until_it_listens(self, offset: int) -> None:
        # Not by connecting: another program may listen on the port.
        line = await self._logged(offset, (READY,), START_S)
        if line is None:
            raise UsageError(f"nats-server did not start: {self._last_words()}")

    async def _watch(self) -> None:
        """Start the server again whenever it ends."""
        pause = RESTART_S
        while True:
            started = time.monotonic()
            child = self._child
            assert child is not None
            code = await asyncio.to_thread(child.wait)
            lifeline.release(self._mark)
            log.error("nats-server ended with code %s; it is started again", code)
            if time.monotonic() - started > STEADY_S:
                pause = RESTART_S
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_RESTART_S)
            try:
                self._spawn()
                self.restarts += 1
            except OSError as problem:
                log.error("nats-server cannot be started: %s", problem)

    async def _stop(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
        if self._child is not None:
            self._child.terminate()
            try:
                await asyncio.to_thread(self._child.wait, STOP_S)
            except (subprocess.TimeoutExpired, asyncio.CancelledError) as problem:
                # Otherwise the thread that waits for the child would keep this process from ending.
                self._child.kill()
                if isinstance(problem, asyncio.CancelledError):
                    raise
                await asyncio.to_thread(self._child.wait)
            lifeline.release(self._mark)
        if self._watching is not None:
            await asyncio.wait([self._watching])
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _log_size(self) -> int:
        try:
            return self._log.stat().st_size
        except OSError:
            return 0

    async def _logged(self, offset: int, texts: tuple[str, ...], timeout_s: float) -> str | None:
        """The first new line of the log with one of these texts; None if there is none in time."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), self._log.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(offset if size >= offset else 0)  # The log may have been rotated.
                for line in file.read().decode("utf-8", "replace").splitlines():
                    if any(text in line for text in texts):
                        return line
            if self._child is None or (self._watching is None and self._child.poll() is not None):
                return None
            await asyncio.sleep(0.005)
        return None

    def _last_words(self) -> str:
        try:
            lines = self._log.read_text("utf-8", "replace").splitlines()
        except OSError:
            lines = []
        errors = [line for line in lines if "[FTL]" in line or "[ERR]" in line]
        check = subprocess.run(
            [self._program, "-t", "-c", str(self._config)],
            env={KEY_VARIABLE: "0" * 64},
            capture_output=True,
            text=True,
            timeout=START_S,
            check=False,
        )
        problem = check.stderr.strip() if check.returncode else ""
        return problem or (errors or lines or ["it said nothing"])[-1]


def free_port(host: str = "127.0.0.1") -> int:
    """A port that is free now."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
