"""Intents that keep sessions in order: tags, and deleting many sessions with an undo.

`check_open` refuses every other intent for a session that is being deleted, and those that would
change the conversation of an imported recording.
"""

from __future__ import annotations

import asyncio
from typing import Any

from msgspec import structs

from fairlead.server.intents.context import IntentContext
from fairlead.server.intents.handlers import Handlers, Result
from fairlead.server.protocol.intents import (
    Archive,
    DeleteSessions,
    Fork,
    Intent,
    KeepDraft,
    Pin,
    Refresh,
    Rename,
    Restart,
    Resume,
    Send,
    SendNow,
    SetTags,
    UndoDelete,
)
from fairlead.server.refusal import Refusal
from fairlead.server.sessions.sessions import Sessions
from fairlead.store.tables.sessions import RECORDING

__all__ = ["HANDLERS", "check_open"]

FOR_MOVED = (Archive, Fork, KeepDraft, Pin, Refresh, SetTags)
"""What a user can do with the rest of a session that was moved to another machine."""

STARTS_WORK = (Fork, Restart, Resume, Send, SendNow)
"""What a user cannot do while a session that is being moved ends its turn."""

FOR_RECORDINGS = (Archive, KeepDraft, Pin, Refresh, Rename, SetTags)

DELETED_AT_ONCE = 1_000


def check_open(sessions: Sessions, intent: Intent) -> None:
    """Refuse an intent for a session that is being deleted or only a recording."""
    session = getattr(intent, "session", None)
    if session in sessions.catalog.deleting or session in sessions.catalog.closing:
        raise Refusal("conflict", "This session is being deleted. Undo the deletion first.")
    stopped = sessions.catalog.moving.get(session or "")
    if stopped or (stopped is not None and isinstance(intent, STARTS_WORK)):
        raise Refusal("conflict", "This session is being moved to another machine. Try again then.")
    row = sessions.rows.get(session) if session is not None else None
    if row is not None and row.moved is not None and not isinstance(intent, FOR_MOVED):
        raise Refusal(
            "conflict",
            f"This session was moved to {row.moved.name}. Open it there.",
            check="moved",
            node=row.moved.node,
            link=row.moved.link,
        )
    if row is not None and row.source == RECORDING and not isinstance(intent, FOR_RECORDINGS):
        raise Refusal("conflict", "This session is an imported recording. It can only be read.")


async def set_tags(sessions: Sessions, context: IntentContext, intent: SetTags) -> Result:
    """Store the tags of a session: each once, without surrounding spaces, in order."""
    limits = sessions.limits
    tags = sorted({" ".join(tag.split()) for tag in intent.tags} - {""}, key=str.casefold)
    if len(tags) > limits.tags:
        raise Refusal("too_many", f"A session can have at most {limits.tags} tags.")
    if any(len(tag) > limits.tag_chars for tag in tags):
        raise Refusal("too_large", f"A tag can have at most {limits.tag_chars} characters.")
    row = structs.replace(sessions.row(intent.session), tags=tuple(tags))
    await sessions.catalog.save(row, context.outcome(tags=tags))
    return {"tags": tags}


async def delete_sessions(
    sessions: Sessions, context: IntentContext, intent: DeleteSessions
) -> Result:
    """Stop the processes of sessions and delete them after the undo period."""
    if len(intent.sessions) > DELETED_AT_ONCE:
        raise Refusal("too_many", f"At most {DELETED_AT_ONCE} sessions can be deleted at once.")
    refused: dict[str, str] = {}
    wanted: list[str] = []
    for session in dict.fromkeys(intent.sessions):
        problem = _problem(sessions, session, files=intent.files)
        if problem is None:
            wanted.append(session)
        else:
            refused[session] = problem
    if not wanted:
        reason = next(iter(refused.values()), "Name at least one session.")
        raise Refusal("conflict", reason, refused=refused)
    # From now on nothing starts them again; their processes are stopped before this is stored.
    sessions.catalog.closing.update(wanted)
    try:
        await asyncio.gather(*(_stop(sessions, context, session) for session in wanted))
        result: dict[str, Any] = {"deleted": wanted, "refused": refused}
        await sessions.deletions.request(
            wanted,
            files=intent.files,
            device=context.device.id,
            intent=context.outcome(**result),
        )
    finally:
        sessions.catalog.closing.difference_update(wanted)
    return result


async def _stop(sessions: Sessions, context: IntentContext, session: str) -> None:
    live = sessions.loaded(session)
    if live is not None and live.live:
        live.note_stop(context.by)
        await live.stop()


async def undo_delete(sessions: Sessions, context: IntentContext, intent: UndoDelete) -> Result:
    """Restore sessions whose deletion has not begun."""
    restored = await sessions.deletions.undo(intent.sessions)
    if not restored:
        raise Refusal("stale", "These sessions are deleted already. This can't be undone.")
    return {"restored": restored}


def _problem(sessions: Sessions, session: str, *, files: bool) -> str | None:
    """Why a session cannot be deleted now."""
    if session in sessions.catalog.deleting or session in sessions.catalog.closing:
        return "This session is being deleted already."
    if session in sessions.rows:
        live = sessions.loaded(session)
        busy = live is not None and live.live and live.busy
        return "Stop the session before deleting it." if busy else None
    file = sessions.cli.find(session) if sessions.cli is not None else None
    if file is None:
        return f"Session {session!r:.200} not found."
    if file.is_live(sessions.clock()):
        return "Another program seems to use this session. Close it there first."
    if not files:
        return "This session is only a file of Claude Code. Choose to delete the file too."
    return None


HANDLERS: Handlers = {
    SetTags: set_tags,
    DeleteSessions: delete_sessions,
    UndoDelete: undo_delete,
}
