"""JSON-RPC 2.0 as MCP uses it: telling messages apart, and the shape of answers and errors.

Total: any JSON value is read as a request, a notification, a response or as invalid, and what
can be answered is answered. Knows no method. Used by `connection` and `adapter`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

__all__ = [
    "CONNECTION_CLOSED",
    "INTERNAL_ERROR",
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "METHOD_NOT_FOUND",
    "REQUEST_CANCELLED",
    "RESOURCE_NOT_FOUND",
    "Incoming",
    "Kind",
    "RpcError",
    "Send",
    "answer",
    "failure",
    "notification",
    "read",
]

INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
CONNECTION_CLOSED = -32000
RESOURCE_NOT_FOUND = -32002
REQUEST_CANCELLED = -32800
"""Not defined by MCP, where a cancelled request gets no answer; the CLI requires one."""

Send = Callable[[dict[str, Any]], None]
"""Sends a message of the server to the CLI. Called in the event loop; must not block or raise."""


class Kind(Enum):
    """The kind of a message."""

    REQUEST = "request"
    NOTIFICATION = "notification"
    RESPONSE = "response"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """One message as read; `problem` says why it is invalid."""

    kind: Kind
    id: Any = None
    method: str = ""
    params: Any = None
    problem: str = ""


class RpcError(Exception):
    """A request that is answered with a JSON-RPC error; never leaves this package."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(code, message, data)
        self.code = code
        self.message = message
        self.data = data


def read(message: Any) -> Incoming:
    """Classify a message; never raises."""
    if not isinstance(message, dict):
        return Incoming(kind=Kind.INVALID, problem="a message must be an object")
    request_id = message.get("id")
    method = message.get("method")
    if "method" not in message and ("result" in message or "error" in message):
        # CLI-807, rec 2.1.38/mcp_elicit: the answer to a request of ours comes this way.
        return Incoming(kind=Kind.RESPONSE, id=request_id)
    if not isinstance(method, str):
        return Incoming(
            kind=Kind.INVALID, id=request_id, problem="`method` is missing or not a string"
        )
    is_notification = "id" not in message or (
        request_id is None and method.startswith("notifications/")
    )
    kind = Kind.NOTIFICATION if is_notification else Kind.REQUEST
    return Incoming(kind=kind, id=request_id, method=method, params=message.get("params"))


def answer(request_id: Any, result: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request that succeeded."""
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def failure(request_id: Any, code: int, message: str, data: Any = None) -> dict[str, Any]:
    """The answer to a request that failed."""
    # A lone surrogate cannot be written to the CLI.
    text = message.encode("utf-8", "backslashreplace").decode()
    error: dict[str, Any] = {"code": code, "message": text}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": request_id, "error": error}


def notification(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """A message that expects no answer."""
    return {"jsonrpc": "2.0", "method": method, "params": params}
