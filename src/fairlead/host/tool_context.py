"""What a running tool may know about its own call, and say while it runs.

A tool, resource or prompt function that has a parameter hinted `ToolContext` gets one; the
parameter is not part of what the model sees. Everything here may be called from the event
loop and from a worker thread alike, and costs nothing when nobody listens. It does not know
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
"""TRUTH 1.8: where the CLI puts the id of the model's tool_use block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """One call of one tool: who asked, under which ids, and a way to report progress."""

    server: str
    """Name of the server that holds the tool."""
    name: str
    """Name of the tool or prompt, or URI of the resource."""
    request_id: Any
    """The JSON-RPC id of the call: unique on one connection only, and only while it runs."""
    meta: Mapping[str, Any]
    """The `_meta` object of the request, as it came."""
    notify: Callable[[str, dict[str, Any]], None] = field(repr=False)
    """Sends one MCP notification (method, params) to the CLI, if anybody listens."""
    is_withdrawn: Callable[[], bool] = field(repr=False)

    @property
    def tool_use_id(self) -> str | None:
        """Id of the `tool_use` block that this call answers, if the CLI told it."""
        value = self.meta.get(TOOL_USE_ID_KEY)
        return value if isinstance(value, str) else None

    @property
    def cancelled(self) -> bool:
        """Whether the call was withdrawn: a thread cannot be stopped, so a long one may ask."""
        return self.is_withdrawn()

    def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Tell how far the call is; does nothing where the CLI did not ask for progress."""
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
            raise ValueError(f"no log level {level!r}; take one of {', '.join(LOG_LEVELS)}")
        params = {"level": level, "logger": self.name, "data": data}
        self.notify("notifications/message", params)


def is_context_hint(hint: Any) -> bool:
    """Whether a type hint asks for the context: `ToolContext` or `ToolContext | None`."""
    if get_origin(hint) in (Union, UnionType):
        return ToolContext in get_args(hint)
    return hint is ToolContext
