"""Notices: what happened outside the conversation and may interest the user.

One table says how a line becomes a notice; the few that have a life of their own (a hook that
runs, a retry that counts down) are updated under the same id. A line that is no news to anyone
is not here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from fairlead.transcript.state.fold import Fold
from fairlead.transcript.state.model import NoticeItem
from fairlead.wire.events import AuthStatus, RateLimitEvent, RateLimitInfo
from fairlead.wire.system import (
    ApiRetry,
    CompactBoundary,
    ElicitationComplete,
    FilesPersisted,
    HookProgress,
    HookResponse,
    HookStarted,
    Informational,
    MemoryRecall,
    MirrorError,
    ModelFallback,
    ModelRefusalFallback,
    ModelRefusalNoFallback,
    Notification,
    PluginInstall,
    SessionWritesLost,
    TurnPreempted,
    WorkerShuttingDown,
)

__all__ = [
    "SIMPLE",
    "end_retry",
    "note",
    "on_compact_boundary",
    "on_hook_progress",
    "on_hook_response",
    "on_hook_started",
    "on_notification",
    "on_rate_limit",
    "on_retry",
    "on_simple",
    "stopping_limit",
]


_CALL_EVENTS = frozenset({"PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure"})
"""Hook events of one tool call; their hooks start while the call is open."""


def note(
    fold: Fold,
    notice: str,
    text: str = "",
    *,
    uuid: str | None = None,
    level: str = "info",
    parent: str | None = None,
    data: dict[str, Any] | None = None,
) -> str:
    """Show a notice; gives the id of its item."""
    item_id = fold.unused(uuid) if uuid else fold.number("notice")
    fold.show(
        NoticeItem(
            id=item_id,
            turn=fold.turn_for(parent),
            parent=parent,
            at=fold.at,
            notice=notice,
            level=level,
            text=text,
            data=data or {},
        )
    )
    return item_id


def on_simple(fold: Fold, message: Any) -> None:
    """A line that becomes a notice without changes."""
    fields = SIMPLE[type(message)](message)
    notice, text = fields.pop("notice"), fields.pop("text")
    level = fields.pop("level", "info")
    note(fold, notice, text, uuid=message.uuid, level=level, data=fields)


def on_retry(fold: Fold, message: ApiRetry) -> None:
    """The CLI retries an API request; all retries of a request share one notice with a countdown."""
    delay = message.retry_delay_ms
    data = {
        "attempt": message.attempt,
        "max_retries": message.max_retries,
        "until": None if delay is None else round(fold.at + delay / 1000, 3),
        "delay_ms": delay,
        "status": message.error_status,
        "error": message.error,
        "over": False,
    }
    if fold.memory.retry is None:
        fold.memory.retry = note(fold, "retry", uuid=message.uuid, level="warning")
    fold.set("items", fold.memory.retry, data=data)


def end_retry(fold: Fold) -> None:
    """The model speaks again, or the turn is over."""
    if fold.memory.retry is not None:
        item = _notice(fold, fold.memory.retry)
        fold.memory.retry = None
        if item is not None:
            fold.set("items", item.id, data={**item.data, "over": True, "until": None})


def on_rate_limit(fold: Fold, message: RateLimitEvent) -> None:
    """The usage of the account; a notice only if it is near or over a limit."""
    info = message.rate_limit_info
    if info is None:
        return
    data = msgspec.to_builtins(info)
    kind = info.rate_limit_type or "limit"
    fold.put("session", rate_limits={**fold.session.rate_limits, kind: data})
    fold.memory.limit = stopping_limit(info) if info.status == "rejected" else None
    if info.status not in (None, "allowed"):
        note(fold, "rate_limit", uuid=message.uuid, level="warning", data=data)


def stopping_limit(info: RateLimitInfo) -> dict[str, Any]:
    """The limit that stops the session, and the latest time at which any used-up window resets."""
    resets = [window.resets_at for window in info.windows.values() if window.status == "rejected"]
    known = [at for at in (*resets, info.resets_at) if at is not None]
    return {"kind": info.rate_limit_type or "limit", "resets_at": max(known, default=None)}


def on_hook_started(fold: Fold, message: HookStarted) -> None:
    """A command hook runs."""
    data = {
        "event": message.hook_event,
        "name": message.hook_name,
        "outcome": None,
        "output": "",
        "exit_code": None,
        "tool": _call_of(fold, message.hook_event, message.hook_name),
    }
    note(fold, "hook", uuid=_hook_id(message), data=data)


def _call_of(fold: Fold, event: str, name: str) -> str | None:
    """The call that a hook belongs to. The CLI names only the tool (CLI-1711), so the call is known
    only if no other open call uses the same tool."""
    if event not in _CALL_EVENTS:
        return None
    tool = name.removeprefix(f"{event}:")
    calls = [
        item_id
        for item_id in fold.memory.open_tools
        if (item := fold.item(item_id)) is not None and item.name == tool
    ]
    return calls[0] if len(calls) == 1 else None


def on_hook_progress(fold: Fold, message: HookProgress) -> None:
    """What a command hook has written so far."""
    item = _notice(fold, _hook_id(message))
    if item is not None:
        fold.set("items", item.id, data={**item.data, "output": message.output})


def on_hook_response(fold: Fold, message: HookResponse) -> None:
    """A command hook has ended."""
    item_id = _hook_id(message)
    item = _notice(fold, item_id)
    if item is None:
        item_id = note(fold, "hook", uuid=item_id)
    fold.set(
        "items",
        item_id,
        level="info" if message.outcome == "success" else "warning",
        data={
            "event": message.hook_event,
            "name": message.hook_name,
            "outcome": message.outcome,
            "output": message.output or message.stdout + message.stderr,
            "exit_code": message.exit_code,
            "tool": None if item is None else item.data.get("tool"),
        },
    )


def on_notification(fold: Fold, message: Notification) -> None:
    """A short note; it replaces the previous note with the same key."""
    item_id = f"notification:{message.key}" if message.key else None
    item = _notice(fold, item_id) if item_id is not None else None
    if item is not None:
        fold.set("items", item.id, text=message.text)
    else:
        note(
            fold,
            "notification",
            message.text,
            uuid=item_id or message.uuid,
            data={"key": message.key, "priority": message.priority},
        )


def on_compact_boundary(fold: Fold, message: CompactBoundary) -> None:
    """The conversation before this point was summarized."""
    fold.memory.compacting = False
    fold.memory.just_compacted = True
    metadata = message.compact_metadata
    data = {} if metadata is None else msgspec.to_builtins(metadata)
    note(fold, "compaction", uuid=message.uuid, data=data)


def _notice(fold: Fold, item_id: str) -> NoticeItem | None:
    item = fold.item(item_id)
    return item if isinstance(item, NoticeItem) else None


def _hook_id(message: HookStarted | HookProgress | HookResponse) -> str:
    return f"hook:{message.hook_id}"


def _fallback(message: Any) -> dict[str, Any]:
    return {
        "notice": "fallback",
        "text": message.content or "",
        "level": "warning",
        "from": message.original_model,
        "to": getattr(message, "fallback_model", None),
        "trigger": getattr(message, "trigger", "refusal"),
        "category": getattr(message, "api_refusal_category", None),
        "explanation": getattr(message, "api_refusal_explanation", None),
    }


SIMPLE: dict[type, Callable[[Any], dict[str, Any]]] = {
    Informational: lambda m: {
        "notice": "informational",
        "text": m.content,
        "level": m.level or "info",
        "tag": m.tag,
        "tool": m.tool_use_id,
        "prevents_continuation": m.prevent_continuation,
        "prompt_outcome": m.prompt_submit_outcome,
    },
    ModelFallback: _fallback,
    ModelRefusalFallback: _fallback,
    ModelRefusalNoFallback: _fallback,
    PluginInstall: lambda m: {
        "notice": "plugin_install",
        "text": m.error or "",
        "level": "warning" if m.error else "info",
        "name": m.name,
        "status": m.status,
    },
    FilesPersisted: lambda m: {
        "notice": "files_persisted",
        "text": "",
        "files": list(m.files),
        "failed": list(m.failed),
    },
    MemoryRecall: lambda m: {
        "notice": "memory_recall",
        "text": "",
        "mode": m.mode,
        "memories": list(m.memories or ()),
    },
    MirrorError: lambda m: {"notice": "mirror_error", "text": m.error or "", "level": "warning"},
    SessionWritesLost: lambda m: {
        "notice": "session_writes_lost",
        "text": m.error_code or "",
        "level": "warning",
        "lost": list(m.lost),
    },
    WorkerShuttingDown: lambda m: {"notice": "shutting_down", "text": m.reason or ""},
    TurnPreempted: lambda m: {
        "notice": "preempted",
        "text": m.reason or "",
        "prompt": m.preempted_by_uuid,
    },
    ElicitationComplete: lambda m: {
        "notice": "elicitation_complete",
        "text": "",
        "server": m.mcp_server_name,
        "elicitation": m.elicitation_id,
    },
    AuthStatus: lambda m: {
        "notice": "auth",
        "text": m.error or "\n".join(m.output),
        "level": "warning" if m.error else "info",
        "authenticating": m.is_authenticating,
    },
}
"""Line -> the fields of its notice; what is not `notice`, `text` or `level` is its data."""
