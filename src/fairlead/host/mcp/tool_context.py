"""The context of a running tool call: its ids, and how it reports progress.

A tool, resource or prompt function that has a parameter hinted `ToolContext` gets one; the
parameter is not part of what the model sees. Everything here may be called from the event
loop and from a worker thread alike, and costs nothing if the CLI did not ask for notifications. It does not know
how a message travels: `notify` comes in as a function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import UnionType
from typing import Any, Union, get_args, get_origin

__all__ = ["LOG_LEVELS", "ToolContext", "is_context_hint"]

LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""The levels of MCP log messages, least serious first."""

TOOL_USE_ID_KEY = "claudecode/toolUseId"
"""CLI-804: where the CLI puts the id of the model's tool_use block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """One call of one tool: its server, its ids, and methods to report progress."""

    server: str
    """Name of the server that holds the tool."""
    name: str
    """Name of the tool or prompt, or URI of the resource."""
    request_id: Any
    """The JSON-RPC id of the call: unique on one connection only, and only while it runs."""
    meta: Mapping[str, Any]
    """The `_meta` object of the request, as it came."""
    notify: Callable[[str, dict[str, Any]], None] = field(repr=False)
    """Sends one MCP notification (method, params) to the CLI, if it asked for notifications."""
    is_withdrawn: Callable[[], bool] = field(repr=False)

    @property
    def tool_use_id(self) -> str | None:
        """Id of the `tool_use` block that this call answers, if the CLI sent it."""
        value = self.meta.get(TOOL_USE_ID_KEY)
        return value if isinstance(value, str) else None

    @property
    def cancelled(self) -> bool:
        """Whether the call was cancelled. A thread cannot be stopped, so a long function should check."""
        return self.is_withdrawn()

    def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Report the progress of the call; does nothing if the CLI did not ask for progress."""
        token = self.meta.get("progressToken")
        if token is None:
            return
        params: dict[str, Any] = {"progressToken": token, "progress": progress}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = message
        self.notify("notifications/progress", params)

    def log(self, level: str, data: Any) -> None:
        """Send one log message; `level` is one of `LOG_LEVELS`, `data` any JSON value."""
        if level not in LOG_LEVELS:
            raise ValueError(f"{level!r} is not a log level; use one of {', '.join(LOG_LEVELS)}")
        params = {"level": level, "logger": self.name, "data": data}
        self.notify("notifications/message", params)


def is_context_hint(hint: Any) -> bool:
    """Whether a type hint asks for the context: `ToolContext` or `ToolContext | None`."""
    if get_origin(hint) in (Union, UnionType):
        return ToolContext in get_args(hint)
    return hint is ToolContext
