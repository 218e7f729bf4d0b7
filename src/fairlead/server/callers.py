"""Who sends a request, as far as the connection tells: an address, and a user of this machine."""

from __future__ import annotations

from starlette.requests import Request

from fairlead.server.peers import user_of

__all__ = ["address_of", "local_user_of"]


def address_of(request: Request) -> str:
    """The address at the other end."""
    return request.client.host if request.client else ""


def local_user_of(request: Request) -> int | None:
    """Who asks, if it is somebody on this machine and the system tells."""
    server = request.scope.get("server")
    if request.client is None or server is None or server[1] is None:
        return None
    return user_of((request.client.host, request.client.port), server[1])
