"""The sender of a request as far as the connection shows it: an address, and a local user."""

from __future__ import annotations

from starlette.requests import Request
from starlette.types import Scope

from fairlead.server.access.requests.peers import user_of
from fairlead.server.access.requests.proxies import TrustedProxies

__all__ = ["KNOWN", "PEER", "address_of", "behind_proxy", "local_user_of", "note_known"]

PEER = "fairlead.peer"
"""The key of a forwarded request's scope for the real peer of its connection."""

KNOWN = "fairlead.known"
"""The key of the scope for the callback that is called when a valid token arrived."""


def note_known(request: Request) -> None:
    """Report that a valid token arrived over the connection of this request."""
    callback = request.scope.get(KNOWN)
    if callback is not None:
        callback()


def behind_proxy(scope: Scope, proxies: TrustedProxies) -> Scope:
    """The scope with the client that a trusted proxy reports; otherwise the same scope."""
    client = scope.get("client")
    forwarded = proxies.read(client[0], scope["headers"]) if client else None
    if client is None or forwarded is None:
        return scope
    client_scope = {**scope, "client": (forwarded.address, 0), PEER: tuple(client)}
    if forwarded.secure is not None:
        names = ("https", "http") if scope["type"] == "http" else ("wss", "ws")
        client_scope["scheme"] = names[0] if forwarded.secure else names[1]
    if forwarded.host is not None:
        others = [(name, value) for name, value in scope["headers"] if name.lower() != b"host"]
        client_scope["headers"] = [*others, (b"host", forwarded.host.encode("latin-1", "replace"))]
    return client_scope


def address_of(request: Request) -> str:
    """The address of the peer."""
    return request.client.host if request.client else ""


def local_user_of(request: Request) -> int | None:
    """The local user at the other end of the connection; None if unknown.

    A caller behind a proxy is unknown: the connection belongs to the proxy.
    """
    server = request.scope.get("server")
    if request.client is None or server is None or server[1] is None or PEER in request.scope:
        return None
    return user_of((request.client.host, request.client.port), server[1])
