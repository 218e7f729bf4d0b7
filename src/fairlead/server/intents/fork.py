"""The intent to fork: a new session with the history of another, which does not change.

The other session belongs to this server, or is only a file of the CLI, even one that another
program is writing: the present content of the file is the history.
"""

from __future__ import annotations

import uuid

from msgspec import structs

from fairlead.git.changes import head_commit
from fairlead.host.options.options import Options
from fairlead.server.intents.context import IntentContext
from fairlead.server.intents.handlers import Handlers, Result
from fairlead.server.intents.resume_check import check_resume
from fairlead.server.intents.resuming import check_past, checked_options, find_file
from fairlead.server.protocol.intents import Fork
from fairlead.server.refusal import Refusal
from fairlead.server.session.log_lines import event_of
from fairlead.server.sessions.copying import copy_session, import_session
from fairlead.server.sessions.session_options import branches_from, branching, profile_option
from fairlead.server.sessions.sessions import Sessions
from fairlead.store.cli_files.imports import CliSession
from fairlead.store.tables.sessions import Origin, SessionRow
from fairlead.transcript.state.facts import Forked
from fairlead.transcript.transcript import Transcript

__all__ = ["HANDLERS"]


async def fork(sessions: Sessions, context: IntentContext, intent: Fork) -> Result:
    """A new session with the history of another, up to an item if the intent names one."""
    if intent.session not in sessions.rows:
        file = await find_file(sessions, intent.session)
        if file is not None:
            return await _fork_file(sessions, context, file, intent.at)
    row = sessions.row(intent.session)
    parent = await sessions.load(row.id)
    line = _line(parent.transcript, intent.at)
    checked = await check_past(sessions, parent, repair=True)
    earlier = branches_from(row, parent.transcript)
    at = line or (None if earlier is None else earlier.at)
    origin = Origin(cli_session_id=checked.cli_session_id, at=at)
    new = _forked(sessions, structs.replace(row, cwd=checked.cwd), origin)
    options = await checked_options(sessions, new, **branching(new, origin))
    await sessions.make_room()
    await parent.journal.flush()
    await copy_session(sessions.store, row.id, new.id, line, new.created)
    return await _begin(sessions, context, new, options)


async def _fork_file(
    sessions: Sessions, context: IntentContext, file: CliSession, at: str | None
) -> Result:
    """Fork a session that is only a file."""
    assert sessions.cli is not None  # `find_file` returned a file.
    checked = check_resume(file.id, file.cwd, lambda _: file)
    line = _line(await sessions.cli.transcript(file.id), at)
    cwd = sessions.policy.check_folder(checked.cwd)
    agent = str(sessions.options.agent)
    row = SessionRow(
        id=file.id,
        cwd=cwd,
        title=file.title or None,
        agent=agent,
        options=profile_option(file.profile),
    )
    origin = Origin(cli_session_id=file.id, at=line)
    new = _forked(sessions, row, origin)
    options = await checked_options(sessions, new, **branching(new, origin))
    await sessions.make_room()
    await import_session(sessions.store, file, new.id, line)
    return await _begin(sessions, context, new, options)


async def _begin(
    sessions: Sessions, context: IntentContext, new: SessionRow, options: Options
) -> Result:
    """Start a fork whose history is stored."""
    new = structs.replace(new, base_commit=await head_commit(new.cwd))
    await sessions.store.append(new.id, [event_of(Forked(), new.created)])
    await sessions.catalog.save(new, context.outcome(session=new.id))
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
        raise Refusal("not_found", f"Message {at!r} not found in this session.")
    return line


HANDLERS: Handlers = {Fork: fork}
