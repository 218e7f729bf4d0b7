"""Intents that change a setting of a running session: model, mode, effort, tasks, MCP, files.

Each names exactly one control request; a client cannot send any other one (T-28).
"""

from __future__ import annotations

from typing import Any, cast

from msgspec import structs

from fairlead.errors import OptionError
from fairlead.host.literals import Effort, PermissionMode
from fairlead.host.options import argv
from fairlead.host.options.options import Options
from fairlead.server.intents.context import IntentContext
from fairlead.server.intents.handlers import Handlers, Result
from fairlead.server.intents.resuming import check_before_stop, resumable
from fairlead.server.protocol.intents import (
    McpReconnect,
    McpToggle,
    RewindFiles,
    SetEffort,
    SetFastMode,
    SetMode,
    SetModel,
    StopTask,
)
from fairlead.server.refusal import Refusal
from fairlead.server.session.live_session import LiveSession
from fairlead.server.sessions.sessions import Sessions
from fairlead.store.log import StoreUnavailable
from fairlead.store.tables.audit import AuditRecord
from fairlead.transcript.state.facts import Described
from fairlead.wire.modes import EFFORTS
from fairlead.wire.versions import Version

__all__ = ["HANDLERS", "check_server"]

OPT_IN_REQUIRED = "sdk_opt_in_required"
"""The CLI's reason if fast mode is off only because the host has not enabled it."""


async def set_model(sessions: Sessions, context: IntentContext, intent: SetModel) -> Result:
    """Switch to another model that this session offers."""
    live = await sessions.load(intent.session)
    offered = [_value(model) for model in live.transcript.session.models]
    if intent.model not in offered:
        raise Refusal(
            "not_found",
            f"Unknown model {intent.model!r}. Choose one that this session offers.",
            models=offered,
        )
    await live.running().set_model(intent.model)
    _remember(sessions, live, model=intent.model)
    return {"model": intent.model}


async def set_mode(sessions: Sessions, context: IntentContext, intent: SetMode) -> Result:
    """Change the permission mode, within the ceiling."""
    mode = sessions.policy.check_mode(intent.mode)
    live = await sessions.load(intent.session)
    record = AuditRecord(
        at=sessions.clock(),
        action="mode",
        session=live.id,
        device=context.device.id,
        details={"mode": mode, "by": context.by},
    )
    await sessions.store.record_audit(record)
    if live.live:
        mode = await live.running().set_permission_mode(cast(PermissionMode, mode))
    else:
        # Otherwise the session list would show the mode that the CLI had last.
        live.note([Described(permission_mode=mode)])
    row = structs.replace(sessions.row(live.id), mode=mode)
    try:
        await sessions.catalog.save(row, context.outcome(mode=mode))
    except StoreUnavailable:
        sessions.catalog.save_soon(row)  # The CLI has the mode: it is stored later.
        raise
    return {"mode": mode}


async def set_effort(sessions: Sessions, context: IntentContext, intent: SetEffort) -> Result:
    """Change the effort, which a CLI accepts only at its start. Empty means the default."""
    if intent.effort and intent.effort not in EFFORTS:
        raise Refusal("bad_message", f"The effort must be one of {', '.join(EFFORTS)}.")
    live = await sessions.load(intent.session)
    if live.busy:
        raise Refusal("conflict", "Wait for the turn to finish, then change the effort.")
    _check_effort(sessions, intent.effort)
    running = live.live
    if running:
        await check_before_stop(sessions, live)
    await live.stop()
    _remember(sessions, live, effort=intent.effort or None)
    live.note([Described(effort=intent.effort)])  # The CLI reports it at its next turn or never.
    if running:
        await sessions.starter.start(live, await resumable(sessions, live, repair=False))
    return {"effort": intent.effort}


async def set_fast_mode(sessions: Sessions, context: IntentContext, intent: SetFastMode) -> Result:
    """Switch the fast mode; `/fast on` alone is refused under a host (measured on 2.1.325)."""
    live = await sessions.load(intent.session)
    client = live.running()
    if intent.on:
        _check_fast_mode(live)
    await client.apply_flag_settings({"fastMode": intent.on})
    _remember(sessions, live, fast_mode=intent.on)
    # The CLI's answer is empty; it reports the new state at its next turn.
    live.note([Described(fast_mode="on" if intent.on else "off")])
    return {"on": intent.on}


async def stop_task(sessions: Sessions, context: IntentContext, intent: StopTask) -> Result:
    """Stop a background task."""
    live = await sessions.load(intent.session)
    if all(task.id != intent.task for task in live.transcript.background):
        raise Refusal("not_found", f"Task {intent.task!r} not found.")
    await live.running().stop_task(intent.task)
    return {}


async def mcp_toggle(sessions: Sessions, context: IntentContext, intent: McpToggle) -> Result:
    """Enable or disable an MCP server of the session."""
    live = await sessions.load(intent.session)
    check_server(live, intent.server)
    await live.running().mcp_toggle(intent.server, enabled=intent.enabled)
    await live.running().mcp_status()
    return {}


async def mcp_reconnect(sessions: Sessions, context: IntentContext, intent: McpReconnect) -> Result:
    """Reconnect an MCP server of the session."""
    live = await sessions.load(intent.session)
    check_server(live, intent.server)
    await live.running().mcp_reconnect(intent.server)
    await live.running().mcp_status()
    return {}


async def rewind_files(sessions: Sessions, context: IntentContext, intent: RewindFiles) -> Result:
    """Restore files to their state before a prompt, or report what that would change."""
    live = await sessions.load(intent.session)
    if live.transcript.item(intent.prompt) is None:
        raise Refusal("not_found", f"Prompt {intent.prompt!r} not found.")
    client = live.running()
    if not intent.dry_run:
        if client.busy:
            raise Refusal("conflict", "Wait for the turn to finish, then restore the files.")
        record = AuditRecord(
            at=sessions.clock(),
            action="rewind_files",
            session=live.id,
            device=context.device.id,
            details={"prompt": intent.prompt, "by": context.by},
        )
        await sessions.store.record_audit(record)
    return await client.rewind_files(intent.prompt, dry_run=intent.dry_run)


def _remember(sessions: Sessions, live: LiveSession, **options: Any) -> None:
    """Store options for the next start of this session."""
    row = sessions.row(live.id)
    sessions.catalog.save_soon(structs.replace(row, options={**row.options, **options}))


def _check_effort(sessions: Sessions, effort: str) -> None:
    """Refuse an effort that the installed CLI does not have: the session could not start with it."""
    version = Version.parse(sessions.starter.version)
    if version is None or not effort:
        return
    try:
        argv.build(Options(effort=cast(Effort, effort)), version)
    except OptionError as problem:
        raise Refusal("bad_message", str(problem)) from None


def _check_fast_mode(live: LiveSession) -> None:
    """Refuse if the CLI has no fast mode or does not allow it, or the model does not support it."""
    session = live.transcript.session
    if "fast" not in (_field(command, "name") for command in session.commands):
        raise Refusal("not_found", "This version of the CLI has no fast mode. Update Claude Code.")
    if session.fast_mode_reason not in (None, OPT_IN_REQUIRED):
        reason = session.fast_mode_reason
        raise Refusal("conflict", f"The CLI does not allow fast mode: {reason}.", reason=reason)
    for model in session.models:
        names = (_field(model, "value"), _field(model, "resolvedModel"))
        if session.model in names and _field(model, "supportsFastMode") is not True:
            raise Refusal("conflict", f"{session.model} has no fast mode. Choose another model.")


def check_server(live: LiveSession, server: str) -> None:
    """Refuse a server that the session does not have."""
    names = [
        row.get("name") for row in live.transcript.session.mcp_servers if isinstance(row, dict)
    ]
    if server not in names:
        raise Refusal(
            "not_found", f"MCP server {server!r} not found in this session.", servers=names
        )


def _value(model: Any) -> Any:
    return _field(model, "value")


def _field(row: Any, name: str) -> Any:
    """A field of a row; a row may also be a plain name."""
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
