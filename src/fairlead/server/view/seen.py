"""Binds an answer to what the user saw: the hash of a request, for all five kinds of requests.

Request ids start again with each process of the CLI, so an id alone could mean another form. The
hash of a pending row and that of the open request are computed from the same values. Hashing a
large input takes long, so each hash is computed once and in a thread (`pending_offers` for rows,
`open_requests` for requests). Pure.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Any

from fairlead.host.requests.decisions import PermissionRequest
from fairlead.host.requests.elicitations import DialogRequest, ElicitationRequest
from fairlead.server.refusal import Refusal
from fairlead.transcript.state.model import Pending
from fairlead.wire.control import CanUseTool, Elicitation, RequestUserDialog
from fairlead.wire.input_hash import input_sha256, is_large

__all__ = [
    "UserRequest",
    "check_seen",
    "group_sha256",
    "is_large_request",
    "request_sha256",
    "row_sha256",
    "user_request_of",
]

UserRequest = PermissionRequest | ElicitationRequest | DialogRequest


def user_request_of(request_id: str, request: Any) -> UserRequest | None:
    """A request of the CLI that a user must answer; None for any other request."""
    if isinstance(request, CanUseTool):
        return PermissionRequest.of(request_id, request)
    if isinstance(request, Elicitation):
        return ElicitationRequest.of(request_id, request)
    if isinstance(request, RequestUserDialog):
        return DialogRequest.of(request_id, request)
    return None


def is_large_request(request: UserRequest) -> bool:
    """Whether hashing a request takes too long for an event loop."""
    return is_large(_facts(request))


def request_sha256(request: UserRequest) -> str:
    """The hash that an answer to an open request must contain."""
    return input_sha256(_facts(request))


def row_sha256(row: Pending) -> str:
    """The hash that an answer to a pending row must contain."""
    details = row.details
    if row.kind == "elicitation":
        form = {name: details.get(name) for name in ("server", "mode", "url", "schema")}
        return input_sha256(_form(**form, message=row.description))
    if row.kind == "dialog":
        return input_sha256(_dialog(details.get("dialog"), details.get("payload")))
    return input_sha256(row.input)


def group_sha256(tool: str, value: Mapping[str, Any]) -> str:
    """The hash of a call without the model's description of it."""
    same = {name: part for name, part in value.items() if name != "description"}
    return input_sha256({"tool": tool, "input": same})


def check_seen(sha256: str, seen: str) -> None:
    """Refuse an answer to a request that is not the one that the user saw."""
    if not hmac.compare_digest(sha256.encode(), seen.encode()):
        raise Refusal(
            "stale", "The request changed after you opened it. Review it and decide again."
        )


def _facts(request: UserRequest) -> Mapping[str, Any]:
    if isinstance(request, ElicitationRequest):
        return _form(
            server=request.server,
            mode=request.mode,
            url=request.url,
            schema=request.schema,
            message=request.message or request.description,
        )
    if isinstance(request, DialogRequest):
        return _dialog(request.kind, request.payload)
    return request.input


def _form(*, server: Any, mode: Any, url: Any, schema: Any, message: Any) -> dict[str, Any]:
    facts = {"server": server, "mode": mode or "form", "url": url, "schema": schema}
    return {"form": {**facts, "message": message or ""}}


def _dialog(kind: Any, payload: Any) -> dict[str, Any]:
    return {"dialog": kind, "payload": payload or {}}
