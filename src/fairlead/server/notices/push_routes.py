"""Routes for the push notifications of a device: its subscription, its settings, a test, and "Deny".

Each device changes only its own subscription. "Deny" needs no token, because the service worker
has none; it needs a ticket that the server put into the encrypted message (`push/tickets`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

import msgspec
from msgspec import structs
from starlette.requests import Request
from starlette.responses import Response

from fairlead.server.access.devices import DeviceRegistry
from fairlead.server.http.bodies import json_answer, read_body
from fairlead.server.http.routes import Route
from fairlead.server.limits import Limits
from fairlead.server.notices.outcome import Gone, Sent
from fairlead.server.notices.push.sender import PushSender
from fairlead.server.notices.push.tickets import DenyTicket
from fairlead.server.notices.rules.notice import KINDS, Notice
from fairlead.server.notices.rules.wording import DETAILS
from fairlead.server.notices.targets import PushTarget, Targets, TargetSettings, push_id
from fairlead.server.protocol.intents import Decide, DecidePlan, Intent
from fairlead.server.protocol.messages import IntentResult
from fairlead.server.refusal import Refusal
from fairlead.store.tables.devices import Device

__all__ = ["Acting", "PushRoutes"]

BODY_BYTES = 16_384

CLIENT = "notifications"
"""The name under which the answers from notifications are counted."""

TEST_TEXT = "Push notifications work on this device."
GONE = "The push service no longer knows this browser. Turn push notifications off and on again."
NO_TICKET = "This button has expired. Open the session to answer."


class _Subscription(msgspec.Struct, forbid_unknown_fields=True):
    endpoint: str
    p256dh: str
    auth: str
    settings: TargetSettings = TargetSettings()


class _Denial(msgspec.Struct, forbid_unknown_fields=True):
    ticket: str


class Acting(Protocol):
    """Carries out an intent once."""

    async def act(self, device: Device, client: str, n: int, intent: Intent) -> IntentResult:
        """Carry out an intent, once for each (device, client, n)."""


class PushRoutes:
    """The handlers."""

    def __init__(
        self,
        targets: Targets,
        sender: PushSender,
        devices: DeviceRegistry,
        acting: Acting,
        limits: Limits,
        clock: Callable[[], float],
    ) -> None:
        self._targets = targets
        self._sender = sender
        self._devices = devices
        self._acting = acting
        self._limits = limits
        self._clock = clock

        def route(method: str, path: str, role: str | None, about: str, handler: Any) -> Route:
            return Route(method=method, path=path, role=role, about=about, handler=handler)

        self.routes = (
            route("GET", "/api/push", "viewer", "The push settings of this device.", self._read),
            route("POST", "/api/push", "viewer", "Subscribe this device to push messages.",
                  self._subscribe),
            route("POST", "/api/push/settings", "viewer", "Change the push settings of this device.",
                  self._change),
            route("POST", "/api/push/remove", "viewer", "Send no more push messages to this device.",
                  self._remove),
            route("POST", "/api/push/test", "viewer", "Send a test message to this device.",
                  self._test),
            route("POST", "/api/push/deny", None,
                  "Deny the request of a notification, with the ticket in its message.",
                  self._deny),
        )  # fmt: skip

    async def _read(self, request: Request) -> Response:
        own = push_id(request.state.device)
        target = self._targets.get(own)
        stored = (await self._targets.stored()).get(own)
        return json_answer(
            {
                "key": self._sender.key.public,
                "kinds": KINDS,
                "details": DETAILS,
                "endpoint": target.endpoint if isinstance(target, PushTarget) else None,
                "settings": target.settings if target is not None else None,
                "last_sent": stored.last_sent if stored is not None else None,
                "problem": stored.problem if stored is not None else "",
            }
        )

    async def _subscribe(self, request: Request) -> Response:
        wanted = msgspec.json.decode(await read_body(request, BODY_BYTES), type=_Subscription)
        device = request.state.device
        target = PushTarget(
            device=device,
            endpoint=wanted.endpoint,
            p256dh=wanted.p256dh,
            auth=wanted.auth,
            settings=wanted.settings,
        )
        target.check(loopback=self._sender.loopback)
        await self._targets.put(push_id(device), target)
        return json_answer({"settings": target.settings})

    async def _change(self, request: Request) -> Response:
        settings = msgspec.json.decode(await read_body(request, BODY_BYTES), type=TargetSettings)
        settings.check()
        target = self._own(request)
        await self._targets.put(push_id(target.device), structs.replace(target, settings=settings))
        return json_answer({"settings": settings})

    async def _remove(self, request: Request) -> Response:
        await self._targets.forget(push_id(request.state.device))
        return json_answer({"settings": None})

    async def _test(self, request: Request) -> Response:
        target, now = self._own(request), self._clock()
        notice = Notice(kind="test", key="test", at=now, title="Fairlead", text=TEST_TEXT)
        outcome = await self._sender.send(target, "", 0, notice, now)
        if isinstance(outcome, Sent):
            return json_answer({"sent": True})
        if isinstance(outcome, Gone):
            await self._targets.forget(push_id(target.device))
            raise Refusal("not_found", GONE)
        raise Refusal("unavailable", f"The test was not sent. {outcome.reason}")

    def _own(self, request: Request) -> PushTarget:
        target = self._targets.get(push_id(request.state.device))
        if not isinstance(target, PushTarget):
            raise Refusal("not_found", "Push notifications are off on this device.")
        return target

    async def _deny(self, request: Request) -> Response:
        try:
            async with asyncio.timeout(self._limits.hello_s):
                body = await read_body(request, BODY_BYTES)
        except TimeoutError:
            raise Refusal("not_authenticated", "The request was too slow. Try again.") from None
        denial = msgspec.json.decode(body, type=_Denial)
        ticket = self._sender.tickets.check(denial.ticket, self._clock())
        device = await self._devices.find(ticket.device) if ticket is not None else None
        if ticket is None or device is None:
            raise Refusal("not_authenticated", NO_TICKET)
        # The same number for each use of a ticket: it acts once.
        result = await self._acting.act(device, CLIENT, ticket.notice, _intent(ticket))
        if not result.ok:
            raise Refusal(result.code or "conflict", result.message or NO_TICKET)
        return json_answer({"denied": True})


def _intent(ticket: DenyTicket) -> Intent:
    if ticket.kind == "plan":
        return DecidePlan(
            session=ticket.session,
            request_id=ticket.request,
            input_sha256=ticket.sha256,
            approve=False,
        )
    return Decide(
        session=ticket.session,
        request_id=ticket.request,
        input_sha256=ticket.sha256,
        decision="deny",
    )
