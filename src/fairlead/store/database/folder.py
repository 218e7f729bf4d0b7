"""The data folder: accessible only to its owner, and used by one store at a time.

Its files give access to every session, so only the owner has permissions (0700, files 0600). A
folder that another user could have prepared is refused: a symbolic link, or a folder of another
user. The lock is an flock, which the kernel releases when the process ends for any reason.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from pathlib import Path

from fairlead.errors import Refused, UsageError

__all__ = [
    "DATABASE",
    "SETTINGS_FILE",
    "DataFolder",
    "FolderInUse",
    "FolderReadOnly",
    "FolderRefused",
    "own_file",
    "write_own",
]

DATABASE = "fairlead.db"
SETTINGS_FILE = "serve.toml"
"""Written by the user, perhaps before the server has ever started."""

_LOCK = "lock"


class FolderRefused(Refused):
    """The folder, or a file in it, could have been prepared by another user."""

    exit_code = 21

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(path, problem)
        self.path = path
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.path} {self.problem}. Use another folder, or fix this one."


class FolderReadOnly(FolderRefused):
    """Nothing can be written to the folder."""

    exit_code = 22

    def __init__(self, path: Path) -> None:
        super().__init__(path, "is read-only")


class FolderInUse(UsageError):
    """Another process uses the folder."""

    exit_code = 20

    def __init__(self, path: Path, pid: int | None) -> None:
        super().__init__(path, pid)
        self.path = path
        self.pid = pid

    def __str__(self) -> str:
        holder = f"process {self.pid}" if self.pid else "another process"
        return f"{self.path} is in use by {holder}. Stop that process, or use another data folder."


class DataFolder:
    """A lock on a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None

    def claim(self) -> None:
        """Create the folder if it is missing, check it, and lock it until `release`."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = _open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            _check_owner(self.path, folder)
            _check_content(self.path, folder)
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
        try:
            os.ftruncate(lock, 0)
            os.pwrite(lock, str(os.getpid()).encode(), 0)
        except OSError:
            pass  # The disk is full. The folder is locked, but the file does not name the process.
        self._lock = lock

    def release(self) -> None:
        """Unlock the folder."""
        if self._lock is not None:
            os.ftruncate(self._lock, 0)
            os.close(self._lock)
            self._lock = None


def own_file(path: Path) -> int:
    """Open a file that only its owner can read; create it if it is missing."""
    descriptor = _open(path, os.O_RDWR | os.O_CREAT)
    try:
        _check_owner(path, descriptor)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise FolderRefused(path, "is not a plain file")
        os.fchmod(descriptor, 0o600)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def write_own(path: Path, content: bytes) -> None:
    """Replace a file that only the user can read."""
    draft = path.with_suffix(".new")
    handle = own_file(draft)
    try:
        os.ftruncate(handle, 0)
        os.write(handle, content)
        os.fsync(handle)
    finally:
        os.close(handle)
    os.replace(draft, path)


def _open(path: Path, flags: int) -> int:
    try:
        # O_NONBLOCK: opening a pipe in place of the file must not block.
        return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    except OSError as problem:
        if path.is_symlink():
            raise FolderRefused(path, "is a symbolic link") from None
        if problem.errno == errno.EROFS:
            raise FolderReadOnly(path.parent) from problem
        if problem.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        if problem.errno == errno.ENOTDIR:
            raise FolderRefused(path, "is not a folder") from problem
        raise FolderRefused(path, f"cannot be opened ({problem.strerror})") from problem


def _check_owner(path: Path, descriptor: int) -> None:
    if os.fstat(descriptor).st_uid != os.geteuid():
        raise FolderRefused(path, "belongs to another user")


def _check_content(path: Path, folder: int) -> None:
    """A folder with other files in it is not used as a data folder."""
    names = {name for name in os.listdir(folder) if not name.startswith(".")} - {
        "lost+found",
        SETTINGS_FILE,
    }
    if names and not names & {_LOCK, DATABASE}:
        raise FolderRefused(path, "is not empty and contains no data of Fairlead")
