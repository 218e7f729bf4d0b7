"""Control lines: requests of the CLI to the host, and its answers to the host's requests.

A request is keyed by its `request_id` and is open until it is answered or withdrawn by a
`ControlCancelRequest`. The host's own half is in `inputs`.
"""

from typing import Any, TypeAlias

from msgspec import Struct

from fairlead.wire.blocks import NEVER
from fairlead.wire.message import Message
from fairlead.wire.updates import PermissionUpdate

__all__ = [
    "CanUseTool",
    "CliRequest",
    "Control",
    "ControlCancelRequest",
    "ControlRequest",
    "ControlResponse",
    "Elicitation",
    "HookCallback",
    "McpMessage",
    "PendingRequest",
    "RequestUserDialog",
    "ResponseBody",
    "UnknownRequest",
]


class CanUseTool(Struct, frozen=True, tag_field="subtype", tag="can_use_tool"):
    """Asks whether a tool may run with this input; also used for questions and plans."""

    tool_name: str
    input: dict[str, Any]
    tool_use_id: str = ""
    permission_suggestions: tuple[PermissionUpdate, ...] | None = None
    blocked_path: str | None = None
    decision_reason: str | None = None
    decision_reason_type: str | None = None
    agent_id: str | None = None
    title: str | None = None
    display_name: str | None = None
    description: str | None = None
    requires_user_interaction: bool | None = None
    suppress_always_allow_rule: bool | None = None
    default_to_no: bool | None = None
    mcp_server: Any = None
    matched_ask_rule: Any = None


class HookCallback(Struct, frozen=True, tag_field="subtype", tag="hook_callback"):
    """Calls a hook that the host registered."""

    callback_id: str
    input: dict[str, Any] | None = None
    tool_use_id: str | None = None
    issued_at: float | None = None
    deadline_ms: float | None = None


class McpMessage(Struct, frozen=True, tag_field="subtype", tag="mcp_message"):
    """A JSON-RPC message for an MCP server of the host; may be a response (CLI-807)."""

    server_name: str
    message: Any = None


class Elicitation(Struct, frozen=True, tag_field="subtype", tag="elicitation"):
    """An MCP server requests input from the user."""

    mcp_server_name: str = ""
    message: str = ""
    mode: str | None = None
    url: str | None = None
    elicitation_id: str | None = None
    requested_schema: dict[str, Any] | None = None
    property_order: tuple[str, ...] | None = None
    title: str | None = None
    display_name: str | None = None
    description: str | None = None


class RequestUserDialog(Struct, frozen=True, tag_field="subtype", tag="request_user_dialog"):
    """Asks the host to show a dialog of the CLI; only kinds that the host declared."""

    dialog_kind: str = ""
    payload: dict[str, Any] | None = None
    tool_use_id: str | None = None


class UnknownRequest(
    Struct, frozen=True, tag_field="subtype", tag=f"{NEVER}request", forbid_unknown_fields=True
):
    """An unknown request; it must be answered with an error, because the CLI waits."""

    subtype_name: str = ""
    data: Any = None
    problem: str = ""


CliRequest: TypeAlias = (
    CanUseTool | HookCallback | McpMessage | Elicitation | RequestUserDialog | UnknownRequest
)


class ControlRequest(Message, frozen=True, kw_only=True, tag_field="type", tag="control_request"):
    """A request of the CLI to the host."""

    request_id: str
    request: CliRequest


class PendingRequest(Struct, frozen=True):
    """A request that was open when `initialize` was answered again."""

    request_id: str = ""
    request: Any = None


class ResponseBody(Struct, frozen=True):
    """The body of a control response."""

    subtype: str = ""
    request_id: str | None = None
    response: Any = None
    error: str | None = None
    error_code: str | None = None
    pending_permission_requests: tuple[PendingRequest, ...] | None = None
    pending_user_dialog_requests: tuple[PendingRequest, ...] | None = None
    pending_elicitation_requests: tuple[PendingRequest, ...] | None = None


class ControlResponse(Message, frozen=True, kw_only=True, tag_field="type", tag="control_response"):
    """The CLI's answer to a request of the host; old versions may answer twice (CLI-210)."""

    response: ResponseBody


class ControlCancelRequest(
    Message, frozen=True, kw_only=True, tag_field="type", tag="control_cancel_request"
):
    """The CLI withdraws one of its requests."""

    request_id: str


Control: TypeAlias = ControlRequest | ControlResponse | ControlCancelRequest
