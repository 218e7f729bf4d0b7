"""Bodies of requests and answers of the HTTP API: JSON, and never more than is allowed."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from fairlead.server.refusal import Refusal

__all__ = ["json_answer", "read_body"]


async def read_body(request: Request, limit: int) -> bytes:
    """The whole body; refuses one that is longer than `limit` without reading on."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise Refusal("too_large", f"at most {limit:,} bytes are taken here")
        parts.append(part)
    return b"".join(parts)


def json_answer(value: Any, status: int = 200) -> Response:
    """A value as JSON."""
    return Response(msgspec.json.encode(value), status, media_type="application/json")
