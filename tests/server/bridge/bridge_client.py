"""A client of `/bridge`."""

from __future__ import annotations

import itertools
from typing import Any

import websockets

from tests.server.conftest import Client, Served

__all__ = ["NUMBERS", "ask", "bridge", "started"]


NUMBERS = itertools.count(1)


async def bridge(served: Served, role: str = "owner") -> Client:
    client = Client(served, await served.token(role))
    client.socket = await websockets.connect(
        served.base.replace("http", "ws") + "/bridge",
        additional_headers={"Authorization": f"Bearer {client.token}"},
    )
    return client


def ask(tool: str = "Bash", given: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    shown = given if given is not None else {"command": "npm test"}
    return {"ask": {"id": f"ask-{next(NUMBERS)}", "tool": tool, "input": shown, **more}}


async def started(client: Client) -> str:
    await client.say(type="start", projectPath=str(client.served.project))
    created = await client.hear("system", subtype="session_created")
    return str(created["sessionId"])
