"""The intent to fork: a new session with the history of another, which stays as it is.

The other is a session of this server, or only a file of the CLI's own, also one that another
program is writing: what the file holds by now is the history.
"""

from __future__ import annotations

import uuid

from msgspec import structs

from fairlead.host.options import Options
from fairlead.server.copying import copy_session, import_session
from fairlead.server.deed import Deed
from fairlead.server.handlers import Handlers, Result
from fairlead.server.intents import Fork
from fairlead.server.log_lines import event_of
from fairlead.server.refusal import Refusal
from fairlead.server.resume_check import check_resume
from fairlead.server.resuming import check_past, checked_options, find_file
from fairlead.server.session_options import branches_from, branching
from fairlead.server.sessions import Sessions
from fairlead.store.imports import CliSession
from fairlead.store.sessions import Origin, SessionRow
from fairlead.transcript.facts import Forked
from fairlead.transcript.transcript import Transcript

__all__ = ["HANDLERS"]


async def fork(sessions: Sessions, deed: Deed, intent: Fork) -> Result:
    """A new session with the history of another, up to an item if one is named."""
    if intent.session not in sessions.rows:
        found = await find_file(sessions, intent.session)
        if found is not None:
            return await _fork_file(sessions, deed, found, intent.at)
    row = sessions.row(intent.session)
    parent = await sessions.load(row.id)
    line = _line(parent.transcript, intent.at)
    checked = await check_past(sessions, parent, repair=True)
    before = branches_from(row, parent.transcript)
    known = line or (None if before is None else before.at)
    origin = Origin(cli_session_id=checked.cli_session_id, at=known)
    new = _forked(sessions, structs.replace(row, cwd=checked.cwd), origin)
    options = checked_options(sessions, new, **branching(new, origin))
    await sessions.make_room()
    await parent.journal.flush()
    await copy_session(sessions.store, row.id, new.id, line, new.created)
    return await _begin(sessions, deed, new, options)


async def _fork_file(sessions: Sessions, deed: Deed, found: CliSession, at: str | None) -> Result:
    """The same for a session of which there is only a file."""
    assert sessions.cli is not None  # It found the file.
    checked = check_resume(found.id, found.cwd, lambda _: found)
    line = _line(await sessions.cli.transcript(found.id), at)
    cwd = sessions.policy.check_folder(checked.cwd)
    agent = str(sessions.options.agent)
    row = SessionRow(id=found.id, cwd=cwd, title=found.title or None, agent=agent)
    origin = Origin(cli_session_id=found.id, at=line)
    new = _forked(sessions, row, origin)
    options = checked_options(sessions, new, **branching(new, origin))
    await sessions.make_room()
    await import_session(sessions.store, found, new.id, line)
    return await _begin(sessions, deed, new, options)


async def _begin(sessions: Sessions, deed: Deed, new: SessionRow, options: Options) -> Result:
    """Start a fork whose past has been written."""
    await sessions.store.append(new.id, [event_of(Forked(), new.created)])
    await sessions.book.save(new, deed.outcome(session=new.id))
    sessions.starter.start_soon(await sessions.load(new.id), options)
    return {"session": new.id}


def _forked(sessions: Sessions, row: SessionRow, origin: Origin) -> SessionRow:
    now = sessions.clock()
    return structs.replace(
        row,
        id=str(uuid.uuid4()),
        title=f"{row.title or 'Session'} (fork)",
        cli_session_id=str(uuid.uuid4()),
        parent=row.id,
        origin=origin,
        state="",
        created=now,
        last_activity=now,
        pinned=False,
        archived=False,
        source="fairlead",
    )


def _line(parent: Transcript, at: str | None) -> str | None:
    if at is None:
        return None
    line = parent.line_of(at)
    if line is None:
        raise Refusal("not_found", f"no message of this session is {at!r}")
    return line


HANDLERS: Handlers = {Fork: fork}
