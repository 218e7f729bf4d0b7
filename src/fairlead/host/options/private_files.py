"""Files for one CLI that only their owner can read: configurations and texts with secrets.

    folder = PrivateFiles.write({"mcp-servers.json": text})
    … start the CLI with folder.path …
    folder.remove()

Every user of the machine can read a command line, so values that may contain a secret are passed
in a file (0600) in a folder of this session (0700), below a folder of this user. The folder is
removed when the CLI ends. A process that was killed leaves its folder behind; the next process
that writes files removes it. A folder in use has a lock file that its process holds with `flock`,
which the kernel releases when the process ends for any reason.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from fairlead.errors import ProcessError
from fairlead.host.engine.prompts import PromptMoved
from fairlead.wire.decode import AnyMessage
from fairlead.wire.inputs import Input

__all__ = ["PrivateFiles", "private_base"]

_LOCK = "lock"


def private_base() -> Path:
    """The folder of this user: in the runtime folder of the login, or else in the system's /tmp."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime and _is_private(Path(runtime)):
        return Path(runtime) / "fairlead"
    return Path(tempfile.gettempdir()) / f"fairlead-{os.geteuid()}"


class PrivateFiles:
    """The files of one session, which exist until `remove`. An observer of its link."""

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self._lock: int | None = lock

    @classmethod
    def write(cls, texts: Mapping[str, str]) -> PrivateFiles:
        """Write each text to a file of that name; removes what killed processes left behind."""
        try:
            return cls._write(texts)
        except OSError as problem:
            raise ProcessError(
                f"cannot write the CLI's private files to {private_base()}: "
                f"{problem.strerror or problem}. Make room there, or set XDG_RUNTIME_DIR or "
                "TMPDIR to another folder of yours."
            ) from problem

    @classmethod
    def _write(cls, texts: Mapping[str, str]) -> PrivateFiles:
        base = _own_folder(private_base())
        # The lock of the base folder: no process sweeps a folder before its own lock is held.
        with _locked(base / _LOCK):
            _sweep(base)
            path = Path(tempfile.mkdtemp(prefix="session-", dir=base))
            lock = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
        files = cls(path, lock)
        try:
            for name, text in texts.items():
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
                with os.fdopen(os.open(path / name, flags, 0o600), "w", encoding="utf-8") as file:
                    file.write(text)
        except BaseException:
            files.remove()
            raise
        return files

    def remove(self) -> None:
        """Remove the files; safe to call twice."""
        if self._lock is not None:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._lock)
            self._lock = None

    # As an observer, so that the files are removed however the CLI ends.

    def received(self, messages: list[AnyMessage], at: float) -> None:
        """Nothing to do."""

    def sent(self, message: Input, line: bytes, at: float) -> None:
        """Nothing to do."""

    def prompt_moved(self, move: PromptMoved, at: float) -> None:
        """Nothing to do."""

    def exited(self, returncode: int, at: float) -> None:
        """The files are not needed any more."""
        self.remove()


def _own_folder(path: Path) -> Path:
    """Create the folder, or check that it is a real folder that only this user can access."""
    path.mkdir(mode=0o700, exist_ok=True)
    if not _is_private(path):
        raise ProcessError(
            f"{path} is not a folder that only this user can access, so no secret is written to it. Remove "
            "it, or set XDG_RUNTIME_DIR or TMPDIR to another folder of yours."
        )
    return path


def _is_private(path: Path) -> bool:
    try:
        status = path.lstat()
    except OSError:
        return False
    private = not status.st_mode & 0o077
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and private


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _sweep(base: Path) -> None:
    """Remove the folders whose process has ended, so that their lock is free."""
    for leftover in base.glob("session-*"):
        try:
            lock = os.open(leftover / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            shutil.rmtree(leftover, ignore_errors=True)  # Its process died before it had a lock.
            continue
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(leftover, ignore_errors=True)
        except BlockingIOError:
            pass
        finally:
            os.close(lock)
