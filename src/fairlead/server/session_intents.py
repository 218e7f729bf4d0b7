"""Intents about whole sessions: new, resume, rename, pin, archive, stop, restart."""

from __future__ import annotations

import uuid

from msgspec import structs

from fairlead.host.options import EFFORTS
from fairlead.server.copying import import_session
from fairlead.server.deed import Deed
from fairlead.server.handlers import Handlers, Result
from fairlead.server.intents import (
    Archive,
    NewSession,
    Pin,
    Rename,
    Restart,
    Resume,
    Stop,
)
from fairlead.server.loading import Loaded
from fairlead.server.refusal import Refusal
from fairlead.server.resuming import checked_options, find_file, resumable
from fairlead.server.roles import require
from fairlead.server.session_book import RUNNING
from fairlead.server.sessions import Sessions
from fairlead.store.imports import CliSession
from fairlead.store.sessions import SessionRow
from fairlead.wire.blocks import TextBlock
from fairlead.wire.inputs import Prompt

__all__ = ["HANDLERS"]


async def new_session(sessions: Sessions, deed: Deed, intent: NewSession) -> Result:
    """Begin a session; its start goes on after the answer, and is in its transcript."""
    _check_reach(deed, intent)
    row = _new_row(sessions, intent)
    prompt = _first_prompt(sessions, intent.prompt)
    if intent.continue_latest:
        latest = await _latest(sessions, row.cwd)
        if latest is not None:
            return await _go_on(sessions, deed, latest, row, prompt)
    if not intent.continue_latest:
        # Known from the start, so that the CLI's own file is never taken for another session.
        row = structs.replace(row, cli_session_id=str(uuid.uuid4()))
    options = checked_options(
        sessions, row, continue_latest=intent.continue_latest, session_id=row.cli_session_id
    )
    await sessions.make_room()
    # With a prompt, the deed is done when that is stored; an empty session is no answer to it.
    await sessions.book.save(
        structs.replace(row, state=RUNNING),
        deed.outcome(session=row.id) if prompt is None else None,
    )
    live = sessions.adopt(row.id, Loaded())
    if prompt is not None:
        await live.prompts.hold(prompt, intent=deed.outcome(session=row.id))
    sessions.starter.start_soon(live, options)
    return {"session": row.id}


async def resume(sessions: Sessions, deed: Deed, intent: Resume) -> Result:
    """Go on with a session of the server, or with one that a CLI made elsewhere."""
    if intent.session not in sessions.rows:
        found = await find_file(sessions, intent.session)
        if found is None:
            raise Refusal("not_found", f"there is no session {intent.session!r}")
        known = next((r for r in sessions.rows.values() if r.cli_session_id == found.id), None)
        if known is None:
            fresh = SessionRow(id="", cwd=found.cwd)
            return await _resume_cli(sessions, deed, found, fresh)
        intent = structs.replace(intent, session=known.id)
    live = await sessions.load(intent.session)
    if not live.live:
        options = await resumable(sessions, live, repair=intent.repair)
        sessions.starter.budget(live.id).refill()
        await sessions.starter.start(live, options)
    return {"session": live.id}


async def rename(sessions: Sessions, deed: Deed, intent: Rename) -> Result:
    """Give a session a name."""
    title = _title(sessions, intent.title)
    row = structs.replace(sessions.row(intent.session), title=title)
    await sessions.book.save(row, deed.outcome())
    return {}


async def pin(sessions: Sessions, deed: Deed, intent: Pin) -> Result:
    """Keep a session at the top of the list, or no longer."""
    row = structs.replace(sessions.row(intent.session), pinned=intent.pinned)
    await sessions.book.save(row, deed.outcome())
    return {}


async def archive(sessions: Sessions, deed: Deed, intent: Archive) -> Result:
    """Take a session out of the list, or bring it back; one that works is not put away."""
    row = sessions.row(intent.session)
    live = sessions.loaded(intent.session)
    if intent.archived and live is not None and live.live:
        if live.busy:
            raise Refusal("conflict", "this session is at work; stop it first")
        await live.stop()
    await sessions.book.save(
        structs.replace(sessions.row(row.id), archived=intent.archived), deed.outcome()
    )
    return {}


async def stop(sessions: Sessions, deed: Deed, intent: Stop) -> Result:
    """End the process of a session."""
    sessions.row(intent.session)
    live = sessions.loaded(intent.session)
    if live is not None:
        live.note_stop(deed.by)
        await live.stop()
    return {}


async def restart(sessions: Sessions, deed: Deed, intent: Restart) -> Result:
    """End the process of a session, and go on with it at once."""
    live = await sessions.load(intent.session)
    live.note_stop(deed.by)
    await live.stop()
    options = await resumable(sessions, live, repair=False)
    sessions.starter.budget(live.id).refill()
    await sessions.starter.start(live, options)
    return {}


async def _latest(sessions: Sessions, cwd: str) -> CliSession | None:
    if sessions.cli is None:
        return None
    await sessions.cli.refresh()
    return next((one for one in sessions.cli.sessions() if one.cwd == cwd), None)


async def _go_on(
    sessions: Sessions, deed: Deed, latest: CliSession, wanted: SessionRow, prompt: Prompt | None
) -> Result:
    """Go on with the latest session of a folder, which may be one of this server already."""
    known = next((one for one in sessions.rows.values() if one.cli_session_id == latest.id), None)
    if known is None:
        return await _resume_cli(sessions, deed, latest, wanted, prompt)
    result = await resume(sessions, deed, Resume(session=known.id))
    if prompt is not None:
        live = await sessions.load(known.id)
        await live.prompts.hold(prompt, intent=deed.outcome(session=known.id))
    return result


async def _resume_cli(
    sessions: Sessions,
    deed: Deed,
    found: CliSession,
    wanted: SessionRow,
    prompt: Prompt | None = None,
) -> Result:
    """Take over a session of the CLI's own, with its history, as `wanted` says in the rest."""
    now = sessions.clock()
    if found.is_live(now):
        raise Refusal(
            "conflict",
            "another program seems to be using this session; end it there, or fork it here",
            check="in_use",
            offers=["fork", "fresh"],
        )
    row = structs.replace(
        wanted,
        id=str(uuid.uuid4()),
        cwd=sessions.policy.check_folder(wanted.cwd),
        title=wanted.title or found.title or None,
        cli_session_id=found.id,
        source="cli",
        agent=str(sessions.options.agent),
        created=found.created,
        last_activity=now,
    )
    options = checked_options(sessions, row, resume=found.id)
    await sessions.make_room()
    await import_session(sessions.store, found, row.id)
    outcome = deed.outcome(session=row.id)
    await sessions.book.save(row, outcome if prompt is None else None)
    live = await sessions.load(row.id)
    if prompt is not None:
        await live.prompts.hold(prompt, intent=outcome)
    sessions.starter.start_soon(live, options)
    return {"session": row.id}


def _check_reach(deed: Deed, intent: NewSession) -> None:
    """A rule that allows, and a program to start, reach beyond what an operator may grant."""
    if intent.allowed_tools:
        require(deed.role, "owner", "a session with tools that run without asking")
    if intent.mcp_servers:
        require(deed.role, "owner", "a session with MCP servers of its own")


def _new_row(sessions: Sessions, intent: NewSession) -> SessionRow:
    if intent.effort is not None and intent.effort not in EFFORTS:
        raise Refusal("bad_message", f"effort is one of {', '.join(EFFORTS)}")
    mode = sessions.policy.mode if intent.mode is None else sessions.policy.check_mode(intent.mode)
    now = sessions.clock()
    chosen = {
        "model": intent.model,
        "effort": intent.effort,
        "max_turns": intent.max_turns,
        "max_budget_usd": intent.max_budget_usd,
        "disallowed_tools": list(intent.disallowed_tools) or None,
        "allowed_tools": list(intent.allowed_tools) or None,
        "mcp_servers": intent.mcp_servers or None,
    }
    return SessionRow(
        id=str(uuid.uuid4()),
        cwd=sessions.policy.check_folder(intent.cwd),
        title=None if intent.title is None else _title(sessions, intent.title),
        model=intent.model,
        mode=mode,
        effort=intent.effort,
        agent=str(sessions.options.agent),
        created=now,
        last_activity=now,
        options={name: value for name, value in chosen.items() if value is not None},
    )


def _first_prompt(sessions: Sessions, text: str | None) -> Prompt | None:
    if not text:
        return None
    if len(text.encode("utf-8", "replace")) > sessions.limits.prompt_bytes:
        raise Refusal("too_large", f"a prompt has at most {sessions.limits.prompt_bytes:,} bytes")
    return Prompt(uuid=str(uuid.uuid4()), content=(TextBlock(text=text),))


def _title(sessions: Sessions, title: str) -> str:
    line = " ".join(title.split())
    if len(line) > sessions.limits.title_chars:
        raise Refusal("too_large", f"a title has at most {sessions.limits.title_chars} letters")
    return line


HANDLERS: Handlers = {
    NewSession: new_session,
    Resume: resume,
    Rename: rename,
    Pin: pin,
    Archive: archive,
    Stop: stop,
    Restart: restart,
}
