"""The requirements for resuming a session: the CLI's file, and options with which a CLI can start."""

from __future__ import annotations

import asyncio
import os
import time
from typing import Any

from msgspec import structs

from fairlead.errors import AgentNotFound, OptionError
from fairlead.host.options import agent
from fairlead.host.options.environment import child_environment
from fairlead.host.options.options import Options
from fairlead.server.intents.resume_check import Resumable, check_resume
from fairlead.server.profiles.profiles import missing
from fairlead.server.refusal import Refusal
from fairlead.server.session.live_session import LiveSession
from fairlead.server.sessions.session_options import branches_from, resume_options
from fairlead.server.sessions.sessions import Sessions
from fairlead.store.cli_files.folders import CliFolders
from fairlead.store.cli_files.imports import CliSession, CliSessions
from fairlead.store.tables.sessions import SessionRow

__all__ = ["check_before_stop", "check_past", "checked_options", "find_file", "resumable"]

FILE_TRIES, FILE_WAIT_S = 10, 0.2
"""The CLI writes its file a little later than it reports the end of a turn, and the first records
of the file do not name a folder (2.1.38: `queue-operation`). Until then the file is not damaged."""

UNWRITTEN = ("no_file", "damaged_file")
"""Checks that may succeed a moment later while the CLI is running."""


async def resumable(sessions: Sessions, live: LiveSession, *, repair: bool) -> Options:
    """The options to start a session that does not run; refuses with offers if it cannot resume.

    A session without a turn has nothing to resume, and starts as a new one.
    """
    row = sessions.row(live.id)
    if row.cli_session_id is None or not live.transcript.turns:
        return await checked_options(sessions, row)
    checked = await check_past(sessions, live, repair=repair)
    if checked.cwd != row.cwd:
        row = structs.replace(row, cwd=sessions.policy.check_folder(checked.cwd))
        await sessions.catalog.save(row)
    return await checked_options(sessions, row, **resume_options(row, live.transcript))


async def check_before_stop(sessions: Sessions, live: LiveSession) -> None:
    """Refuse to stop a running session that could not be resumed afterwards."""
    row = sessions.row(live.id)
    if not sessions.has_profile(row.profile):
        raise missing(row.profile)
    await asyncio.to_thread(sessions.policy.trust.check, row.cwd, row.profile)
    if sessions.row(live.id).cli_session_id is not None and live.transcript.turns:
        await check_past(sessions, live, repair=False)


async def checked_options(sessions: Sessions, row: SessionRow, **more: Any) -> Options:
    """The options of a session, if a CLI can be started with them."""
    try:
        options = await sessions.starter.options_for(row, **more)
        path = child_environment(os.environ, options).get("PATH")
        agent.find(str(options.agent), path)
    except OptionError as problem:
        raise Refusal("bad_message", str(problem)) from None
    except AgentNotFound as problem:
        raise Refusal("agent_failed", str(problem)) from None
    return options


async def check_past(sessions: Sessions, live: LiveSession, *, repair: bool) -> Resumable:
    """Whether the file, the folder and the id of a session agree; refuses with offers if not.

    While the CLI of the session runs, this waits for the file that the CLI has yet to write.
    """
    for _ in range(FILE_TRIES - 1):
        try:
            return await _check_past_now(sessions, live, repair=repair)
        except Refusal as refusal:
            if not live.live or refusal.facts.get("check") not in UNWRITTEN:
                raise
        await asyncio.sleep(FILE_WAIT_S)
    return await _check_past_now(sessions, live, repair=repair)


async def _check_past_now(sessions: Sessions, live: LiveSession, *, repair: bool) -> Resumable:
    row = sessions.row(live.id)
    origin = branches_from(row, live.transcript)
    # The id is chosen before the CLI starts; without a turn the CLI has no file for it.
    own = row.cli_session_id if live.transcript.turns else None
    past = own if origin is None else origin.cli_session_id
    if not sessions.has_profile(row.profile):
        raise missing(row.profile)
    if sessions.cli is None:
        return check_resume(past, row.cwd, None, repair=repair)
    file = await find_file(sessions, past or "", row.profile)
    return check_resume(past, row.cwd, lambda _: file, repair=repair)


async def find_file(
    sessions: Sessions, cli_session_id: str, profile: str | None = None
) -> CliSession | None:
    """A session file of the CLI, of one profile or of any; the list is refreshed if it does not contain the file yet.

    Waits for the rest of a file that was just created and does not name its folder yet.
    """
    files: CliFolders | CliSessions | None = sessions.cli
    if sessions.cli is not None and profile is not None:
        files = sessions.cli.of(profile)
    if files is None:
        return None
    file = files.find(cli_session_id)
    for _ in range(FILE_TRIES):
        if file is not None and file.cwd:
            break
        await files.refresh()
        file = files.find(cli_session_id)
        if file is None or file.cwd or not _is_new(file):
            break
        await asyncio.sleep(FILE_WAIT_S)
    return file


def _is_new(file: CliSession) -> bool:
    """Whether a program may be about to write the rest of the first records."""
    return abs(time.time() - file.modified) < FILE_TRIES * FILE_WAIT_S
