"""Decoders that are created at their first use, by one thread at a time.

When msgspec meets a Struct class for the first time, it reads the annotations of the class and keeps
the result on it, from before it is complete. A thread that decodes the same class at that moment reads
the incomplete result, and the process ends with a segmentation fault (msgspec 0.22.0,
`StructInfo_Convert`). A decoder that is created while a module is imported is safe, and so is a class
that only one thread ever decodes. Everything else is decoded with the functions of this module.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

import msgspec

__all__ = ["convert", "decode", "decoder"]

_decoders: dict[Any, msgspec.json.Decoder[Any]] = {}
_creating = Lock()


def decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    """The decoder of JSON text for a type."""
    known = _decoders.get(kind)
    if known is None:
        with _creating:
            known = _decoders.get(kind)
            if known is None:
                known = _decoders[kind] = msgspec.json.Decoder(kind)
    return known


def decode(text: bytes | str, kind: Any) -> Any:
    """JSON text as a value of a type, as `msgspec.json.decode` returns it."""
    return decoder(kind).decode(text)


def convert(value: Any, kind: Any, *, strict: bool = True) -> Any:
    """Plain values as a value of a type, as `msgspec.convert` returns it."""
    if kind not in _decoders:
        decoder(kind)
    return msgspec.convert(value, kind, strict=strict)
