"""How `fairlead doctor` asks through a proxy what the server sees of a request (B130). Pure.

The ticket of a question and the proof in its answer are signed with a key that is derived from the
secret in the data folder. So only a program that can read the data folder gets an answer, and it
knows that the answer comes from the server of that folder.
"""

from __future__ import annotations

import hashlib
import hmac

from msgspec import Struct

from fairlead.server.access.device_keys import DeviceKeys

__all__ = ["PROBE_PATH", "Probe", "ProbeAnswer", "ask", "is_genuine", "prove"]

PROBE_PATH = "/api/probe"
VALID_S = 60.0

_KEY = "fairlead doctor"
"""No device can have this id, because of its space."""


class Probe(Struct, frozen=True, forbid_unknown_fields=True):
    """A question."""

    nonce: str
    until: float
    mac: str


class ProbeAnswer(Struct, frozen=True):
    """The request as the server saw it."""

    proof: str
    address: str
    """The address of the client."""
    peer: str
    """The address from which the connection came: that of the proxy."""
    forwarded: str
    """What became of X-Forwarded-For: `none`, `ignored` or `trusted`."""


def ask(keys: DeviceKeys, nonce: str, now: float) -> Probe:
    """A question that is valid for a minute."""
    until = now + VALID_S
    return Probe(nonce, until, _sign(keys, f"question\n{nonce}\n{until}"))


def is_genuine(keys: DeviceKeys, probe: Probe, now: float) -> bool:
    """Whether a question comes from a reader of the data folder, and is not old."""
    mac = _sign(keys, f"question\n{probe.nonce}\n{probe.until}")
    return hmac.compare_digest(mac, probe.mac) and now < probe.until <= now + VALID_S


def prove(keys: DeviceKeys, nonce: str) -> str:
    """The proof that an answer comes from a reader of the data folder."""
    return _sign(keys, f"answer\n{nonce}")


def _sign(keys: DeviceKeys, text: str) -> str:
    return hmac.new(keys.key_of(_KEY), text.encode(), hashlib.sha256).hexdigest()
