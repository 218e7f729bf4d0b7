"""Tickets in push messages, with which a notification's "Deny" button denies one request (R26).

The service worker has no credential of its own. A ticket is signed by the server and travels only
in the encrypted message, so only the device that received the message has it. It can deny one
request with one exact input for its device, and nothing else; the device's role is checked when it
is used.
"""

from __future__ import annotations

import hashlib
import hmac

import msgspec
from msgspec import Struct

__all__ = ["DenyTicket", "Tickets"]


class DenyTicket(Struct, frozen=True, kw_only=True):
    """What a ticket denies."""

    device: str
    session: str
    request: str
    sha256: str
    """The hash of the request's input (B8)."""
    kind: str
    notice: int
    until: float


class Tickets:
    """Signs and checks tickets."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def issue(self, ticket: DenyTicket) -> str:
        """A ticket as text."""
        text = msgspec.json.encode(ticket)
        return f"{text.hex()}.{self._sign(text)}"

    def check(self, text: str, now: float) -> DenyTicket | None:
        """The ticket; None if it was not issued here, or has expired."""
        content, _, signature = text.partition(".")
        try:
            encoded = bytes.fromhex(content)
        except ValueError:
            return None
        if not hmac.compare_digest(
            self._sign(encoded).encode(), signature.encode("utf-8", "replace")
        ):
            return None
        ticket = msgspec.json.decode(encoded, type=DenyTicket)
        return ticket if now < ticket.until else None

    def _sign(self, text: bytes) -> str:
        return hmac.new(self._secret, text, hashlib.sha256).hexdigest()
