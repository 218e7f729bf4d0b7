"""Two more kinds of requests to the user: forms and links of MCP servers, and dialogs of the CLI.

An elicitation ends in accept, decline or cancel. A dialog is only ever sent for kinds that the
host declared (CLI-1206), and an error would leave it open, so a dialog without a handler is
cancelled.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from fairlead.errors import UsageError
from fairlead.wire.control import Elicitation, RequestUserDialog

__all__ = [
    "Accept",
    "Cancel",
    "Decline",
    "DialogHandler",
    "DialogRequest",
    "ElicitationHandler",
    "ElicitationRequest",
    "write_dialog_reply",
    "write_elicitation_reply",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ElicitationRequest:
    """An MCP server requests input from the user."""

    id: str
    server: str
    message: str
    mode: str
    """`form` with a schema, or `url` with a link to open."""
    url: str | None = None
    schema: Mapping[str, Any] | None = None
    title: str | None = None
    description: str | None = None
    """Shown in place of an empty message."""

    @classmethod
    def of(cls, request_id: str, request: Elicitation) -> ElicitationRequest:
        """The request as it came over the wire."""
        return cls(
            id=request_id,
            server=request.mcp_server_name,
            message=request.message,
            mode=request.mode or "form",
            url=request.url,
            schema=request.requested_schema,
            title=request.title or request.display_name,
            description=request.description,
        )


@dataclass(frozen=True, slots=True)
class Accept:
    """The user filled in the form."""

    content: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Decline:
    """The user declined."""


@dataclass(frozen=True, slots=True)
class Cancel:
    """The user closed the form without an answer."""


ElicitationReply: TypeAlias = Accept | Decline | Cancel
ElicitationHandler: TypeAlias = Callable[
    [ElicitationRequest], ElicitationReply | Awaitable[ElicitationReply]
]


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogRequest:
    """The CLI wants one of its own dialogs shown."""

    id: str
    kind: str
    payload: Mapping[str, Any]
    tool_use_id: str | None = None

    @classmethod
    def of(cls, request_id: str, request: RequestUserDialog) -> DialogRequest:
        """The request as it came over the wire."""
        return cls(
            id=request_id,
            kind=request.dialog_kind,
            payload=request.payload or {},
            tool_use_id=request.tool_use_id,
        )


DialogHandler: TypeAlias = Callable[[DialogRequest], Any]
"""Returns the dialog's result, or `Cancel()`."""


def write_elicitation_reply(reply: ElicitationReply) -> dict[str, Any]:
    """The answer as it goes over the wire."""
    if isinstance(reply, Accept):
        content = {} if reply.content is None else dict(reply.content)
        return {"action": "accept", "content": content}
    if isinstance(reply, Decline):
        return {"action": "decline"}
    if isinstance(reply, Cancel):
        return {"action": "cancel"}
    raise UsageError(
        "an elicitation handler returns Accept(…), Decline() or Cancel(), "
        f"not {type(reply).__name__}"
    )


def write_dialog_reply(reply: Any) -> dict[str, Any]:
    """The answer as it goes over the wire."""
    if isinstance(reply, Cancel):
        return {"behavior": "cancelled"}
    return {"behavior": "completed", "result": reply}
