"""Sends notices to browsers: builds the message, encrypts it, posts it, and reads the answer."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import ssl
from collections.abc import Awaitable, Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from fairlead.errors import FairleadError
from fairlead.server.access.roles import may
from fairlead.server.notices.outcome import Attempt, Failed, Gone, Sent, TryLater
from fairlead.server.notices.push.endpoint import Endpoint
from fairlead.server.notices.push.request import Answer, NotSent, post
from fairlead.server.notices.push.tickets import DenyTicket, Tickets
from fairlead.server.notices.rules.notice import Notice
from fairlead.server.notices.rules.wording import body_of, title_of
from fairlead.server.notices.targets import PushTarget
from fairlead.store.tables.devices import Device

if TYPE_CHECKING:
    from fairlead.server.notices.push.server_key import PushKey

__all__ = ["PushSender"]

KEPT_S = 86_400
"""How long a push service keeps a message for a browser that is not reachable."""


class PushSender:
    """Sends to push services."""

    def __init__(
        self,
        key_file: Path,
        find: Callable[[str], Awaitable[Device | None]],
        *,
        loopback: bool = False,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """`find` returns a device that may still connect. `loopback` and `tls` are for tests."""
        self._key_file = key_file
        self.loopback = loopback
        self._find = find
        self._tls = tls

    # Loaded at first use: most servers never send a push message, and the import takes 30 ms.

    @cached_property
    def key(self) -> PushKey:
        """The server's key; raises `UsageError` if its file is damaged."""
        from fairlead.server.notices.push.server_key import PushKey

        return PushKey.stored_in(self._key_file)

    @cached_property
    def tickets(self) -> Tickets:
        """Signs and checks the tickets in messages."""
        return Tickets(self.key.secret("deny ticket"))

    async def send(
        self, target: PushTarget, session: str, number: int, notice: Notice, now: float
    ) -> Attempt:
        """Send one notice; never raises for what a client or a push service did."""
        device = await self._find(target.device)
        if device is None:
            return Gone()
        try:
            endpoint = Endpoint.parse(target.endpoint, loopback=self.loopback)
            authorization = self.key.authorization(endpoint.origin, now)
            message = self._message(target, device, session, number, notice, now)
            body = _encrypted(message, target)
        except (ValueError, binascii.Error) as problem:
            return Failed(f"The subscription of this browser is not valid: {problem}.")
        except FairleadError as problem:
            return TryLater(str(problem))
        headers = {
            "Authorization": authorization,
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(KEPT_S),
            "Urgency": "normal" if notice.kind == "finished" else "high",
            "Topic": topic_of(session),
        }
        try:
            answer = await post(endpoint, headers, body, loopback=self.loopback, tls=self._tls)
        except NotSent as problem:
            reason = f"{problem.reason}."
            return Failed(reason) if problem.refused else TryLater(reason)
        return _outcome(answer, endpoint)

    def _message(
        self,
        target: PushTarget,
        device: Device,
        session: str,
        number: int,
        notice: Notice,
        now: float,
    ) -> bytes:
        fields: dict[str, Any] = {
            "id": number,
            "session": session,
            "kind": notice.kind,
            "title": title_of(notice),
            "body": body_of(notice, target.settings.detail),
            "at": notice.at,
        }
        if notice.resets_at is not None:
            fields["resets_at"] = notice.resets_at
        if notice.request and may(device.role, "approver"):
            ticket = DenyTicket(
                device=device.id,
                session=session,
                request=notice.request,
                sha256=notice.sha256,
                kind=notice.kind,
                notice=number,
                until=now + KEPT_S,
            )
            fields["deny"] = self.tickets.issue(ticket)
        return msgspec.json.encode(fields)


def topic_of(session: str) -> str:
    """The topic of a session: a push service keeps only the last message of each topic.

    A hash, because the push service can read it.
    """
    digest = hashlib.sha256(f"fairlead topic {session}".encode()).digest()
    return base64.urlsafe_b64encode(digest[:24]).decode()


def _encrypted(message: bytes, target: PushTarget) -> bytes:
    from cryptography.hazmat.primitives.asymmetric import ec

    from fairlead.server.notices.push.encryption import encrypt

    return encrypt(
        message,
        _decoded(target.p256dh),
        _decoded(target.auth),
        one_time=ec.generate_private_key(ec.SECP256R1()),
        salt=os.urandom(16),
    )


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4))


def _outcome(answer: Answer, endpoint: Endpoint) -> Attempt:
    status = answer.status
    if 200 <= status < 300:
        return Sent()
    if status in (404, 410):
        return Gone()
    reason = f"{endpoint.host} answered with status {status}."
    if status == 429 or status >= 500:
        return TryLater(reason, answer.retry_after_s)
    return Failed(reason)
