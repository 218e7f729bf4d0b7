"""Intents about whole sessions: new, resume, rename, pin, archive, stop, restart."""

from __future__ import annotations

import asyncio
import os
import uuid

from msgspec import structs, to_builtins

from fairlead.git.changes import head_commit
from fairlead.server.access.roles import require
from fairlead.server.intents.context import IntentContext
from fairlead.server.intents.handlers import Handlers, Result
from fairlead.server.intents.resuming import (
    check_before_stop,
    checked_options,
    find_file,
    resumable,
)
from fairlead.server.intents.switch import set_mode
from fairlead.server.intents.worktree_setup import in_worktree, prepare_then_start, setup_of
from fairlead.server.protocol.intents import (
    Archive,
    NewSession,
    Pin,
    ProjectPrograms,
    Rename,
    Restart,
    Resume,
    SetMode,
    Stop,
    TrustProject,
)
from fairlead.server.refusal import Refusal
from fairlead.server.session.loading import Loaded
from fairlead.server.sessions.catalog import RUNNING
from fairlead.server.sessions.copying import import_session
from fairlead.server.sessions.session_options import profile_option
from fairlead.server.sessions.sessions import Sessions
from fairlead.store.cli_files.imports import CliSession
from fairlead.store.tables.sessions import SessionRow
from fairlead.wire.blocks import TextBlock
from fairlead.wire.inputs import Prompt
from fairlead.wire.modes import EFFORTS

__all__ = ["HANDLERS"]

FOLDERS = 50


async def new_session(sessions: Sessions, context: IntentContext, intent: NewSession) -> Result:
    """Create a session; it starts after this result is sent, and the transcript shows the start."""
    _check_privileges(context, intent)
    row = _new_row(sessions, intent)
    prompt = _first_prompt(sessions, intent)
    if intent.continue_latest:
        latest = await _latest(sessions, row.cwd, row.profile)
        if latest is not None:
            return await _continue(sessions, context, latest, row, prompt)
    if intent.worktree_base is not None:
        row = await in_worktree(sessions, row, intent.worktree_base)
    if not intent.continue_latest:
        # Set from the start, so that the CLI's own file is never listed as another session.
        row = structs.replace(row, cli_session_id=str(uuid.uuid4()))
    options = await checked_options(
        sessions, row, continue_latest=intent.continue_latest, session_id=row.cli_session_id
    )
    await sessions.make_room()
    row = structs.replace(row, base_commit=await head_commit(row.cwd))
    setup = setup_of(sessions, row)
    # With a prompt, the intent is done once the prompt is stored: an empty session is no result.
    await sessions.catalog.save(
        structs.replace(row, state=RUNNING),
        context.outcome(session=row.id) if prompt is None else None,
    )
    live = sessions.adopt(row.id, Loaded())
    if prompt is not None:
        await live.prompts.add(prompt, intent=context.outcome(session=row.id))
    if setup:
        prepare_then_start(sessions, live, options, setup)
    else:
        sessions.starter.start_soon(live, options)
    return {"session": row.id}


async def resume(sessions: Sessions, context: IntentContext, intent: Resume) -> Result:
    """Resume a session of the server, or one that a CLI created elsewhere."""
    mode = None if intent.mode is None else sessions.policy.check_mode(intent.mode)
    if intent.session not in sessions.rows:
        file = await find_file(sessions, intent.session)
        if file is None:
            raise Refusal("not_found", f"Session {intent.session!r} not found.")
        known = next((r for r in sessions.rows.values() if r.cli_session_id == file.id), None)
        if known is None:
            _check_expected(sessions, intent, file.cwd)
            fresh = SessionRow(id="", cwd=file.cwd, mode=mode, options=profile_option(file.profile))
            return await _resume_cli(sessions, context, file, fresh)
        intent = structs.replace(intent, session=known.id)
    _check_expected(sessions, intent, sessions.row(intent.session).cwd)
    live = await sessions.load(intent.session)
    if mode is not None:
        await set_mode(sessions, context, SetMode(session=live.id, mode=mode))
    if not live.live:
        options = await resumable(sessions, live, repair=intent.repair)
        if not live.live:  # Another client may have resumed it meanwhile.
            sessions.starter.budget(live.id).refill()
            await sessions.starter.start(live, options)
    return {"session": live.id}


async def rename(sessions: Sessions, context: IntentContext, intent: Rename) -> Result:
    """Set the title of a session."""
    title = _title(sessions, intent.title)
    row = structs.replace(sessions.row(intent.session), title=title)
    await sessions.catalog.save(row, context.outcome())
    return {}


async def pin(sessions: Sessions, context: IntentContext, intent: Pin) -> Result:
    """Pin a session to the top of the list, or unpin it."""
    row = structs.replace(sessions.row(intent.session), pinned=intent.pinned)
    await sessions.catalog.save(row, context.outcome())
    return {}


async def archive(sessions: Sessions, context: IntentContext, intent: Archive) -> Result:
    """Archive or unarchive a session; a session in a turn cannot be archived."""
    row = sessions.row(intent.session)
    live = sessions.loaded(intent.session)
    if intent.archived and live is not None and live.live:
        if live.busy:
            raise Refusal("conflict", "Stop the session before archiving it.")
        await live.stop()
    await sessions.catalog.save(
        structs.replace(sessions.row(row.id), archived=intent.archived), context.outcome()
    )
    return {}


async def stop(sessions: Sessions, context: IntentContext, intent: Stop) -> Result:
    """End the process of a session."""
    sessions.row(intent.session)
    live = sessions.loaded(intent.session)
    if live is not None:
        live.note_stop(context.by)
        await live.stop()
    return {}


async def restart(sessions: Sessions, context: IntentContext, intent: Restart) -> Result:
    """End the process of a session and resume it at once."""
    live = await sessions.load(intent.session)
    if live.live:
        await check_before_stop(sessions, live)
    live.note_stop(context.by)
    await live.stop()
    options = await resumable(sessions, live, repair=False)
    sessions.starter.budget(live.id).refill()
    await sessions.starter.start(live, options)
    return {}


def _check_expected(sessions: Sessions, intent: Resume, cwd: str) -> None:
    """Refuse another folder than the session's: a CLI finds a session only in its own folder."""
    if intent.cwd is None or sessions.policy.check_folder(intent.cwd) == os.path.realpath(cwd):
        return
    raise Refusal(
        "conflict",
        f"This session works in {cwd!r}, not in {intent.cwd!r}. Resume it there, or start a new one.",
        check="other_folder",
        offers=["fork", "fresh"],
        found_cwd=cwd,
    )


async def project_programs(
    sessions: Sessions, context: IntentContext, intent: ProjectPrograms
) -> Result:
    """List the programs that the files of a project would run, with the stored answer."""
    folder = sessions.policy.check_folder(intent.cwd)
    profile = sessions.profiles.stored_name(intent.profile)
    programs, answer = await asyncio.to_thread(sessions.policy.trust.look, folder, profile)
    return {} if programs is None else {**to_builtins(programs), "answer": answer}


async def trust_project(sessions: Sessions, context: IntentContext, intent: TrustProject) -> Result:
    """Store the user's answer on what the files of a project may run."""
    folder = sessions.policy.check_folder(intent.cwd)
    trust = sessions.policy.trust
    await asyncio.to_thread(trust.answer, folder, intent.digest, intent.choice)
    return {}


async def _latest(sessions: Sessions, cwd: str, profile: str) -> CliSession | None:
    """The latest session of a folder, among those of the profile."""
    files = None if sessions.cli is None else sessions.cli.of(profile)
    if files is None:
        return None
    await files.refresh()
    return next((session for session in files.sessions() if session.cwd == cwd), None)


async def _continue(
    sessions: Sessions,
    context: IntentContext,
    latest: CliSession,
    wanted: SessionRow,
    prompt: Prompt | None,
) -> Result:
    """Resume the latest session of a folder, which may belong to this server already."""
    known = next((row for row in sessions.rows.values() if row.cli_session_id == latest.id), None)
    if known is None:
        return await _resume_cli(sessions, context, latest, wanted, prompt)
    result = await resume(sessions, context, Resume(session=known.id))
    if prompt is not None:
        live = await sessions.load(known.id)
        await live.prompts.add(prompt, intent=context.outcome(session=known.id))
    return result


async def _resume_cli(
    sessions: Sessions,
    context: IntentContext,
    file: CliSession,
    wanted: SessionRow,
    prompt: Prompt | None = None,
) -> Result:
    """Import a session of the CLI with its history; `wanted` has the other values of the row."""
    now = sessions.clock()
    if file.is_live(now):
        raise Refusal(
            "conflict",
            "Another program seems to use this session. Close it there, or fork it here.",
            check="in_use",
            offers=["fork", "fresh"],
        )
    row = structs.replace(
        wanted,
        id=str(uuid.uuid4()),
        cwd=sessions.policy.check_folder(wanted.cwd),
        title=wanted.title or file.title or None,
        cli_session_id=file.id,
        source="cli",
        agent=str(sessions.options.agent),
        created=file.created,
        last_activity=now,
    )
    options = await checked_options(sessions, row, resume=file.id)
    await sessions.make_room()
    await import_session(sessions.store, file, row.id)
    outcome = context.outcome(session=row.id)
    await sessions.catalog.save(row, outcome if prompt is None else None)
    live = await sessions.load(row.id)
    if prompt is not None:
        await live.prompts.add(prompt, intent=outcome)
    sessions.starter.start_soon(live, options)
    return {"session": row.id}


def _check_privileges(context: IntentContext, intent: NewSession) -> None:
    """Only an owner may set rules that allow tools, and programs that the CLI starts."""
    if intent.allowed_tools:
        require(context.role, "owner", "Starting a session with tools that run without asking")
    if intent.mcp_servers:
        require(context.role, "owner", "Starting a session with its own MCP servers")
    if intent.plugin_dirs:
        require(context.role, "owner", "Starting a session with its own plugins")


def _new_row(sessions: Sessions, intent: NewSession) -> SessionRow:
    if intent.effort is not None and intent.effort not in EFFORTS:
        raise Refusal("bad_message", f"The effort must be one of {', '.join(EFFORTS)}.")
    mode = sessions.policy.mode if intent.mode is None else sessions.policy.check_mode(intent.mode)
    now = sessions.clock()
    chosen = {
        **profile_option(sessions.profiles.stored_name(intent.profile)),
        "model": intent.model,
        "effort": intent.effort,
        "max_turns": intent.max_turns,
        "max_budget_usd": intent.max_budget_usd,
        "disallowed_tools": list(intent.disallowed_tools) or None,
        "allowed_tools": list(intent.allowed_tools) or None,
        "mcp_servers": intent.mcp_servers or None,
        "add_dirs": _folders(sessions, intent.add_dirs) or None,
        "plugin_dirs": _folders(sessions, intent.plugin_dirs) or None,
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


def _folders(sessions: Sessions, paths: tuple[str, ...]) -> list[str]:
    """The real paths of additional folders, each of which a session may work in."""
    if len(paths) > FOLDERS:
        raise Refusal("too_many", f"A session can have at most {FOLDERS} additional folders.")
    return list(dict.fromkeys(sessions.policy.check_folder(path) for path in paths))


def _first_prompt(sessions: Sessions, intent: NewSession) -> Prompt | None:
    text = intent.prompt
    if not text:
        return None
    if len(text.encode("utf-8", "replace")) > sessions.limits.prompt_bytes:
        raise Refusal(
            "too_large", f"A prompt can have at most {sessions.limits.prompt_bytes:,} bytes."
        )
    content = (TextBlock(text=text),)
    return Prompt(uuid=str(uuid.uuid4()), content=content, verbatim=intent.verbatim)


def _title(sessions: Sessions, title: str) -> str:
    line = " ".join(title.split())
    if len(line) > sessions.limits.title_chars:
        raise Refusal(
            "too_large", f"A title can have at most {sessions.limits.title_chars} characters."
        )
    return line


HANDLERS: Handlers = {
    NewSession: new_session,
    Resume: resume,
    Rename: rename,
    Pin: pin,
    Archive: archive,
    Stop: stop,
    Restart: restart,
    ProjectPrograms: project_programs,
    TrustProject: trust_project,
}
