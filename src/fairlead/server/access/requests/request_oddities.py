"""Refuses requests that two programs could interpret differently. Pure.

A proxy in front of the server and the server itself must see the same request; otherwise a client
could hide a request in the body of another. So an ambiguous request is refused and its connection
is closed (rule R17). No client of Fairlead sends one.
"""

from __future__ import annotations

from starlette.types import Scope

from fairlead.server.access.requests.request_checks import Refusal

__all__ = ["check_request"]

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"})

OVERRIDES = frozenset(
    {
        b"x-http-method-override",
        b"x-http-method",
        b"x-method-override",
        b"x-original-url",
        b"x-rewrite-url",
    }
)
"""Headers that make some programs treat a request as a different one."""


def check_request(scope: Scope, target_bytes: int) -> Refusal | None:
    """Why a request is refused regardless of its route, or None."""
    names = [name.lower() for name, _ in scope["headers"]]
    if b"content-length" in names and b"transfer-encoding" in names:
        return 400, "A request must not have both Content-Length and Transfer-Encoding."
    if names.count(b"content-length") > 1 or names.count(b"transfer-encoding") > 1:
        return 400, "A request must have only one Content-Length."
    if OVERRIDES.intersection(names):
        return 400, "Headers that override the method are refused."
    if b"http2-settings" in names:
        return 400, "This server supports only HTTP/1.1."
    target = len(scope.get("raw_path") or b"") + len(scope.get("query_string") or b"")
    if target > target_bytes:
        return 414, "The address is too long."
    if scope["type"] == "http" and scope["method"] not in METHODS:
        return 400, "Unknown method."
    return None
