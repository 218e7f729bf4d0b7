"""One intent on its way: who wants it, and the result that is stored together with what it does.

A result that goes into the same transaction as the deed is what makes a resend act once: after a
crash either both are there or neither.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from fairlead.server.messages import IntentResult
from fairlead.server.refusal import Refusal
from fairlead.store.devices import Device
from fairlead.store.intents import IntentOutcome

__all__ = ["Deed", "stored_result"]


class _Kept(Struct, frozen=True):
    device: str
    result: IntentResult


_decode = msgspec.json.Decoder(_Kept)


class Deed:
    """The n-th intent of a client."""

    def __init__(self, device: Device, client: str, n: int) -> None:
        self.device = device
        self.client = client
        self.n = n
        self.carried = False
        """Whether the result was stored with what was done."""

    @property
    def by(self) -> str:
        """Who does it, as others are told."""
        return self.device.name

    @property
    def role(self) -> str:
        """What the device may do."""
        return self.device.role

    def outcome(self, **result: Any) -> IntentOutcome:
        """The good result, to be stored with what is done."""
        self.carried = True
        return self.keep(IntentResult(n=self.n, ok=True, result=result))

    def keep(self, result: IntentResult) -> IntentOutcome:
        """A result as it is stored."""
        kept = msgspec.json.encode(_Kept(self.device.id, result))
        return IntentOutcome(client=self.client, n=self.n, result=kept)


def stored_result(device: Device, text: bytes) -> IntentResult:
    """The result of an intent that was acted on before, for the device that sent it."""
    kept = _decode.decode(text)
    if kept.device != device.id:
        raise Refusal("forbidden", "this client id belongs to another device; choose a new one")
    return kept.result
