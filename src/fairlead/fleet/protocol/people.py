"""The devices of a fleet, as nodes and gateways see them: the values of the bucket `people`. Pure.

Tokens and keys are not in it: those are in the bucket `access`, which only gateways can read.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

__all__ = ["Person", "decode_person", "encode_person"]


class Person(Struct, frozen=True, kw_only=True):
    """A paired device."""

    id: str
    name: str
    role: str
    revoked: float | None = None
    """When it was revoked."""


_decode = msgspec.json.Decoder(Person)


def encode_person(person: Person) -> bytes:
    """The value of a key."""
    return msgspec.json.encode(person)


def decode_person(value: bytes) -> Person | None:
    """The device of a value; None if it cannot be read."""
    try:
        return _decode.decode(value)
    except msgspec.DecodeError:
        return None
