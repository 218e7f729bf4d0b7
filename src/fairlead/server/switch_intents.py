"""Intents that switch something in a running session: model, mode, effort, tasks, MCP, files.

Each names exactly one control request; there is no way to pass another one through (T-28).
"""

from __future__ import annotations

from typing import Any

from msgspec import structs

from fairlead.host.options import EFFORTS
from fairlead.server.deed import Deed
from fairlead.server.handlers import Handlers, Result
from fairlead.server.intents import (
    McpReconnect,
    McpToggle,
    RewindFiles,
    SetEffort,
    SetFastMode,
    SetMode,
    SetModel,
    StopTask,
)
from fairlead.server.live_session import LiveSession
from fairlead.server.refusal import Refusal
from fairlead.server.resuming import resumable
from fairlead.server.sessions import Sessions
from fairlead.store.audit import AuditRecord
from fairlead.transcript.facts import Described

__all__ = ["HANDLERS", "check_server"]

ASKS_FOR_IT = "sdk_opt_in_required"
"""Off for no other reason than that the host has not asked for it."""


async def set_model(sessions: Sessions, deed: Deed, intent: SetModel) -> Result:
    """Use another model of the session's own list."""
    live = await sessions.load(intent.session)
    offered = [_value(one) for one in live.transcript.session.models]
    if intent.model not in offered:
        raise Refusal("not_found", f"this session has no model {intent.model!r}", models=offered)
    await live.running().set_model(intent.model)
    _remember(sessions, live, model=intent.model)
    return {"model": intent.model}


async def set_mode(sessions: Sessions, deed: Deed, intent: SetMode) -> Result:
    """Change the permission mode, within the ceiling."""
    mode = sessions.policy.check_mode(intent.mode)
    live = await sessions.load(intent.session)
    record = AuditRecord(
        at=sessions.clock(),
        action="mode",
        session=live.id,
        device=deed.device.id,
        details={"mode": mode, "by": deed.by},
    )
    await sessions.store.record_audit(record)
    if live.live:
        mode = await live.running().set_permission_mode(mode)
    sessions.book.save_soon(structs.replace(sessions.row(live.id), mode=mode))
    return {"mode": mode}


async def set_effort(sessions: Sessions, deed: Deed, intent: SetEffort) -> Result:
    """Change how hard the model thinks; a CLI takes that only at its start."""
    if intent.effort not in EFFORTS:
        raise Refusal("bad_message", f"effort is one of {', '.join(EFFORTS)}")
    live = await sessions.load(intent.session)
    if live.busy:
        raise Refusal("conflict", "the effort can be changed when the session is idle")
    running = live.live
    await live.stop()
    _remember(sessions, live, effort=intent.effort)
    live.note([Described(effort=intent.effort)])  # The CLI tells it with its next turn, if at all.
    if running:
        await sessions.starter.start(live, await resumable(sessions, live, repair=False))
    return {"effort": intent.effort}


async def set_fast_mode(sessions: Sessions, deed: Deed, intent: SetFastMode) -> Result:
    """Switch the fast mode; `/fast on` alone is refused under a host (measured on 2.1.325)."""
    live = await sessions.load(intent.session)
    client = live.running()
    if intent.on:
        _check_fast_mode(live)
    await client.apply_flag_settings({"fastMode": intent.on})
    _remember(sessions, live, fast_mode=intent.on)
    # The CLI answers with nothing and tells the new state with its next turn.
    live.note([Described(fast_mode="on" if intent.on else "off")])
    return {"on": intent.on}


async def stop_task(sessions: Sessions, deed: Deed, intent: StopTask) -> Result:
    """Stop a background task."""
    live = await sessions.load(intent.session)
    if all(task.id != intent.task for task in live.transcript.background):
        raise Refusal("not_found", f"there is no task {intent.task!r}")
    await live.running().stop_task(intent.task)
    return {}


async def mcp_toggle(sessions: Sessions, deed: Deed, intent: McpToggle) -> Result:
    """Switch an MCP server of the session on or off."""
    live = await sessions.load(intent.session)
    check_server(live, intent.server)
    await live.running().mcp_toggle(intent.server, enabled=intent.enabled)
    await live.running().mcp_status()
    return {}


async def mcp_reconnect(sessions: Sessions, deed: Deed, intent: McpReconnect) -> Result:
    """Connect an MCP server of the session again."""
    live = await sessions.load(intent.session)
    check_server(live, intent.server)
    await live.running().mcp_reconnect(intent.server)
    await live.running().mcp_status()
    return {}


async def rewind_files(sessions: Sessions, deed: Deed, intent: RewindFiles) -> Result:
    """Put files back to where they were before a prompt, or tell what that would do."""
    live = await sessions.load(intent.session)
    if live.transcript.item(intent.prompt) is None:
        raise Refusal("not_found", f"there is no prompt {intent.prompt!r}")
    client = live.running()
    if not intent.dry_run:
        if client.busy:
            raise Refusal("conflict", "files can be put back when the session is idle")
        record = AuditRecord(
            at=sessions.clock(),
            action="rewind_files",
            session=live.id,
            device=deed.device.id,
            details={"prompt": intent.prompt, "by": deed.by},
        )
        await sessions.store.record_audit(record)
    return await client.rewind_files(intent.prompt, dry_run=intent.dry_run)


def _remember(sessions: Sessions, live: LiveSession, **options: Any) -> None:
    """What the next start of this session must pass again."""
    row = sessions.row(live.id)
    sessions.book.save_soon(structs.replace(row, options={**row.options, **options}))


def _check_fast_mode(live: LiveSession) -> None:
    """Refuse where the CLI has no fast mode, keeps it off, or the model cannot have it."""
    session = live.transcript.session
    if "fast" not in (_field(one, "name") for one in session.commands):
        raise Refusal("not_found", "this version of the CLI has no fast mode")
    if session.fast_mode_reason not in (None, ASKS_FOR_IT):
        why = session.fast_mode_reason
        raise Refusal("conflict", f"the CLI keeps its fast mode off ({why})", reason=why)
    for model in session.models:
        names = (_field(model, "value"), _field(model, "resolvedModel"))
        if session.model in names and _field(model, "supportsFastMode") is not True:
            raise Refusal("conflict", f"{session.model} has no fast mode; choose another model")


def check_server(live: LiveSession, server: str) -> None:
    """Refuse a server that the session does not have."""
    names = [
        one.get("name") for one in live.transcript.session.mcp_servers if isinstance(one, dict)
    ]
    if server not in names:
        raise Refusal("not_found", f"this session has no MCP server {server!r}", servers=names)


def _value(model: Any) -> Any:
    return _field(model, "value")


def _field(row: Any, name: str) -> Any:
    """A field of a row; a row may also be nothing but a name."""
    return row.get(name) if isinstance(row, dict) else row


HANDLERS: Handlers = {
    SetModel: set_model,
    SetMode: set_mode,
    SetEffort: set_effort,
    SetFastMode: set_fast_mode,
    StopTask: stop_task,
    McpToggle: mcp_toggle,
    McpReconnect: mcp_reconnect,
    RewindFiles: rewind_files,
}
