"""Checks before a session is resumed that its file, its folder and its id agree.

A CLI looks for a session only among those of the folder in which it is started. It exits without
an understandable message if it does not find the id there (CLI-703). So this module checks first,
and its refusal says what is wrong and which alternatives there are. It reads only its arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct

from fairlead.server.refusal import Refusal
from fairlead.store.cli_files.imports import CliSession

__all__ = ["Resumable", "check_resume"]


class Resumable(Struct, frozen=True, kw_only=True):
    """The id and the folder with which a session can be resumed."""

    cli_session_id: str
    cwd: str


def check_resume(
    cli_session_id: str | None,
    cwd: str,
    find: Callable[[str], CliSession | None] | None,
    *,
    repair: bool = False,
) -> Resumable:
    """What to resume; raises a `Refusal` that offers the alternatives.

    With `repair`, a wrong folder is corrected: the session is resumed in the folder that its own
    records name.
    """
    if cli_session_id is None:
        raise _refusal(
            "no_id",
            "This session never started, so it cannot be resumed. Start a new one.",
            "fresh",
        )
    if find is None:
        return Resumable(cli_session_id=cli_session_id, cwd=_existing(cwd, "fork", "fresh"))
    file = find(cli_session_id)
    if file is None:
        message = "Can't resume: the session file was deleted. You can still read the session."
        raise _refusal("no_file", message, "fresh")
    if not file.cwd:
        message = "Can't resume: the session file is damaged and does not name its folder."
        raise _refusal("damaged_file", message, "fresh")
    if _same(file.cwd, cwd):
        return Resumable(cli_session_id=cli_session_id, cwd=_existing(cwd, "fresh"))
    if not repair:
        raise _refusal(
            "other_folder",
            f"This session is listed under {cwd!r}, but its file says that it worked in {file.cwd!r}.",
            "repair",
            "fork",
            "fresh",
            found_cwd=file.cwd,
        )
    return Resumable(cli_session_id=cli_session_id, cwd=_existing(file.cwd, "fresh"))


def _existing(cwd: str, *offers: str) -> str:
    if not Path(cwd).is_dir():
        raise _refusal(
            "no_folder",
            f"The folder {cwd!r} no longer exists. Restore it, or start a new session.",
            *offers,
        )
    return cwd


def _same(path: str, other: str) -> bool:
    return Path(path).resolve() == Path(other).resolve()


def _refusal(check: str, message: str, *offers: str, **facts: Any) -> Refusal:
    return Refusal("conflict", message, check=check, offers=list(offers), **facts)
