"""Which machine has a session that was moved or adopted: the values of the bucket `owners`. Pure.

Only gateways write the bucket. A session that never moved is not in it. The generation only grows;
a machine whose own generation of a session is lower has lost it.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

__all__ = ["Owner", "decode_owner", "encode_owner"]


class Owner(Struct, frozen=True, kw_only=True):
    """The machine of a session."""

    node: str
    name: str = ""
    generation: int
    move: str = ""
    """The id of the move, by which the machine knows what arrived."""
    link: str = ""
    at: float = 0.0


_decode = msgspec.json.Decoder(Owner)


def encode_owner(owner: Owner) -> bytes:
    """The value of a key."""
    return msgspec.json.encode(owner)


def decode_owner(value: bytes | None) -> Owner | None:
    """The machine of a value; None if it cannot be read."""
    try:
        return None if value is None else _decode.decode(value)
    except msgspec.DecodeError:
        return None
