"""The hash that binds a decision to the exact tool input that was shown.

Client and server hash the same canonical text: equal JSON values have equal hashes, in any order of
their keys. Knows nothing about tools or permissions. Pure.

A large input is hashed in pieces. A single call of the JSON encoder for all of it would block
every other thread of the process, so moving the work to a thread would not help.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import hashlib

__all__ = ["LARGE", "canonical_json", "input_sha256", "is_large"]

LARGE = 1_000_000
"""Size in characters from which an input should not be hashed in an event loop."""

_NODE = 32
"""Size of a number, a key or a list, in characters."""

_PIECE = 65_536
"""Characters of a text that are encoded in one call."""


def canonical_json(value: Mapping[str, Any]) -> bytes:
    """The text that is hashed: keys sorted, no spaces, UTF-8."""
    return _encoded(json.dumps(value, **_FORM))


def input_sha256(value: Mapping[str, Any]) -> str:
    """The SHA-256 of an input, in hexadecimal digits."""
    if not is_large(value):
        return _sha256(canonical_json(value)).hexdigest()
    hashed = _HashedText()
    hashed.add(value)
    return hashed.hexdigest()


def is_large(value: Any) -> bool:
    """Whether hashing an input takes long. Stops as soon as the size is reached."""
    size, rest = 0, [value]
    while rest:
        item = rest.pop()
        size += _NODE
        if isinstance(item, str):
            size += len(item)
        elif isinstance(item, Mapping):
            rest.extend(item.values())
            size += sum(map(len, item))
        elif isinstance(item, list | tuple):
            rest.extend(item)
        if size + _NODE * len(rest) >= LARGE:
            return True
    return False


_FORM: dict[str, Any] = {"sort_keys": True, "separators": (",", ":"), "ensure_ascii": False}


def _sha256(data: bytes = b"") -> hashlib._Hash:
    # Only now: it loads OpenSSL, and a program without approvals hashes nothing.
    from hashlib import sha256

    return sha256(data)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


class _HashedText:
    """The hash of the canonical text of a large value, which is written and hashed in pieces."""

    def __init__(self) -> None:
        self._digest = _sha256()
        self._parts: list[str] = []
        self._length = 0

    def add(self, value: Any) -> None:
        """Add the canonical text of a value."""
        if isinstance(value, str):
            self._add_text(value)
        elif isinstance(value, Mapping):
            separator = "{"
            for key in sorted(value):
                self._put(f"{separator}{encode_basestring(key)}:")
                self.add(value[key])
                separator = ","
            self._put("}" if value else "{}")
        elif isinstance(value, list | tuple):
            separator = "["
            for item in value:
                self._put(separator)
                self.add(item)
                separator = ","
            self._put("]" if value else "[]")
        elif type(value) is int:
            self._put(repr(value))  # The usual number, and much faster than the encoder.
        else:
            self._put(json.dumps(value, **_FORM))

    def hexdigest(self) -> str:
        """The hash of everything that was added."""
        self._flush()
        return self._digest.hexdigest()

    def _add_text(self, text: str) -> None:
        self._put('"')
        # Escapes depend on single characters only, so a text can be cut anywhere.
        for start in range(0, len(text), _PIECE):
            self._put(encode_basestring(text[start : start + _PIECE])[1:-1])
        self._put('"')

    def _put(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
        if self._length >= _PIECE:
            self._flush()

    def _flush(self) -> None:
        self._digest.update(_encoded("".join(self._parts)))
        self._parts.clear()
        self._length = 0
