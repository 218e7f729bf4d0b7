"""Deletes the CLI's own files of one session: `<folder>/<session>.jsonl` and `<folder>/<session>/`.

The only module that changes anything in the CLI's folder, and only for a session that a user chose
to delete. Each file is deleted by its name in an opened folder, so that no link leads elsewhere.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable
from pathlib import Path

__all__ = ["files_of", "remove_files"]

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_files(projects: Path, paths: Iterable[str]) -> list[str]:
    """Delete these session files with what belongs to them; return the paths that existed.

    `paths` are relative to the folder of the CLI's projects, as the list of its sessions has them.
    A file that is not a regular file stays, and so does one in a folder that is a link.
    """
    removed = []
    for path in paths:
        folder, _, name = path.rpartition("/")
        try:
            opened = os.open(projects / folder, _FOLDER)
        except OSError:
            continue
        try:
            if _remove(opened, name):
                removed.append(path)
        finally:
            os.close(opened)
    return removed


def files_of(projects: Path, session: str) -> list[str]:
    """The files of a session in all projects, also those that were not listed yet."""
    if not session or "/" in session or session.startswith("."):
        return []
    try:
        folders = [entry.name for entry in os.scandir(projects) if entry.is_dir()]
    except OSError:
        return []
    name = f"{session}.jsonl"
    return [f"{folder}/{name}" for folder in folders if os.path.lexists(projects / folder / name)]


def _remove(folder: int, name: str) -> bool:
    """Delete one session file; the folder of its subagents first, so that it is never left over."""
    try:
        if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            return False
    except FileNotFoundError:
        return False
    subfolder = name.removesuffix(".jsonl")
    if _is_folder(folder, subfolder):
        shutil.rmtree(subfolder, dir_fd=folder)
    os.unlink(name, dir_fd=folder)
    return True


def _is_folder(folder: int, name: str) -> bool:
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode)
