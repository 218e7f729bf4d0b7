"""Before a session goes on: do its file, its folder and its id agree?

A CLI looks for a session only among those of the folder it is started in, and an id it does not
find there ends it without a word that a person would understand (TRUTH 1.7). So this looks
first, and says what is wrong and what can be done instead. Reads only what it is given.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct

from fairlead.server.refusal import Refusal
from fairlead.store.imports import CliSession

__all__ = ["Resumable", "check_resume"]


class Resumable(Struct, frozen=True, kw_only=True):
    """How a session can go on: with which id, and in which folder."""

    cli_session_id: str
    cwd: str


def check_resume(
    cli_session_id: str | None,
    cwd: str,
    find: Callable[[str], CliSession | None] | None,
    *,
    repair: bool = False,
) -> Resumable:
    """What to resume; raises a `Refusal` that offers what else can be done.

    With `repair` a disagreement that can be mended is: the session goes on in the folder that
    its own records name.
    """
    if cli_session_id is None:
        raise _refusal(
            "no_id", "this session never began, so there is nothing to go on with", "fresh"
        )
    if find is None:
        return Resumable(cli_session_id=cli_session_id, cwd=_there(cwd, "fork", "fresh"))
    found = find(cli_session_id)
    if found is None:
        said = "the CLI's own file of this session is gone; it can be read here, but not resumed"
        raise _refusal("no_file", said, "fresh")
    if not found.cwd:
        said = "the CLI's file of this session does not say where it worked"
        raise _refusal("damaged_file", said, "fresh")
    if _same(found.cwd, cwd):
        return Resumable(cli_session_id=cli_session_id, cwd=_there(cwd, "fresh"))
    if not repair:
        raise _refusal(
            "other_folder",
            f"this session is kept under {cwd!r}, but its file says that it worked in {found.cwd!r}",
            "repair",
            "fork",
            "fresh",
            found_cwd=found.cwd,
        )
    return Resumable(cli_session_id=cli_session_id, cwd=_there(found.cwd, "fresh"))


def _there(cwd: str, *offers: str) -> str:
    if not Path(cwd).is_dir():
        raise _refusal(
            "no_folder", f"the folder {cwd!r} is gone; put it back, or begin anew", *offers
        )
    return cwd


def _same(one: str, other: str) -> bool:
    return Path(one).resolve() == Path(other).resolve()


def _refusal(check: str, message: str, *offers: str, **facts: Any) -> Refusal:
    return Refusal("conflict", message, check=check, offers=list(offers), **facts)
