"""A server whose push messages go to a push service of the test, and a device that gets them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from fairlead.server.limits import Limits
from tests.server.conftest import Client, Served, serving
from tests.server.notices.push_service import Browser, PushService
from tests.waiting import until

PATIENCE_S = 20.0
COMMAND = "curl -H 'Authorization: secret' https://example.org"
ASK = {"ask": {"id": "ask", "tool": "Bash", "input": {"command": COMMAND}}}
WAIT = {"wait": 1}
AT_ONCE = Limits(hello_s=0.5, notice_delay_s=0.0, notice_viewed_delay_s=0.0)
"""Without delays, because the tests answer nothing in time."""


async def found(look: Callable[[], Awaitable[Any]]) -> Any:
    """What a question to the server gives, once it gives something."""
    async with asyncio.timeout(60):
        while not (value := await look()):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return value


class Phone:
    """A device with a push subscription."""

    def __init__(self, served: Served, push: PushService, client: Client) -> None:
        self.served = served
        self.push = push
        self.client = client
        self.browser = Browser()

    async def call(self, path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
        """A request of this device to the API."""
        status, text, _ = await self.served.http(
            path,
            method="GET" if body is None else "POST",
            body=body,
            authorization=f"Bearer {self.client.token}",
        )
        return status, json.loads(text)

    async def subscribe(self, name: str = "one", **settings: Any) -> None:
        """Turn push messages on."""
        wanted = self.browser.subscription(self.push.endpoint(name), **settings)
        status, answer = await self.call("/api/push", wanted)
        assert status == 200, answer

    async def messages(self, count: int) -> list[dict[str, Any]]:
        """The messages so far, once there are as many."""
        await until(lambda: len(self.push.received) >= count, PATIENCE_S)
        return [self.browser.read(body) for _, body in self.push.received]

    async def message(self, count: int = 1) -> dict[str, Any]:
        """The last of `count` messages."""
        return (await self.messages(count))[count - 1]


@pytest.fixture
async def push() -> AsyncIterator[PushService]:
    async with PushService() as service:
        yield service


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Served]:
    async with serving(tmp_path, AT_ONCE, push_to_loopback=True) as served:
        yield served


@pytest.fixture
async def phone(house: Served, push: PushService) -> Phone:
    return Phone(house, push, await house.client())
