"""The data folder: ours alone, and one store's at a time.

What lies in it can read and steer every session, so only its owner may enter (0700, files
0600), and a folder that somebody else could have prepared is refused: a symbolic link, or one
of another user. The claim is an flock, which ends with the process however that ends.
"""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path

from fairlead.errors import Refused, UsageError

__all__ = ["DATABASE", "DataFolder", "FolderInUse", "FolderRefused", "own_file"]

DATABASE = "fairlead.db"
_LOCK = "lock"


class FolderRefused(Refused):
    """The folder, or a file in it, could have been prepared by somebody else."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(path, problem)
        self.path = path
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.path} {self.problem}. Give another folder, or put this one right."


class FolderInUse(UsageError):
    """Another process has the folder."""

    def __init__(self, path: Path, pid: int | None) -> None:
        super().__init__(path, pid)
        self.path = path
        self.pid = pid

    def __str__(self) -> str:
        who = f"process {self.pid}" if self.pid else "another process"
        return f"{self.path} is in use by {who}. End that one, or give another data folder."


class DataFolder:
    """A claim on a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None

    def claim(self) -> None:
        """Make the folder if there is none, check it, and hold it until `release`."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = _open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            _check_owner(self.path, folder)
            os.fchmod(folder, 0o700)
        finally:
            os.close(folder)
        lock = own_file(self.path / _LOCK)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(lock, 20, 0)
            os.close(lock)
            raise FolderInUse(self.path, int(holder) if holder.isdigit() else None) from None
        os.ftruncate(lock, 0)
        os.pwrite(lock, str(os.getpid()).encode(), 0)
        self._lock = lock

    def release(self) -> None:
        """Let another process have the folder."""
        if self._lock is not None:
            os.ftruncate(self._lock, 0)
            os.close(self._lock)
            self._lock = None


def own_file(path: Path) -> int:
    """Open a file that only its owner may read, making it if there is none."""
    found = _open(path, os.O_RDWR | os.O_CREAT)
    try:
        _check_owner(path, found)
        if not stat.S_ISREG(os.fstat(found).st_mode):
            raise FolderRefused(path, "is not a plain file")
        os.fchmod(found, 0o600)
    except BaseException:
        os.close(found)
        raise
    return found


def _open(path: Path, flags: int) -> int:
    try:
        # O_NONBLOCK: a pipe laid there in place of a file must not make us wait.
        return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    except OSError as problem:
        if path.is_symlink():
            raise FolderRefused(path, "is a symbolic link") from None
        raise FolderRefused(path, f"cannot be opened ({problem.strerror})") from problem


def _check_owner(path: Path, descriptor: int) -> None:
    if os.fstat(descriptor).st_uid != os.geteuid():
        raise FolderRefused(path, "belongs to another user")
