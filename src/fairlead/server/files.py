"""Opens files and folders below allowed folders only, whatever paths and links lead to.

A path is resolved once and compared by whole components. Then it is opened from `/` on, one
component after the other by descriptor, and no component may be a symbolic link: a link that
replaces a component after the check, even the allowed folder itself, is refused (T-10, T-11). The
folder of a session is pinned by its inode when the session starts, so that another folder that is
moved to its path later is refused. No component is `..`, so this walk has the result of `openat2`
with `RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS`, on every system.

Only regular files are read; no file of the kernel's own file systems, and nothing in the server's
own data folder, even if an operator allows `/`. Everything blocks: call it in a thread.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from fairlead.errors import Refused

__all__ = ["Folders", "OutsideRoots", "read_below"]

_STEP = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""Flags to open an intermediate folder. O_PATH (Linux) needs no permission to list it."""

_KERNEL_FILES = frozenset(
    ("proc", "sysfs", "devtmpfs", "devpts", "cgroup", "cgroup2", "debugfs", "tracefs", "securityfs",
     "bpf", "configfs", "fusectl", "pstore", "efivarfs", "mqueue", "binfmt_misc", "rpc_pipefs",
     "selinuxfs")
)  # fmt: skip
"""File systems whose files expose the kernel and processes, including this one."""

_MOUNTS = Path("/proc/self/mountinfo")
_MOUNTS_S = 1.0
"""How long the list of mounts counts as current: a page of changes reads thousands of files."""


class OutsideRoots(Refused):
    """The path is not below an allowed folder, or is not a regular file."""

    def __str__(self) -> str:
        return "File not found in the folders of this server."


class Folders:
    """Opens files and folders below allowed folders, and tracks pinned and hidden folders."""

    def __init__(self) -> None:
        self._pins: dict[str, tuple[int, int]] = {}
        self._hidden: list[Path] = []

    def hide(self, folder: Path) -> None:
        """Open nothing in this folder, whatever path leads to it."""
        self._hidden.append(folder)

    def hides(self, path: Path) -> bool:
        """Whether a path is in a hidden folder."""
        return any(path.is_relative_to(folder) for folder in self._hidden)

    def pin(self, folder: str) -> None:
        """Accept only the folder that is at this path now from now on."""
        try:
            opened = self._open(Path(folder), self._hidden_now())
        except OSError:
            self._pins.pop(folder, None)
            return
        self._pins[folder] = _identity(opened)
        os.close(opened)

    def unpin(self, folder: str) -> None:
        """No session works in this folder any more."""
        self._pins.pop(folder, None)

    def open_folder(self, folder: str, below: Sequence[str] = ()) -> int:
        """A descriptor of a folder at or below another; raises `OSError` if it does not exist."""
        hidden = self._hidden_now()
        opened = self._open(Path(folder), hidden)
        try:
            if self._pins.get(folder, _identity(opened)) != _identity(opened):
                raise FileNotFoundError(f"{folder} was replaced by another folder")
        except BaseException:
            os.close(opened)
            raise
        for part in (*below, "."):
            opened = self._step(opened, part, hidden)
        # "." opens it again, now for listing its names.
        return opened

    def read(self, path: str, roots: Iterable[str], limit: int) -> bytes:
        """The first `limit` bytes of a regular file; raises `OutsideRoots` for anything else."""
        if "\0" in path:
            raise OutsideRoots
        try:
            real = Path(path).resolve(strict=True)
            for root in roots:
                if real.is_relative_to(root) and real != Path(root):
                    return self._read(root, real.relative_to(root).parts, limit)
        except (OSError, RuntimeError, ValueError):
            raise OutsideRoots from None
        raise OutsideRoots

    def _read(self, root: str, parts: tuple[str, ...], limit: int) -> bytes:
        folder = self.open_folder(root, parts[:-1])
        try:
            # Checked before it is opened: opening some devices has side effects.
            status = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISREG(status.st_mode):
                raise OutsideRoots
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            file = os.open(parts[-1], flags, dir_fd=folder)
        finally:
            os.close(folder)
        with os.fdopen(file, "rb") as opened:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode) or status.st_dev in _KERNEL_DEVICES:
                raise OutsideRoots
            return opened.read(limit)

    def size(self, root: str, parts: Sequence[str]) -> int | None:
        """Bytes of a regular file below a folder; None if there is none. Follows no link."""
        if not _plain(parts):
            return None
        try:
            folder = self.open_folder(root, parts[:-1])
        except OSError:
            return None
        try:
            status = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
        except (OSError, ValueError):
            return None
        finally:
            os.close(folder)
        return status.st_size if stat.S_ISREG(status.st_mode) else None

    def read_plain(self, root: str, parts: Sequence[str], limit: int) -> bytes | None:
        """The first `limit` bytes of a regular file below a folder; None if there is none.

        Unlike `read`, it follows no link at all.
        """
        if not _plain(parts):
            return None
        try:
            return self._read(root, tuple(parts), limit)
        except (OSError, ValueError, OutsideRoots):
            return None

    def _open(self, folder: Path, hidden: set[tuple[int, int]]) -> int:
        """Open a folder from the root of the file system on, without following any link."""
        if not folder.is_absolute() or ".." in folder.parts:
            raise FileNotFoundError(f"{folder} is not an absolute path")
        opened = os.open(folder.anchor, _STEP)
        for part in folder.parts[1:]:
            opened = self._step(opened, part, hidden)
        return opened

    @staticmethod
    def _step(folder: int, name: str, hidden: set[tuple[int, int]]) -> int:
        """Open a folder in another, unless it is hidden; closes the descriptor of the other."""
        flags = (
            os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC if name == "." else _STEP
        )
        try:
            if name == "..":
                raise FileNotFoundError("a path must not contain ..")
            opened = os.open(name, flags, dir_fd=folder)
        finally:
            os.close(folder)
        if hidden and _identity(opened) in hidden:
            os.close(opened)
            raise FileNotFoundError("this folder is hidden")
        return opened

    def _hidden_now(self) -> set[tuple[int, int]]:
        """The identities of the hidden folders, which may have been replaced since the last look."""
        identities = set()
        for folder in self._hidden:
            try:
                status = folder.stat()
            except OSError:
                continue
            identities.add((status.st_dev, status.st_ino))
        return identities


def read_below(path: str, roots: Iterable[str], limit: int) -> bytes:
    """The first `limit` bytes of a file below one of the roots, none of which is pinned."""
    return Folders().read(path, roots, limit)


def _plain(parts: Sequence[str]) -> bool:
    """Whether these are names of folders and a file, and no way up or around."""
    return bool(parts) and not any(part in ("", ".", "..") or "/" in part for part in parts)


def _identity(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


class _KernelDevices:
    """The devices of the kernel's own file systems that are mounted."""

    def __init__(self) -> None:
        self._devices: frozenset[int] = frozenset()
        self._read_at = -_MOUNTS_S

    def __contains__(self, device: object) -> bool:
        now = time.monotonic()
        if now - self._read_at >= _MOUNTS_S:
            self._devices, self._read_at = _mounted_kernel_devices(), now
        return device in self._devices


_KERNEL_DEVICES = _KernelDevices()


def _mounted_kernel_devices() -> frozenset[int]:
    try:
        lines = _MOUNTS.read_text("utf-8", "replace").splitlines()
    except OSError:
        return frozenset()  # Not Linux: such file systems do not expose secrets there.
    devices = set()
    for line in lines:
        before, _, after = line.partition(" - ")
        major, _, minor = before.split()[2].partition(":")
        if after.split()[0] in _KERNEL_FILES:
            devices.add(os.makedev(int(major), int(minor)))
    return frozenset(devices)
