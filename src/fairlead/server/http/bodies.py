"""Bodies of requests and responses of the HTTP API: JSON, limited in size."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from fairlead.server.refusal import Refusal

__all__ = ["json_answer", "read_body"]


async def read_body(request: Request, limit: int) -> bytes:
    """The whole body; refuses one that is longer than `limit` without reading on."""
    parts, size = [], 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > limit:
                raise Refusal("too_large", f"The body can have at most {limit:,} bytes.")
            parts.append(part)
    except ClientDisconnect:
        # The client cannot receive this response; it is not an error of the server to log.
        raise Refusal(
            "bad_message", "The client disconnected before it had sent the whole body."
        ) from None
    return b"".join(parts)


def json_answer(value: Any, status: int = 200) -> Response:
    """A value as JSON."""
    return Response(msgspec.json.encode(value), status, media_type="application/json")
