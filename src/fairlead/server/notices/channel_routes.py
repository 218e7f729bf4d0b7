"""Routes for channels: list, add, change, test and remove them. Only for owners.

A channel belongs to the server. Its address is accepted and never sent to a client again: clients
see the service, the scheme and the name that the owner gave it (B126).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import structs
from starlette.requests import Request
from starlette.responses import Response

from fairlead.server.http.bodies import json_answer, read_body
from fairlead.server.http.routes import Route
from fairlead.server.notices.channels.address import masked
from fairlead.server.notices.channels.sender import NOT_INSTALLED, ChannelSender
from fairlead.server.notices.channels.service import INSTALL, is_installed
from fairlead.server.notices.outcome import Failed, Sent, TryLater
from fairlead.server.notices.rules.notice import KINDS, Notice
from fairlead.server.notices.rules.wording import DETAILS, plain_line
from fairlead.server.notices.targets import ChannelTarget, Targets, TargetSettings, channel_id
from fairlead.server.refusal import Refusal

__all__ = ["ChannelRoutes"]

BODY_BYTES = 16_384
MOST = 20
"""Channels of one server."""
NAME_CHARS = 60

TEST_TEXT = "This channel works."


class _NewChannel(msgspec.Struct, forbid_unknown_fields=True):
    url: str
    name: str = ""
    settings: TargetSettings = TargetSettings()


class _Change(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    name: str | None = None
    url: str | None = None
    settings: TargetSettings | None = None


class _Named(msgspec.Struct, forbid_unknown_fields=True):
    id: str


class ChannelRoutes:
    """The handlers."""

    def __init__(self, targets: Targets, sender: ChannelSender, clock: Callable[[], float]) -> None:
        self._targets = targets
        self._sender = sender
        self._clock = clock

        def route(method: str, path: str, about: str, handler: Any) -> Route:
            return Route(method=method, path=path, role="owner", about=about, handler=handler)

        self.routes = (
            route("GET", "/api/channels", "The channels, without their addresses.", self._read),
            route("POST", "/api/channels", "Add a channel.", self._add),
            route("POST", "/api/channels/change", "Change a channel.", self._change),
            route("POST", "/api/channels/remove", "Remove a channel.", self._remove),
            route("POST", "/api/channels/test", "Send a test to a channel.", self._test),
        )

    async def _read(self, request: Request) -> Response:
        return await self._list()

    async def _list(self) -> Response:
        # In this order: an attempt that fails in between is listed with its problem.
        retries, stored = await self._targets.retries(), await self._targets.stored()
        rows = []
        for channel in self._channels():
            key = channel_id(channel.id)
            row = stored.get(key)
            rows.append(
                {
                    "id": channel.id,
                    "name": channel.name,
                    "service": channel.service,
                    "address": masked(channel.url),
                    "settings": channel.settings,
                    "last_sent": row.last_sent if row is not None else None,
                    "problem": row.problem if row is not None else "",
                    "retry_at": retries.get(key),
                }
            )
        return json_answer(
            {
                "installed": is_installed(),
                "install": INSTALL,
                "kinds": KINDS,
                "details": DETAILS,
                "channels": rows,
            }
        )

    async def _add(self, request: Request) -> Response:
        wanted = msgspec.json.decode(await read_body(request, BODY_BYTES), type=_NewChannel)
        wanted.settings.check()
        if len(self._channels()) >= MOST:
            raise Refusal("too_many", f"There are {MOST} channels already; remove one first.")
        service = await self._service_of(wanted.url)
        channel = ChannelTarget(
            id=secrets.token_hex(8),
            name=plain_line(wanted.name, NAME_CHARS) or service,
            service=service,
            url=wanted.url.strip(),
            settings=wanted.settings,
        )
        await self._targets.put(channel_id(channel.id), channel)
        return await self._list()

    async def _change(self, request: Request) -> Response:
        wanted = msgspec.json.decode(await read_body(request, BODY_BYTES), type=_Change)
        channel = self._named(wanted.id)
        changes: dict[str, Any] = {}
        if wanted.settings is not None:
            wanted.settings.check()
            changes["settings"] = wanted.settings
        if wanted.url is not None:
            service = await self._service_of(wanted.url)
            changes |= {"service": service, "url": wanted.url.strip()}
        if wanted.name is not None:
            named = plain_line(wanted.name, NAME_CHARS)
            changes["name"] = named or changes.get("service", channel.service)
        await self._targets.put(channel_id(channel.id), structs.replace(channel, **changes))
        return await self._list()

    async def _remove(self, request: Request) -> Response:
        named = msgspec.json.decode(await read_body(request, BODY_BYTES), type=_Named)
        await self._targets.forget(channel_id(self._named(named.id).id))
        return await self._list()

    async def _test(self, request: Request) -> Response:
        named = msgspec.json.decode(await read_body(request, BODY_BYTES), type=_Named)
        channel, now = self._named(named.id), self._clock()
        notice = Notice(kind="test", key="test", at=now, title="Fairlead", text=TEST_TEXT)
        outcome = await self._sender.send(channel, "", 0, notice, now)
        if isinstance(outcome, Sent):
            return json_answer({"sent": True})
        reason = outcome.reason if isinstance(outcome, (Failed, TryLater)) else ""
        raise Refusal("unavailable", f"The test was not sent. {reason}")

    async def _service_of(self, url: str) -> str:
        if not is_installed():
            raise Refusal("unavailable", NOT_INSTALLED)
        return await self._sender.service_of(url.strip())

    def _channels(self) -> list[ChannelTarget]:
        channels = [row for _, row in self._targets.items() if isinstance(row, ChannelTarget)]
        return sorted(channels, key=lambda channel: (channel.name.lower(), channel.id))

    def _named(self, channel: str) -> ChannelTarget:
        target = self._targets.get(channel_id(channel))
        if not isinstance(target, ChannelTarget):
            raise Refusal("not_found", "This channel was removed.")
        return target
