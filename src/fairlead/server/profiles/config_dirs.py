"""The folders of profiles on the disk: their paths, and making one at its first use."""

from __future__ import annotations

import os
import stat

from fairlead.server.refusal import Refusal

__all__ = ["full_path", "prepare", "real_paths"]


def full_path(folder: str) -> str:
    """A folder with `~` expanded and without `..`; empty stays empty."""
    return os.path.normpath(os.path.expanduser(folder)) if folder.strip() else ""


def real_paths(folders: list[str]) -> dict[str, str]:
    """Each folder with its symbolic links resolved."""
    return {folder: os.path.realpath(folder) for folder in folders if folder}


def prepare(name: str, folder: str) -> None:
    """Make the folder of a profile if it is missing; refuses one that the CLI could not use.

    Only this user may read it, because the CLI stores its login there.
    """
    try:
        os.makedirs(folder, mode=0o700)
        os.chmod(folder, 0o700)  # The umask may have taken more away.
        return
    except FileExistsError:
        pass
    except OSError as problem:
        raise _refused(name, folder, f"cannot be made: {problem.strerror or problem}") from None
    try:
        status = os.stat(folder)
    except OSError as problem:
        raise _refused(name, folder, f"cannot be used: {problem.strerror or problem}") from None
    if not stat.S_ISDIR(status.st_mode):
        raise _refused(name, folder, "is not a folder")
    if status.st_uid != os.getuid():
        raise _refused(name, folder, "belongs to another user")
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise _refused(name, folder, "cannot be read and written")


def _refused(name: str, folder: str, problem: str) -> Refusal:
    return Refusal(
        "unavailable",
        f"The folder {folder!r} of the profile {name} {problem}. Fix it, or give the profile "
        "another folder.",
        check="profile",
    )
