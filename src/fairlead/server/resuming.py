"""What a session goes on with: the CLI's file of it, and options with which a CLI can be started."""

from __future__ import annotations

import os
from typing import Any

from msgspec import structs

from fairlead.errors import AgentNotFound, OptionError
from fairlead.host import agent
from fairlead.host.environment import child_environment
from fairlead.host.options import Options
from fairlead.server.live_session import LiveSession
from fairlead.server.refusal import Refusal
from fairlead.server.resume_check import Resumable, check_resume
from fairlead.server.session_options import branches_from, going_on
from fairlead.server.sessions import Sessions
from fairlead.store.imports import CliSession
from fairlead.store.sessions import SessionRow

__all__ = ["check_past", "checked_options", "find_file", "resumable"]


async def resumable(sessions: Sessions, live: LiveSession, *, repair: bool) -> Options:
    """How to start a session that does not run; refuses with offers if it cannot go on.

    A session that never had a turn has nothing to go on with, and simply begins.
    """
    row = sessions.row(live.id)
    if row.cli_session_id is None or not live.transcript.turns:
        return checked_options(sessions, row)
    checked = await check_past(sessions, live, repair=repair)
    if checked.cwd != row.cwd:
        row = structs.replace(row, cwd=sessions.policy.check_folder(checked.cwd))
        await sessions.book.save(row)
    return checked_options(sessions, row, **going_on(row, live.transcript))


def checked_options(sessions: Sessions, row: SessionRow, **more: Any) -> Options:
    """The options of a session, if a CLI can be started with them."""
    try:
        options = sessions.starter.options_for(row, **more)
        path = child_environment(os.environ, options).get("PATH")
        agent.find(str(options.agent), path)
    except OptionError as problem:
        raise Refusal("bad_message", str(problem)) from None
    except AgentNotFound as problem:
        raise Refusal("agent_failed", str(problem)) from None
    return options


async def check_past(sessions: Sessions, live: LiveSession, *, repair: bool) -> Resumable:
    """Whether the file, the folder and the id of a session agree; refuses with offers if not."""
    row = sessions.row(live.id)
    origin = branches_from(row, live.transcript)
    # An id is chosen before the CLI starts; without a turn there is nothing behind it.
    own = row.cli_session_id if live.transcript.turns else None
    past = own if origin is None else origin.cli_session_id
    if sessions.cli is None:
        return check_resume(past, row.cwd, None, repair=repair)
    found = await find_file(sessions, past or "")
    return check_resume(past, row.cwd, lambda _: found, repair=repair)


async def find_file(sessions: Sessions, cli_session_id: str) -> CliSession | None:
    """A file of the CLI's own; the list may be older than the file."""
    if sessions.cli is None:
        return None
    found = sessions.cli.find(cli_session_id)
    if found is None or not found.cwd:
        await sessions.cli.refresh()
        found = sessions.cli.find(cli_session_id)
    return found
