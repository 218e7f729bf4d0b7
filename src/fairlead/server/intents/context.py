"""One intent while it is carried out: its sender, and the result that is stored with its effect.

The result and the effect are stored in the same transaction, so that a resent intent acts only
once: after a crash either both are stored or neither.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from fairlead.server.protocol.messages import IntentResult
from fairlead.server.refusal import Refusal
from fairlead.store.tables.devices import Device
from fairlead.store.tables.intents import IntentOutcome

__all__ = ["IntentContext", "check_number", "client_key", "stored_result"]


HIGHEST_N = 2**53
"""The highest integer that a JavaScript client can represent, plus 1."""

CLIENT_CHARS = 200
"""Most characters of a client id, which is a UUID with a name before it at some clients."""


class _Stored(Struct, frozen=True, omit_defaults=True):
    device: str
    result: IntentResult
    session: str = ""
    """The session that the intent was about: its results move with it to another machine."""


_decode = msgspec.json.Decoder(_Stored)


class IntentContext:
    """The n-th intent of a client."""

    def __init__(self, device: Device, client: str, n: int, session: str = "") -> None:
        self.device = device
        self.session = session
        self.client = client
        self.n = n
        self.carried = False
        """Whether the result was stored together with the effect."""

    @property
    def client_key(self) -> str:
        """The key of the client's numbers in the store.

        It contains the device, so that another device that knows the client's id cannot use up
        its numbers.
        """
        return client_key(self.device, self.client)

    @property
    def by(self) -> str:
        """The device's name, as other clients see it."""
        return self.device.name

    @property
    def role(self) -> str:
        """The role of the device."""
        return self.device.role

    def outcome(self, **result: Any) -> IntentOutcome:
        """The result of a success, to be stored together with the effect."""
        self.carried = True
        return self.stored(IntentResult(n=self.n, ok=True, result=result))

    def stored(self, result: IntentResult) -> IntentOutcome:
        """A result in its stored form."""
        encoded = msgspec.json.encode(_Stored(self.device.id, result, self.session))
        return IntentOutcome(client=self.client_key, n=self.n, result=encoded)


def client_key(device: Device, client: str) -> str:
    """The name under which the store counts the intents of a client of a device."""
    return f"{device.id}/{client}"


def check_number(client: str, n: int) -> None:
    """Refuse a number or a client id under which no result can be stored."""
    if not 0 < n < HIGHEST_N:
        raise Refusal("bad_message", f"The number of an intent must be from 1 to {HIGHEST_N - 1}.")
    if not 0 < len(client) <= CLIENT_CHARS:
        raise Refusal("bad_message", f"A client id must have 1 to {CLIENT_CHARS} characters.")


def stored_result(device: Device, text: bytes) -> IntentResult:
    """The result of an intent that was carried out before, for the device that sent it."""
    stored = _decode.decode(text)
    if stored.device != device.id:
        raise Refusal("forbidden", "This client id belongs to another device. Choose a new one.")
    return stored.result
