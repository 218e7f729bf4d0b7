"""Imports a recording into a server, as the web app does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.server.conftest import Served

__all__ = ["RECORDINGS", "imported"]

RECORDINGS = Path(__file__).parents[3] / "recordings" / "2.1.325"


async def imported(
    served: Served, body: bytes, role: str = "operator"
) -> tuple[int, dict[str, Any]]:
    status, answer, _ = await served.http(
        "/api/recordings?name=talk.ndjson",
        method="POST",
        body=body,
        authorization=f"Bearer {await served.token(role)}",
    )
    return status, json.loads(answer)
